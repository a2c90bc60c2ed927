//! Facts collected from other programs' tests and from real files, where they are at hand.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::PathBuf;

use common::sha1;
use serde_json::{Value, json};
use tengen_record::sgf::{
    SgfError, SgfGame, SgfSummary, SgfTree, check_tree, parse_collection, parse_trees,
};
use tengen_rules::{Color, Komi, Rules};

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

fn tree(case: &Value) -> SgfTree {
    parse_trees(&bytes(case)).remove(0).unwrap_or_else(|e| panic!("{}: {e}", case["id"]))
}

/// What `tengen sgf info --json` prints.
fn info(case: &Value) -> Value {
    let summary = SgfSummary::from_tree(&tree(case));
    serde_json::to_value(summary.unwrap_or_else(|e| panic!("{}: {e}", case["id"]))).unwrap()
}

fn refusal(case: &Value) -> SgfError {
    let game = parse_collection(&bytes(case)).remove(0);
    let found = game.and_then(|game| game.position(rules(), Komi::default(), usize::MAX));
    found.err().unwrap_or_else(|| panic!("{} is not refused", case["id"]))
}

/// Legality as looser rules have it: the files come from all over the world.
fn rules() -> Rules {
    Rules::by_name("chinese").unwrap()
}

/// Compares one expectation; false when it is of a kind unknown here.
fn check(case: &Value, key: &str, expected: &Value) -> bool {
    let id = case["id"].as_str().unwrap();
    let fact = |name: &str| info(case)[name].clone();
    match (key, expected) {
        ("AP", Value::Array(_)) => {
            assert_eq!(tree(case).nodes[0].composed("AP"), Some(("foo".into(), String::new())));
        }
        ("C", Value::String(text)) if text.contains("replacement") => {
            assert_eq!(fact("properties")["C"], "\u{fffd}", "{id}");
            assert_eq!(fact("size"), json!([19, 19]), "{id}");
        }
        ("C" | "PB" | "XX" | "YY", text) => assert_eq!(fact("properties")[key], *text, "{id}"),
        ("text", Value::String(text)) => {
            let name = text.trim_start_matches("best effort: ");
            assert_eq!(fact("properties")["PB"], name, "{id}");
        }
        ("move", _) => assert_eq!(fact("moves"), json!(["B Q16"]), "{id}"),
        ("main_sequence_nodes_and_children", value) => {
            assert_eq!(tree(case).main_line().count() as u64, value[0], "{id}");
        }
        ("games", games) => {
            let found = parse_trees(&bytes(case)).iter().flatten().count();
            assert_eq!(found as u64, *games, "{id}");
        }
        ("first_game_main_nodes", _) => {
            let tree = parse_trees(&bytes(case)).into_iter().flatten().next().unwrap();
            // The nodes before the first variation.
            let before = tree.main_line().take_while(|node| node.raw("B").is_none()).count();
            assert_eq!(before as u64, *expected, "{id}");
        }
        ("size", size) => assert_eq!(fact("size"), json!([size, size]), "{id}"),
        ("moves_xy0", Value::Array(points)) => {
            let letter = |x: usize| match "ABCDEFGHJKLMNOPQRSTUVWXYZ".chars().nth(x % 25) {
                Some(c) if x >= 25 => format!("A{c}"),
                Some(c) => c.to_string(),
                None => String::new(),
            };
            let colors = ["B", "W"].iter().cycle();
            let expected: Vec<String> = points
                .iter()
                .zip(colors)
                .map(|(p, color)| {
                    let xy = [0, 1].map(|i| p[i].as_u64().unwrap() as usize);
                    format!("{color} {}{}", letter(xy[0]), 37 - xy[1])
                })
                .collect();
            assert_eq!(fact("moves"), json!(expected), "{id}");
            assert!(parse_collection(&bytes(case))[0].is_err(), "{id}: too large to play on");
        }
        ("B", Value::String(text)) if text.starts_with("error") => {
            assert!(matches!(refusal(case), SgfError::Value { .. }), "{id}");
        }
        ("B", Value::String(text)) => {
            let vertex = if text.starts_with("pass") { "B pass" } else { "B U2" };
            assert_eq!(fact("moves"), json!([vertex]), "{id}");
        }
        ("black_stones", stones) => {
            assert_eq!(fact("setup")["black"].as_array().unwrap().len() as u64, *stones, "{id}");
        }
        ("result", Value::String(text)) if text.contains("6 stones") => {
            assert_eq!(fact("setup")["black"].as_array().unwrap().len(), 6, "{id}");
        }
        ("result", Value::String(text)) if text.contains("setup position") => {
            assert!(matches!(refusal(case), SgfError::Setup { .. }), "{id}");
        }
        ("result", Value::String(text)) if text.starts_with("decode") => {
            assert_eq!(fact("properties")["C"], "abc", "{id}");
            assert_eq!(fact("moves"), json!(["B A9"]), "{id}");
        }
        ("result", Value::String(text)) if text.starts_with("skip junk") => {
            let place = refusal(case).place();
            assert_eq!((place.line, place.column), (3, 1), "{id}");
        }
        ("result", Value::String(text)) if text.starts_with("reject") => {
            assert!(matches!(refusal(case), SgfError::NotGo { .. }), "{id}");
        }
        ("moves", moves) => assert_eq!(fact("moves"), *moves, "{id}"),
        ("B_move_must_not_be_dropped", _) => assert_eq!(fact("to_play"), "B", "{id}"),
        ("komi", Value::Number(komi)) => assert_eq!(fact("komi").as_f64(), komi.as_f64(), "{id}"),
        ("komi", Value::String(_)) => {
            assert_eq!(fact("komi"), 0.0, "{id}");
            assert!(fact("notes").to_string().contains("no komi"), "{id}");
        }
        ("acceptable", _) => {
            let komi = if id.ends_with("375") { 7.5 } else { 6.5 };
            assert_eq!(fact("komi"), komi, "{id}");
        }
        ("forbidden", komi) => assert_ne!(fact("komi").as_f64(), komi.as_f64(), "{id}"),
        ("winner", Value::String(text)) if text.is_empty() => {
            assert_eq!(fact("winner"), Value::Null, "{id}");
        }
        ("winner", winner) => assert_eq!(fact("winner"), *winner, "{id}"),
        ("margin", Value::String(text)) if text.starts_with("unparsed") => {
            assert_eq!(fact("result"), "白胜43.5目", "{id}");
        }
        ("margin", Value::Number(n)) => assert_eq!(fact("margin").as_f64(), n.as_f64(), "{id}"),
        ("margin", margin) => assert_eq!(fact("margin"), *margin, "{id}"),
        ("MN", _) => assert!(tree(case).nodes[0].number("MN").is_err(), "{id}"),
        ("preserve_on_rewrite", Value::String(text)) => {
            assert!(tree(case).to_text().contains(text), "{id}");
        }
        ("last_node_has_no_move", _) => {
            let tree = tree(case);
            let last = tree.main_line().last().unwrap();
            // In this file the tail belongs to the node of the last move.
            assert!(last.raw("OS").is_some(), "{id}");
            assert_eq!(fact("moves").as_array().unwrap().len(), 2, "{id}");
        }
        ("strict", _) => {
            let trees = parse_trees(&bytes(case));
            assert!(matches!(trees[0], Err(SgfError::Syntax { .. })), "{id}");
        }
        ("required", _) => {}
        _ => return false,
    }
    true
}

#[test]
fn every_fact_reads_as_stated() {
    for case in cases() {
        let Value::Object(expected) = &case["expected"] else { panic!("{case}") };
        for (key, value) in expected {
            assert!(check(&case, key, value), "nobody checks {key} of {}", case["id"]);
        }
    }
}

fn manifest() -> Vec<(Value, Vec<u8>)> {
    let Some(folder) = folder("sgf") else { return Vec::new() };
    let manifest = std::fs::read(folder.join("manifest.json")).unwrap();
    let entries: Vec<Value> = serde_json::from_slice(&manifest).unwrap();
    let read = |entry: Value| {
        let bytes = std::fs::read(folder.join(entry["file"].as_str().unwrap())).unwrap();
        (entry, bytes)
    };
    entries.into_iter().map(read).collect()
}

/// Rows from the top, `.` `X` `O`, joined by line breaks.
fn drawing(position: &tengen_record::sgf::Position) -> String {
    let (state, size) = (position.state(), position.state().size());
    let row = |row| -> String {
        let cell = |col| match state.stone(size.point(col, row)) {
            None => '.',
            Some(Color::Black) => 'X',
            Some(Color::White) => 'O',
        };
        (0..size.width()).map(cell).collect()
    };
    (0..size.height()).map(row).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_real_file_replays_to_its_known_board() {
    for (entry, bytes) in manifest() {
        let file = entry["file"].as_str().unwrap();
        let tree = parse_trees(&bytes).remove(0).unwrap_or_else(|e| panic!("{file}: {e}"));
        let game = SgfGame::from_tree(&tree).unwrap_or_else(|e| panic!("{file}: {e}"));
        let summary = SgfSummary::from_tree(&tree).unwrap();
        if entry["parse"] != "ok" {
            // Two files that sgfmill can't read: UTF-16, and a root without its ";".
            assert!(!game.moves.is_empty() && game.size.area() == 361, "{file}");
            continue;
        }
        assert_eq!(game.size.width() as u64, entry["size"], "{file}");
        assert_eq!(game.moves.len() as u64, entry["main_line_moves"], "{file}");
        if let Some(komi) = entry["KM"].as_f64() {
            assert_eq!(summary.komi, komi, "{file}");
        }
        assert_eq!(u64::from(summary.handicap), entry["HA"].as_u64().unwrap_or(0), "{file}");
        let text = |key: &str| entry[key].as_str().map(str::to_lowercase);
        assert_eq!(summary.result.as_deref().map(str::to_lowercase), text("RE"), "{file}");
        if let Some(name) = text("RU") {
            assert_eq!(summary.rules, Some(name), "{file}");
        }
        let position = game.position(rules(), game.komi.unwrap_or_default(), usize::MAX);
        let position = position.unwrap_or_else(|e| panic!("{file}: {e}"));
        for (key, color) in [("B", Color::Black), ("W", Color::White)] {
            let captures = u64::from(position.captures(color));
            assert_eq!(captures, entry["final_captures"][key], "{file} {key}");
        }
        let hash = sha1(drawing(&position).as_bytes());
        assert_eq!(hash, entry["final_board_sha1"].as_str().unwrap(), "{file}");
    }
}

#[test]
fn every_variation_of_the_real_files_is_legal() {
    for (entry, bytes) in manifest() {
        for tree in parse_trees(&bytes) {
            let found = check_tree(&tree.unwrap(), rules()).unwrap();
            let problems: Vec<_> = found.problems.iter().map(ToString::to_string).collect();
            assert!(problems.is_empty(), "{}: {problems:?}", entry["file"]);
        }
    }
}

#[test]
fn charsets_of_the_real_files_read_as_text() {
    let names: Vec<_> = manifest()
        .into_iter()
        .filter_map(|(entry, bytes)| {
            let file = entry["file"].as_str().unwrap().to_owned();
            let tree = parse_trees(&bytes).remove(0).unwrap();
            let root = &tree.nodes[0];
            let text = root.text("PB").or(root.text("C"))?;
            Some((file, text))
        })
        .collect();
    for (file, start) in
        [("sabaki-sgf-nihon-kiin.sgf", "申眞ソ"), ("sabaki-sgf-no-ca.sgf", "【第三型】")]
    {
        if let Some((_, text)) = names.iter().find(|(name, _)| name == file) {
            assert!(text.starts_with(start), "{file}: {text}");
        }
    }
}
