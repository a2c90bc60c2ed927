//! The trainer: games in, steps taken, weights out.

use std::path::{Path, PathBuf};
use std::time::Instant;

use burn::tensor::{Device, Tensor, TensorData};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use tengen_network::{DeviceKind, Net, NetworkConfig, NetworkError, Weights};
use tengen_record::GameRecord;

use crate::checkpoint::{self, Checkpoint, State};
use crate::loss::accuracies;
use crate::momentum::{decayed_square_sum, norm};
use crate::{
    Batch, Momentum, TrainError, TrainerConfig, Window, alpha_loss, is_statistic, schedule,
};

/// The trainer's stream of the run's seed; self-play and matches use others.
const STREAM: u64 = 0x74_7261_696e;
/// Refused steps in a row after which the tensors of the newest checkpoint replace the current.
const REFUSALS_BEFORE_RESTORE: u32 = 3;
/// Refused steps in a row after which the trainer gives up.
const REFUSALS_BEFORE_END: u32 = 10;

/// What one step did. Losses are means over the batch, before the update.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepReport {
    /// Steps taken, this one included.
    pub step: u64,
    /// The whole loss: `value_weight · value_loss + policy_loss + l2`.
    pub loss: f64,
    /// Cross entropy of π and p, in nats.
    pub policy_loss: f64,
    /// Mean of (z − v)².
    pub value_loss: f64,
    /// c‖θ‖².
    pub l2: f64,
    /// Fraction of samples whose most probable legal move is the target's.
    pub policy_accuracy: f64,
    /// Fraction of decided samples whose value has the result's sign.
    pub value_accuracy: f64,
    /// Norm of the loss's gradient before clipping, weight decay not counted.
    pub grad_norm: f64,
    /// The step size used.
    pub learning_rate: f64,
    /// Samples per second of wall clock, encoding included.
    pub samples_per_s: f64,
}

/// Trains one network on a window of games. See the crate's page.
pub struct Trainer {
    config: TrainerConfig,
    network: NetworkConfig,
    device: Device,
    checkpoints: PathBuf,
    state: State,
    rng: ChaCha8Rng,
    weights: Weights,
    momentum: Momentum,
    window: Window,
}

impl Trainer {
    /// Resumes from the newest usable checkpoint under `run_dir`, or begins with `initial` and
    /// writes the first checkpoint. The strings are warnings: damaged checkpoints passed over.
    ///
    /// A resumed trainer needs its window back before it can step: see [`reload`](Self::reload).
    ///
    /// # Errors
    /// When a config or `initial` is refused, when checkpoints exist but none is usable, when the
    /// newest belongs to another network or another seed, and on I/O errors.
    pub fn open(
        run_dir: &Path,
        network: &NetworkConfig,
        config: &TrainerConfig,
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
            device: DeviceKind::Cpu.training_device(),
            checkpoints: run_dir.join("checkpoints"),
            state: State::fresh(run_seed),
            rng: ChaCha8Rng::seed_from_u64(run_seed),
            weights: Weights::default(),
            momentum: Momentum::default(),
            window: Window::new(),
        };
        trainer.rng.set_stream(STREAM);
        let Some((found, path, warnings)) = checkpoint::load_newest(&trainer.checkpoints)? else {
            initial.check(network)?;
            trainer.weights = initial.clone();
            trainer.momentum = Momentum::at_rest(initial);
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
        self.momentum = Momentum::from_velocity(found.velocity);
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
    /// [`TrainError::OutOfOrder`] unless `seq` is the cursor plus one, [`TrainError::MixedSizes`]
    /// for another board; the trainer is unchanged then.
    pub fn ingest(&mut self, seq: u64, record: GameRecord) -> Result<(), TrainError> {
        let expected = self.state.cursor + 1;
        if seq != expected {
            return Err(TrainError::OutOfOrder { expected, found: seq });
        }
        self.check_size(seq, &record)?;
        self.state.cursor = seq;
        self.state.positions_seen += record.positions() as u64;
        let capacity = self.window_capacity();
        self.window.push(seq, record, capacity);
        Ok(())
    }

    /// Fills the window after a resume with the games that end at the cursor, in order: all those
    /// after the store's `window_start(cursor, window_capacity)`. Nothing is counted anew.
    ///
    /// # Errors
    /// [`TrainError::OutOfOrder`] when they have gaps or don't end at the cursor,
    /// [`TrainError::ReloadTooShort`] when they hold too few positions; the window is empty then.
    pub fn reload(
        &mut self,
        games: impl IntoIterator<Item = (u64, GameRecord)>,
    ) -> Result<(), TrainError> {
        self.window = Window::new();
        let filled = self.fill(games);
        if filled.is_err() {
            self.window = Window::new();
        }
        filled
    }

    fn fill(
        &mut self,
        games: impl IntoIterator<Item = (u64, GameRecord)>,
    ) -> Result<(), TrainError> {
        let capacity = self.window_capacity();
        let mut last = None;
        for (seq, record) in games {
            if let Some(last) = last
                && seq != last + 1
            {
                return Err(TrainError::OutOfOrder { expected: last + 1, found: seq });
            }
            self.check_size(seq, &record)?;
            self.window.push(seq, record, capacity);
            last = Some(seq);
        }
        let last = last.unwrap_or(0);
        if last != self.state.cursor {
            return Err(TrainError::OutOfOrder { expected: self.state.cursor, found: last });
        }
        self.check_filled()
    }

    fn check_size(&self, seq: u64, record: &GameRecord) -> Result<(), TrainError> {
        match self.window.size() {
            Some(expected) if expected != record.size => {
                Err(TrainError::MixedSizes { seq, expected, found: record.size })
            }
            _ => Ok(()),
        }
    }

    /// That the window holds all it should: a resumed run must draw what the old one would have.
    fn check_filled(&self) -> Result<(), TrainError> {
        let capacity = self.window_capacity();
        let needed = usize::try_from(self.state.positions_seen).unwrap_or(usize::MAX).min(capacity);
        match self.window.positions(capacity) {
            found if found < needed => Err(TrainError::ReloadTooShort { found, needed }),
            _ => Ok(()),
        }
    }

    /// Draws a batch and takes one step.
    ///
    /// # Errors
    /// [`TrainError::NonFinite`] when the loss, a gradient or an updated number is not finite: the
    /// step is undone and the step size halved, and the caller may go on with the next batch.
    /// [`TrainError::EmptyWindow`], [`TrainError::ReloadTooShort`] and [`TrainError::Sample`] leave
    /// the weights as they were.
    pub fn train_step(&mut self) -> Result<StepReport, TrainError> {
        let started = Instant::now();
        self.check_filled()?;
        let capacity = self.window_capacity();
        let draws = self.window.draw(self.config.batch_size, capacity, &mut self.rng);
        let batch = Batch::encode(&draws)?;
        let mut report = match self.attempt(&batch)? {
            Ok(report) => report,
            Err(what) => return Err(self.refuse(what)?),
        };
        report.samples_per_s = batch.len as f64 / started.elapsed().as_secs_f64().max(1e-9);
        Ok(report)
    }

    /// The step size that the next step would use.
    fn learning_rate(&self) -> f64 {
        schedule::learning_rate(&self.config, self.state.step)
            * 0.5f64.powi(self.state.halvings as i32)
    }

    /// Forward, backward and update on copies, which replace the current tensors only when all is
    /// finite; else names what was not.
    fn attempt(&mut self, batch: &Batch) -> Result<Result<StepReport, String>, TrainError> {
        let net = match Net::from_weights(&self.network, &self.weights, &self.device) {
            Err(NetworkError::NotFinite { name, .. }) => return Ok(Err(name)),
            other => other?,
        };
        let shape = [
            batch.len,
            batch.planes.len() / batch.len / batch.size.area(),
            batch.size.height(),
            batch.size.width(),
        ];
        let planes =
            Tensor::<4>::from_data(TensorData::new(batch.planes.clone(), shape), &self.device);
        let output = net.forward(planes);
        let (logits, value) = (output.policy_logits, output.value);
        let loss = alpha_loss(logits.clone(), value.clone(), batch, self.config.value_weight);
        let policy_loss = f64::from(loss.policy.clone().into_scalar::<f32>());
        let value_loss = f64::from(loss.value.clone().into_scalar::<f32>());
        if !(policy_loss.is_finite() && value_loss.is_finite()) {
            return Ok(Err("the loss".to_owned()));
        }
        let (policy_accuracy, value_accuracy) = accuracies(&host(logits), &host(value), batch);

        let gradient = net.gradients(&loss.total.backward());
        let grad_norm = norm(&gradient);
        if !grad_norm.is_finite() {
            return Ok(Err("the gradient".to_owned()));
        }
        let clip = self.config.gradient_clip;
        let scale = if clip > 0.0 && grad_norm > clip { clip / grad_norm } else { 1.0 };
        let learning_rate = self.learning_rate();
        let l2 = self.config.weight_decay * decayed_square_sum(&self.weights);

        let mut weights = self.weights.clone();
        for (name, tensor) in net.to_weights().0 {
            if is_statistic(&name) {
                if tensor.data.iter().any(|x| !x.is_finite()) {
                    return Ok(Err(name));
                }
                weights.0.insert(name, tensor);
            }
        }
        let mut momentum = self.momentum.clone();
        if let Err(what) =
            momentum.step(&mut weights, &gradient, scale as f32, learning_rate as f32, &self.config)
        {
            return Ok(Err(what));
        }

        self.weights = weights;
        self.momentum = momentum;
        self.state.refused = 0;
        self.state.step += 1;
        self.state.samples += batch.len as u64;
        Ok(Ok(StepReport {
            step: self.state.step,
            loss: self.config.value_weight * value_loss + policy_loss + l2,
            policy_loss,
            value_loss,
            l2,
            policy_accuracy,
            value_accuracy,
            grad_norm,
            learning_rate,
            samples_per_s: 0.0,
        }))
    }

    /// Counts a refused step, halves the step size and sees to it that the weights are good ones.
    fn refuse(&mut self, what: String) -> Result<TrainError, TrainError> {
        self.state.halvings += 1;
        self.state.refused += 1;
        let refused = self.state.refused;
        if refused >= REFUSALS_BEFORE_END {
            return Ok(TrainError::Diverged { refused, what });
        }
        let sound = self.weights.check(&self.network).is_ok();
        let restored = if sound && refused < REFUSALS_BEFORE_RESTORE {
            "the weights before the step stand".to_owned()
        } else {
            match checkpoint::load_newest(&self.checkpoints)? {
                Some((good, path, _)) => {
                    self.weights = good.weights;
                    self.momentum = Momentum::from_velocity(good.velocity);
                    format!("the weights of {} are restored", path.display())
                }
                None => {
                    return Err(TrainError::NoUsableCheckpoint {
                        folder: self.checkpoints.clone(),
                        problems: vec!["it is empty".to_owned()],
                    });
                }
            }
        };
        Ok(TrainError::NonFinite {
            step: self.state.step,
            what,
            restored,
            learning_rate: self.learning_rate(),
        })
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
            velocity: self.momentum.velocity().clone(),
        };
        checkpoint::save(&self.checkpoints, &checkpoint, self.config.keep_checkpoints)
    }
}

/// A tensor's numbers on the host, row-major.
fn host<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}

#[cfg(test)]
mod tests;
