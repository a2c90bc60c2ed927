//! The definition of a self-play game: one slot, one evaluator, to the end.

use std::sync::Arc;

use tengen_inference::{EvalError, LeafEvaluator};
use tengen_record::GameRecord;
use tengen_search::SearchConfig;

use crate::batch::LeafBatch;
use crate::{GameDefinition, GameSettings, GameSlot, SelfPlayConfig};

/// Plays one game and returns its record, with `players` named Black first and without a config
/// digest. The same seed and the same evaluations give the same game, bit for bit.
///
/// # Errors
/// The evaluator's.
pub fn play_game(
    evaluator: &mut dyn LeafEvaluator,
    config: &SelfPlayConfig,
    search: &SearchConfig,
    settings: &GameSettings,
    seed: u64,
    players: [String; 2],
) -> Result<GameRecord, EvalError> {
    play_under(evaluator, Arc::new(GameDefinition::new(config, search, settings)), seed, players)
}

/// [`play_game`] of a definition that may have [`Conditions`](crate::Conditions) of its own.
///
/// # Errors
/// The evaluator's.
pub fn play_under(
    evaluator: &mut dyn LeafEvaluator,
    game: Arc<GameDefinition>,
    seed: u64,
    players: [String; 2],
) -> Result<GameRecord, EvalError> {
    let mut slot = GameSlot::new(game, seed);
    let mut batch = LeafBatch::default();
    while slot.select(&mut batch) > 0 {
        let answers = batch.evaluate(evaluator)?;
        for (leaf, answer) in batch.drain().zip(&answers) {
            slot.answer(leaf, answer);
        }
    }
    Ok(slot.finish(players, String::new()))
}
