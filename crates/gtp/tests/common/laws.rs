//! What holds whatever comes in: for the fuzz targets of `fuzz/`, and for their seeds in tests.
#![allow(clippy::unwrap_used, reason = "a test stops at its first surprise")]

use serde_json::Value;
use tengen_gtp::{AnalysisEngine, AnalysisOptions, Engine, EngineInfo};
use tengen_inference::UniformEvaluator;
use tengen_rules::{BoardSize, Color, GameState};
use tengen_search::SearchConfig;

/// Few visits, so that any input is cheap.
const VISITS: u32 = 6;

/// Steps that an analysis query gets before it is ended by the protocol's own order.
const STEPS: u32 = 20;

fn search() -> SearchConfig {
    SearchConfig { visits: VISITS, ..SearchConfig::default() }
}

fn ask(engine: &mut Engine, line: &str) -> String {
    engine.handle(line).unwrap_or_else(|| panic!("{line}: no answer"))
}

fn stones(state: &GameState) -> Vec<Option<Color>> {
    state.size().points().map(|point| state.stone(point)).collect()
}

/// A session of lines. Files are those of the working directory, which is left without any: a line
/// has no `/` to leave it by.
pub fn gtp_session(bytes: &[u8]) {
    let size = BoardSize::square(5).unwrap();
    let info = EngineInfo { size, score_games: 1, ..EngineInfo::default() };
    let mut engine = Engine::new(Box::new(UniformEvaluator), search(), info);
    for line in bytes.split(|&byte| byte == b'\n') {
        let line = String::from_utf8_lossy(line).replace('/', "");
        let (before, hash) = (engine.state().size(), engine.state().situation_hash());
        if let Some(answer) = engine.handle(&line) {
            assert!(answer.starts_with(['=', '?']), "{line}: {answer}");
            assert!(answer.ends_with("\n\n"), "{line}: {answer}");
            assert!(!answer[..answer.len() - 2].contains("\n\n"), "{line}: {answer}");
            if answer.starts_with('?') {
                let now = (engine.state().size(), engine.state().situation_hash());
                assert_eq!(now, (before, hash), "{line} was refused and changed the position");
            }
        }
        // Whatever was set, the next line is cheap again, and no clock makes it uncertain.
        let settings = r#"{"maxVisits":6,"maxTime":1e20,"numSearchThreads":4}"#;
        ask(&mut engine, &format!("kata-set-params {settings}"));
        ask(&mut engine, "kata-time_settings none");
    }
    what_holds_at_the_end(&mut engine);
    for file in std::fs::read_dir(".").unwrap() {
        std::fs::remove_file(file.unwrap().path()).unwrap();
    }
}

/// Both colours have a move, and the game written and read again is the same game.
fn what_holds_at_the_end(engine: &mut Engine) {
    for line in ["showboard", "final_score", "genmove b", "reg_genmove w", "all_legal w"] {
        let answer = ask(engine, line);
        assert!(answer.starts_with('='), "{line}: {answer}");
    }
    let (board, history) = (stones(engine.state()), ask(engine, "move_history"));
    let rules = engine.state().rules();
    let komi = ask(engine, "get_komi");
    assert_eq!(ask(engine, "printsgf end.sgf"), "=\n\n");
    let text = std::fs::read_to_string("end.sgf").unwrap();
    let answer = ask(engine, "loadsgf end.sgf");
    assert!(answer.starts_with('='), "{answer}{text}");
    assert_eq!(stones(engine.state()), board, "{text}");
    assert_eq!(ask(engine, "move_history"), history, "{text}");
    assert_eq!((engine.state().rules(), ask(engine, "get_komi")), (rules, komi), "{text}");
}

/// Lines of the analysis protocol, one after another, each as far as [`STEPS`] go.
pub fn analysis_lines(bytes: &[u8]) {
    let options =
        AnalysisOptions { score_games: 1, parallel: 3, cache: 64, ..AnalysisOptions::default() };
    let mut engine = AnalysisEngine::new(Box::new(UniformEvaluator), search(), options);
    for line in bytes.split(|&byte| byte == b'\n') {
        engine.take(&String::from_utf8_lossy(line));
        // Now and then two queries are in flight together.
        for _ in 0..STEPS / 5 {
            engine.step();
        }
        engine.take_answers().iter().for_each(|answer| well_formed(answer));
    }
    for _ in 0..STEPS {
        engine.step();
    }
    engine.take(r#"{"id":"end","action":"terminate_all"}"#);
    engine.step();
    assert!(engine.is_idle(), "terminate_all left something");
    engine.take_answers().iter().for_each(|answer| well_formed(answer));
    engine.take(
        r#"{"id":"last","moves":[],"rules":"japanese","boardXSize":2,"boardYSize":2,"maxVisits":2}"#,
    );
    for _ in 0..3 {
        engine.step();
    }
    let answers = engine.take_answers();
    assert!(answers.len() == 1 && answers[0].contains(r#""moveInfos":[{"#), "{answers:?}");
}

/// An answer is one line and one object, says what it is about, and no number in it is none.
fn well_formed(answer: &str) {
    assert!(!answer.contains('\n'));
    let object: Value = serde_json::from_str(answer).unwrap();
    assert!(object["id"].is_string() || object["error"].is_string(), "{answer}");
    for part in ["moveInfos", "rootInfo", "policy", "ownership"] {
        // A query that is an order is echoed, whatever it holds.
        if object.get("action").is_none() {
            assert!(!holds_null(object.get(part)), "{answer}");
        }
    }
}

fn holds_null(value: Option<&Value>) -> bool {
    match value {
        Some(Value::Null) => true,
        Some(Value::Array(list)) => list.iter().any(|value| holds_null(Some(value))),
        Some(Value::Object(object)) => object.values().any(|value| holds_null(Some(value))),
        _ => false,
    }
}
