//! Ladders for the suite: the rules' reader, from the attacker's side.

use tengen_rules::{GameState, LadderReader, Move, Point};

use super::SolverError;

/// The moves, as action indices, that put the chain at `target` (not the player's own) in atari and
/// take it whatever its owner does, as [`LadderReader`] reads. `budget` bounds the moves tried.
///
/// # Errors
/// [`SolverError::Budget`].
pub fn ladder_moves(
    state: &GameState,
    target: Point,
    budget: u64,
) -> Result<Vec<usize>, SolverError> {
    let found = LadderReader::new(state).catching_moves(target, budget);
    let found = found.ok_or(SolverError::Budget(budget))?;
    let legal = |mv: &Move| state.check(*mv).is_ok();
    let moves = found.into_iter().map(Move::Play).filter(legal);
    Ok(moves.map(|mv| state.size().action(mv)).collect())
}
