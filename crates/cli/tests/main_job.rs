//! The binary as its users run it: a tiny run from an empty folder, real parts all through.

#![allow(clippy::unwrap_used)] // helpers of tests may unwrap as tests do

mod common;

use std::process::{Command, Stdio};
use std::time::Duration;

use common::{config, json, run_loop, tengen};

#[test]
fn a_run_generates_trains_gates_and_resumes() {
    let folder = tempfile::tempdir().unwrap();
    let (config, run) = (config(folder.path()), folder.path().join("run"));
    run_loop(&config, &run, "12");
    let dir = run.to_str().unwrap();
    let status = json(&["status", "--run", dir, "--json"]);
    assert_eq!(status["steps"], 12);
    assert!(status["games"].as_u64().unwrap() > 0);
    assert_eq!(status["networks"].as_array().unwrap().len(), 2, "the first net and a candidate");
    assert!(run.join("report.svg").is_file());

    run_loop(&config, &run, "24");
    let later = json(&["status", "--run", dir, "--json"]);
    assert_eq!(later["steps"], 24);
    assert!(later["games"].as_u64() > status["games"].as_u64());
    let check = json(&["store", "fsck", "--run", dir, "--json"]);
    assert_eq!(check["ok"], true, "{check}");

    let first = format!("{dir}:first");
    let matches = folder.path().join("matches");
    let result = json(&[
        "match",
        dir,
        &first,
        "--games",
        "4",
        "--visits",
        "4",
        "--size",
        "5",
        "--dir",
        matches.to_str().unwrap(),
        "--json",
    ]);
    let games: u64 = ["wins", "losses", "draws", "no_results"]
        .iter()
        .map(|k| result[*k].as_u64().unwrap())
        .sum();
    assert_eq!(games, 4);

    let ladder = ["ladder", "--run", dir, "--games", "8", "--visits", "4", "--anchor", "uniform"];
    let facts = json(&[&ladder[..], &["--anchor-elo", "100", "--watts", "60", "--json"]].concat());
    let rows = facts["rows"].as_array().unwrap();
    let anchor = rows.iter().find(|row| row["anchor"] == true).unwrap();
    assert_eq!((&anchor["elo"], &facts["pinned"]), (&100.0.into(), &"uniform".into()));
    let net = rows.iter().find(|row| row["step"] == 24).unwrap();
    let (kwh, hours) = (net["kwh"].as_f64().unwrap(), net["hours"].as_f64().unwrap());
    assert!((kwh - 0.06 * hours).abs() < 1e-9, "{net}");
    for file in ["ladder.svg", "ladder.json", "ladder.csv"] {
        assert!(run.join(file).is_file(), "{file}");
    }
}

#[test]
fn the_same_seed_gives_the_same_games_and_weights() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path());
    let facts = ["one", "two"].map(|name| {
        let run = folder.path().join(name);
        run_loop(&config, &run, "12");
        let dir = run.to_str().unwrap().to_string();
        let status = json(&["status", "--run", &dir, "--json"]);
        (json(&["store", "stats", "--run", &dir, "--json"]), status["networks"].clone())
    });
    assert_eq!(facts[0], facts[1]);
}

#[test]
fn kill_at_any_moment_loses_no_stored_game() {
    let folder = tempfile::tempdir().unwrap();
    let (config, run) = (config(folder.path()), folder.path().join("run"));
    let dir = run.to_str().unwrap();
    let mut games = 0;
    for kill in 1..=6u64 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tengen"))
            .args(["loop", "--config", config.to_str().unwrap(), "--run", dir])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(250 + 173 * kill));
        child.kill().unwrap();
        child.wait().unwrap();
        if !tengen(&["status", "--run", dir]).status.success() {
            continue; // killed before the run's row was written
        }
        let check = json(&["store", "fsck", "--run", dir, "--json"]);
        assert_eq!(check["ok"], true, "after kill {kill}: {check}");
        let now = check["games"].as_u64().unwrap();
        assert!(now >= games, "after kill {kill}: {games} games became {now}");
        games = now;
    }
    assert!(games > 0, "the loop never stored a game");
}

#[test]
fn a_second_loop_on_the_same_run_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (config, run) = (config(folder.path()), folder.path().join("run"));
    std::fs::create_dir_all(&run).unwrap();
    let lock = std::fs::File::create(run.join("loop.lock")).unwrap();
    lock.try_lock().unwrap();
    let output =
        tengen(&["loop", "--config", config.to_str().unwrap(), "--run", run.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("already running"));
}

#[test]
fn refusals_are_one_clear_message_and_exit_code_one() {
    let folder = tempfile::tempdir().unwrap();
    let bad = folder.path().join("bad.toml");
    std::fs::write(&bad, "[search]\nvisit = 3\n").unwrap();
    let output = tengen(&["config", "check", bad.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("did you mean `visits`?"));
    let output = tengen(&["status", "--run", folder.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(tengen(&["no-such-command"]).status.code(), Some(2));
}

#[test]
fn perft_prints_the_published_counts() {
    let facts =
        json(&["perft", "--size", "3", "--rules", "tromp-taylor", "--depth", "4", "--json"]);
    assert_eq!(facts["counts"], serde_json::json!([1, 10, 91, 738, 5281]));
}
