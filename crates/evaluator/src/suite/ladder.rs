//! Ladders read out: atari after atari until the chain is taken or breathes again.

use tengen_rules::{GameState, Move, Point};

use super::SolverError;

/// The moves, as action indices, that put the chain at `target` (not the player's own) in atari and
/// take it whatever its owner does: extend, or take a chain beside it. Each of the attacker's moves
/// is an atari, so this is exact for ladders and says nothing about nets. `budget` bounds the
/// positions visited.
///
/// # Errors
/// [`SolverError::Budget`].
pub fn ladder_moves(
    state: &GameState,
    target: Point,
    budget: u64,
) -> Result<Vec<usize>, SolverError> {
    let mut reader = Reader { target, left: budget };
    let mut working = Vec::new();
    for mv in liberties(state, target) {
        let mut next = state.clone();
        if next.play(mv).is_err() {
            continue;
        }
        let taken = next.stone(target).is_none();
        if !taken && next.liberties(target) != 1 {
            continue;
        }
        match if taken { Some(true) } else { reader.is_lost(&next) } {
            Some(true) => working.push(state.size().action(mv)),
            Some(false) => {}
            None => return Err(SolverError::Budget(budget)),
        }
    }
    working.sort_unstable();
    Ok(working)
}

/// The empty points beside the chain at `point`, as moves.
fn liberties(state: &GameState, point: Point) -> Vec<Move> {
    let size = state.size();
    let mut found: Vec<Point> = state
        .chain(point)
        .into_iter()
        .flat_map(|stone| size.neighbours(stone))
        .filter(|&beside| state.stone(beside).is_none())
        .collect();
    found.sort_unstable_by_key(|p| p.index());
    found.dedup();
    found.into_iter().map(Move::Play).collect()
}

struct Reader {
    target: Point,
    left: u64,
}

impl Reader {
    /// Whether the chain, in atari with its owner to move, is taken; `None` out of budget.
    fn is_lost(&mut self, state: &GameState) -> Option<bool> {
        for mv in self.defences(state) {
            self.left = self.left.checked_sub(1)?;
            let mut next = state.clone();
            if next.play(mv).is_err() || next.stone(self.target).is_none() {
                continue;
            }
            let escapes = match next.liberties(self.target) {
                0 | 1 => !self.can_take(&next),
                2 => !self.is_chased(&next)?,
                _ => true,
            };
            if escapes {
                return Some(false);
            }
        }
        Some(self.can_take_after_pass(state))
    }

    /// Whether some atari on the chain, which has two liberties, leads to its capture.
    fn is_chased(&mut self, state: &GameState) -> Option<bool> {
        for mv in liberties(state, self.target) {
            self.left = self.left.checked_sub(1)?;
            let mut next = state.clone();
            if next.play(mv).is_err() || next.liberties(self.target) != 1 {
                continue;
            }
            if self.is_lost(&next)? {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Extending, and taking what stands beside the chain in atari.
    fn defences(&self, state: &GameState) -> Vec<Move> {
        let mut moves = liberties(state, self.target);
        let owner = state.to_play();
        for stone in state.chain(self.target) {
            for beside in state.size().neighbours(stone) {
                let attacker = state.stone(beside) == Some(owner.opponent());
                if attacker && state.liberties(beside) == 1 {
                    moves.extend(liberties(state, beside));
                }
            }
        }
        moves
    }

    /// Whether the player to move takes the chain now: ko may forbid it.
    fn can_take(&self, state: &GameState) -> bool {
        liberties(state, self.target).into_iter().any(|mv| {
            let mut next = state.clone();
            next.play(mv).is_ok() && next.stone(self.target).is_none()
        })
    }

    fn can_take_after_pass(&self, state: &GameState) -> bool {
        let mut passed = state.clone();
        passed.play(Move::Pass).is_ok() && self.can_take(&passed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use tengen_rules::{Color, Komi, Rules};

    fn position(rows: &[&str]) -> GameState {
        let komi = Komi::from_points(0.5).unwrap();
        GameState::from_text(rows, Color::Black, Rules::tromp_taylor(), komi).unwrap()
    }

    fn catches(rows: &[&str], target: &str) -> Vec<String> {
        let state = position(rows);
        let Ok(Move::Play(target)) = state.size().parse_vertex(target) else { panic!("{target}") };
        let found = ladder_moves(&state, target, 10_000).unwrap();
        found.iter().map(|&a| state.size().vertex(state.size().move_at(a))).collect()
    }

    #[test]
    fn a_ladder_works_unless_a_stone_stands_in_its_way() {
        let atari = [".......", ".......", ".......", "..XX...", ".XO....", "..X....", "......."];
        assert_eq!(catches(&atari, "C3"), ["D3"], "one liberty: it is taken");
        let chase = [".......", ".......", "..X....", ".XO....", "..X....", ".......", "......."];
        assert_eq!(catches(&chase, "C4"), ["D4"]);
        let two = [".......", ".......", "..X....", ".XO....", ".X.....", ".......", "......."];
        assert_eq!(catches(&two, "C4"), ["D4"], "C3 lets it run into the open");
    }

    /// The same with every legal move as a defence.
    fn is_lost_to_all(state: &GameState, target: Point) -> bool {
        let reader = Reader { target, left: 0 };
        state.legal_moves().iter().all(|action| {
            let mut next = state.clone();
            next.play(state.size().move_at(action)).unwrap();
            match next.liberties(target) {
                _ if next.stone(target).is_none() => true,
                0 | 1 => reader.can_take(&next),
                2 => liberties(&next, target).into_iter().any(|mv| {
                    let mut atari = next.clone();
                    atari.play(mv).is_ok()
                        && atari.liberties(target) == 1
                        && is_lost_to_all(&atari, target)
                }),
                _ => false,
            }
        })
    }

    #[test]
    fn no_other_defence_helps_against_a_ladder() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut seen = [0; 2];
        for _ in 0..400 {
            let rows: Vec<String> = (0..5)
                .map(|_| {
                    (0..5).map(|_| ['.', '.', '.', 'X', 'O'][rng.random_range(0..5)]).collect()
                })
                .collect();
            let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
            let komi = Komi::from_points(0.5).unwrap();
            let rules = Rules::tromp_taylor();
            let Ok(state) = GameState::from_text(&rows, Color::White, rules, komi) else {
                continue;
            };
            for target in state.size().points() {
                if state.stone(target) == Some(Color::White) && state.liberties(target) == 1 {
                    let read = Reader { target, left: 10_000 }.is_lost(&state).unwrap();
                    assert_eq!(read, is_lost_to_all(&state, target), "{rows:?} {target:?}");
                    seen[usize::from(read)] += 1;
                }
            }
        }
        assert!(seen.iter().all(|&count| count > 50), "{seen:?}");
    }

    #[test]
    fn a_budget_is_a_budget_and_an_empty_point_no_quarry() {
        let state = position(&["....", ".XO.", "..X.", "...."]);
        let at = |vertex: &str| match state.size().parse_vertex(vertex) {
            Ok(Move::Play(point)) => point,
            _ => panic!("{vertex}"),
        };
        assert_eq!(ladder_moves(&state, at("C3"), 0), Err(SolverError::Budget(0)));
        assert_eq!(ladder_moves(&state, at("A1"), 100), Ok(Vec::new()));
    }
}
