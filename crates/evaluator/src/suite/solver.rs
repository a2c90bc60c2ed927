//! Exhaustive search for positions small enough to be searched to the end.

use tengen_rules::{Color, GameState, Move, Outcome, pass_alive};
use thiserror::Error;

/// A position that was not solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SolverError {
    /// The game is over already.
    #[error("the game is over")]
    Over,
    /// It is too large for the budget.
    #[error("not solved within {0} positions")]
    Budget(u64),
}

/// The moves, as action indices, after which the player to move wins against any defence; empty
/// in a lost position. Komi is counted and superko holds as the rules of `state` say, so nothing is
/// assumed: every line is played to two passes, or to where pass-alive stones (Benson) have decided
/// who wins. `budget` bounds the positions visited.
///
/// # Errors
/// [`SolverError`].
pub fn winning_moves(state: &GameState, budget: u64) -> Result<Vec<usize>, SolverError> {
    if state.is_over() {
        return Err(SolverError::Over);
    }
    let mut left = budget;
    let mut winning = Vec::new();
    for action in state.legal_moves().iter() {
        let mut next = state.clone();
        if next.play(state.size().move_at(action)).is_err() {
            continue;
        }
        // Deeper and deeper: most proofs are short, and a deep first line need not end at all.
        let mut depth = 0;
        let lost = loop {
            match wins(&next, depth, &mut left) {
                Ok(Some(wins)) => break !wins,
                Ok(None) => depth += 1,
                Err(OutOfBudget) => return Err(SolverError::Budget(budget)),
            }
        };
        if lost {
            winning.push(action);
        }
    }
    Ok(winning)
}

struct OutOfBudget;

/// Whether the player to move wins; `None` where `depth` more moves do not tell.
fn wins(state: &GameState, depth: u32, left: &mut u64) -> Result<Option<bool>, OutOfBudget> {
    *left = left.checked_sub(1).ok_or(OutOfBudget)?;
    let player = state.to_play();
    if let Some(outcome) = state.outcome() {
        return Ok(Some(outcome.winner() == Some(player)));
    }
    if let Some(winner) = settled(state) {
        return Ok(Some(winner == player));
    }
    if depth == 0 {
        return Ok(None);
    }
    let mut open = false;
    for mv in ordered(state) {
        let mut next = state.clone();
        if next.play(mv).is_err() {
            continue;
        }
        match wins(&next, depth - 1, left)? {
            Some(false) => return Ok(Some(true)),
            Some(true) => {}
            None => open = true,
        }
    }
    Ok(if open { None } else { Some(false) })
}

/// Who has won whatever comes, because of stones that cannot be taken.
fn settled(state: &GameState) -> Option<Color> {
    let area = state.size().area() as i32;
    let alive = |color| pass_alive(state, color).into_iter().filter(|&p| p).count() as i32;
    let lead = |black: i32, white: i32| {
        Outcome::from_black_lead(2 * (black - white) - state.komi().half_points()).winner()
    };
    let (black, white) = (alive(Color::Black), alive(Color::White));
    let worst = lead(black, area - black);
    let best = lead(area - white, white);
    match (worst, best) {
        (Some(Color::Black), _) => Some(Color::Black),
        (_, Some(Color::White)) => Some(Color::White),
        _ => None,
    }
}

/// Legal moves, the likely ones first: a pass that ends a won game, captures, then the others by
/// how many liberties they leave, and last those inside what the player owns for good.
fn ordered(state: &GameState) -> Vec<Move> {
    let (size, player) = (state.size(), state.to_play());
    let pass_wins = state.consecutive_passes() > 0 && state.score_now().winner() == Some(player);
    let own = pass_alive(state, player);
    let mut moves: Vec<(i32, Move)> = state
        .legal_moves()
        .iter()
        .map(|action| {
            let mv = size.move_at(action);
            let Move::Play(point) = mv else { return (if pass_wins { 1000 } else { -1000 }, mv) };
            let mut next = state.clone();
            if next.play(mv).is_err() {
                return (-2000, mv);
            }
            let taken = (next.captures(player) - state.captures(player)) as i32;
            let liberties =
                if next.stone(point).is_some() { next.liberties(point) as i32 } else { -9 };
            let inside = if own[point.index()] { 500 } else { 0 };
            (100 * taken + liberties - inside, mv)
        })
        .collect();
    moves.sort_by_key(|&(worth, _)| -worth);
    moves.into_iter().map(|(_, mv)| mv).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tengen_rules::{BoardSize, Komi, Rules};

    fn empty(width: usize, height: usize, komi: f64) -> GameState {
        let size = BoardSize::new(width, height).unwrap();
        GameState::new(size, Rules::tromp_taylor(), Komi::from_points(komi).unwrap())
    }

    /// 1x3: Black by 3, and only from the middle; 1x4: Black by 4 (Drange's table, area scoring
    /// with superko).
    #[test]
    fn the_smallest_boards_come_out_as_published() {
        let middle = winning_moves(&empty(3, 1, 2.5), 100_000).unwrap();
        assert_eq!(middle, [1]);
        assert_eq!(winning_moves(&empty(3, 1, 3.5), 100_000).unwrap(), Vec::<usize>::new());
        assert_eq!(winning_moves(&empty(4, 1, 3.5), 1_000_000).unwrap(), [1, 2]);
        assert_eq!(winning_moves(&empty(4, 1, 4.5), 1_000_000).unwrap(), Vec::<usize>::new());
    }

    #[test]
    fn a_budget_is_a_budget() {
        assert_eq!(winning_moves(&empty(5, 5, 0.5), 100), Err(SolverError::Budget(100)));
    }
}
