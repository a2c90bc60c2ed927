//! Speed, each figure beside a signature that only a change of behaviour moves.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::json;
use tengen_inference::{Leaf, LeafEvaluator};
use tengen_network::NativeEvaluator;
use tengen_rules::{BoardSize, Symmetry};
use tengen_search::SearchConfig;

use crate::args::BenchCommand;
use crate::config::Config;

/// Runs one bench and prints it.
pub fn run(what: &BenchCommand) -> Result<()> {
    let (facts, as_json) = match what {
        BenchCommand::Inference { config, batch, seconds, json } => {
            (inference(&Config::load(config)?, *batch, *seconds)?, *json)
        }
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

/// One thread of the native path on the positions of one game.
fn inference(config: &Config, batch: usize, seconds: f64) -> Result<serde_json::Value> {
    let settings = config.rules.settings()?;
    let weights = config.network.init_weights(config.run.seed)?;
    let capacity = NonZeroUsize::new(batch).context("--batch must be at least 1")?;
    let mut evaluator = NativeEvaluator::new(&config.network, &weights, capacity)?;
    let mut states = Vec::with_capacity(batch);
    let mut state = settings.initial_state();
    while states.len() < batch {
        states.push(state.clone());
        let legal: Vec<usize> = state.legal_moves().iter().collect();
        let action = legal[(states.len() * 7919) % legal.len()];
        state.play(settings.size.move_at(action))?;
        if state.is_over() {
            state = settings.initial_state();
        }
    }
    let leaves: Vec<Leaf<'_>> =
        states.iter().map(|s| Leaf { state: s, symmetry: Symmetry::IDENTITY }).collect();
    let answers = evaluator.evaluate(&leaves)?;
    let signature: f64 = answers
        .iter()
        .map(|a| f64::from(a.value.get()) + f64::from(a.policy[a.policy.len() / 2]))
        .sum();
    let (began, mut evaluations) = (Instant::now(), 0usize);
    let limit = Duration::from_secs_f64(seconds.clamp(0.1, 600.0));
    while began.elapsed() < limit {
        evaluations += evaluator.evaluate(&leaves)?.len();
    }
    let rate = evaluations as f64 / began.elapsed().as_secs_f64();
    let flops = tengen_network::describe(&config.network, settings.size)?.flops_per_position as f64;
    Ok(json!({
        "what": "inference", "threads": 1, "batch": batch, "evals_per_s": rate,
        "gflop_per_s": rate * flops / 1e9, "signature": format!("{signature:.4}"),
    }))
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
