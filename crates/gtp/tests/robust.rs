//! Whatever comes in, an answer goes out: seeded random bytes, words and JSON.
#![allow(clippy::unwrap_used)]

mod common;

use common::{engine, say};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use tengen_gtp::{AnalysisEngine, AnalysisOptions};
use tengen_inference::UniformEvaluator;
use tengen_search::SearchConfig;

const WORDS: [&str; 44] = [
    "b",
    "w",
    "black",
    "White",
    "pass",
    "PASS",
    "A1",
    "c3",
    "E5",
    "Z99",
    "I3",
    "0",
    "1",
    "5",
    "-1",
    "2.5",
    "1e400",
    "nan",
    "inf",
    "999999999999999999999",
    "none",
    "canadian",
    "byoyomi",
    "fischer",
    "all",
    "alive",
    "dead",
    "japanese",
    "{\"ko\":3}",
    "{}",
    "interval",
    "avoid",
    "allow",
    "minmoves",
    "maxmoves",
    "rootInfo",
    "true",
    "ownership",
    "maxVisits",
    "ko",
    "SIMPLE",
    "é",
    "\u{7}",
    "/no/such/file",
];

#[test]
fn no_line_of_words_or_bytes_is_without_an_answer() {
    let listed = say(&mut engine(), "list_commands");
    let commands: Vec<&str> = listed
        .trim_start_matches("= ")
        .lines()
        .filter(|name| !matches!(*name, "quit" | "printsgf" | "loadsgf"))
        .collect();
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut engine = engine();
    say(&mut engine, "boardsize 5");
    for round in 0..6_000 {
        let mut line = match rng.random_range(0..10) {
            0 => {
                let bytes: Vec<u8> = (0..rng.random_range(0..60)).map(|_| rng.random()).collect();
                String::from_utf8_lossy(&bytes).into_owned()
            }
            _ => (*commands.choose(&mut rng).unwrap()).to_owned(),
        };
        for _ in 0..rng.random_range(0..5) {
            line += " ";
            line += WORDS.choose(&mut rng).unwrap();
        }
        if let Some(answer) = engine.handle(&line) {
            assert!(answer.starts_with(['=', '?']), "{line}: {answer}");
            assert!(answer.ends_with("\n\n"), "{line}: {answer}");
            assert!(!answer[..answer.len() - 2].contains("\n\n"), "{line}: {answer}");
        }
        if round % 200 == 0 {
            say(&mut engine, "kata-set-params {\"maxVisits\":16,\"maxTime\":1e20}");
            say(&mut engine, "time_settings 0 1 0");
            say(&mut engine, "boardsize 5");
        }
    }
}

fn random_value(rng: &mut ChaCha8Rng, depth: u32) -> Value {
    match rng.random_range(0..if depth > 2 { 7 } else { 9 }) {
        0 => Value::Null,
        1 => json!(rng.random::<bool>()),
        2 => json!(rng.random_range(-3..30)),
        3 => json!(rng.random_range(-1e18..1e18)),
        4 => json!(i64::MAX),
        5 | 6 => json!(WORDS.choose(rng).unwrap()),
        7 => (0..rng.random_range(0..4)).map(|_| random_value(rng, depth + 1)).collect(),
        _ => json!({ "player": random_value(rng, depth + 1), "moves": ["A1"], "untilDepth": 1,
                     "ko": random_value(rng, depth + 1) }),
    }
}

#[test]
fn every_query_gets_an_answer_or_an_error() {
    let fields = [
        "id",
        "moves",
        "initialStones",
        "initialPlayer",
        "rules",
        "komi",
        "whiteHandicapBonus",
        "boardXSize",
        "boardYSize",
        "analyzeTurns",
        "rootPolicyTemperature",
        "analysisPVLen",
        "includeOwnership",
        "includePolicy",
        "avoidMoves",
        "allowMoves",
        "overrideSettings",
        "priority",
        "priorities",
        "action",
        "terminateId",
        "turnNumbers",
    ];
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let search = SearchConfig { visits: 4, ..SearchConfig::default() };
    let options = AnalysisOptions { score_games: 1, ..AnalysisOptions::default() };
    let mut engine = AnalysisEngine::new(Box::new(UniformEvaluator), search, options);
    for _ in 0..4_000 {
        let mut query = json!({ "id": "x", "moves": [["B", "A1"], ["W", "b2"]], "komi": 1,
            "rules": "tromp-taylor", "boardXSize": 3, "boardYSize": 4, "maxVisits": 3 });
        for _ in 0..rng.random_range(0..4) {
            query[*fields.choose(&mut rng).unwrap()] = random_value(&mut rng, 0);
        }
        let mut line = query.to_string().into_bytes();
        if rng.random_range(0..4) == 0 {
            let at = rng.random_range(0..line.len());
            line[at] = rng.random();
        }
        engine.take(&String::from_utf8_lossy(&line));
        while !engine.is_idle() {
            engine.step();
        }
        for answer in engine.take_answers() {
            let answer: Value = serde_json::from_str(&answer).unwrap();
            assert!(answer.is_object());
        }
    }
}
