//! Batches: the size check that every evaluator with a limit makes, and the loop that keeps to it.

use std::num::NonZeroUsize;

use tengen_rules::BoardSize;

use crate::{EvalError, Evaluation, Leaf, LeafEvaluator};

/// Refuses a batch of more leaves than an evaluator takes.
///
/// # Errors
/// [`EvalError::BatchTooLarge`] with both numbers.
pub fn check_batch(leaves: &[Leaf<'_>], max_batch: NonZeroUsize) -> Result<(), EvalError> {
    let (asked, max) = (leaves.len(), max_batch.get());
    if asked > max { Err(EvalError::BatchTooLarge { asked, max }) } else { Ok(()) }
}

/// Evaluates a batch of boards of any sizes by a function for boards of one size, which appends as many
/// answers as it is given leaves. Each size is asked for once; one answer a leaf, in order.
///
/// # Errors
/// The function's, and [`EvalError::WrongCount`] when it answers too few or too many.
pub fn evaluate_by_size(
    leaves: &[Leaf<'_>],
    mut of_one_size: impl FnMut(BoardSize, &[Leaf<'_>], &mut Vec<Evaluation>) -> Result<(), EvalError>,
) -> Result<Vec<Evaluation>, EvalError> {
    let mut order: Vec<usize> = (0..leaves.len()).collect();
    order.sort_by_key(|&at| leaves[at].state.size());
    let sorted: Vec<Leaf<'_>> = order.iter().map(|&at| leaves[at]).collect();
    let mut found = Vec::with_capacity(leaves.len());
    for same_size in sorted.chunk_by(|a, b| a.state.size() == b.state.size()) {
        of_one_size(same_size[0].state.size(), same_size, &mut found)?;
    }
    if found.len() != leaves.len() {
        return Err(EvalError::WrongCount { asked: leaves.len(), answered: found.len() });
    }
    let mut answers = vec![None; leaves.len()];
    for (at, answer) in order.into_iter().zip(found) {
        answers[at] = Some(answer);
    }
    Ok(answers.into_iter().flatten().collect())
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

#[cfg(test)]
mod tests {
    use tengen_rules::{GameState, Komi, Rules};

    use super::*;
    use crate::UniformEvaluator;

    #[test]
    fn each_size_is_asked_for_once_and_answers_keep_their_order() {
        let komi = Komi::from_points(0.5).unwrap();
        let sides = [5, 3, 5, 4, 3, 3];
        let states = sides.map(|side| {
            GameState::new(BoardSize::square(side).unwrap(), Rules::tromp_taylor(), komi)
        });
        let leaves: Vec<Leaf<'_>> = states.iter().map(Leaf::new).collect();
        let mut asked = Vec::new();
        let answers = evaluate_by_size(&leaves, |size, same, answers| {
            asked.push((size.width(), same.len()));
            answers.extend(UniformEvaluator.evaluate(same)?);
            Ok(())
        })
        .unwrap();
        assert_eq!(asked, [(3, 3), (4, 1), (5, 2)]);
        let actions: Vec<usize> = answers.iter().map(|answer| answer.policy.len()).collect();
        assert_eq!(actions, sides.map(|side| side * side + 1));
        let silent = evaluate_by_size(&leaves, |_, _, _| Ok(()));
        assert_eq!(silent, Err(EvalError::WrongCount { asked: 6, answered: 0 }));
    }
}
