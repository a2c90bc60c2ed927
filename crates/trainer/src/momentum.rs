//! Gradient descent with momentum on host tensors.
//!
//! `v ← μ·v + g`, `θ ← θ − η·v`, with `g` the clipped gradient of the loss plus `2c·θ`, the
//! gradient of the loss term c‖θ‖² (Silver et al. 2017, equation 1). Every element is touched
//! once, in the tensors' own order and in `f32`, so a restored state continues to the bit.

use tengen_network::{HostTensor, Weights};

use crate::TrainerConfig;

/// Whether a tensor is a running statistic, which the forward pass updates and no gradient does.
#[must_use]
pub fn is_statistic(name: &str) -> bool {
    name.ends_with(".mean") || name.ends_with(".var")
}

/// Whether a tensor counts in c‖θ‖²: weights of convolutions and linear layers do, biases and the
/// parameters of batch normalisation don't (a scale that a normalisation undoes only changes
/// the effective step size).
#[must_use]
pub fn is_decayed(name: &str) -> bool {
    name.ends_with(".weight")
}

/// Zeros for each trained tensor: an optimiser's memory at rest.
pub(crate) fn still(weights: &Weights) -> Weights {
    let trained = weights.0.iter().filter(|(name, _)| !is_statistic(name));
    let zeros = |(name, tensor): (&String, &HostTensor)| {
        (name.clone(), HostTensor::full(&tensor.shape, 0.0))
    };
    Weights(trained.map(zeros).collect())
}

/// The optimiser's memory: one velocity per trainable tensor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Momentum {
    velocity: Weights,
}

impl Momentum {
    /// At rest: every velocity zero.
    #[must_use]
    pub fn at_rest(weights: &Weights) -> Self {
        Self { velocity: still(weights) }
    }

    /// A state read back from a checkpoint.
    #[must_use]
    pub fn from_velocity(velocity: Weights) -> Self {
        Self { velocity }
    }

    /// The state to be saved: a velocity for each trainable tensor, by the tensor's name.
    #[must_use]
    pub fn velocity(&self) -> &Weights {
        &self.velocity
    }

    /// Moves `weights` one step against `gradient` and reports the first tensor that stopped
    /// being finite, by name; the caller keeps copies for that case. A tensor that `gradient`
    /// lacks counts as having a gradient of zero.
    pub fn step(
        &mut self,
        weights: &mut Weights,
        gradient: &Weights,
        clip_scale: f32,
        learning_rate: f32,
        config: &TrainerConfig,
    ) -> Result<(), String> {
        let momentum = config.momentum as f32;
        for (name, velocity) in &mut self.velocity.0 {
            let Some(tensor) = weights.0.get_mut(name) else {
                return Err(format!("{name}, which the network lacks,"));
            };
            let decay = if is_decayed(name) { 2.0 * config.weight_decay as f32 } else { 0.0 };
            let slopes = gradient.0.get(name).map(|tensor| tensor.data.as_slice());
            for (index, (theta, v)) in tensor.data.iter_mut().zip(&mut velocity.data).enumerate() {
                let slope = slopes.map_or(0.0, |slopes| slopes[index]);
                *v = momentum * *v + clip_scale * slope + decay * *theta;
                *theta -= learning_rate * *v;
            }
            if tensor.data.iter().chain(&velocity.data).any(|x| !x.is_finite()) {
                return Err(format!("the updated {name}"));
            }
        }
        Ok(())
    }
}

/// The Euclidean norm over all tensors, summed in `f64` in the tensors' order.
pub(crate) fn norm(gradient: &Weights) -> f64 {
    square_sum(gradient, |_| true).sqrt()
}

/// ‖θ‖² over the tensors that count in the decay.
pub(crate) fn decayed_square_sum(weights: &Weights) -> f64 {
    square_sum(weights, is_decayed)
}

fn square_sum(weights: &Weights, counts: impl Fn(&str) -> bool) -> f64 {
    let tensors = weights.0.iter().filter(|(name, _)| counts(name));
    tensors.flat_map(|(_, tensor)| &tensor.data).map(|&x| f64::from(x) * f64::from(x)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(entries: &[(&str, f32)]) -> Weights {
        Weights(
            entries.iter().map(|&(name, x)| (name.to_owned(), HostTensor::full(&[1], x))).collect(),
        )
    }

    #[test]
    fn two_steps_by_hand_decay_the_weight_but_neither_bias_nor_gamma() {
        let config =
            TrainerConfig { momentum: 0.5, weight_decay: 0.25, ..TrainerConfig::default() };
        let mut theta =
            weights(&[("a.weight", 1.0), ("a.bias", 1.0), ("b.gamma", 1.0), ("b.mean", 7.0)]);
        let slope = weights(&[("a.weight", 1.0), ("a.bias", 1.0), ("b.gamma", 0.0)]);
        let mut momentum = Momentum::at_rest(&theta);
        momentum.step(&mut theta, &slope, 1.0, 0.5, &config).unwrap();
        // weight: v = 1 + 2·0.25·1 = 1.5, θ = 1 − 0.75; bias: v = 1, θ = 0.5.
        assert_eq!(
            theta,
            weights(&[("a.weight", 0.25), ("a.bias", 0.5), ("b.gamma", 1.0), ("b.mean", 7.0)])
        );
        momentum.step(&mut theta, &slope, 1.0, 0.5, &config).unwrap();
        // weight: v = 0.75 + 1 + 0.125 = 1.875; bias: v = 1.5.
        assert_eq!(
            theta,
            weights(&[("a.weight", -0.6875), ("a.bias", -0.25), ("b.gamma", 1.0), ("b.mean", 7.0)])
        );
    }

    #[test]
    fn an_overflowing_update_names_its_tensor() {
        let mut theta = weights(&[("a.bias", 0.0), ("a.weight", f32::MAX)]);
        let slope = weights(&[("a.weight", -f32::MAX)]);
        let problem = Momentum::at_rest(&theta)
            .step(&mut theta, &slope, 1.0, 1e9, &TrainerConfig::default())
            .unwrap_err();
        assert_eq!(problem, "the updated a.weight");
    }

    #[test]
    fn norms_by_hand() {
        let slope = weights(&[("a.bias", 3.0), ("a.weight", -4.0)]);
        assert_eq!(norm(&slope), 5.0);
        assert_eq!(decayed_square_sum(&slope), 16.0);
    }
}
