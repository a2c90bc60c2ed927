//! One batch on several evaluators at once.

use std::num::NonZeroUsize;

use rayon::prelude::*;

use crate::{EvalError, Evaluation, Leaf, LeafEvaluator, check_batch};

/// Evaluators of one network that share each batch, a thread each: for a caller that asks one batch
/// at a time, as the search of a single position does.
///
/// Who answers a leaf follows from its place in the batch alone.
pub struct SplitEvaluator {
    parts: Vec<Box<dyn LeafEvaluator>>,
}

impl SplitEvaluator {
    /// Shares batches between `first` and the `others`.
    pub fn new(first: Box<dyn LeafEvaluator>, others: Vec<Box<dyn LeafEvaluator>>) -> Self {
        SplitEvaluator { parts: std::iter::once(first).chain(others).collect() }
    }

    /// The most leaves that every part takes.
    fn part(&self) -> usize {
        self.parts.iter().map(|part| part.max_batch().get()).min().unwrap_or(1)
    }
}

impl LeafEvaluator for SplitEvaluator {
    fn max_batch(&self) -> NonZeroUsize {
        let most = self.part().saturating_mul(self.parts.len());
        NonZeroUsize::new(most).unwrap_or(NonZeroUsize::MIN)
    }

    fn evaluate(&mut self, leaves: &[Leaf<'_>]) -> Result<Vec<Evaluation>, EvalError> {
        check_batch(leaves, self.max_batch())?;
        let share = leaves.len().div_ceil(self.parts.len()).max(1);
        let answers: Vec<Vec<Evaluation>> = self
            .parts
            .par_iter_mut()
            .zip(leaves.par_chunks(share))
            .map(|(part, leaves)| part.evaluate(leaves))
            .collect::<Result<_, _>>()?;
        Ok(answers.into_iter().flatten().collect())
    }

    fn remembered(&self) -> u64 {
        self.parts.iter().map(LeafEvaluator::remembered).sum()
    }
}

#[cfg(test)]
mod tests {
    use tengen_rules::{BoardSize, GameState, Komi, Move, Rules, Value};

    use super::*;
    use crate::{ScriptedEvaluator, UniformEvaluator};

    fn positions(count: usize) -> Vec<GameState> {
        let size = BoardSize::square(4).unwrap();
        let komi = Komi::from_points(0.5).unwrap();
        let empty = GameState::new(size, Rules::tromp_taylor(), komi);
        let after = |at: usize| {
            let mut state = empty.clone();
            state.play(Move::Play(size.point(at % 4, at / 4))).unwrap();
            state
        };
        (0..count).map(after).collect()
    }

    /// An opinion that differs from position to position.
    fn part() -> Box<dyn LeafEvaluator> {
        Box::new(ScriptedEvaluator::new(|leaf| {
            let value = (leaf.state.situation_hash() % 1000) as f32 / 1000.0;
            let mut answer = UniformEvaluator.evaluate(std::slice::from_ref(leaf))?;
            answer[0].value = Value::new(value);
            Ok(answer.remove(0))
        }))
    }

    #[test]
    fn answers_come_in_the_order_asked_however_many_share_the_batch() {
        let states = positions(11);
        let leaves: Vec<Leaf<'_>> = states.iter().map(Leaf::new).collect();
        let alone = part().evaluate(&leaves).unwrap();
        for others in [0, 1, 2, 15] {
            let mut split = SplitEvaluator::new(part(), (0..others).map(|_| part()).collect());
            assert_eq!(split.evaluate(&leaves).unwrap(), alone, "{others} others");
            assert!(split.evaluate(&[]).unwrap().is_empty());
        }
    }

    #[test]
    fn one_part_that_fails_fails_the_batch() {
        struct Broken;
        impl LeafEvaluator for Broken {
            fn max_batch(&self) -> NonZeroUsize {
                NonZeroUsize::new(3).unwrap()
            }
            fn evaluate(&mut self, _: &[Leaf<'_>]) -> Result<Vec<Evaluation>, EvalError> {
                Err(EvalError::Backend("broken".into()))
            }
        }
        let states = positions(7);
        let leaves: Vec<Leaf<'_>> = states.iter().map(Leaf::new).collect();
        let mut split = SplitEvaluator::new(part(), vec![Box::new(Broken)]);
        assert_eq!(split.max_batch().get(), 6, "the smallest part's limit for each");
        assert!(matches!(split.evaluate(&leaves[..6]), Err(EvalError::Backend(_))));
        assert!(matches!(split.evaluate(&leaves), Err(EvalError::BatchTooLarge { .. })));
    }
}
