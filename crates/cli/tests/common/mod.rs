//! The binary and a tiny run, for every end-to-end test.

#![allow(dead_code, reason = "each test file uses its part")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

pub fn tengen(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tengen")).args(args).output().unwrap()
}

pub fn json(args: &[&str]) -> Value {
    let output = tengen(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The soak's config with one worker, so that a run is a function of its seed.
pub fn config(folder: &Path) -> PathBuf {
    let soak = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/kill_soak.toml");
    let text = std::fs::read_to_string(soak).unwrap();
    let path = folder.join("config.toml");
    std::fs::write(&path, text.replace("[selfplay]", "[selfplay]\nworkers = 1")).unwrap();
    path
}

/// What `tengen loop` says when asked to go on until the trainer has made `steps`.
pub fn loop_until(config: &Path, run: &Path, steps: &str) -> Output {
    let (config, run) = (config.to_str().unwrap(), run.to_str().unwrap());
    tengen(&["loop", "--config", config, "--run", run, "--until-steps", steps])
}

pub fn run_loop(config: &Path, run: &Path, steps: &str) {
    let output = loop_until(config, run, steps);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
