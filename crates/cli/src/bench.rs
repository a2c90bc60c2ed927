//! Speed, each figure beside a signature that only a change of behaviour moves.

use anyhow::Result;
use serde_json::json;
use tengen_rules::BoardSize;
use tengen_search::SearchConfig;

use crate::args::BenchCommand;
use crate::{bench_inference, bench_selfplay, bench_train};

/// The middle one, of at least one value.
pub fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Runs one bench and prints it.
pub fn run(what: &BenchCommand) -> Result<()> {
    let (facts, as_json) = match what {
        BenchCommand::Inference(args) => (bench_inference::run(args)?, args.json),
        BenchCommand::Train(args) => (bench_train::run(args)?, args.json),
        BenchCommand::Selfplay(args) => (bench_selfplay::run(args)?, args.json),
        BenchCommand::Rules { rounds, json } => (crate::bench_rules::measure(*rounds, 200)?, *json),
        BenchCommand::Search { size, visits, games, moves, json } => {
            (search(*size, *visits, *games, *moves)?, *json)
        }
    };
    if as_json {
        println!("{facts}");
    } else {
        println!("{facts:#}");
    }
    Ok(())
}

/// One thread of search on many trees, the evaluator answering at once.
fn search(size: usize, visits: u32, games: usize, moves: usize) -> Result<serde_json::Value> {
    let config = SearchConfig { visits: visits.max(1), ..SearchConfig::default() };
    let report = tengen_search::bench(BoardSize::square(size)?, &config, games, moves);
    Ok(json!({
        "what": "search", "threads": 1, "size": size, "visits": config.visits, "games": games,
        "simulations": report.simulations, "simulations_per_s": report.rate(),
        "seconds": report.elapsed.as_secs_f64(),
        "seconds_on_core": report.on_core.map(|time| time.as_secs_f64()),
        "tree_nodes": report.tree_nodes, "tree_bytes": report.tree_bytes,
        "signature": format!("{:016x}", report.signature),
    }))
}
