//! The seam between a gradient and a step: which optimiser a run uses.

use serde::{Deserialize, Serialize};
use tengen_network::Weights;

use crate::momentum::decayed_square_sum;
use crate::{AdamW, Momentum, TrainerConfig};

/// The optimisers there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OptimiserKind {
    /// Gradient descent with momentum, and c‖θ‖² in the loss: the paper's.
    #[default]
    Momentum,
    /// Adam with decoupled weight decay.
    AdamW,
}

impl OptimiserKind {
    /// The name in configs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            OptimiserKind::Momentum => "momentum",
            OptimiserKind::AdamW => "adamw",
        }
    }
}

/// An optimiser with its memory.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Optimiser {
    Momentum(Momentum),
    AdamW(AdamW),
}

impl Optimiser {
    /// At rest.
    pub fn at_rest(kind: OptimiserKind, weights: &Weights) -> Self {
        match kind {
            OptimiserKind::Momentum => Self::Momentum(Momentum::at_rest(weights)),
            OptimiserKind::AdamW => Self::AdamW(AdamW::at_rest(weights)),
        }
    }

    /// A state read back from a checkpoint, which must be the same optimiser's.
    pub fn from_state(kind: OptimiserKind, state: Weights) -> Result<Self, String> {
        let wanted = kind.name();
        match (kind, AdamW::from_state(state.clone())) {
            (OptimiserKind::AdamW, Some(adam)) => Ok(Self::AdamW(adam)),
            (OptimiserKind::Momentum, None) => Ok(Self::Momentum(Momentum::from_velocity(state))),
            (OptimiserKind::AdamW, None) => Err(format!(
                "its optimiser is not {wanted}: set trainer.optimiser back to momentum, or start a new run"
            )),
            (OptimiserKind::Momentum, Some(_)) => Err(format!(
                "its optimiser is not {wanted}: set trainer.optimiser back to adamw, or start a new run"
            )),
        }
    }

    /// The state to be saved.
    pub fn state(&self) -> Weights {
        match self {
            Self::Momentum(momentum) => momentum.velocity().clone(),
            Self::AdamW(adam) => adam.state(),
        }
    }

    /// The loss term that the optimiser adds: c‖θ‖², or nothing where decay is no part of the loss.
    pub fn l2(&self, weights: &Weights, config: &TrainerConfig) -> f64 {
        match self {
            Self::Momentum(_) => config.weight_decay * decayed_square_sum(weights),
            Self::AdamW(_) => 0.0,
        }
    }

    /// Moves `weights` one step; as [`Momentum::step`].
    pub fn step(
        &mut self,
        weights: &mut Weights,
        gradient: &Weights,
        clip_scale: f32,
        learning_rate: f32,
        config: &TrainerConfig,
    ) -> Result<(), String> {
        match self {
            Self::Momentum(momentum) => {
                momentum.step(weights, gradient, clip_scale, learning_rate, config)
            }
            Self::AdamW(adam) => adam.step(weights, gradient, clip_scale, learning_rate, config),
        }
    }
}
