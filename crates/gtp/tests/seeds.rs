//! The seeds of the fuzz targets `gtp` and `analysis`, and whatever those ever found, on every run.
#![allow(clippy::unwrap_used)]

#[path = "common/laws.rs"]
mod laws;

#[path = "../../../fuzz/seeds.rs"]
mod fuzz_seeds;

use fuzz_seeds::seeds;

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
