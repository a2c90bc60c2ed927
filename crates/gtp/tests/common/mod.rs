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
    engine().run(std::io::Cursor::new(input.to_owned()), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    text.split_terminator("\n\n").map(str::to_owned).collect()
}

/// Checks a transcript: lines sent are marked `>`, and the answers stand below them as they must
/// come; `…` stands for anything.
pub fn check_transcript(engine: &mut Engine, transcript: &str) {
    let mut lines = transcript.lines().peekable();
    while let Some(sent) = lines.next() {
        let sent = sent.strip_prefix("> ").unwrap();
        let mut expected = Vec::new();
        while let Some(line) = lines.next_if(|line| !line.starts_with('>')) {
            expected.push(line);
        }
        let expected = expected.join("\n");
        let answer = say(engine, sent);
        let fits = match expected.split_once('…') {
            Some((start, end)) => answer.starts_with(start) && answer.ends_with(end),
            None => answer == expected,
        };
        assert!(fits, "{sent}: {answer:?}, not {expected:?}");
    }
}
