//! An engine that thinks evenly of every move, and a way to talk to it.
#![allow(dead_code)] // each test file uses its part

use tengen_gtp::{Engine, EngineInfo};
use tengen_inference::UniformEvaluator;
use tengen_search::SearchConfig;

pub fn engine() -> Engine {
    let search = SearchConfig { visits: 16, ..SearchConfig::default() };
    let info = EngineInfo { version: "1.0".to_owned(), ..EngineInfo::default() };
    Engine::new(Box::new(UniformEvaluator), search, info)
}

/// The answer to a line, without its terminating empty line.
pub fn say(engine: &mut Engine, line: &str) -> String {
    let answer = engine.handle(line).unwrap();
    answer.strip_suffix("\n\n").unwrap_or_else(|| panic!("{answer:?} has no end")).to_owned()
}

/// The answers of a fresh engine to a whole stream.
pub fn session(input: &str) -> Vec<String> {
    let mut out = Vec::new();
    engine().run(input.as_bytes(), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    text.split_terminator("\n\n").map(str::to_owned).collect()
}
