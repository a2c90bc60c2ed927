//! Counting what passes through the seam.

use std::num::NonZeroUsize;

use crate::{EvalError, Evaluation, Leaf, LeafEvaluator};

/// How much an evaluator was asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EvalStats {
    /// Leaves answered.
    pub evaluations: u64,
    /// Calls answered.
    pub batches: u64,
}

/// Counts the answered leaves and batches of the evaluator inside.
#[derive(Debug, Clone)]
pub struct CountingEvaluator<E> {
    inner: E,
    stats: EvalStats,
}

impl<E: LeafEvaluator> CountingEvaluator<E> {
    /// Starts at zero.
    pub fn new(inner: E) -> Self {
        CountingEvaluator { inner, stats: EvalStats::default() }
    }

    /// The counts so far.
    pub fn stats(&self) -> EvalStats {
        self.stats
    }
}

impl<E: LeafEvaluator> LeafEvaluator for CountingEvaluator<E> {
    fn max_batch(&self) -> NonZeroUsize {
        self.inner.max_batch()
    }

    fn evaluate(&mut self, leaves: &[Leaf<'_>]) -> Result<Vec<Evaluation>, EvalError> {
        let answers = self.inner.evaluate(leaves)?;
        self.stats.evaluations += answers.len() as u64;
        self.stats.batches += 1;
        Ok(answers)
    }

    fn remembered(&self) -> u64 {
        self.inner.remembered()
    }
}
