//! One step, and what happens when its numbers are not finite.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use burn::tensor::Tensor;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use tengen_network::{NetworkError, Weights};

use super::Trainer;
use super::ahead::Ahead;
use crate::loss::accuracies;
use crate::momentum::norm;
use crate::optimiser::Optimiser;
use crate::sync::write_file;
use crate::{
    AuxiliaryReport, Batch, Draw, TrainError, Window, alpha_loss, auxiliary_loss, block_norms,
    checkpoint, is_statistic, schedule, tensors,
};

/// Refused steps in a row after which the tensors of the newest checkpoint replace the current.
const REFUSALS_BEFORE_RESTORE: u32 = 3;
/// Refused steps in a row after which the trainer gives up.
pub(super) const REFUSALS_BEFORE_END: u32 = 10;

/// What one step did. Losses are means over the batch, before the update.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StepReport {
    /// Steps taken, this one included.
    pub step: u64,
    /// The whole loss: `value_weight · value_loss + policy_loss + l2`, and the auxiliary terms times
    /// their weights.
    pub loss: f64,
    /// Cross entropy of π and p, in nats.
    pub policy_loss: f64,
    /// Mean of (z − v)².
    pub value_loss: f64,
    /// c‖θ‖².
    pub l2: f64,
    /// The terms of the network's further heads; their keys stand beside the others.
    #[serde(flatten)]
    pub auxiliary: AuxiliaryReport,
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
    /// Fraction of the step's wall clock spent waiting for its batch.
    pub waiting_share: f64,
}

/// Why a step was not taken, and which part of its batch shows it.
struct Refused {
    what: String,
    part: usize,
}

impl Trainer {
    /// Draws a batch and takes one step; the batch after it is encoded meanwhile.
    ///
    /// # Errors
    /// [`TrainError::NonFinite`] when the loss, a gradient or an updated number is not finite: the
    /// step is undone and the step size halved, and the caller may go on with the next batch.
    /// [`TrainError::EmptyWindow`], [`TrainError::ReloadTooShort`], [`TrainError::ReuseCap`] and [`TrainError::Sample`] leave
    /// the weights as they were.
    pub fn train_step(&mut self) -> Result<StepReport, TrainError> {
        let started = Instant::now();
        self.check_filled()?;
        self.check_reuse()?;
        let set = self.features;
        let parts = match self.ahead.take() {
            Some(ahead) => ahead.take(&mut self.rng)?,
            None => {
                let mut rng = self.rng.clone();
                let draws = self.draw_parts(&self.window, &mut rng);
                Ahead::encode(set, &draws, rng).take(&mut self.rng)?
            }
        };
        let waiting = started.elapsed().as_secs_f64();

        let window = std::mem::take(&mut self.window);
        let mut rng = self.rng.clone();
        let draws = self.draw_parts(&window, &mut rng);
        let (attempted, ahead) =
            rayon::join(|| self.attempt(&parts), || Ahead::encode(set, &draws, rng));
        self.window = window;
        self.ahead = Some(ahead);
        let mut report = match attempted? {
            Ok(report) => report,
            Err(Refused { what, part }) => {
                let kept = self.keep_for_inspection(&parts[part])?;
                return Err(self.refuse(what, &kept)?);
            }
        };
        let seconds = started.elapsed().as_secs_f64().max(1e-9);
        report.samples_per_s = self.config.batch_size as f64 / seconds;
        report.waiting_share = (waiting / seconds).min(1.0);
        Ok(report)
    }

    /// The step size that the next step would use.
    fn learning_rate(&self) -> f64 {
        schedule::learning_rate(&self.config, self.state.step)
            * 0.5f64.powi(self.state.halvings as i32)
    }

    /// The draws of one step, by part; each part is of one board.
    pub(super) fn draw_parts<'a>(
        &self,
        window: &'a Window,
        rng: &mut ChaCha8Rng,
    ) -> Vec<Vec<Draw<'a>>> {
        let (count, parts) = (self.config.batch_size, self.config.batch_parts);
        let (capacity, by_weight) = (self.window_capacity(), self.config.draw_by_weight);
        (0..parts).map(|_| window.draw(count / parts, capacity, by_weight, rng)).collect()
    }

    /// Forward, backward and update on copies, which replace the current tensors only when all is
    /// finite; else names what was not.
    fn attempt(&mut self, parts: &[Batch]) -> Result<Result<StepReport, Refused>, TrainError> {
        let mut weights = self.weights.clone();
        let (mut report, mut gradient) = (StepReport::default(), Weights::default());
        for (part, batch) in parts.iter().enumerate() {
            match self.attempt_part(batch, &mut weights, &mut report)? {
                Ok(slopes) if part == 0 => gradient = slopes,
                Ok(slopes) => add(&mut gradient, &slopes),
                Err(what) => return Ok(Err(Refused { what, part })),
            }
        }
        if parts.len() > 1 {
            let share = 1.0 / parts.len() as f64;
            report.scale(share);
            let numbers = gradient.0.values_mut().flat_map(|tensor| &mut tensor.data);
            numbers.for_each(|slope| *slope *= share as f32);
        }
        let refuse = |what: String| Ok(Err(Refused { what, part: parts.len() - 1 }));
        report.grad_norm = norm(&gradient);
        if !report.grad_norm.is_finite() {
            return refuse("the gradient".to_owned());
        }
        let clip = self.config.gradient_clip;
        let scale =
            if clip > 0.0 && report.grad_norm > clip { clip / report.grad_norm } else { 1.0 };
        report.learning_rate = self.learning_rate();
        report.l2 = self.optimiser.l2(&self.weights, &self.config);
        report.loss += report.l2;
        let mut optimiser = self.optimiser.clone();
        let (scale, rate) = (scale as f32, report.learning_rate as f32);
        if let Err(what) = optimiser.step(&mut weights, &gradient, scale, rate, &self.config) {
            return refuse(what);
        }

        let watched = self.config.watch_every_steps > 0
            && self.state.step.is_multiple_of(self.config.watch_every_steps);
        self.block_norms = match watched {
            true => block_norms(&self.weights, &weights, &gradient),
            false => BTreeMap::new(),
        };
        self.weights = weights;
        self.optimiser = optimiser;
        self.state.refused = 0;
        self.state.step += 1;
        self.state.samples += parts.iter().map(|batch| batch.len as u64).sum::<u64>();
        self.average();
        report.step = self.state.step;
        Ok(Ok(report))
    }

    /// Forward and backward of one part: its losses are added to `report`, its statistics move those
    /// of `weights`, its gradient comes back; or what was not finite.
    fn attempt_part(
        &mut self,
        batch: &Batch,
        weights: &mut Weights,
        report: &mut StepReport,
    ) -> Result<Result<Weights, String>, TrainError> {
        let shape = [batch.len, batch.size.height(), batch.size.width()];
        let traced = match self.net.forward(&self.weights, &batch.planes, &batch.globals, shape) {
            Err(NetworkError::NotFinite { name, .. }) => return Ok(Err(name)),
            other => other?,
        };
        let (logits, value) = (traced.output.policy_logits.clone(), traced.output.value.clone());
        let loss = alpha_loss(logits.clone(), value.clone(), batch, self.config.value_weight);
        let policy_loss = f64::from(loss.policy.clone().into_scalar::<f32>());
        let value_loss = f64::from(loss.value.clone().into_scalar::<f32>());
        let further = auxiliary_loss(&traced.output, batch, &self.config);
        let (auxiliary, added) = (further.report(), further.added());
        if !(policy_loss.is_finite() && value_loss.is_finite() && added.is_finite()) {
            return Ok(Err("the loss".to_owned()));
        }
        let (policy_accuracy, value_accuracy) = accuracies(&host(logits), &host(value), batch);
        let total = match further.total {
            Some(further) => loss.total + further,
            None => loss.total,
        };
        let gradient = self.net.gradients(&traced, &total.backward())?;
        self.net.move_statistics(&traced, weights)?;
        for (name, tensor) in &weights.0 {
            if is_statistic(name) && tensor.data.iter().any(|x| !x.is_finite()) {
                return Ok(Err(name.clone()));
            }
        }
        report.loss += self.config.value_weight * value_loss + policy_loss + added;
        report.policy_loss += policy_loss;
        report.value_loss += value_loss;
        report.policy_accuracy += policy_accuracy;
        report.value_accuracy += value_accuracy;
        report.auxiliary.add(&auxiliary);
        Ok(Ok(gradient))
    }

    /// Writes a batch that was refused where people can look at it; the last one replaces the one
    /// before.
    fn keep_for_inspection(&self, batch: &Batch) -> Result<PathBuf, TrainError> {
        let folder = self.checkpoints.with_file_name("refused");
        fs::create_dir_all(&folder).map_err(TrainError::io(&folder))?;
        let path = folder.join("batch.safetensors");
        let bytes = tensors::to_bytes(&batch.to_tensors())
            .map_err(|why| TrainError::Checkpoint { path: path.clone(), why })?;
        write_file(&path, &bytes)?;
        Ok(path)
    }

    /// Counts a refused step, halves the step size and sees to it that the weights are good ones.
    fn refuse(&mut self, what: String, batch: &Path) -> Result<TrainError, TrainError> {
        self.state.halvings += 1;
        self.state.refused += 1;
        let refused = self.state.refused;
        if refused >= REFUSALS_BEFORE_END {
            return Ok(TrainError::Diverged { refused, what, batch: batch.to_owned() });
        }
        let sound = self.weights.check(&self.network).is_ok();
        let restored = if sound && refused < REFUSALS_BEFORE_RESTORE {
            "the weights before the step stand".to_owned()
        } else {
            match checkpoint::load_newest(&self.checkpoints)? {
                Some((good, path, _)) => {
                    self.weights = good.weights;
                    let kind = self.config.optimiser;
                    self.optimiser = Optimiser::from_state(kind, good.optimiser)
                        .map_err(|why| TrainError::Foreign { path: path.clone(), why })?;
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
            batch: batch.to_owned(),
        })
    }
}

impl StepReport {
    /// Makes means of sums over parts.
    fn scale(&mut self, share: f64) {
        for sum in [
            &mut self.loss,
            &mut self.policy_loss,
            &mut self.value_loss,
            &mut self.policy_accuracy,
            &mut self.value_accuracy,
        ] {
            *sum *= share;
        }
        self.auxiliary.scale(share);
    }
}

/// Adds the slopes of another part.
fn add(gradient: &mut Weights, slopes: &Weights) {
    for (name, tensor) in &mut gradient.0 {
        let slopes = slopes.0.get(name).into_iter().flat_map(|tensor| &tensor.data);
        tensor.data.iter_mut().zip(slopes).for_each(|(sum, slope)| *sum += slope);
    }
}

/// A tensor's numbers on the host, row-major.
fn host<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}
