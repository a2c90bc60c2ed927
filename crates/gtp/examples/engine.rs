//! Both protocols without a network, in a binary that needs no tensor library:
//! `engine gtp|analysis [--net uniform|rollouts] [--visits N] [--rules R]`.

use std::io::{BufReader, stdin, stdout};
use std::num::NonZeroUsize;
use std::process::ExitCode;

use tengen_gtp::{AnalysisEngine, AnalysisOptions, Engine, EngineInfo};
use tengen_inference::{LeafEvaluator, RolloutEvaluator, UniformEvaluator};
use tengen_rules::Rules;
use tengen_search::SearchConfig;

fn run() -> Result<(), String> {
    let mut words = std::env::args().skip(1);
    let protocol = words.next().ok_or("which protocol: gtp or analysis?")?;
    let (mut search, mut info) = (SearchConfig::default(), EngineInfo::default());
    let mut evaluator: Box<dyn LeafEvaluator> = Box::new(UniformEvaluator);
    while let Some(option) = words.next() {
        let value = words.next().ok_or(format!("{option} needs a value"))?;
        match (option.as_str(), value.as_str()) {
            ("--net", "uniform") => evaluator = Box::new(UniformEvaluator),
            ("--net", "rollouts") => {
                let games = NonZeroUsize::new(4).ok_or("no games")?;
                evaluator = Box::new(RolloutEvaluator::new(games, 0));
            }
            ("--visits", visits) => {
                search.visits = visits.parse().map_err(|_| format!("{visits} is no number"))?;
            }
            ("--rules", rules) => info.rules = Rules::by_name(rules).map_err(|e| e.to_string())?,
            _ => return Err(format!("unknown: {option} {value}")),
        }
    }
    let input = BufReader::new(stdin());
    let done = match protocol.as_str() {
        "gtp" => Engine::new(evaluator, search, info).run(input, stdout().lock()),
        "analysis" => AnalysisEngine::new(evaluator, search, AnalysisOptions::default())
            .run(input, stdout().lock()),
        other => return Err(format!("no protocol is called {other}")),
    };
    done.map_err(|e| e.to_string())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::from(2)
        }
    }
}
