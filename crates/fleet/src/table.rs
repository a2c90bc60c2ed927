//! A worker's self-play games under one configuration of the run.

use std::collections::VecDeque;
use std::path::Path;

use tengen_inference::{CachedEvaluator, EvalError, LeafEvaluator, UniformEvaluator};
use tengen_record::GameRecord;
use tengen_selfplay::{Conditions, PoolStats, ResignStudy, SelfPlayPool, StartPosition};
use tengen_store::RunState;

use crate::{FleetError, Host, Plan};

/// The newest games of this worker that forks may begin as.
const FORK_SOURCES: usize = 64;
/// How a game's player is called where the run has no network yet.
pub(crate) const UNIFORM: &str = "uniform";

/// Where the random streams of a worker's games start. Workers count their games from 0 each, so
/// they must not share the run's seed: they would play the same games.
#[must_use]
pub fn worker_seed(run_seed: u64, worker: &str) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&run_seed.to_le_bytes());
    hasher.update(worker.as_bytes());
    let digest = hasher.finalize();
    let mut seed = [0; 8];
    seed.copy_from_slice(&digest.as_bytes()[..8]);
    u64::from_le_bytes(seed)
}

/// Games in flight and the evaluators of the network that plays them.
pub(crate) struct Table {
    digest: String,
    plan: Plan,
    pool: SelfPlayPool,
    evaluators: Vec<Box<dyn LeafEvaluator>>,
    network: String,
    study: ResignStudy,
    newest: VecDeque<StartPosition>,
}

impl Table {
    /// A table for the run as it is configured now; its first game has the number `first_game`.
    pub fn new(
        run: &RunState,
        plan: Plan,
        worker: &str,
        first_game: u64,
    ) -> Result<Self, FleetError> {
        if plan.selfplay.visits_growth_games > 0 {
            tracing::warn!(
                "selfplay.visits_growth_games: workers of a fleet play with the visits that it grows to"
            );
        }
        let seed = worker_seed(run.seed, worker);
        let pool =
            SelfPlayPool::new(&plan.settings, &plan.selfplay, &plan.search, first_game, seed)
                .with_others(&plan.others)
                .with_config_digest(&run.config_digest);
        Ok(Self {
            digest: run.config_digest.clone(),
            study: ResignStudy::new(&plan.selfplay),
            pool,
            plan,
            evaluators: Vec::new(),
            network: String::new(),
            newest: VecDeque::new(),
        })
    }

    pub fn digest(&self) -> &str {
        &self.digest
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    pub fn network(&self) -> &str {
        &self.network
    }

    /// Games in flight, and the number that the next one gets.
    pub fn in_flight(&self) -> (usize, u64) {
        (self.pool.games_in_flight(), self.pool.next_counter())
    }

    /// From now on the network `hash` in `file` plays (the uniform evaluator without one), in the
    /// games in flight too. On an error the one before plays on.
    pub fn take_network(
        &mut self,
        hash: &str,
        file: Option<&Path>,
        host: &dyn Host,
    ) -> Result<(), FleetError> {
        let workers = self.pool.workers();
        let plain = match file {
            Some(file) => host.evaluators(file, workers).map_err(FleetError::Host)?,
            None => (0..workers).map(|_| Box::new(UniformEvaluator) as _).collect(),
        };
        let remember = |evaluator| match self.plan.selfplay.cache_positions {
            0 => evaluator,
            positions => Box::new(CachedEvaluator::new(evaluator, positions)) as _,
        };
        self.evaluators = plain.into_iter().map(remember).collect();
        hash.clone_into(&mut self.network);
        tracing::info!(network = %hash, "self-play uses a new network");
        Ok(())
    }

    /// Plays up to `games` more, or until `should_stop`; see [`SelfPlayPool::run`].
    pub fn play(
        &mut self,
        games: usize,
        should_stop: &dyn Fn() -> bool,
        on_game: &mut dyn FnMut(u64, &GameRecord),
    ) -> Result<PoolStats, FleetError> {
        self.pool.set_conditions(Conditions {
            // Visits as they are once grown: how many games the run has is not told to workers.
            games: u64::MAX,
            resign_below: self.study.threshold(),
            starts: self.plan.starts.clone(),
            forks: self.newest.iter().cloned().collect(),
        })?;
        let (study, newest, plan) = (&mut self.study, &mut self.newest, &self.plan);
        let mut hand_over = |counter: u64, record: GameRecord| {
            study.add(&record);
            if plan.selfplay.fork_fraction > 0.0 {
                remember_fork(newest, &record, plan);
            }
            on_game(counter, &record);
        };
        self.pool
            .run(&mut self.evaluators, &self.network, games, should_stop, &mut hand_over)
            .map_err(|error: EvalError| error.into())
    }
}

/// Keeps the beginning of a game for forks.
fn remember_fork(newest: &mut VecDeque<StartPosition>, record: &GameRecord, plan: &Plan) {
    let Ok(mut source) = StartPosition::of_game(record, &plan.settings) else { return };
    source.moves.truncate(plan.selfplay.fork_moves);
    // One that ended so early teaches little about openings.
    if source.state(&plan.settings).is_ok() {
        newest.push_back(source);
        if newest.len() > FORK_SOURCES {
            newest.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_of_a_run_and_runs_of_a_worker_play_games_of_their_own() {
        let seeds = [(1, "a"), (2, "a"), (1, "b"), (2, "b")].map(|(run, w)| worker_seed(run, w));
        for (at, seed) in seeds.iter().enumerate() {
            assert!(!seeds[at + 1..].contains(seed), "{seeds:?}");
        }
        assert_eq!(worker_seed(1, "a"), seeds[0]);
    }
}
