//! Facts collected from other programs' tests and from real files, where they are at hand.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use serde_json::Value;
use tengen_record::sgf::{SgfError, parse_collection, parse_trees};
use tengen_rules::{Color, Rules};

fn folder(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/")).join(name);
    if !path.exists() {
        eprintln!("skipped: {name} is not here");
        return None;
    }
    Some(path)
}

fn cases() -> Vec<Value> {
    let Some(path) = folder("facts/sgf.json") else { return Vec::new() };
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Standard base64 with padding.
fn base64(text: &str) -> Vec<u8> {
    let digit = |b: u8| match b {
        b'A'..=b'Z' => Some(b - b'A'),
        b'a'..=b'z' => Some(b - b'a' + 26),
        b'0'..=b'9' => Some(b - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let digits: Vec<u32> = text.bytes().filter_map(digit).map(u32::from).collect();
    let mut out = Vec::new();
    for group in digits.chunks(4) {
        let bits = group.iter().enumerate().fold(0, |bits, (i, d)| bits | d << (18 - 6 * i));
        out.extend(bits.to_be_bytes()[1..].iter().take(group.len() - 1));
    }
    out
}

fn bytes(case: &Value) -> Vec<u8> {
    match (&case["sgf"], &case["sgf_base64"]) {
        (Value::String(text), _) => text.clone().into_bytes(),
        (_, Value::String(text)) => base64(text),
        _ => panic!("no input in {case}"),
    }
}

#[test]
fn text_values_read_as_stated() {
    for case in cases() {
        let expected = &case["expected"];
        for name in ["C", "PB"] {
            let Some(expected) = expected[name].as_str().filter(|t| !t.contains(':')) else {
                continue;
            };
            let tree = parse_trees(&bytes(&case)).remove(0).unwrap();
            assert_eq!(tree.nodes[0].text(name).as_deref(), Some(expected), "{}", case["id"]);
        }
        if let Some(text) = expected["text"].as_str() {
            let tree = parse_trees(&bytes(&case)).remove(0).unwrap();
            let name = text.trim_start_matches("best effort: ");
            assert_eq!(tree.nodes[0].text("PB").as_deref(), Some(name), "{}", case["id"]);
            assert_eq!(parse_collection(&bytes(&case)).remove(0).unwrap().moves.len(), 1);
        }
    }
}

#[test]
fn trees_collections_and_moves_read_as_stated() {
    for case in cases() {
        let (id, expected) = (&case["id"], &case["expected"]);
        let trees = parse_trees(&bytes(&case));
        if let Some(nodes) = expected["main_sequence_nodes_and_children"][0].as_u64() {
            let tree = trees[0].as_ref().unwrap();
            assert_eq!(tree.main_line().count() as u64, nodes, "{id}");
        }
        if let Some(games) = expected["games"].as_u64() {
            assert_eq!(trees.iter().flatten().count() as u64, games, "{id}");
        }
        if let Some(moves) = expected["moves"].as_array() {
            let game = parse_collection(&bytes(&case)).remove(0).unwrap();
            let found: Vec<_> = (game.moves.iter())
                .map(|&(color, mv)| format!("{} {}", color.letter(), game.size.vertex(mv)))
                .collect();
            assert_eq!(*moves, found, "{id}");
        }
        if expected["B"].as_str().is_some_and(|text| text.starts_with("error")) {
            let found = parse_collection(&bytes(&case)).remove(0);
            assert!(matches!(found, Err(SgfError::Value { .. })), "{id}");
        }
        if let Some(stones) = expected["black_stones"].as_u64() {
            let game = parse_collection(&bytes(&case)).remove(0).unwrap();
            assert_eq!(game.setup_black.len() as u64, stones, "{id}");
        }
        if let Some(komi) = expected["komi"].as_f64() {
            let game = parse_collection(&bytes(&case)).remove(0).unwrap();
            assert_eq!(game.komi.map(|k| k.points()), Some(komi), "{id}");
        }
        if case["category"] == "malformed" && expected["strict"].is_string() {
            assert!(trees[0].is_err(), "{id}");
        }
    }
}

#[test]
fn real_files_replay_to_their_known_captures() {
    let Some(folder) = folder("sgf") else { return };
    let manifest = std::fs::read(folder.join("manifest.json")).unwrap();
    let manifest: Vec<Value> = serde_json::from_slice(&manifest).unwrap();
    // Legality as looser rules have it: the files come from all over the world.
    let rules: Rules = Rules::by_name("chinese").unwrap();
    let mut replayed = 0;
    for entry in &manifest {
        let file = entry["file"].as_str().unwrap();
        let found = parse_collection(&std::fs::read(folder.join(file)).unwrap()).remove(0);
        if entry["parse"] != "ok" {
            eprintln!("{file}: {:?}, here {}", entry["parse"], found.is_ok());
            continue;
        }
        let mut game = found.unwrap_or_else(|e| panic!("{file}: {e}"));
        assert_eq!(Some(game.moves.len() as u64), entry["main_line_moves"].as_u64(), "{file}");
        game.rules = Some(rules);
        let record = match game.to_record(rules) {
            Ok(record) => record,
            Err(error) => {
                eprintln!("{file}: {error}");
                continue;
            }
        };
        let last = record.validate().unwrap_or_else(|e| panic!("{file}: {e}"));
        for (key, color) in [("B", Color::Black), ("W", Color::White)] {
            let expected = entry["final_captures"][key].as_u64();
            assert_eq!(Some(u64::from(last.captures(color))), expected, "{file} {key}");
        }
        replayed += 1;
    }
    assert!(replayed * 10 >= manifest.len() * 8, "only {replayed} of {}", manifest.len());
}
