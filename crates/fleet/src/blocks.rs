//! Plays a block of a match: the pairs that this worker has leased.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;

use tengen_evaluator::{GateConfig, MatchRunner, match_seed};
use tengen_inference::{EvalError, LeafEvaluator};
use tengen_record::encode;
use tengen_store::{Block, BlockGame, RunState};

use crate::{FleetError, Plan};

/// Plays the slots of `block` that have no game yet, one thread for each pair of evaluators (the
/// candidate's and the base's), until all are played or `should_stop`. Each game depends on the run's
/// seed, the match and its slot alone, so whoever plays a slot plays the same game.
///
/// # Errors
/// A gate's configuration that cannot be read, and the evaluators' own; games finished by then are
/// lost with the block, which somebody plays again.
pub fn play_block(
    block: &Block,
    run: &RunState,
    plan: &Plan,
    evaluators: Vec<[Box<dyn LeafEvaluator>; 2]>,
    should_stop: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<BlockGame>, FleetError> {
    let gate: GateConfig = serde_json::from_str(&block.gate_config_json)
        .map_err(|error| FleetError::Host(format!("the gate's configuration: {error}")))?;
    let start = plan.settings.initial_state();
    let seed = match_seed(run.seed, block.lease.match_id);
    let players = evaluators.len() as u32;
    let failed = AtomicBool::new(false);
    let halt = || should_stop() || failed.load(Ordering::Relaxed);
    thread::scope(|scope| {
        let (sender, games) = mpsc::channel();
        let mut threads = Vec::new();
        for (player, [mut candidate, mut base]) in (0..).zip(evaluators) {
            let mine = |pair: u32| block.pairs.contains(&pair) && pair % players == player;
            let mut skip = block.done.clone();
            let others = (0..gate.pairs).filter(|&pair| !mine(pair));
            skip.extend(others.flat_map(|pair| [(pair, 0), (pair, 1)]));
            let mut runner = MatchRunner::new(&gate, &plan.search, &start, seed, &skip);
            runner.set_names(&*block.candidate, &*block.base);
            runner.set_config_digest(&*run.config_digest);
            let (sender, halt, failed) = (sender.clone(), &halt, &failed);
            threads.push(scope.spawn(move || -> Result<(), EvalError> {
                let mut hand_over = |pair, colour, _points, record| {
                    let payload = encode(&record);
                    let payload_hash = *blake3::hash(&payload).as_bytes();
                    match sender.send(BlockGame { pair, colour, payload, payload_hash }) {
                        Ok(()) => ControlFlow::Continue(()),
                        Err(_) => ControlFlow::Break(()),
                    }
                };
                let played = runner.run(&mut *candidate, &mut *base, halt, &mut hand_over);
                failed.fetch_or(played.is_err(), Ordering::Relaxed);
                played.map(drop)
            }));
        }
        drop(sender);
        let mut games: Vec<BlockGame> = games.iter().collect();
        for thread in threads {
            thread.join().map_err(|_| FleetError::Panicked)??;
        }
        games.sort_unstable_by_key(|game| (game.pair, game.colour));
        Ok(games)
    })
}
