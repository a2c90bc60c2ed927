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
fn more_visits_and_handicap_stones_are_what_they_are_said_to_be() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().to_str().unwrap();
    let board = ["--size", "4", "--komi", "0.5", "--opening-moves", "2", "--dir", dir, "--json"];
    let uneven = ["match", "uniform", "uniform", "--games", "20", "--visits", "60,2"];
    let facts = json(&[&uneven[..], &board].concat());
    assert_eq!((&facts["visits"], &facts["opponent_visits"]), (&60.into(), &2.into()));
    assert!(facts["score"].as_f64().unwrap() > 0.6, "sixty visits beat two: {facts}");

    let given =
        ["match", "rollouts", "rollouts", "--games", "12", "--visits", "40", "--handicap", "3"];
    let facts = json(&[&given[..], &board].concat());
    assert_eq!((&facts["handicap"], &facts["games"]), (&3.into(), &12.into()));
    assert_eq!(facts["as_black"]["wins"], 0, "the second player is Black in every game");
    assert_eq!(facts["as_black"]["losses"], 0);
    assert!(facts["score"].as_f64().unwrap() < 0.5, "three stones tell on 4x4: {facts}");
    let sprt = [&given[..], &board, &["--sprt", "0,35"]].concat();
    assert_eq!(tengen(&sprt).status.code(), Some(1));
}

#[test]
fn strength_is_measured_along_visits_and_stones() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().to_str().unwrap();
    let board = ["--size", "4", "--opening-moves", "2", "--dir", dir, "--games", "8", "--json"];
    let along = ["scaling", "visits", "--net", "uniform", "--visits", "1,40", "--out", dir];
    let rows = json(&[&along[..], &board].concat())["rows"].clone();
    assert_eq!((&rows[0]["visits"], &rows[0]["elo"]), (&1.into(), &0.0.into()));
    assert!(rows[1]["elo"].as_f64().unwrap() > 0.0, "{rows}");
    assert!(folder.path().join("scaling.svg").is_file());
    let stones =
        ["scaling", "handicap", "rollouts", "rollouts", "--stones", "0,3", "--visits", "40"];
    let facts = json(&[&stones[..], &board].concat());
    assert!(facts["rows"][0]["elo"].as_f64() > facts["rows"][1]["elo"].as_f64(), "{facts}");
    assert!(facts.get("implied_stones").is_some());
    let clock = ["scaling", "threads", "--net", "uniform", "--seconds", "0.002", "--out", dir];
    let rows = json(&[&clock[..], &board].concat())["rows"].clone();
    assert_eq!((&rows[1]["threads"], &rows[1]["games"]), (&2.into(), &8.into()));
}

#[test]
fn a_match_by_the_clock_plays_with_the_threads_it_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().to_str().unwrap();
    let board = ["match", "uniform", "uniform", "--size", "4", "--games", "2", "--dir", dir];
    let clock = ["--seconds", "0.005", "--search-threads", "2,1", "--json"];
    let facts = json(&[&board[..], &clock].concat());
    assert_eq!((&facts["seconds"], &facts["games"]), (&0.005.into(), &2.into()));
    assert!(facts["seconds_per_move"][0].as_f64().unwrap() >= 0.005);
    // Less time than one evaluation takes: a move all the same.
    let hasty = ["match", "rollouts", "rollouts", "--size", "9", "--games", "2", "--dir", dir];
    let facts = json(&[&hasty[..], &["--seconds", "0.001", "--json"]].concat());
    assert_eq!(facts["games"], 2);
    for wrong in [["--seconds", "0"], ["--seconds", "NaN"], ["--search-threads", "2"]] {
        assert_ne!(tengen(&[&board[..], &wrong].concat()).status.code(), Some(0), "{wrong:?}");
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
