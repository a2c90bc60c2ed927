//! Speed, each figure beside a signature that only a change of behaviour moves.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::json;
use tengen_inference::{Leaf, LeafEvaluator, UniformEvaluator};
use tengen_network::NativeEvaluator;
use tengen_rules::{BoardSize, GameState, Komi, Rules, Symmetry};
use tengen_search::{SearchConfig, search_move};

use crate::args::BenchCommand;
use crate::config::Config;

/// Runs one bench and prints it.
pub fn run(what: &BenchCommand) -> Result<()> {
    let (facts, as_json) = match what {
        BenchCommand::Inference { config, batch, seconds, json } => {
            (inference(&Config::load(config)?, *batch, *seconds)?, *json)
        }
        BenchCommand::Rules { rounds, json } => (crate::bench_rules::measure(*rounds, 200)?, *json),
        BenchCommand::Search { size, visits, moves, json } => {
            (search(*size, *visits, *moves)?, *json)
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

/// One thread of search on one tree a move, the evaluator answering at once.
fn search(size: usize, visits: u32, moves: usize) -> Result<serde_json::Value> {
    let config = SearchConfig { visits, ..SearchConfig::default() };
    let size = BoardSize::square(size)?;
    let mut state = GameState::new(size, Rules::tromp_taylor(), Komi::from_points(7.5)?);
    let mut evaluator = UniformEvaluator;
    let (began, mut simulations, mut signature) = (Instant::now(), 0u64, 0u64);
    for number in 0..moves {
        let (action, stats) = search_move(&mut evaluator, &state, &config, number as u64)?;
        simulations += u64::from(stats.visits);
        for child in &stats.children {
            signature = signature
                .rotate_left(5)
                .wrapping_add(child.action as u64 * 31 + u64::from(child.visits));
        }
        state.play(size.move_at(action)).context("the search chose an illegal move")?;
        if state.is_over() {
            state = GameState::new(size, Rules::tromp_taylor(), Komi::from_points(7.5)?);
        }
    }
    let rate = simulations as f64 / began.elapsed().as_secs_f64();
    Ok(json!({
        "what": "search", "threads": 1, "visits": visits, "simulations": simulations,
        "simulations_per_s": rate, "signature": format!("{signature:016x}"),
    }))
}
