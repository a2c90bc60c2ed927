//! Who searches: one thread, batch by batch, or several threads on one tree.

use std::time::{Duration, Instant};

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use tengen_analysis::{Limits, ParallelSearch};
use tengen_inference::LeafEvaluator;
use tengen_search::{Tree, run_search};

use crate::error::GtpError;

/// Bytes a tree may come to hold: a gigabyte. A search without an end waits from there on.
const MAX_BYTES: usize = 1 << 30;

/// How long threads search before somebody looks at the tree and at the controller.
const LOOK: Duration = Duration::from_millis(10);

/// When a search has found enough.
#[derive(Clone, Copy)]
pub(crate) struct Goal {
    /// Visits of the root, inherited ones included; `u32::MAX` for no end.
    pub visits: u32,
    /// Time from now. The root is evaluated whatever the clock says.
    pub time: Option<Duration>,
}

impl Goal {
    /// Searches until somebody says stop.
    pub const NONE: Goal = Goal { visits: u32::MAX, time: None };

    fn is_met(&self, tree: &Tree) -> bool {
        let enough = || tree.root().visits >= self.visits.max(1) || is_full(tree);
        tree.is_root_expanded() && enough()
    }
}

/// Looks at a tree while it grows, with an evaluator to ask besides; whether the search goes on.
pub(crate) type Look<'a> = &'a mut dyn FnMut(&Tree, &mut dyn LeafEvaluator) -> bool;

/// The engine's evaluators.
pub(crate) struct Searcher {
    /// Answers what is asked of the network alone, and searches where there are no threads.
    pub evaluator: Box<dyn LeafEvaluator>,
    pub threads: Option<ParallelSearch>,
}

impl Searcher {
    /// Grows `tree` until the goal is met or `look` has seen enough.
    pub fn grow(
        &mut self,
        mut tree: Tree,
        goal: Goal,
        rng: &mut ChaCha8Rng,
        look: Look<'_>,
    ) -> Result<Tree, GtpError> {
        let began = Instant::now();
        if tree.root_state().is_over() {
            return Ok(tree);
        }
        if !tree.is_root_expanded() {
            run_search(&mut tree, &mut *self.evaluator, 0, rng)?;
            if !look(&tree, &mut *self.evaluator) {
                return Ok(tree);
            }
        }
        if goal.is_met(&tree) {
            return Ok(tree);
        }
        match &mut self.threads {
            None => self.grow_alone(tree, goal, began, rng, look),
            Some(threads) => {
                let left = goal.visits.saturating_sub(tree.root().visits);
                let visits =
                    (goal.visits < u32::MAX).then(|| tree.simulations().saturating_add(left));
                let time = goal.time.map(|time| time.saturating_sub(began.elapsed()));
                threads.start(tree, Limits { visits, time }, rng.random());
                while !threads.wait_at_most(LOOK) {
                    let seen =
                        threads.look(|tree| !is_full(tree) && look(tree, &mut *self.evaluator));
                    if seen != Some(true) {
                        threads.stopper().stop();
                    }
                }
                Ok(threads.wait()?)
            }
        }
    }

    fn grow_alone(
        &mut self,
        mut tree: Tree,
        goal: Goal,
        began: Instant,
        rng: &mut ChaCha8Rng,
        look: Look<'_>,
    ) -> Result<Tree, GtpError> {
        let mut longest = Duration::ZERO;
        while !goal.is_met(&tree) {
            let before = Instant::now();
            if goal.time.is_some_and(|time| before - began + longest >= time) {
                break;
            }
            let left = goal.visits.saturating_sub(tree.root().visits).max(1);
            let batch = left.min(tree.config().leaves_per_batch.max(1));
            run_search(&mut tree, &mut *self.evaluator, batch, rng)?;
            longest = longest.max(before.elapsed());
            if !look(&tree, &mut *self.evaluator) {
                break;
            }
        }
        Ok(tree)
    }
}

/// Whether a tree has grown as large as it may.
pub(crate) fn is_full(tree: &Tree) -> bool {
    tree.memory_bytes() >= MAX_BYTES
}
