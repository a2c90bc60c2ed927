//! The trainer: games in, steps taken, weights out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tengen_features::FeatureSet;
use tengen_network::{DeviceKind, NetworkConfig, TrainingNet, Weights};
use tengen_record::GameRecord;

use crate::checkpoint::{self, Checkpoint, State};
use crate::optimiser::Optimiser;
use crate::{BlockNorms, HeldOutReport, TrainError, TrainerConfig, Window, held_out, schedule};

mod ahead;
mod average;
mod step;

pub use step::StepReport;

use ahead::Ahead;

/// The trainer's stream of the run's seed; self-play and matches use others.
const STREAM: u64 = 0x74_7261_696e;

/// Trains one network on a window of games. See the crate's page.
pub struct Trainer {
    config: TrainerConfig,
    network: NetworkConfig,
    features: FeatureSet,
    net: TrainingNet,
    checkpoints: PathBuf,
    state: State,
    rng: ChaCha8Rng,
    weights: Weights,
    optimiser: Optimiser,
    /// The averaged weights, once there are some.
    averaged: Option<Weights>,
    window: Window,
    ahead: Option<Ahead>,
    /// Of the last step, if it was watched.
    block_norms: BTreeMap<String, BlockNorms>,
    /// Positions seen that were withdrawn since: what the window need not hold.
    withdrawn: u64,
}

impl Trainer {
    /// Resumes from the newest usable checkpoint under `run_dir`, or begins with `initial` and
    /// writes the first checkpoint. The strings are warnings: damaged checkpoints passed over.
    ///
    /// Steps are computed on `device`; a run may go on on another one, and then differs in the last
    /// digits from what it would have been.
    ///
    /// A resumed trainer needs its window back before it can step: see [`reload`](Self::reload).
    ///
    /// # Errors
    /// When a config or `initial` is refused, when the device is missing, when checkpoints exist but none is usable, when the
    /// newest belongs to another network or another seed, and on I/O errors.
    pub fn open(
        run_dir: &Path,
        network: &NetworkConfig,
        config: &TrainerConfig,
        device: DeviceKind,
        run_seed: u64,
        initial: &Weights,
    ) -> Result<(Self, Vec<String>), TrainError> {
        let problems = config.validate();
        if !problems.is_empty() {
            return Err(TrainError::Config(problems));
        }
        let mut trainer = Self {
            config: config.clone(),
            network: network.clone(),
            features: network.features()?,
            net: TrainingNet::new(network, device)?,
            checkpoints: run_dir.join("checkpoints"),
            state: State::fresh(run_seed),
            rng: ChaCha8Rng::seed_from_u64(run_seed),
            weights: Weights::default(),
            optimiser: Optimiser::at_rest(config.optimiser, &Weights::default()),
            averaged: None,
            window: Window::with_held_out(config.held_out_fraction),
            ahead: None,
            block_norms: BTreeMap::new(),
            withdrawn: 0,
        };
        trainer.rng.set_stream(STREAM);
        let Some((found, path, warnings)) = checkpoint::load_newest(&trainer.checkpoints)? else {
            initial.check(network)?;
            trainer.weights = initial.clone();
            trainer.optimiser = Optimiser::at_rest(config.optimiser, initial);
            trainer.save_checkpoint()?;
            return Ok((trainer, Vec::new()));
        };
        trainer.resume(found, &path)?;
        Ok((trainer, warnings))
    }

    fn resume(&mut self, found: Checkpoint, path: &Path) -> Result<(), TrainError> {
        let foreign = |why: String| TrainError::Foreign { path: path.to_owned(), why };
        if found.state.run_seed != self.state.run_seed {
            return Err(foreign(format!(
                "seed {}, not {}",
                found.state.run_seed, self.state.run_seed
            )));
        }
        found.weights.check(&self.network).map_err(|error| foreign(error.to_string()))?;
        let position = found.state.random_position.parse().map_err(|_| TrainError::Checkpoint {
            path: path.to_owned(),
            why: format!("random position {:?}", found.state.random_position),
        })?;
        self.rng.set_word_pos(position);
        self.state = found.state;
        self.weights = found.weights;
        self.optimiser =
            Optimiser::from_state(self.config.optimiser, found.optimiser).map_err(foreign)?;
        // An average that is no longer wanted is dropped.
        self.averaged = found.averaged.filter(|_| self.config.average_every_steps > 0);
        Ok(())
    }

    /// The last sequence number ingested; 0 before the first.
    #[must_use]
    pub fn cursor(&self) -> u64 {
        self.state.cursor
    }

    /// Steps taken.
    #[must_use]
    pub fn step(&self) -> u64 {
        self.state.step
    }

    /// Samples trained on in those steps.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.state.samples
    }

    /// Target positions ingested since the run began.
    #[must_use]
    pub fn positions_seen(&self) -> u64 {
        self.state.positions_seen
    }

    /// Target positions that the window may hold now: what a [`reload`](Self::reload) must bring.
    #[must_use]
    pub fn window_capacity(&self) -> usize {
        schedule::window_capacity(&self.config, self.state.positions_seen)
    }

    /// Target positions that batches are drawn from now.
    #[must_use]
    pub fn window_positions(&self) -> usize {
        self.window.positions(self.window_capacity())
    }

    /// Steps that may be taken now before `samples_per_position` is reached: what paces training
    /// against self-play.
    #[must_use]
    pub fn steps_due(&self) -> u64 {
        let samples = self.state.positions_seen as f64 * self.config.samples_per_position;
        let due = (samples / self.config.batch_size as f64) as u64;
        due.saturating_sub(self.state.samples / self.config.batch_size as u64)
    }

    /// The weights as they stand, running statistics included.
    #[must_use]
    pub fn weights(&self) -> Weights {
        self.weights.clone()
    }

    /// Takes the next game into the window.
    ///
    /// # Errors
    /// [`TrainError::OutOfOrder`] unless `seq` is the cursor plus one; the trainer is unchanged then.
    pub fn ingest(&mut self, seq: u64, record: GameRecord) -> Result<(), TrainError> {
        let expected = self.state.cursor + 1;
        if seq != expected {
            return Err(TrainError::OutOfOrder { expected, found: seq });
        }
        self.ahead = None;
        self.state.cursor = seq;
        self.state.positions_seen += record.positions() as u64;
        let capacity = self.window_capacity();
        self.window.push(seq, record, capacity);
        Ok(())
    }

    /// Goes past the next game, which was withdrawn: its `positions` count as seen, and none of
    /// them is ever drawn.
    ///
    /// # Errors
    /// [`TrainError::OutOfOrder`] unless `seq` is the cursor plus one.
    pub fn pass_over(&mut self, seq: u64, positions: u64) -> Result<(), TrainError> {
        let expected = self.state.cursor + 1;
        if seq != expected {
            return Err(TrainError::OutOfOrder { expected, found: seq });
        }
        self.state.cursor = seq;
        self.state.positions_seen += positions;
        self.withdrawn += positions;
        Ok(())
    }

    /// Fills the window after a resume, or after games were withdrawn, with the games that end at
    /// the cursor, in order: all those after the store's `window_start(cursor, window_capacity)`,
    /// `None` in place of a withdrawn one. `withdrawn` is how many of the positions up to the cursor
    /// are withdrawn. Nothing is counted anew.
    ///
    /// # Errors
    /// [`TrainError::OutOfOrder`] when they have gaps or don't end at the cursor,
    /// [`TrainError::ReloadTooShort`] when they hold too few positions; the window is empty then.
    pub fn reload(
        &mut self,
        games: impl IntoIterator<Item = (u64, Option<GameRecord>)>,
        withdrawn: u64,
    ) -> Result<(), TrainError> {
        self.ahead = None;
        self.window = Window::with_held_out(self.config.held_out_fraction);
        self.withdrawn = withdrawn;
        let filled = self.fill(games);
        if filled.is_err() {
            self.window = Window::with_held_out(self.config.held_out_fraction);
        }
        filled
    }

    fn fill(
        &mut self,
        games: impl IntoIterator<Item = (u64, Option<GameRecord>)>,
    ) -> Result<(), TrainError> {
        let capacity = self.window_capacity();
        let mut last = None;
        for (seq, record) in games {
            if let Some(last) = last
                && seq != last + 1
            {
                return Err(TrainError::OutOfOrder { expected: last + 1, found: seq });
            }
            if let Some(record) = record {
                self.window.push(seq, record, capacity);
            }
            last = Some(seq);
        }
        let last = last.unwrap_or(0);
        if last != self.state.cursor {
            return Err(TrainError::OutOfOrder { expected: self.state.cursor, found: last });
        }
        self.check_filled()
    }

    /// That one more step keeps to the cap on samples a position.
    fn check_reuse(&self) -> Result<(), TrainError> {
        let (samples, positions) = (self.state.samples, self.state.positions_seen);
        let (cap, next) = (self.config.reuse_cap, samples + self.config.batch_size as u64);
        if cap > 0.0 && next as f64 > cap * positions as f64 {
            return Err(TrainError::ReuseCap { samples, positions, cap });
        }
        Ok(())
    }

    /// How the weights do on the window's held-out games, at most `held_out_positions` of their
    /// positions; `None` while there are none. Changes nothing that training depends on.
    ///
    /// # Errors
    /// When a game cannot be replayed or the weights are not sound.
    pub fn measure_held_out(&self) -> Result<Option<HeldOutReport>, TrainError> {
        let draws = self.window.held_out(self.config.held_out_positions);
        if draws.is_empty() {
            return Ok(None);
        }
        held_out::measure(&self.network, &self.weights, &draws).map(Some)
    }

    /// Gradients, weights and update by block in the last step taken, where that step was one to be
    /// watched (`watch_every_steps`).
    #[must_use]
    pub fn block_norms(&self) -> &BTreeMap<String, BlockNorms> {
        &self.block_norms
    }

    /// That the window holds all it should: a resumed run must draw what the old one would have.
    fn check_filled(&self) -> Result<(), TrainError> {
        let capacity = self.window_capacity();
        let usable = self.state.positions_seen.saturating_sub(self.withdrawn);
        let needed = usize::try_from(usable).unwrap_or(usize::MAX).min(capacity);
        match self.window.positions(capacity) {
            found if found < needed => Err(TrainError::ReloadTooShort { found, needed }),
            _ => Ok(()),
        }
    }

    /// Writes a checkpoint and removes all but the newest `keep_checkpoints`; returns its folder.
    ///
    /// # Errors
    /// When it cannot be written; older checkpoints are untouched then.
    pub fn save_checkpoint(&mut self) -> Result<PathBuf, TrainError> {
        self.state.random_position = self.rng.get_word_pos().to_string();
        let checkpoint = Checkpoint {
            state: self.state.clone(),
            weights: self.weights.clone(),
            optimiser: self.optimiser.state(),
            averaged: self.averaged.clone(),
        };
        checkpoint::save(&self.checkpoints, &checkpoint, self.config.keep_checkpoints)
    }
}

#[cfg(test)]
mod tests;
