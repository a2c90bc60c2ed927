//! From leaves to answers: the one place that cuts a batch to an evaluator's size.

use tengen_inference::{EvalError, Evaluation, Leaf, LeafEvaluator, evaluate_in_batches};
use tengen_rules::Symmetry;
use tengen_search::PendingLeaf;

/// Leaves of one or many trees on their way to an evaluator, each with the symmetry it is to be
/// seen through.
#[derive(Debug, Default)]
pub struct LeafBatch {
    pending: Vec<PendingLeaf>,
    symmetries: Vec<Symmetry>,
}

impl LeafBatch {
    /// Adds a leaf.
    pub fn push(&mut self, leaf: PendingLeaf, symmetry: Symmetry) {
        self.pending.push(leaf);
        self.symmetries.push(symmetry);
    }

    /// Leaves in the batch.
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    /// Whether there is nothing to ask.
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Answers all leaves in order; see [`evaluate_all`]. The leaves stay, so that a failed call
    /// can be repeated: [`drain`](Self::drain) them when they are answered.
    ///
    /// # Errors
    /// As [`evaluate_all`].
    pub fn evaluate(
        &self,
        evaluator: &mut dyn LeafEvaluator,
    ) -> Result<Vec<Evaluation>, EvalError> {
        evaluate_all(evaluator, &self.pending, &self.symmetries)
    }

    /// Takes the leaves out in order, leaving the batch empty.
    pub fn drain(&mut self) -> impl Iterator<Item = PendingLeaf> + '_ {
        self.symmetries.clear();
        self.pending.drain(..)
    }

    /// Forgets all leaves.
    pub fn clear(&mut self) {
        self.drain().for_each(drop);
    }
}

/// Evaluates all of `pending`, leaf `i` seen through `symmetries[i]`, in as few calls as
/// `max_batch` allows: one answer a leaf, in order.
///
/// # Errors
/// All or nothing, as the evaluator itself; also when it answers too few, too many, for another
/// board, or with a policy that is not finite.
///
/// # Panics
/// When there are not as many symmetries as leaves.
pub fn evaluate_all(
    evaluator: &mut dyn LeafEvaluator,
    pending: &[PendingLeaf],
    symmetries: &[Symmetry],
) -> Result<Vec<Evaluation>, EvalError> {
    assert_eq!(pending.len(), symmetries.len(), "one symmetry a leaf");
    let leaves: Vec<Leaf<'_>> = pending
        .iter()
        .zip(symmetries)
        .map(|(leaf, &symmetry)| Leaf { state: leaf.state(), symmetry })
        .collect();
    let answers = evaluate_in_batches(evaluator, &leaves)?;
    leaves.iter().zip(&answers).try_for_each(|(leaf, answer)| check(leaf, answer))?;
    Ok(answers)
}

/// How many calls [`evaluate_all`] makes for `leaves` leaves.
pub fn calls_for(evaluator: &dyn LeafEvaluator, leaves: usize) -> usize {
    leaves.div_ceil(evaluator.max_batch().get())
}

/// The part of [`Evaluation::check`] that costs nothing beside an evaluation: one bad number would
/// spoil a whole tree and every target that comes of it.
fn check(leaf: &Leaf<'_>, answer: &Evaluation) -> Result<(), EvalError> {
    let (expected, found) = (leaf.state.size().actions(), answer.policy.len());
    if expected != found {
        return Err(EvalError::WrongLength { expected, found });
    }
    let sum: f32 = answer.policy.iter().sum();
    if !sum.is_finite() {
        return Err(EvalError::NotFinite { what: "sum of priors", value: sum });
    }
    Ok(())
}
