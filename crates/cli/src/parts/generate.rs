//! Self-play: the newest best network fills the store with games.

use anyhow::{Context, Result};
use tengen_inference::LeafEvaluator;
use tengen_selfplay::{PoolStats, SelfPlayPool};
use tengen_store::{GameId, NewGame, RunRow, Store};

use crate::config::Config;
use crate::players::Player;
use crate::run_dir::RunDir;
use crate::stop::Stop;

/// A pool of games in flight and the evaluators of the network that plays them.
pub struct Generator {
    pool: SelfPlayPool,
    evaluators: Vec<Box<dyn LeafEvaluator>>,
    network: String,
    worker: String,
}

impl Generator {
    /// Starts a pool for `worker`; its games go on where the worker's stored games end.
    pub fn new(config: &Config, store: &Store, run: &RunRow, worker: &str) -> Result<Self> {
        let first_game = store.next_counter(worker)?;
        let pool = SelfPlayPool::new(
            &config.rules.settings()?,
            &config.selfplay,
            &config.search,
            first_game,
            run.seed,
        )
        .with_config_digest(&run.config_digest);
        Ok(Self { pool, evaluators: Vec::new(), network: String::new(), worker: worker.into() })
    }

    /// Takes the run's best network if it is another than the one in use.
    fn take_best(&mut self, dir: &RunDir, store: &mut Store) -> Result<()> {
        if store.best()?.is_some_and(|best| best.id == self.network) {
            return Ok(());
        }
        let (best, player) = Player::best_of_run(dir, store)?;
        self.evaluators =
            (0..self.pool.workers()).map(|_| player.evaluator()).collect::<Result<_>>()?;
        tracing::info!(network = %best, "self-play uses a new network");
        self.network = best;
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
        let mut failure = None;
        let failed = std::cell::Cell::new(false);
        let (network, worker) = (&self.network, &self.worker);
        let stats = self.pool.run(
            &mut self.evaluators,
            network,
            games,
            &|| stop.now() || failed.get(),
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
                }
            },
        )?;
        match failure {
            Some(error) => Err(error).context("a finished game could not be stored"),
            None => Ok(stats),
        }
    }
}
