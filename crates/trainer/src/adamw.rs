//! Adam with decoupled weight decay on host tensors.
//!
//! `m ← β₁·m + (1 − β₁)·g`, `v ← β₂·v + (1 − β₂)·g²`,
//! `θ ← θ − η·(m̂ / (√v̂ + ε) + λ·θ)`, with `m̂`, `v̂` corrected for having begun at zero
//! (Loshchilov & Hutter 2019, algorithm 2). As with [`Momentum`](crate::Momentum), every element
//! is touched once, in order and in `f32`.

use tengen_network::{HostTensor, Weights};

use crate::momentum::still;
use crate::{TrainerConfig, is_decayed};

/// Keeps the division finite where a slope has always been zero.
const EPSILON: f32 = 1e-8;
/// The steps taken are two numbers that `f32` holds exactly: so many whole ones, and the rest.
const STEPS_UNIT: u64 = 1 << 20;
const STEPS: &str = "steps";
const FIRST: &str = "first/";
const SECOND: &str = "second/";

/// The optimiser's memory: two moments per trainable tensor, and the steps taken.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AdamW {
    first: Weights,
    second: Weights,
    steps: u64,
}

impl AdamW {
    /// At rest: every moment zero.
    #[must_use]
    pub fn at_rest(weights: &Weights) -> Self {
        Self { first: still(weights), second: still(weights), steps: 0 }
    }

    /// The state as tensors of a checkpoint.
    #[must_use]
    pub fn state(&self) -> Weights {
        let mut all = Weights::default();
        for (prefix, moments) in [(FIRST, &self.first), (SECOND, &self.second)] {
            let named = moments.0.iter().map(|(name, x)| (format!("{prefix}{name}"), x.clone()));
            all.0.extend(named);
        }
        let steps = [self.steps / STEPS_UNIT, self.steps % STEPS_UNIT].map(|x| x as f32);
        all.0.insert(STEPS.to_owned(), HostTensor { shape: vec![2], data: steps.to_vec() });
        all
    }

    /// A state read back; `None` for tensors that are not such a state.
    #[must_use]
    pub fn from_state(state: Weights) -> Option<Self> {
        let mut read = Self::default();
        for (name, tensor) in state.0 {
            if let Some(name) = name.strip_prefix(FIRST) {
                read.first.0.insert(name.to_owned(), tensor);
            } else if let Some(name) = name.strip_prefix(SECOND) {
                read.second.0.insert(name.to_owned(), tensor);
            } else if name == STEPS {
                let [whole, rest] = tensor.data[..] else { return None };
                read.steps = whole as u64 * STEPS_UNIT + rest as u64;
            } else {
                return None;
            }
        }
        let same = read.first.0.keys().eq(read.second.0.keys());
        (same && !read.first.0.is_empty()).then_some(read)
    }

    /// Moves `weights` one step against `gradient`; as [`Momentum::step`](crate::Momentum::step).
    ///
    /// # Errors
    /// The first tensor that stopped being finite.
    pub fn step(
        &mut self,
        weights: &mut Weights,
        gradient: &Weights,
        clip_scale: f32,
        learning_rate: f32,
        config: &TrainerConfig,
    ) -> Result<(), String> {
        self.steps += 1;
        let (beta1, beta2) = (config.momentum, config.adamw_beta2);
        let unbias = |beta: f64| (1.0 - beta.powi(self.steps.min(1 << 30) as i32)) as f32;
        let (unbias1, unbias2) = (unbias(beta1), unbias(beta2));
        let (beta1, beta2) = (beta1 as f32, beta2 as f32);
        for ((name, first), second) in self.first.0.iter_mut().zip(self.second.0.values_mut()) {
            let Some(tensor) = weights.0.get_mut(name) else {
                return Err(format!("{name}, which the network lacks,"));
            };
            let decay = if is_decayed(name) { config.adamw_decay as f32 } else { 0.0 };
            let slopes = gradient.0.get(name).map(|tensor| tensor.data.as_slice());
            let moments = first.data.iter_mut().zip(&mut second.data);
            for (index, (theta, (m, v))) in tensor.data.iter_mut().zip(moments).enumerate() {
                let slope = clip_scale * slopes.map_or(0.0, |slopes| slopes[index]);
                *m = beta1 * *m + (1.0 - beta1) * slope;
                *v = beta2 * *v + (1.0 - beta2) * slope * slope;
                let step = (*m / unbias1) / ((*v / unbias2).sqrt() + EPSILON);
                *theta -= learning_rate * (step + decay * *theta);
            }
            let numbers = tensor.data.iter().chain(&first.data).chain(&second.data);
            if numbers.into_iter().any(|x| !x.is_finite()) {
                return Err(format!("the updated {name}"));
            }
        }
        Ok(())
    }
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
    fn two_steps_by_hand() {
        let config = TrainerConfig {
            momentum: 0.5,
            adamw_beta2: 0.75,
            adamw_decay: 0.1,
            ..TrainerConfig::default()
        };
        let mut theta = weights(&[("a.bias", 1.0), ("a.weight", 1.0), ("b.mean", 7.0)]);
        let mut adam = AdamW::at_rest(&theta);
        let slope = |x| weights(&[("a.bias", x), ("a.weight", x)]);
        adam.step(&mut theta, &slope(2.0), 1.0, 0.1, &config).unwrap();
        // The first step is the sign of the slope, whatever its size; the weight decays besides.
        let at = |theta: &Weights, name: &str| theta.0[name].data[0];
        assert!((at(&theta, "a.bias") - 0.9).abs() < 1e-6);
        assert!((at(&theta, "a.weight") - 0.89).abs() < 1e-6);
        adam.step(&mut theta, &slope(-1.0), 1.0, 0.1, &config).unwrap();
        // m = 0.5·1 − 0.5 = 0; v = 0.75·1 + 0.25: the bias stays, the weight decays.
        assert!((at(&theta, "a.bias") - 0.9).abs() < 1e-6);
        assert!((at(&theta, "a.weight") - 0.89 * 0.99).abs() < 1e-6);
        assert_eq!(at(&theta, "b.mean"), 7.0);
    }

    #[test]
    fn the_state_comes_back_and_strangers_are_refused() {
        let theta = weights(&[("a.bias", 1.0), ("a.weight", 1.0)]);
        let mut adam = AdamW { steps: (1 << 24) + 3, ..AdamW::at_rest(&theta) };
        adam.first.0.get_mut("a.bias").unwrap().data[0] = 0.5;
        assert_eq!(AdamW::from_state(adam.state()), Some(adam));
        assert_eq!(AdamW::from_state(theta), None);
        assert_eq!(AdamW::from_state(Weights::default()), None);
    }
}
