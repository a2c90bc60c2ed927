//! The seeds of the fuzz targets `gtp` and `analysis`, and whatever those ever found, on every run.
#![allow(clippy::unwrap_used)]

#[path = "common/laws.rs"]
mod laws;

use std::path::Path;

fn seeds(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "no seeds for {target}");
    let read = |path: &std::path::PathBuf| std::fs::read(path).unwrap();
    files.iter().map(|path| (path.display().to_string(), read(path))).collect()
}

#[test]
fn gtp_seeds_keep_every_law_of_a_session() {
    let seeds = seeds("gtp");
    // The only test of this file that needs a folder of its own.
    let scratch = tempfile::tempdir().unwrap();
    std::env::set_current_dir(scratch.path()).unwrap();
    for (file, bytes) in seeds {
        println!("{file}");
        laws::gtp_session(&bytes);
    }
}

#[test]
fn analysis_seeds_get_whole_answers() {
    for (file, bytes) in seeds("analysis") {
        println!("{file}");
        laws::analysis_lines(&bytes);
    }
}
