//! An evaluator that says what a test tells it to.

use std::fmt;
use std::num::NonZeroUsize;

use crate::{EvalError, Evaluation, Leaf, LeafEvaluator, check_batch};

type Script = dyn FnMut(&Leaf<'_>) -> Result<Evaluation, EvalError> + Send;

/// Answers each leaf by a closure; for tests of searches and games.
pub struct ScriptedEvaluator {
    script: Box<Script>,
    max_batch: NonZeroUsize,
}

impl ScriptedEvaluator {
    /// An evaluator that asks `script` about each leaf in turn; an error ends the batch.
    pub fn new(
        script: impl FnMut(&Leaf<'_>) -> Result<Evaluation, EvalError> + Send + 'static,
    ) -> Self {
        ScriptedEvaluator { script: Box::new(script), max_batch: NonZeroUsize::MAX }
    }

    /// The same with a limit on the batch, enforced.
    #[must_use]
    pub fn with_max_batch(mut self, max_batch: NonZeroUsize) -> Self {
        self.max_batch = max_batch;
        self
    }
}

impl fmt::Debug for ScriptedEvaluator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedEvaluator").field("max_batch", &self.max_batch).finish()
    }
}

impl LeafEvaluator for ScriptedEvaluator {
    fn max_batch(&self) -> NonZeroUsize {
        self.max_batch
    }

    fn evaluate(&mut self, leaves: &[Leaf<'_>]) -> Result<Vec<Evaluation>, EvalError> {
        check_batch(leaves, self.max_batch)?;
        leaves.iter().map(|leaf| (self.script)(leaf)).collect()
    }
}
