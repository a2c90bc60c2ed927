//! Random games as a judge: what a position is worth without a network.

use std::num::NonZeroUsize;

use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tengen_rules::{GameState, Outcome, Playouts, Value};

use crate::uniform::uniform;
use crate::{EvalError, Evaluation, Leaf, LeafEvaluator};

/// Even priors on the legal moves, and as value the mean result of random games, scored by area
/// with every stone alive.
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
        let mut playouts = Playouts::new(state);
        let mut result = || {
            let lead = 2 * playouts.run(|| rng.next_u32()).black_lead - state.komi().half_points();
            Outcome::from_black_lead(lead).value_for(state.to_play()).get()
        };
        let sum: f32 = (0..self.games.get()).map(|_| result()).sum();
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
    use tengen_rules::{Color, Komi, Rules};

    use super::*;

    fn position(rows: &[&str], to_play: Color) -> GameState {
        let komi = Komi::from_points(0.5).unwrap();
        GameState::from_text(rows, to_play, Rules::tromp_taylor(), komi).unwrap()
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
}
