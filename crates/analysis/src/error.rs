//! Why there is no answer.

use tengen_inference::EvalError;
use thiserror::Error;

/// What can go wrong in a search of many threads.
#[derive(Debug, Error)]
pub enum AnalysisError {
    /// A search needs somebody to judge its leaves.
    #[error("a parallel search needs at least one evaluator")]
    NoEvaluator,
    /// Nothing was started, or its tree has been taken already.
    #[error("no search has been started")]
    Idle,
    /// An evaluator failed, which ended the search; the tree is still there to be taken.
    #[error("the search ended: {0}")]
    Evaluator(#[from] EvalError),
    /// The system gave no thread.
    #[error("no thread for the search: {0}")]
    Thread(#[from] std::io::Error),
}
