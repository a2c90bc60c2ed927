//! Self-play: the newest best network fills the store with games.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tengen_fleet::worker_seed;
use tengen_inference::{CachedEvaluator, LeafEvaluator};
use tengen_network::DeviceConfig;
use tengen_selfplay::{
    Conditions, GameSettings, PoolStats, ResignStudy, SelfPlayConfig, SelfPlayPool, StartPosition,
};
use tengen_store::{GameId, NewGame, RunRow, Store};

use super::outlook::Outlook;
use super::starts;
use crate::config::Config;
use crate::pipeline::LOOP_WORKER;
use crate::players::Player;
use crate::run_dir::RunDir;
use crate::stop::Stop;

/// The newest games of the run that forks may begin as.
const FORK_SOURCES: u64 = 64;
/// The newest games that are looked through for those that measure resignation.
const STUDIED: u64 = 5_000;
/// How many of them are read from the store at a time.
const READ_GAMES: u64 = 256;

/// A pool of games in flight and the evaluators of the network that plays them.
pub struct Generator {
    pool: SelfPlayPool,
    evaluators: Vec<Box<dyn LeafEvaluator>>,
    network: String,
    worker: String,
    config: SelfPlayConfig,
    settings: GameSettings,
    starts: Arc<[StartPosition]>,
    study: ResignStudy,
    outlook: Outlook,
    devices: DeviceConfig,
}

impl Generator {
    /// Starts a pool for `worker`; its games go on where the worker's stored games end.
    pub fn new(
        dir: &RunDir,
        config: &Config,
        store: &Store,
        run: &RunRow,
        worker: &str,
    ) -> Result<Self> {
        let settings = config.rules.settings()?;
        let first_game = store.next_counter(worker)?;
        // Every worker counts its games from 0: with one seed for all they would play the same ones.
        let seed = match worker {
            LOOP_WORKER => run.seed,
            other => worker_seed(run.seed, other),
        };
        let pool = SelfPlayPool::new(&settings, &config.selfplay, &config.search, first_game, seed)
            .with_others(&config.rules.others()?)
            .with_config_digest(&run.config_digest);
        let starts = match config.selfplay.start_positions.as_str() {
            "" => Arc::default(),
            file => starts::read(Path::new(file), &settings)?.into(),
        };
        Ok(Self {
            outlook: Outlook::new(dir, worker, config.run.sgf_every, pool.spectator()),
            study: study_of(&config.selfplay, store)?,
            config: config.selfplay.clone(),
            pool,
            evaluators: Vec::new(),
            network: String::new(),
            worker: worker.into(),
            settings,
            starts,
            devices: config.device.clone(),
        })
    }

    /// Takes the run's best network if it is another than the one in use.
    fn take_best(&mut self, dir: &RunDir, store: &mut Store) -> Result<()> {
        if store.best()?.is_some_and(|best| best.id == self.network) {
            return Ok(());
        }
        let (best, player) = Player::best_of_run(dir, store, &self.devices)?;
        let remembered = self.config.cache_positions;
        self.evaluators = (0..self.pool.workers())
            .map(|worker| {
                let evaluator = player.evaluator_of(worker)?;
                Ok(match remembered {
                    0 => evaluator,
                    positions => Box::new(CachedEvaluator::new(evaluator, positions)) as _,
                })
            })
            .collect::<Result<_>>()?;
        tracing::info!(network = %best, "self-play uses a new network");
        self.network = best;
        Ok(())
    }

    /// Lets the games that begin from now on know what the run has come to.
    fn take_conditions(&mut self, store: &Store) -> Result<()> {
        let mut forks: Vec<StartPosition> = Vec::new();
        if self.config.fork_fraction > 0.0 {
            let last = store.counts()?.last_seq;
            let newest = store.games_in(last.saturating_sub(FORK_SOURCES), last)?;
            for game in newest.into_iter().filter(|game| !game.withdrawn) {
                // A game of an earlier config may have had another board or other rules.
                let Ok(mut source) = StartPosition::of_game(&game.record, &self.settings) else {
                    continue;
                };
                source.moves.truncate(self.config.fork_moves);
                // One that ended so early teaches little about openings.
                if source.state(&self.settings).is_ok() {
                    forks.push(source);
                }
            }
        }
        self.pool.set_conditions(Conditions {
            games: store.counts()?.games,
            resign_below: self.study.threshold(),
            starts: Arc::clone(&self.starts),
            forks: forks.into(),
        })?;
        Ok(())
    }

    /// Plays until `games` more are finished and stored, or the stop comes.
    pub fn play(
        &mut self,
        dir: &RunDir,
        store: &mut Store,
        run: &RunRow,
        games: usize,
        stop: &Stop,
    ) -> Result<PoolStats> {
        self.take_best(dir, store)?;
        self.take_conditions(store)?;
        let mut failure = None;
        let failed = std::cell::Cell::new(false);
        let (network, worker, outlook) = (&self.network, &self.worker, &self.outlook);
        let study = &mut self.study;
        let should_stop = || {
            outlook.tick();
            stop.now() || failed.get()
        };
        let stats = self.pool.run(
            &mut self.evaluators,
            network,
            games,
            &should_stop,
            &mut |counter, record| {
                if failed.get() {
                    return;
                }
                let game = NewGame {
                    id: GameId::derive(&run.uid, worker, counter),
                    worker: worker.clone(),
                    counter,
                    network: network.clone(),
                    record: &record,
                };
                if let Err(error) = store.append_games(&[game]) {
                    failed.set(true);
                    failure = Some(error);
                    return;
                }
                study.add(&record);
                outlook.finished(counter, &record);
            },
        )?;
        match failure {
            Some(error) => Err(error).context("a finished game could not be stored"),
            None => Ok(stats),
        }
    }

    /// What a turn of self-play came to, for the metrics: speed, where the time went, resignation.
    pub fn facts(&self, stats: &PoolStats) -> Value {
        let mut facts = json!({
            "game_length": stats.mean_length(),
            "evaluations_per_s": stats.evaluations_per_second(),
            "real_evaluations_per_s": stats.real_evaluations_per_second(),
            "hit_rate": stats.hit_rate(),
            "mean_batch": stats.mean_batch(),
            "batch_fill": stats.batch_fill(),
            "evaluating_share": stats.evaluating_share(),
            "tree_share": stats.tree_share(),
            "waiting_share": stats.waiting_share(),
        });
        if self.config.resign {
            let report = self.study.report();
            facts["resign_threshold"] = json!(report.threshold);
            facts["resign_measured_games"] = json!(report.measured_games);
            facts["resign_would_resign"] = json!(report.would_resign);
            facts["resign_false_positives"] = json!(report.false_positives);
        }
        facts
    }
}

/// Resignation as the newest games of the run measure it.
fn study_of(config: &SelfPlayConfig, store: &Store) -> Result<ResignStudy> {
    let mut study = ResignStudy::new(config);
    if config.resign {
        let last = store.counts()?.last_seq;
        let mut from = last.saturating_sub(STUDIED);
        while from < last {
            let upto = (from + READ_GAMES).min(last);
            store.games_in(from, upto)?.iter().for_each(|game| study.add(&game.record));
            from = upto;
        }
    }
    Ok(study)
}
