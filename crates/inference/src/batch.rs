//! Batches: the size check that every evaluator with a limit makes, and the loop that keeps to it.

use std::num::NonZeroUsize;

use crate::{EvalError, Evaluation, Leaf, LeafEvaluator};

/// Refuses a batch of more leaves than an evaluator takes.
///
/// # Errors
/// [`EvalError::BatchTooLarge`] with both numbers.
pub fn check_batch(leaves: &[Leaf<'_>], max_batch: NonZeroUsize) -> Result<(), EvalError> {
    let (asked, max) = (leaves.len(), max_batch.get());
    if asked > max { Err(EvalError::BatchTooLarge { asked, max }) } else { Ok(()) }
}

/// Evaluates any number of leaves in batches that the evaluator takes; one answer a leaf, in order.
///
/// # Errors
/// The evaluator's, and [`EvalError::WrongCount`] when it answers too few or too many.
pub fn evaluate_in_batches(
    evaluator: &mut dyn LeafEvaluator,
    leaves: &[Leaf<'_>],
) -> Result<Vec<Evaluation>, EvalError> {
    let mut answers = Vec::with_capacity(leaves.len());
    for batch in leaves.chunks(evaluator.max_batch().get()) {
        let answered = evaluator.evaluate(batch)?;
        if answered.len() != batch.len() {
            return Err(EvalError::WrongCount { asked: batch.len(), answered: answered.len() });
        }
        answers.extend(answered);
    }
    Ok(answers)
}
