//! Move-path counts, the exact test of a rules implementation.

use crate::GameState;

/// The number of move sequences of each length 0 to `depth`: passes count, a finished game has no
/// continuation. `[1, 10, 91, …]` for the empty 3x3 board.
///
/// Only legality and two passes count, as in published tables: the long cycles that end a game
/// under simple ko go on here.
pub fn perft(state: &GameState, depth: usize) -> Vec<u64> {
    let mut counts = vec![0; depth + 1];
    let mut start = state.clone();
    start.cycles_end = false;
    count(&start, &mut counts);
    counts
}

fn count(state: &GameState, counts: &mut [u64]) {
    counts[0] += 1;
    let [_, deeper @ ..] = counts else { return };
    if deeper.is_empty() {
        return;
    }
    let legal = state.legal_moves();
    if let [leaves] = deeper {
        *leaves += legal.count() as u64;
        return;
    }
    for action in legal.iter() {
        let mut next = state.clone();
        next.play(state.size().move_at(action)).expect("the mask holds legal moves");
        count(&next, deeper);
    }
}
