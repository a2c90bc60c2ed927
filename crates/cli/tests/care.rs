//! What goes wrong around a run, and what the binary makes of it.

#![allow(clippy::unwrap_used)] // helpers of tests may unwrap as tests do

mod common;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{config, json, loop_until, run_loop, tengen};
use serde_json::Value;

fn status(run: &Path) -> Value {
    json(&["status", "--run", run.to_str().unwrap(), "--json"])
}

fn network_file(run: &Path, id: &Value) -> std::path::PathBuf {
    run.join("networks").join(format!("{}.safetensors", id.as_str().unwrap()))
}

/// A run of 12 steps whose candidate a hand has made the best network.
fn run_with_two_bests(folder: &Path) -> (std::path::PathBuf, std::path::PathBuf, [Value; 2]) {
    let (config, run) = (config(folder), folder.join("run"));
    run_loop(&config, &run, "12");
    let networks = status(&run)["networks"].clone();
    let ids = [networks[0]["id"].clone(), networks[1]["id"].clone()];
    let dir = run.to_str().unwrap();
    let promoted =
        tengen(&["promote", "--run", dir, "--net", ids[1].as_str().unwrap(), "--why", "a test"]);
    assert!(promoted.status.success());
    assert_eq!(status(&run)["best"]["id"], ids[1]);
    (config, run, ids)
}

#[test]
fn a_rollback_by_hand_takes_the_best_before_and_refuses_when_none_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let (_, run, [first, second]) = run_with_two_bests(folder.path());
    let dir = run.to_str().unwrap();
    let mut best = second.clone();
    // The gate may have promoted the second one before the hand did: then both moves are taken back.
    while best == second {
        assert!(tengen(&["rollback", "--run", dir, "--why", "a test"]).status.success());
        best = status(&run)["best"]["id"].clone();
    }
    assert_eq!(best, first);
    let refused = tengen(&["rollback", "--run", dir, "--why", "a test"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("no earlier best network"));
}

#[test]
fn a_rollback_with_its_games_trains_on_without_them() {
    let folder = tempfile::tempdir().unwrap();
    let (config, run, [first, second]) = run_with_two_bests(folder.path());
    run_loop(&config, &run, "16");
    let dir = run.to_str().unwrap();
    let mut best = status(&run)["best"]["id"].clone();
    assert_ne!(best, first, "the second network or a later one plays now");
    while best != first {
        let back = tengen(&["rollback", "--run", dir, "--why", "a test", "--games"]);
        assert!(back.status.success());
        assert!(String::from_utf8_lossy(&back.stdout).contains("trained on no more"));
        best = status(&run)["best"]["id"].clone();
    }
    let games = json(&["store", "fsck", "--run", dir, "--json"])["games"].clone();
    run_loop(&config, &run, "20");
    let after = json(&["store", "fsck", "--run", dir, "--json"]);
    assert_eq!(after["ok"], true);
    assert!(after["games"].as_u64() >= games.as_u64(), "nothing is deleted");
    assert!(status(&run)["steps"].as_u64().unwrap() >= 20, "training went on");
    assert_ne!(second, first);
}

#[test]
fn a_damaged_best_network_gives_way_to_the_one_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let (config, run, [_, second]) = run_with_two_bests(folder.path());
    let file = network_file(&run, &second);
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    let output = loop_until(&config, &run, "16");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    assert!(told.contains("damaged") && told.contains("the best network before it"), "{told}");
    assert_ne!(status(&run)["best"]["id"], second);
    assert_eq!(status(&run)["steps"], 16);
}

#[test]
fn a_lost_best_network_with_none_before_it_is_an_error_that_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let (config, run) = (config(folder.path()), folder.path().join("run"));
    run_loop(&config, &run, "1");
    let first = status(&run)["best"]["id"].clone();
    std::fs::remove_file(network_file(&run, &first)).unwrap();
    let output = loop_until(&config, &run, "2");
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains(first.as_str().unwrap()) && told.contains("restore the file"), "{told}");
    let check = json(&["store", "fsck", "--run", run.to_str().unwrap(), "--json"]);
    assert_eq!(check["ok"], true, "{check}");
}

#[test]
fn a_store_from_a_newer_version_is_refused_by_number() {
    let folder = tempfile::tempdir().unwrap();
    let (config, run) = (config(folder.path()), folder.path().join("run"));
    run_loop(&config, &run, "1");
    let db = rusqlite::Connection::open(run.join("tengen.db")).unwrap();
    db.pragma_update(None, "user_version", 9999).unwrap();
    drop(db);
    let output = tengen(&["status", "--run", run.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("schema version 9999"));
}

#[test]
fn metrics_are_written_as_lines_and_as_event_files() {
    let folder = tempfile::tempdir().unwrap();
    let (config, run) = (config(folder.path()), folder.path().join("run"));
    run_loop(&config, &run, "24");
    let text = std::fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    let lines: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let of = |part: &str| lines.iter().filter(|l| l["part"] == part).collect::<Vec<_>>();
    assert!(of("train").iter().all(|l| l["policy_loss"].is_f64()), "{text}");
    let steps: Vec<u64> = of("train").iter().filter_map(|l| l["step"].as_u64()).collect();
    assert!(steps.is_sorted() && steps.contains(&10) && steps.ends_with(&[24]), "{steps:?}");
    assert!(of("selfplay").iter().any(|l| l["games"].as_u64() > Some(0)), "{text}");
    assert!(of("gate").iter().any(|l| l["candidate"].is_string()), "{text}");
    assert_eq!(std::fs::read_dir(run.join("tensorboard")).unwrap().count(), 1);
}

#[test]
fn a_reader_that_leaves_early_is_no_panic() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tengen"))
        .args(["config", "show", "/dev/null"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!told.contains("panicked"), "{told}");
}

struct Part(Child);

impl Part {
    fn start(part: &[&str], config: &Path, run: &Path) -> Self {
        let child = Command::new(env!("CARGO_BIN_EXE_tengen"))
            .args(part)
            .args(["--config", config.to_str().unwrap(), "--run", run.to_str().unwrap()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self(child)
    }

    /// Asks once, as Ctrl-C does, and gives the exit code.
    fn stop(mut self) -> Option<i32> {
        let asked =
            Command::new("kill").args(["-TERM", &self.0.id().to_string()]).status().unwrap();
        assert!(asked.success());
        self.0.wait().unwrap().code()
    }
}

#[test]
fn the_three_parts_run_as_processes_of_their_own_on_one_store() {
    let folder = tempfile::tempdir().unwrap();
    let (config, run) = (config(folder.path()), folder.path().join("run"));
    let parts: [&[&str]; 4] =
        [&["selfplay"], &["selfplay", "--worker", "second"], &["train"], &["gate"]];
    let parts = parts.map(|part| Part::start(part, &config, &run));
    let began = Instant::now();
    loop {
        std::thread::sleep(Duration::from_millis(300));
        let facts = tengen(&["status", "--run", run.to_str().unwrap(), "--json"]);
        let facts: Value = serde_json::from_slice(&facts.stdout).unwrap_or_default();
        let judged = facts["networks"]
            .as_array()
            .into_iter()
            .flatten()
            .any(|n| n["step"].as_u64() > Some(0) && n["status"] != "candidate");
        if judged {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(120), "no candidate was judged: {facts}");
    }
    assert_eq!(parts.map(Part::stop), [Some(0); 4]);
    let check = json(&["store", "fsck", "--run", run.to_str().unwrap(), "--json"]);
    assert_eq!(check["ok"], true, "{check}");
}
