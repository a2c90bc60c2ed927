//! A thread of the search: fill the queue, evaluate what waits there, answer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{MutexGuard, PoisonError};

use tengen_inference::{EvalError, Evaluation, Leaf, LeafEvaluator};

use crate::session::{Fill, Question, Session, Shared};

/// Works until the search is dropped. A thread with an evaluator selects what it then evaluates,
/// unless a helper has already done so.
pub(crate) fn evaluate_leaves(shared: &Shared, evaluator: &mut dyn LeafEvaluator) {
    let largest = evaluator.max_batch().get();
    let mut session = shared.lock();
    while !session.shutdown {
        let batch = session.batch(largest);
        let fill = session.fill(batch);
        let questions = session.take(batch);
        shared.ring_if_news(&mut session);
        if questions.is_empty() {
            session = rest(shared, session, fill);
            continue;
        }
        let number = session.number;
        drop(session);
        let answers = evaluate(evaluator, &questions);
        session = shared.lock();
        session.answer(number, questions, answers);
        shared.change.notify_all();
    }
}

/// Works until the search is dropped, only filling the queue: for evaluators on a device, whose
/// own thread would otherwise walk the tree while the device is idle.
pub(crate) fn select_leaves(shared: &Shared) {
    let mut session = shared.lock();
    while !session.shutdown {
        let had = session.has_leaves();
        let fill = session.fill(usize::MAX);
        if !had && session.has_leaves() {
            shared.change.notify_all();
        }
        shared.ring_if_news(&mut session);
        session = rest(shared, session, fill);
    }
}

/// Lets others have the lock: until something changes, or only for now.
fn rest<'a>(
    shared: &'a Shared,
    session: MutexGuard<'a, Session>,
    fill: Fill,
) -> MutexGuard<'a, Session> {
    if fill == Fill::Waits {
        return shared.change.wait(session).unwrap_or_else(PoisonError::into_inner);
    }
    drop(session);
    std::thread::yield_now();
    shared.lock()
}

/// Asks the evaluator and holds it to the promises of the seam; a panic of its is an error.
fn evaluate(
    evaluator: &mut dyn LeafEvaluator,
    questions: &[Question],
) -> Result<Vec<Evaluation>, EvalError> {
    let leaves: Vec<Leaf<'_>> = questions
        .iter()
        .map(|(leaf, symmetry)| Leaf { state: leaf.state(), symmetry: *symmetry })
        .collect();
    let answers = catch_unwind(AssertUnwindSafe(|| evaluator.evaluate(&leaves)))
        .unwrap_or_else(|_| Err(EvalError::Backend("the evaluator panicked".into())))?;
    if answers.len() != leaves.len() {
        return Err(EvalError::WrongCount { asked: leaves.len(), answered: answers.len() });
    }
    leaves.iter().zip(&answers).try_for_each(|(leaf, answer)| answer.check(leaf.state))?;
    Ok(answers)
}
