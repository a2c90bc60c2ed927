//! Random games played out: what a position is worth, and who would own its points, without a net.

use std::num::NonZeroUsize;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tengen_rules::{Color, GameState, Move, Point, Value};

use crate::uniform::uniform;
use crate::{EvalError, Evaluation, Leaf, LeafEvaluator};

/// Plays `state` to its end with uniformly random moves that fill no eye of their own; passes only
/// where nothing else is left. A game that goes on for more than three moves a point (cycles under
/// simple ko) is stopped there, and its board stands as it is.
pub fn rollout(state: &GameState, rng: &mut impl Rng) -> GameState {
    let mut state = state.clone();
    let limit = 3 * state.size().area() + 10;
    let mut empty = empty_points(&state);
    let mut prisoners = taken(&state);
    for _ in 0..limit {
        if state.is_over() {
            break;
        }
        let Some(at) = draw(&mut state, &mut empty, rng) else {
            if state.play(Move::Pass).is_err() {
                break;
            }
            continue;
        };
        empty.swap_remove(at);
        if taken(&state) != prisoners {
            prisoners = taken(&state);
            empty = empty_points(&state);
        }
    }
    state
}

/// Plays a random playable point of `empty` and says where it stood in the list. The list is left
/// shuffled, every point still in it.
fn draw(state: &mut GameState, empty: &mut [Point], rng: &mut impl Rng) -> Option<usize> {
    let mut left = empty.len();
    while left > 0 {
        let pick = rng.random_range(0..left);
        let point = empty[pick];
        if !is_eye(state, point) && state.play(Move::Play(point)).is_ok() {
            return Some(pick);
        }
        left -= 1;
        empty.swap(pick, left);
    }
    None
}

fn empty_points(state: &GameState) -> Vec<Point> {
    state.size().points().filter(|&p| state.stone(p).is_none()).collect()
}

fn taken(state: &GameState) -> u32 {
    state.captures(Color::Black) + state.captures(Color::White)
}

/// Whether `point` is an eye of the player to move: own stones beside it, and at most one of its
/// diagonal points the opponent's (none at the edge).
fn is_eye(state: &GameState, point: Point) -> bool {
    let (size, own) = (state.size(), state.to_play());
    let mut beside = size.neighbours(point);
    if !beside.all(|n| state.stone(n) == Some(own)) {
        return false;
    }
    let (col, row) = (size.col(point) as isize, size.row(point) as isize);
    let (width, height) = (size.width() as isize, size.height() as isize);
    let (mut enemies, mut off) = (0, 0);
    for (dx, dy) in [(-1, -1), (1, -1), (-1, 1), (1, 1)] {
        let (x, y) = (col + dx, row + dy);
        if !(0..width).contains(&x) || !(0..height).contains(&y) {
            off += 1;
        } else if state.stone(size.point(x as usize, y as usize)) == Some(own.opponent()) {
            enemies += 1;
        }
    }
    enemies == 0 || (enemies == 1 && off == 0)
}

/// Even priors on the legal moves, and as value the mean result of random games.
///
/// The games of a position are seeded by its hash, so the answer depends on the position and the
/// seed alone: not on the order of questions, nor on the batch.
#[derive(Debug, Clone, Copy)]
pub struct RolloutEvaluator {
    games: NonZeroUsize,
    seed: u64,
}

impl RolloutEvaluator {
    /// An evaluator that plays `games` random games a leaf.
    pub fn new(games: NonZeroUsize, seed: u64) -> Self {
        RolloutEvaluator { games, seed }
    }

    fn value(&self, state: &GameState) -> Value {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed ^ state.situation_hash());
        let sum: f32 = (0..self.games.get())
            .map(|_| rollout(state, &mut rng).score_now().value_for(state.to_play()).get())
            .sum();
        Value::new(sum / self.games.get() as f32)
    }
}

impl LeafEvaluator for RolloutEvaluator {
    fn max_batch(&self) -> NonZeroUsize {
        NonZeroUsize::MAX
    }

    fn evaluate(&mut self, leaves: &[Leaf<'_>]) -> Result<Vec<Evaluation>, EvalError> {
        let judge = |leaf: &Leaf<'_>| Evaluation { value: self.value(leaf.state), ..uniform(leaf) };
        Ok(leaves.iter().map(judge).collect())
    }
}

#[cfg(test)]
mod tests {
    use tengen_rules::{BoardSize, Komi, Rules};

    use super::*;

    fn position(rows: &[&str], to_play: Color) -> GameState {
        let komi = Komi::from_points(0.5).unwrap();
        GameState::from_text(rows, to_play, Rules::tromp_taylor(), komi).unwrap()
    }

    #[test]
    fn a_random_game_ends_and_leaves_eyes_alone() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        for side in [1, 2, 5, 9] {
            let size = BoardSize::square(side).unwrap();
            let komi = Komi::from_points(0.5).unwrap();
            for rules in [Rules::tromp_taylor(), Rules::by_name("ko=simple").unwrap()] {
                let end = rollout(&GameState::new(size, rules, komi), &mut rng);
                assert!(end.is_over() || end.move_number() > 3 * size.area(), "{end}");
            }
        }
        // Two eyes each: nobody fills them, so the board is the end of the game.
        let rows = [".XOO.", "XXO.O", ".XOO.", "XXO.O", ".XOO."];
        let state = position(&rows, Color::Black);
        for _ in 0..50 {
            let end = rollout(&state, &mut rng);
            assert_eq!(end.stone(state.size().point(0, 0)), None);
            assert_eq!(end.stone(state.size().point(0, 4)), None);
        }
    }

    #[test]
    fn the_value_is_the_movers_and_the_same_in_any_batch() {
        let black = position(&[".X.X.", "XXXXX", ".....", "....O", "....."], Color::Black);
        let white = position(&[".X.X.", "XXXXX", ".....", "....O", "....."], Color::White);
        let mut evaluator = RolloutEvaluator::new(NonZeroUsize::new(64).unwrap(), 1);
        let both = evaluator.evaluate(&[Leaf::new(&black), Leaf::new(&white)]).unwrap();
        assert!(both[0].value.get() > 0.3, "{:?}", both[0].value);
        assert!(both[1].value.get() < -0.3, "{:?}", both[1].value);
        let again = evaluator.evaluate(&[Leaf::new(&white)]).unwrap();
        assert_eq!(again[0], both[1]);
        both[0].check(&black).unwrap();
    }

    #[test]
    fn a_false_eye_may_be_filled() {
        let size = BoardSize::square(5).unwrap();
        let state = position(&[".XO..", "XXX..", "OX...", ".....", "....."], Color::Black);
        assert!(is_eye(&state, size.point(0, 0)));
        let state = position(&[".XO..", "XO...", "OX...", ".....", "....."], Color::Black);
        assert!(!is_eye(&state, size.point(0, 0)));
    }
}
