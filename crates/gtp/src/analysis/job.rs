//! One position on its way from a query to its answer.

use std::rc::Rc;
use std::time::{Duration, Instant};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tengen_inference::Evaluation;
use tengen_rules::{GameState, Symmetry};
use tengen_search::{PendingLeaf, SearchConfig, Selected, Tree};

use super::query::{Query, Turn};
use crate::estimate::Estimates;
use crate::searcher::is_full;

/// A position, its tree and its clock.
pub(crate) struct Job {
    pub query: Rc<Query>,
    pub turn: usize,
    pub priority: i64,
    /// The order of arrival.
    pub number: u64,
    pub state: GameState,
    /// Scores and ownership found so far.
    pub scores: Estimates,
    /// The evaluator's policy of the position.
    pub policy: Option<Vec<f32>>,
    /// Why there will be no answer.
    pub failure: Option<String>,
    pub terminated: bool,
    /// Set when the job gets its turn.
    search: Option<Search>,
    seed: u64,
}

/// The part of a job that has begun.
struct Search {
    tree: Tree,
    rng: ChaCha8Rng,
    symmetries: Vec<Symmetry>,
    began: Instant,
    next_report: Option<Instant>,
}

impl Job {
    pub fn new(query: &Rc<Query>, turn: Turn, number: u64, seed: u64) -> Job {
        Job {
            query: Rc::clone(query),
            turn: turn.number,
            priority: turn.priority,
            number,
            state: turn.state,
            scores: Estimates::default(),
            policy: None,
            failure: None,
            terminated: false,
            search: None,
            seed,
        }
    }

    /// Starts the search and its clock.
    pub fn begin(&mut self) {
        let config = SearchConfig { gumbel: false, ..self.query.params.search.clone() };
        let size = self.state.size();
        self.search = Some(Search {
            tree: Tree::new(self.state.clone(), &config).with_limits(self.query.limits.clone()),
            // Of the position, not of the order of queries: equal queries get equal answers.
            rng: ChaCha8Rng::seed_from_u64(self.seed ^ self.state.situation_hash()),
            symmetries: Symmetry::all().into_iter().filter(|s| s.valid_for(size)).collect(),
            began: Instant::now(),
            next_report: self.query.report_every.map(|every| Instant::now() + every),
        });
    }

    /// The tree, once there is something in it.
    pub fn tree(&self) -> Option<&Tree> {
        self.search.as_ref().map(|search| &search.tree).filter(|tree| tree.is_root_expanded())
    }

    /// Visits still to be made, KataGo's way: the position's own evaluation is one.
    fn visits_left(&self) -> u32 {
        let made = self.tree().map_or(0, |tree| 1 + tree.root().visits);
        self.query.params.search.visits.max(1).saturating_sub(made)
    }

    /// Whether nothing more is to be searched.
    pub fn is_done(&self) -> bool {
        let late = |search: &Search| {
            let limit = self.query.params.max_time;
            limit.is_some_and(|limit| search.began.elapsed() >= Duration::from_secs_f64(limit))
        };
        let has_root = self.tree().is_some();
        self.failure.is_some()
            || self.terminated
            || self.visits_left() == 0
            || (has_root && self.search.as_ref().is_some_and(|s| late(s) || is_full(&s.tree)))
    }

    /// Leaves for the next batch, each with the symmetry it is to be seen through.
    pub fn select(&mut self) -> Vec<(PendingLeaf, Symmetry)> {
        let has_root = self.tree().is_some();
        let most = self.query.params.search.leaves_per_batch.max(1);
        let wanted = if has_root { self.visits_left().min(most) } else { 1 };
        let Some(search) = &mut self.search else { return Vec::new() };
        let mut leaves = Vec::with_capacity(wanted as usize);
        for _ in 0..wanted {
            if let Selected::Leaf(leaf) = search.tree.select() {
                let pick = search.rng.random_range(0..search.symmetries.len());
                leaves.push((leaf, search.symmetries[pick]));
            }
        }
        leaves
    }

    /// Gives a leaf of this job its answer.
    pub fn answer(&mut self, leaf: PendingLeaf, evaluation: &Evaluation) {
        if leaf.depth() == 0 && self.query.policy {
            self.policy = Some(evaluation.policy.clone());
        }
        if let Some(search) = &mut self.search {
            search.tree.expand_and_backup(leaf, evaluation);
        }
    }

    /// Takes a leaf back: there is no answer, and the job ends.
    pub fn fail(&mut self, leaf: PendingLeaf, why: &str) {
        if let Some(search) = &mut self.search {
            search.tree.abandon(leaf);
        }
        self.failure = Some(why.to_owned());
    }

    /// Whether it is time for a report before the end.
    pub fn report_is_due(&mut self) -> bool {
        let has_root = self.tree().is_some();
        let (Some(search), Some(every)) = (&mut self.search, self.query.report_every) else {
            return false;
        };
        let due = has_root && search.next_report.is_some_and(|next| Instant::now() >= next);
        if due {
            search.next_report = Some(Instant::now() + every);
        }
        due
    }
}
