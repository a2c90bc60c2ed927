//! The question and the trait that answers it.

use std::num::NonZeroUsize;

use tengen_rules::{GameState, Symmetry};

use crate::{EvalError, Evaluation};

/// A position to evaluate, looked at through a symmetry of the board.
///
/// The symmetry changes what the network sees, never the orientation of the answer.
#[derive(Debug, Clone, Copy)]
pub struct Leaf<'a> {
    /// The position, not over.
    pub state: &'a GameState,
    /// How to turn the board before looking; must be valid for its size.
    pub symmetry: Symmetry,
}

impl<'a> Leaf<'a> {
    /// The position as it lies.
    pub fn new(state: &'a GameState) -> Self {
        Leaf { state, symmetry: Symmetry::IDENTITY }
    }
}

/// Judges leaves in batches.
pub trait LeafEvaluator: Send {
    /// The most leaves one call of [`evaluate`](Self::evaluate) takes.
    fn max_batch(&self) -> NonZeroUsize;

    /// Judges `leaves`: as many evaluations as leaves, in the same order.
    ///
    /// # Errors
    /// All or nothing: with an error no leaf has an answer, and the call may be repeated.
    fn evaluate(&mut self, leaves: &[Leaf<'_>]) -> Result<Vec<Evaluation>, EvalError>;

    /// Leaves answered from memory so far; 0 for an evaluator that has none.
    fn remembered(&self) -> u64 {
        0
    }
}

impl<E: LeafEvaluator + ?Sized> LeafEvaluator for Box<E> {
    fn max_batch(&self) -> NonZeroUsize {
        (**self).max_batch()
    }

    fn evaluate(&mut self, leaves: &[Leaf<'_>]) -> Result<Vec<Evaluation>, EvalError> {
        (**self).evaluate(leaves)
    }

    fn remembered(&self) -> u64 {
        (**self).remembered()
    }
}

impl<E: LeafEvaluator + ?Sized> LeafEvaluator for &mut E {
    fn max_batch(&self) -> NonZeroUsize {
        (**self).max_batch()
    }

    fn evaluate(&mut self, leaves: &[Leaf<'_>]) -> Result<Vec<Evaluation>, EvalError> {
        (**self).evaluate(leaves)
    }

    fn remembered(&self) -> u64 {
        (**self).remembered()
    }
}
