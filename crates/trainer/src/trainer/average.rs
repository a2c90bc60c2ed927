//! Averaged weights: a candidate steadier than the last step.
//!
//! Every so many steps the average moves towards the weights (KataGo: snapshots every 250,000
//! samples, an exponential average of decay 0.75 over them). Statistics of the normalisations can't
//! be averaged, as they belong to the features that the averaged weights make: they are measured
//! anew for the candidate (Izmailov et al. 2018, section 3.2).

use tengen_network::Weights;

use super::Trainer;
use crate::{Batch, TrainError, is_statistic};

/// Batches over which the statistics are measured: what was before them then counts 0.5 %, as a
/// running statistic keeps nine tenths of itself a batch.
const BATCHES: usize = 50;

/// Moves `average` towards `weights`: what it was counts `decay`.
pub(super) fn move_average(average: &mut Weights, weights: &Weights, decay: f64) {
    let decay = decay as f32;
    for (name, average) in &mut average.0 {
        let Some(weights) = weights.0.get(name) else { continue };
        for (average, &weight) in average.data.iter_mut().zip(&weights.data) {
            *average =
                if is_statistic(name) { weight } else { decay * *average + (1.0 - decay) * weight };
        }
    }
}

impl Trainer {
    /// Takes the weights into the average, where this step is one for it.
    pub(super) fn average(&mut self) {
        let every = self.config.average_every_steps;
        if every == 0 || !self.state.step.is_multiple_of(every) {
            return;
        }
        match &mut self.averaged {
            Some(average) => move_average(average, &self.weights, self.config.average_decay),
            None => self.averaged = Some(self.weights.clone()),
        }
    }

    /// The weights to offer to the gate: the average with statistics measured for it, or the weights
    /// as they stand while there is none. Changes nothing that training depends on.
    ///
    /// # Errors
    /// When the window has nothing to measure by or holds a game that cannot be encoded.
    pub fn candidate(&mut self) -> Result<Weights, TrainError> {
        let Some(mut candidate) = self.averaged.clone() else { return Ok(self.weights.clone()) };
        let mut rng = self.rng.clone();
        for _ in 0..BATCHES {
            let draws = self.draw_parts(&self.window, &mut rng).swap_remove(0);
            let batch = Batch::encode(self.features, &draws)?;
            let shape = [batch.len, batch.size.height(), batch.size.width()];
            let traced = self.net.forward(&candidate, &batch.planes, &batch.globals, shape)?;
            self.net.move_statistics(&traced, &mut candidate)?;
        }
        Ok(candidate)
    }
}
