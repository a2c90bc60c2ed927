//! The evaluator that knows nothing: the baseline opponent and the bench's load.

use std::num::NonZeroUsize;

use tengen_rules::{LegalMask, Value};

use crate::{EvalError, Evaluation, Leaf, LeafEvaluator};

/// Even priors on the legal moves, value 0.
#[derive(Debug, Clone, Copy, Default)]
pub struct UniformEvaluator;

impl LeafEvaluator for UniformEvaluator {
    fn max_batch(&self) -> NonZeroUsize {
        NonZeroUsize::MAX
    }

    fn evaluate(&mut self, leaves: &[Leaf<'_>]) -> Result<Vec<Evaluation>, EvalError> {
        Ok(leaves.iter().map(uniform).collect())
    }
}

pub(crate) fn uniform(leaf: &Leaf<'_>) -> Evaluation {
    let legal: LegalMask = leaf.state.legal_moves();
    let share = 1.0 / legal.count().max(1) as f32;
    let mut policy = vec![0.0; leaf.state.size().actions()];
    legal.iter().for_each(|a| policy[a] = share);
    Evaluation::new(policy, Value::DRAW)
}

#[cfg(test)]
mod tests {
    use tengen_rules::{BoardSize, GameState, Komi, Move, Rules};

    use super::*;

    #[test]
    fn every_legal_move_gets_the_same_share() {
        let size = BoardSize::square(3).unwrap();
        let komi = Komi::from_points(0.5).unwrap();
        let mut state = GameState::new(size, Rules::tromp_taylor(), komi);
        state.play(Move::Play(size.point(1, 1))).unwrap();
        let answers = UniformEvaluator.evaluate(&[Leaf::new(&state)]).unwrap();
        assert_eq!(answers.len(), 1);
        answers[0].check(&state).unwrap();
        assert_eq!(answers[0].policy[4], 0.0, "occupied");
        assert_eq!(answers[0].policy[0], answers[0].policy[9], "pass counts as a move");
        assert_eq!(answers[0].value, Value::DRAW);
    }
}
