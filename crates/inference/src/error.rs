//! What can go wrong between asking and answering.

use thiserror::Error;

/// Why a batch of leaves got no answer.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum EvalError {
    /// More leaves in one call than [`max_batch`](crate::LeafEvaluator::max_batch) allows.
    #[error("{asked} leaves in one batch, but the evaluator takes at most {max}")]
    BatchTooLarge {
        /// Leaves in the call.
        asked: usize,
        /// The evaluator's limit.
        max: usize,
    },
    /// An evaluator broke the promise of one answer a leaf.
    #[error("{answered} evaluations for {asked} leaves")]
    WrongCount {
        /// Leaves in the call.
        asked: usize,
        /// Evaluations that came back.
        answered: usize,
    },
    /// A policy that does not fit the board.
    #[error("a policy of {found} entries for a board of {expected} actions")]
    WrongLength {
        /// Points plus pass.
        expected: usize,
        /// Entries in the policy.
        found: usize,
    },
    /// NaN or an infinity where a number is needed.
    #[error("the evaluator answered {what} = {value}, which is not finite")]
    NotFinite {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f32,
    },
    /// Prior mass on a move that may not be played.
    #[error("prior {prior} on the illegal action {action}")]
    IllegalPrior {
        /// The action index.
        action: usize,
        /// The mass found on it.
        prior: f32,
    },
    /// Priors that are negative or do not sum to one.
    #[error("priors sum to {sum} instead of 1")]
    NotNormalised {
        /// The sum found.
        sum: f32,
    },
    /// Ownership outside -1 to 1.
    #[error("ownership {owner} is not in [-1, 1]")]
    Ownership {
        /// The number found.
        owner: f32,
    },
    /// The machinery behind the evaluator failed: a device, a library, a closed queue.
    #[error("the evaluator failed: {0}")]
    Backend(String),
}
