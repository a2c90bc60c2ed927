//! What the engine makes of its evaluators: threads on one tree, and heads for score and ownership.
#![allow(clippy::unwrap_used)]

mod common;

use std::io::{BufReader, Read};
use std::time::{Duration, Instant};

use common::say;
use serde_json::Value as Json;
use tengen_gtp::{AnalysisEngine, AnalysisOptions, Engine, EngineInfo, Perspective};
use tengen_inference::{Evaluation, LeafEvaluator, ScriptedEvaluator, UniformEvaluator};
use tengen_rules::{BoardSize, Value};
use tengen_search::SearchConfig;

fn engine(evaluator: Box<dyn LeafEvaluator>, visits: u32) -> Engine {
    let size = BoardSize::square(5).unwrap();
    let search = SearchConfig { visits, ..SearchConfig::default() };
    Engine::new(evaluator, search, EngineInfo { size, ..EngineInfo::default() })
}

fn three_threads(make: impl Fn() -> Box<dyn LeafEvaluator>, visits: u32) -> Engine {
    engine(make(), visits).with_threads((0..3).map(|_| make()).collect()).unwrap()
}

fn uniform() -> Box<dyn LeafEvaluator> {
    Box::new(UniformEvaluator)
}

/// Even priors; the player to move leads by 3.5 points and owns the top left corner.
fn opinionated() -> Box<dyn LeafEvaluator> {
    Box::new(ScriptedEvaluator::new(|leaf| {
        let legal = leaf.state.legal_moves();
        let mut policy = vec![0.0; leaf.state.size().actions()];
        legal.iter().for_each(|action| policy[action] = 1.0 / legal.iter().count() as f32);
        let mut ownership = vec![0.0; leaf.state.size().area()];
        ownership[0] = 1.0;
        let said = Evaluation::new(policy, Value::new(0.2));
        Ok(Evaluation { score: Some(3.5), ownership: Some(ownership), ..said })
    }))
}

/// Lines, the last first, that come a fifth of a second apart.
struct Slowly(Vec<&'static str>);

impl Read for Slowly {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        std::thread::sleep(Duration::from_millis(200));
        let line = self.0.pop().unwrap_or_default().as_bytes();
        into[..line.len()].copy_from_slice(line);
        Ok(line.len())
    }
}

/// The numbers behind each `name` of a report, as far as they go.
fn numbers(report: &str, name: &str) -> Vec<Vec<f64>> {
    let mut words = report.split_whitespace().peekable();
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        if word == name {
            let mut own = Vec::new();
            while let Some(number) = words.peek().and_then(|word| word.parse().ok()) {
                own.push(number);
                words.next();
            }
            found.push(own);
        }
    }
    found
}

#[test]
fn threads_make_as_many_visits_as_one() {
    for visits in [1, 2, 50, 700] {
        let mut engine = three_threads(uniform, visits);
        let report = say(&mut engine, "kata-analyze b rootInfo true");
        let of_moves: f64 = numbers(&report, "edgeVisits").iter().map(|n| n[0]).sum();
        assert_eq!(of_moves, f64::from(visits), "{report}");
        assert!(say(&mut engine, "genmove b").starts_with("="));
        assert_eq!(say(&mut engine, "undo"), "=");
    }
}

#[test]
fn threads_stop_for_the_clock_and_for_a_line() {
    // Far more visits than there is time for.
    let mut engine = three_threads(uniform, 2_000_000_000);
    assert_eq!(say(&mut engine, "kata-set-param maxTime 0.05"), "=");
    let began = Instant::now();
    assert!(say(&mut engine, "genmove b").starts_with("="));
    let mut out = Vec::new();
    let lines = Slowly(vec!["quit\n", "lz-analyze 1\n", "name\n", "kata-analyze 1\n"]);
    engine.run(BufReader::new(lines), &mut out).unwrap();
    assert!(began.elapsed() < Duration::from_secs(60), "it searched to the end");
    let text = String::from_utf8(out).unwrap();
    assert!(
        text.starts_with("=\ninfo move ") && text.contains("\n\n= Tengen\n\n=\ninfo"),
        "{text}"
    );
    assert!(text.ends_with("\n\n=\n\n"), "{text}");
}

#[test]
fn a_thread_that_fails_is_an_error_and_the_game_stays() {
    let fails = || -> Box<dyn LeafEvaluator> {
        Box::new(ScriptedEvaluator::new(|_| Ok(Evaluation::new(vec![f32::NAN], Value::new(0.0)))))
    };
    let mut engine = engine(uniform(), 50).with_threads(vec![uniform(), fails()]).unwrap();
    let mut refused = 0;
    for _ in 0..50 {
        let answer = say(&mut engine, "genmove b");
        if answer.starts_with("? cannot search: ") {
            refused += 1;
            continue;
        }
        assert!(answer.starts_with("="), "{answer}");
        assert_eq!(say(&mut engine, "undo"), "=");
    }
    assert!(refused > 0, "the failing thread never got a leaf");
    assert!(say(&mut engine, "showboard").starts_with("="));
}

#[test]
fn no_evaluator_for_the_threads_is_refused() {
    assert!(engine(uniform(), 5).with_threads(Vec::new()).is_err());
}

#[test]
fn points_come_from_the_network_where_it_has_heads_for_them() {
    let mut engine = engine(opinionated(), 20);
    for (player, lead, corner) in [("b", "+3.5", "1.000"), ("w", "-3.5", "-1.000")] {
        let report =
            say(&mut engine, &format!("kata-analyze {player} ownership true rootInfo true"));
        let leads = numbers(&report, "scoreLead");
        let (root, moves) = leads.split_last().unwrap();
        assert_eq!(root[0], 3.5, "the player's own position, for the player");
        assert!(!moves.is_empty() && moves.iter().all(|lead| lead[0] == -3.5), "{report}");
        assert_eq!(numbers(&report, "ownership")[0][..2], [1.0, 0.0]);
        let raw = say(&mut engine, &format!("kata-raw-nn {player} 0"));
        let sign = if player == "w" { 1.0 } else { -1.0 };
        assert_eq!(numbers(&raw, "whiteLead"), [[sign * 3.5]]);
        assert_eq!(numbers(&raw, "whiteOwnership")[0][..2], [sign, 0.0]);
        // 24 points of 25 may still fall to either.
        let text = say(&mut engine, "tengen-lead");
        assert_eq!(text, format!("= {lead} ± 4.9 for Black"));
        assert!(say(&mut engine, "tengen-ownership").starts_with(&format!("= {corner} 0.000")));
        if player == "b" {
            assert_eq!(say(&mut engine, "play b c3"), "=");
        }
    }
}

#[test]
fn analysis_names_the_source_of_its_points() {
    let query = r#"{"id":"q","moves":[["B","C3"]],"rules":"tromp-taylor","boardXSize":5,
        "boardYSize":5,"maxVisits":20,"includeOwnership":true}"#
        .replace('\n', "");
    for (evaluator, source) in [(opinionated(), "network"), (uniform(), "rollouts")] {
        let options =
            AnalysisOptions { perspective: Perspective::Black, ..AnalysisOptions::default() };
        let mut engine = AnalysisEngine::new(evaluator, SearchConfig::default(), options);
        engine.take(&query);
        while !engine.is_idle() {
            engine.step();
        }
        let answer: Json = serde_json::from_str(&engine.take_answers()[0]).unwrap();
        assert_eq!(answer["rootInfo"]["scoreSource"], source, "{answer}");
        if source == "network" {
            // White is to move and leads; after White's move Black does.
            assert_eq!(answer["rootInfo"]["scoreLead"], -3.5);
            assert_eq!(answer["moveInfos"][0]["scoreLead"], 3.5);
            assert_eq!(answer["ownership"][0], -1.0);
        }
    }
}
