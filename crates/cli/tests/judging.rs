//! The judging commands as their users run them.

#![allow(clippy::unwrap_used)] // helpers of tests may unwrap as tests do

use std::process::{Command, Output};

use serde_json::Value;

fn tengen(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tengen")).args(args).output().unwrap()
}

fn json(args: &[&str]) -> Value {
    let output = tengen(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_gate_s_arithmetic_can_be_asked_for() {
    let counts = ["--wins", "114", "--losses", "131", "--draws", "0"];
    let facts = json(&[&["gate", "llr"], &counts[..], &["--elo1", "35", "--json"]].concat());
    assert!((facts["llr"].as_f64().unwrap() + 2.953601).abs() < 1e-3, "{facts}");
    assert_eq!(facts["verdict"], "reject");
    let pairs = ["gate", "llr", "--pairs", "1,2,3", "--json"];
    assert_eq!(tengen(&pairs).status.code(), Some(1));
    assert_eq!(tengen(&["gate"]).status.code(), Some(2), "the part still needs its config");
    let rows = json(&["gate", "simulate", "--games", "3", "--json"])["rows"].clone();
    let row = &rows.as_array().unwrap()[0];
    for key in ["gate", "true_elo", "pass_rate", "mean_games"] {
        assert!(!row[key].is_null(), "{key} is missing in {row}");
    }
}

#[test]
fn a_match_asked_for_again_goes_on_where_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().to_str().unwrap();
    let play = |games: &str| {
        let game = ["match", "uniform", "uniform", "--size", "3", "--visits", "4", "--games"];
        json(&[&game[..], &[games, "--dir", dir, "--json"]].concat())
    };
    let first = play("2");
    assert_eq!((&first["resumed"], &first["games"]), (&0.into(), &2.into()));
    let longer = play("6");
    assert_eq!((&longer["resumed"], &longer["games"]), (&2.into(), &6.into()));
    let again = play("6");
    assert_eq!(again["resumed"], 6);
    for key in ["wins", "losses", "draws", "no_results"] {
        assert_eq!(longer[key], again[key]);
    }
}

#[test]
fn suites_hold_any_player_against_known_answers() {
    let net = ["--net", "uniform", "--visits", "4", "--json"];
    let tactical = json(&[&["suite"], &net[..]].concat());
    assert!(tactical["summary"][0]["problems"].as_u64().unwrap() > 0);
    let boards = json(&[&["suite", "small-boards"], &net[..]].concat());
    let row = &boards["rows"][0];
    for key in
        ["board", "known_margin", "best_first_moves", "net_margin", "net_first_move", "solved"]
    {
        assert!(row.get(key).is_some(), "{key} is missing in {row}");
    }
}
