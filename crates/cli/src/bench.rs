//! Speed, each figure beside a signature that only a change of behaviour moves.

use std::time::Instant;

use anyhow::{Context, Result};
use serde_json::json;
use tengen_inference::UniformEvaluator;
use tengen_rules::{BoardSize, GameState, Komi, Rules};
use tengen_search::{SearchConfig, search_move};

use crate::args::BenchCommand;
use crate::bench_inference;

/// Runs one bench and prints it.
pub fn run(what: &BenchCommand) -> Result<()> {
    let (facts, as_json) = match what {
        BenchCommand::Inference(args) => (bench_inference::run(args)?, args.json),
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
