//! The handle on the threads: start, watch, wait, stop.

use std::sync::{Arc, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use tengen_inference::LeafEvaluator;
use tengen_search::{RootStats, Tree};

use crate::session::{Session, Shared};
use crate::worker::{evaluate_leaves, select_leaves};
use crate::{AnalysisError, Limits};

/// Threads that search one tree together. They rest between searches and end with this value;
/// dropping it waits for the evaluations under way.
#[derive(Debug)]
pub struct ParallelSearch {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

/// Ends a search from another thread.
#[derive(Debug, Clone)]
pub struct Stopper(Arc<Shared>);

impl Stopper {
    /// Ends the search now, if one is running: a [`wait`](ParallelSearch::wait) returns at once
    /// with what was found.
    pub fn stop(&self) {
        let mut session = self.0.lock();
        session.end();
        self.0.ring_if_news(&mut session);
    }
}

impl ParallelSearch {
    /// A thread an evaluator, and `helpers` that only walk the tree. Helpers serve evaluators on a
    /// device; where the evaluators themselves use all cores they are of no use.
    ///
    /// # Errors
    /// Without an evaluator, and where the system gives no threads.
    pub fn new(
        evaluators: Vec<Box<dyn LeafEvaluator>>,
        helpers: usize,
    ) -> Result<ParallelSearch, AnalysisError> {
        if evaluators.is_empty() {
            return Err(AnalysisError::NoEvaluator);
        }
        let shared = Arc::new(Shared::new(evaluators.len(), helpers));
        // Dropped on every way out, so that threads already running end.
        let mut search = ParallelSearch { shared, threads: Vec::new() };
        for mut evaluator in evaluators {
            let shared = Arc::clone(&search.shared);
            let work = move || evaluate_leaves(&shared, &mut *evaluator);
            search.threads.push(Builder::new().name("evaluate".into()).spawn(work)?);
        }
        for _ in 0..helpers {
            let shared = Arc::clone(&search.shared);
            let work = move || select_leaves(&shared);
            search.threads.push(Builder::new().name("select".into()).spawn(work)?);
        }
        Ok(search)
    }

    /// Starts to search `tree` and returns. A search still running is dropped with its tree. The
    /// symmetries of the leaves are drawn from `seed`.
    ///
    /// Leaves in flight are bounded by a batch
    /// ([`leaves_per_batch`](tengen_search::SearchConfig::leaves_per_batch)) an evaluator, by two
    /// where there are helpers.
    pub fn start(&mut self, tree: Tree, limits: Limits, seed: u64) {
        self.shared.lock().begin(tree, limits, seed);
        self.shared.change.notify_all();
    }

    /// Something to end the search with while this thread waits for it.
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(&self.shared))
    }

    /// Whether there is nothing (more) to wait for.
    pub fn is_done(&self) -> bool {
        let mut session = self.shared.lock();
        if session.running {
            session.end_if_due();
        }
        !session.running
    }

    /// What the search thinks so far; `None` where no tree was started or it has been taken.
    pub fn root(&self) -> Option<RootStats> {
        self.look(Tree::root)
    }

    /// What `eye` sees in the tree, which stands still meanwhile; `None` where no tree was started
    /// or it has been taken.
    pub fn look<T>(&self, eye: impl FnOnce(&Tree) -> T) -> Option<T> {
        self.shared.lock().tree.as_ref().map(eye)
    }

    /// Waits for the end of the search, at most `time`: whether it [is done](Self::is_done).
    pub fn wait_at_most(&self, time: Duration) -> bool {
        !self.sit_out(Instant::now().checked_add(time)).running
    }

    /// The session once its search has ended, or at `until`. A time limit of the search is kept even
    /// while all evaluators are busy.
    fn sit_out(&self, until: Option<Instant>) -> MutexGuard<'_, Session> {
        let mut session = self.shared.lock();
        loop {
            session.end_if_due();
            if !session.running || until.is_some_and(|until| Instant::now() >= until) {
                return session;
            }
            let change = &self.shared.change;
            session = match until.into_iter().chain(session.deadline).min() {
                None => change.wait(session).unwrap_or_else(PoisonError::into_inner),
                Some(wake) => {
                    let left = wake.saturating_duration_since(Instant::now());
                    change.wait_timeout(session, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    /// Waits until a limit is met or somebody [stops](Stopper::stop) the search, and takes the
    /// tree. A time limit is kept even while all evaluators are busy.
    ///
    /// # Errors
    /// When nothing was started, and when an evaluator failed: the tree, sound and without the
    /// failed leaves, can then be had by [`stop`](Self::stop).
    pub fn wait(&mut self) -> Result<Tree, AnalysisError> {
        let mut session = self.sit_out(None);
        if let Some(error) = session.error.take() {
            return Err(error.into());
        }
        session.tree.take().ok_or(AnalysisError::Idle)
    }

    /// Ends the search now and takes the tree; `None` where nothing was started. Evaluations under
    /// way are not waited for: their answers lapse.
    pub fn stop(&mut self) -> Option<Tree> {
        let mut session = self.shared.lock();
        session.end();
        session.error = None;
        session.tree.take()
    }
}

impl Drop for ParallelSearch {
    fn drop(&mut self) {
        let mut session = self.shared.lock();
        session.end();
        session.shutdown = true;
        drop(session);
        self.shared.change.notify_all();
        for thread in self.threads.drain(..) {
            // A thread that panicked has said so already.
            let _ = thread.join();
        }
    }
}
