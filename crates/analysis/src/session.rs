//! What the threads share, and the rules by which leaves come and go.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tengen_inference::{EvalError, Evaluation};
use tengen_rules::Symmetry;
use tengen_search::{PendingLeaf, Selected, Tree};

use crate::Limits;

/// Simulations that need no evaluation made in a row before others get the lock.
const FREE_IN_A_ROW: usize = 64;

/// A leaf with the symmetry it is to be seen through.
pub(crate) type Question = (PendingLeaf, Symmetry);

#[derive(Debug)]
pub(crate) struct Shared {
    session: Mutex<Session>,
    /// Rung whenever somebody who waits may find something to do.
    pub change: Condvar,
}

impl Shared {
    pub fn new(evaluators: usize, helpers: usize) -> Shared {
        let session = Session {
            number: 0,
            running: false,
            has_ended: false,
            shutdown: false,
            tree: None,
            visits: u32::MAX,
            deadline: None,
            symmetries: Vec::new(),
            rng: ChaCha8Rng::seed_from_u64(0),
            queue: VecDeque::new(),
            in_flight: 0,
            batches: if helpers > 0 { 2 * evaluators } else { evaluators },
            error: None,
        };
        Shared { session: Mutex::new(session), change: Condvar::new() }
    }

    /// Wakes whoever waits for the end of a search, once it has ended.
    pub fn ring_if_news(&self, session: &mut Session) {
        if std::mem::take(&mut session.has_ended) {
            self.change.notify_all();
        }
    }

    /// The session. A thread that panicked under the lock leaves it usable: every change of it is
    /// a whole verb of the tree.
    pub fn lock(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A search in progress, or none.
#[derive(Debug)]
pub(crate) struct Session {
    /// Tells answers to this search from those that come too late.
    pub number: u64,
    pub running: bool,
    /// The search has ended and nobody has been woken for it yet.
    has_ended: bool,
    pub shutdown: bool,
    pub tree: Option<Tree>,
    visits: u32,
    pub deadline: Option<Instant>,
    symmetries: Vec<Symmetry>,
    rng: ChaCha8Rng,
    queue: VecDeque<Question>,
    /// Leaves queued or under evaluation.
    in_flight: usize,
    /// Batches that may be in flight: one an evaluator, and one waiting where somebody fills it.
    batches: usize,
    pub error: Option<EvalError>,
}

/// What became of an attempt to fill the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fill {
    /// Nothing more can be selected until something changes.
    Waits,
    /// There may be more at once.
    GoesOn,
}

impl Session {
    pub fn begin(&mut self, tree: Tree, limits: Limits, seed: u64) {
        self.end();
        let size = tree.root_state().size();
        self.symmetries = Symmetry::all().into_iter().filter(|s| s.valid_for(size)).collect();
        self.visits = limits.visits.unwrap_or(u32::MAX);
        self.deadline = limits.time.and_then(|time| Instant::now().checked_add(time));
        self.rng = ChaCha8Rng::seed_from_u64(seed);
        self.error = None;
        self.running = !tree.root_state().is_over();
        self.tree = Some(tree);
        self.end_if_due();
    }

    /// Ends the search now: leaves in flight lapse, the tree stays to be taken.
    pub fn end(&mut self) {
        if !self.running {
            return;
        }
        self.running = false;
        self.has_ended = true;
        self.number += 1;
        self.queue.clear();
        self.in_flight = 0;
        if let Some(tree) = &mut self.tree {
            tree.abandon_all();
        }
    }

    pub fn end_if_due(&mut self) {
        let Some(tree) = &self.tree else { return };
        let spent = tree.is_root_expanded() && tree.simulations() >= self.visits;
        if spent || self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.end();
        }
    }

    /// Leaves one evaluation takes, of those an evaluator could.
    pub fn batch(&self, largest: usize) -> usize {
        let wanted = self.tree.as_ref().map_or(1, |tree| tree.config().leaves_per_batch as usize);
        wanted.clamp(1, largest.max(1))
    }

    /// Selects leaves until the queue holds `wanted`.
    pub fn fill(&mut self, wanted: usize) -> Fill {
        let limit = self.batches * self.batch(usize::MAX);
        let mut free = 0;
        while self.running && self.queue.len() < wanted {
            let Some(tree) = &mut self.tree else { break };
            let known = tree.is_root_expanded();
            let planned = u64::from(tree.simulations()) + self.in_flight as u64;
            if self.in_flight >= limit
                || (!known && self.in_flight > 0)
                || (known && planned >= u64::from(self.visits))
            {
                return Fill::Waits;
            }
            match tree.select() {
                Selected::Leaf(leaf) => {
                    let among = self.symmetries.len();
                    let symmetry = self.symmetries[self.rng.random_range(0..among)];
                    self.queue.push_back((leaf, symmetry));
                    self.in_flight += 1;
                }
                Selected::Terminal => {
                    free += 1;
                    self.end_if_due();
                    if free >= FREE_IN_A_ROW {
                        return Fill::GoesOn;
                    }
                }
            }
        }
        if self.running { Fill::GoesOn } else { Fill::Waits }
    }

    /// Whether leaves wait for an evaluator.
    pub fn has_leaves(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Takes up to `most` leaves out of the queue, oldest first.
    pub fn take(&mut self, most: usize) -> Vec<Question> {
        let count = most.min(self.queue.len());
        self.queue.drain(..count).collect()
    }

    /// Takes the answers to leaves of search `number`; those of an earlier one are dropped.
    pub fn answer(
        &mut self,
        number: u64,
        questions: Vec<Question>,
        answers: Result<Vec<Evaluation>, EvalError>,
    ) {
        if number != self.number || !self.running {
            return;
        }
        let Some(tree) = &mut self.tree else { return };
        match answers {
            Ok(answers) => {
                for ((leaf, _), answer) in questions.into_iter().zip(&answers) {
                    tree.expand_and_backup(leaf, answer);
                    self.in_flight -= 1;
                }
                self.end_if_due();
            }
            Err(error) => {
                self.error = Some(error);
                self.end();
            }
        }
    }
}
