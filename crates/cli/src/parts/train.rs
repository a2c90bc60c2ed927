//! Training: stored games become steps, steps become candidates.

use anyhow::{Context, Result};
use tengen_network::NetworkMeta;
use tengen_store::{NetworkStatus, NewMatch, NewNetwork, Store};
use tengen_trainer::{StepReport, TrainError, Trainer, block_facts};

use crate::config::Config;
use crate::metrics::Metrics;
use crate::run_dir::RunDir;
use crate::stop::Stop;

/// How many games are read from the store at a time.
const READ_GAMES: u64 = 256;
/// Candidates that may wait for their matches.
const MOST_CANDIDATES: usize = 3;

/// The trainer of a run and what it last reported.
pub struct Training {
    trainer: Trainer,
    /// Networks whose games the window was filled without.
    withdrawn: Vec<String>,
    /// The game number up to which training was last reported to the store.
    reported: u64,
    /// The last step's report.
    pub last: Option<StepReport>,
}

/// Training targets in the store.
#[derive(Clone, Copy, Debug)]
pub struct Stored {
    /// All of them.
    pub positions: u64,
    /// Those that were not withdrawn.
    pub usable: u64,
}

impl Stored {
    /// As the store has them now, `positions` of them as it counted.
    pub fn of(store: &Store, positions: u64) -> Result<Self> {
        Ok(Self { positions, usable: positions - store.withdrawn_positions(u64::MAX)? })
    }
}

impl Training {
    /// Resumes from the newest whole checkpoint, or starts from the run's first network.
    pub fn open(dir: &RunDir, config: &Config, store: &mut Store, seed: u64) -> Result<Self> {
        // The first network again, made and not read, so that its file may be missing.
        let weights = config.network.init_weights(seed)?;
        let (trainer, warnings) = Trainer::open(
            dir.path(),
            &config.network,
            &config.trainer,
            config.device.training,
            seed,
            &weights,
        )?;
        for warning in warnings {
            tracing::warn!("{warning}");
            store
                .add_event("checkpoint", &serde_json::json!({ "warning": warning }).to_string())?;
        }
        let mut training = Self { trainer, withdrawn: Vec::new(), reported: 0, last: None };
        training.fill_window(store)?;
        Ok(training)
    }

    /// The window is what the store holds below the cursor: nothing of it is in the checkpoint.
    fn fill_window(&mut self, store: &Store) -> Result<()> {
        let cursor = self.trainer.cursor();
        let from = store.window_start(cursor, self.trainer.window_capacity())?;
        let games = store.games_in(from, cursor)?;
        let usable =
            games.into_iter().map(|game| (game.seq, (!game.withdrawn).then_some(game.record)));
        self.trainer.reload(usable, store.withdrawn_positions(cursor)?)?;
        self.withdrawn = store.withdrawn_networks()?;
        Ok(())
    }

    /// Steps made over the run.
    pub fn step(&self) -> u64 {
        self.trainer.step()
    }

    /// Samples trained over the run.
    pub fn samples(&self) -> u64 {
        self.trainer.samples()
    }

    /// Target positions in the window.
    pub fn window(&self) -> usize {
        self.trainer.window_positions()
    }

    /// Whether the store holds enough positions for one more step: the training ratio allows
    /// `samples_per_position` samples for each position generated. A rollback may have left fewer
    /// than the smallest window: self-play fills it first.
    pub fn is_due(&self, config: &Config, stored: Stored) -> bool {
        let quota = stored.positions as f64 * config.trainer.samples_per_position;
        stored.usable >= config.trainer.window_min_positions as u64
            && quota >= (self.samples() + config.trainer.batch_size as u64) as f64
    }

    /// Whether the step count calls for a candidate that the store lacks. While three wait for their
    /// matches, because no worker can have them, training goes on without a new one.
    pub fn candidate_is_due(&self, config: &Config, store: &Store) -> Result<bool> {
        let step = self.step();
        Ok(step > 0
            && step.is_multiple_of(config.trainer.steps_per_candidate)
            && !store.networks()?.iter().any(|n| n.step == step)
            && store.open_matches()?.len() < MOST_CANDIDATES)
    }

    /// Reads new games and makes up to `run.steps_per_cycle` steps, ending early at a candidate's
    /// step, at the quota or at a stop.
    pub fn steps(
        &mut self,
        config: &Config,
        store: &mut Store,
        metrics: &mut Metrics,
        stop: &Stop,
        until: u64,
    ) -> Result<()> {
        let counts = store.counts()?;
        let stored = Stored::of(store, counts.positions)?;
        if store.withdrawn_networks()? != self.withdrawn {
            tracing::warn!("games were withdrawn or taken back in: the window is filled anew");
            self.fill_window(store)?;
        }
        while self.trainer.cursor() < counts.last_seq {
            let from = self.trainer.cursor();
            for game in store.games_in(from, (from + READ_GAMES).min(counts.last_seq))? {
                if game.withdrawn {
                    self.trainer.pass_over(game.seq, game.record.positions() as u64)?;
                } else {
                    self.trainer.ingest(game.seq, game.record)?;
                }
            }
        }
        for _ in 0..config.run.steps_per_cycle {
            if stop.now() || !self.is_due(config, stored) || self.step() >= until {
                break;
            }
            match self.trainer.train_step() {
                Ok(report) => {
                    if report.step.is_multiple_of(10) {
                        self.note(&report, store, metrics)?;
                    }
                    self.watch(config, report.step, store, metrics)?;
                    self.last = Some(report);
                }
                Err(error @ TrainError::NonFinite { .. }) => {
                    tracing::warn!("{error}");
                    store.add_event(
                        "step-refused",
                        &serde_json::json!({ "why": error.to_string() }).to_string(),
                    )?;
                }
                Err(error) => return Err(error.into()),
            }
            let step = self.step();
            if step.is_multiple_of(config.trainer.checkpoint_every_steps) {
                self.save()?;
            }
            if step.is_multiple_of(config.trainer.steps_per_candidate) {
                break;
            }
        }
        // The turn's last step too, so that `tengen status` knows where training stands.
        match self.last.clone() {
            Some(last) if !last.step.is_multiple_of(10) => self.note(&last, store, metrics),
            _ => Ok(()),
        }
    }

    fn note(&self, report: &StepReport, store: &mut Store, metrics: &mut Metrics) -> Result<()> {
        store.add_metric(report.step, &serde_json::to_string(report)?)?;
        metrics.add("train", report.step, report)
    }

    /// What is measured now and then: the blocks' norms, and the held-out games.
    fn watch(
        &self,
        config: &Config,
        step: u64,
        store: &mut Store,
        metrics: &mut Metrics,
    ) -> Result<()> {
        let norms = self.trainer.block_norms();
        if !norms.is_empty() {
            metrics.add("blocks", step, &block_facts(norms))?;
        }
        let every = config.trainer.held_out_every_steps;
        if every > 0
            && step.is_multiple_of(every)
            && let Some(report) = self.trainer.measure_held_out()?
        {
            metrics.add("held-out", step, &report)?;
            for warning in report.warnings() {
                tracing::warn!(step, "{warning}");
                let event = serde_json::json!({ "step": step, "warning": warning });
                store.add_event("held-out", &event.to_string())?;
            }
        }
        Ok(())
    }

    /// Tells self-play in other processes how far training has come: the games whose positions
    /// the training ratio would have used up by now. Until the first window is full that is all.
    pub fn report_progress(&mut self, config: &Config, store: &mut Store) -> Result<()> {
        let counts = store.counts()?;
        let used = self.samples() as f64 / config.trainer.samples_per_position;
        let waiting = if counts.positions < config.trainer.window_min_positions as u64 {
            0.0
        } else {
            (counts.positions as f64 - used).max(0.0)
        };
        let games_waiting = waiting * counts.games as f64 / (counts.positions as f64).max(1.0);
        let seq = counts.last_seq.saturating_sub(games_waiting.ceil() as u64);
        if seq > self.reported {
            store.set_trained(seq)?;
            self.reported = seq;
        }
        Ok(())
    }

    /// Writes a checkpoint.
    pub fn save(&mut self) -> Result<()> {
        self.trainer.save_checkpoint().context(
            "the checkpoint could not be written; what is stored is safe, and the checkpoint before \
             it stands: free some space or mend the folder, then start again",
        )?;
        Ok(())
    }

    /// Writes the network of this step and enters it as a candidate with its match, in one
    /// transaction. The checkpoint goes first, so that a candidate's step is never trained twice.
    pub fn add_candidate(
        &mut self,
        dir: &RunDir,
        config: &Config,
        store: &mut Store,
    ) -> Result<String> {
        self.save()?;
        let step = self.step();
        let best = store.best()?.context("the run has no best network")?.id;
        let counts = store.counts()?;
        let meta = NetworkMeta {
            run: config.run.name.clone(),
            parent: Some(best.clone()),
            step,
            samples: self.samples(),
            games: counts.games,
        };
        let (id, file) = dir.save_weights(&config.network, &self.trainer.candidate()?, &meta)?;
        let candidate = NewNetwork {
            id: id.clone(),
            parent: Some(best.clone()),
            file,
            step,
            games: counts.games,
            samples: self.samples(),
            status: NetworkStatus::Candidate,
            losses_json: match &self.last {
                Some(report) => serde_json::to_string(report)?,
                None => "{}".into(),
            },
        };
        let game_pairs = NewMatch {
            gate_config_json: serde_json::to_string(&config.gate)?,
            pairs_planned: config.gate.pairs,
            base: best,
        };
        store.add_candidate(&candidate, &game_pairs)?;
        tracing::info!(network = %id, step, "new candidate");
        Ok(id)
    }
}
