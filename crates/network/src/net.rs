//! The residual network as a burn module.

use burn::module::Module;
use burn::nn::BatchNorm;
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};

use crate::layers::{Conv, Dense, PointOut, Source, load_norm, pool};
use crate::{NetworkConfig, NetworkError, Weights};

/// A residual tower with a policy and a value head (Silver et al. 2017, Methods, "Neural network
/// architecture"), the heads pooled so that one network plays every board size.
///
/// The device decides how it normalises: on an autodiff device with the statistics of the
/// batch, which also move the running ones; on a plain device with the running ones.
#[derive(Module, Debug)]
pub struct Net {
    pub(crate) stem: Stem,
    pub(crate) blocks: Vec<Block>,
    pub(crate) policy: PolicyHead,
    pub(crate) value: ValueHead,
}

/// What a network says about a batch of positions.
#[derive(Clone, Debug)]
pub struct NetOutput {
    /// `[B, H·W + 1]` logits, row-major points, then pass; illegal moves not yet masked.
    pub policy_logits: Tensor<2>,
    /// `[B]`, in [-1, 1] for the player to move.
    pub value: Tensor<1>,
}

impl Net {
    /// The network of `config` with `weights`, on `device`. On an autodiff device every trained
    /// tensor keeps its gradient.
    ///
    /// # Errors
    /// What [`Weights::check`] refuses.
    pub fn from_weights(
        config: &NetworkConfig,
        weights: &Weights,
        device: &Device,
    ) -> Result<Self, NetworkError> {
        weights.check(config)?;
        let from = Source { weights, device };
        let blocks = (0..config.blocks)
            .map(|i| Block::load(&from, &format!("blocks.{i}")))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            stem: Stem { conv: Conv::load(&from, "stem.conv")?, bn: load_norm(&from, "stem.bn")? },
            blocks,
            policy: PolicyHead {
                conv: Conv::load(&from, "policy.conv")?,
                bn: load_norm(&from, "policy.bn")?,
                out: PointOut::load(&from, "policy.out")?,
                pass: Dense::load(&from, "policy.pass")?,
            },
            value: ValueHead {
                conv: Conv::load(&from, "value.conv")?,
                bn: load_norm(&from, "value.bn")?,
                hidden: Dense::load(&from, "value.hidden")?,
                out: Dense::load(&from, "value.out")?,
            },
        })
    }

    /// Judges a batch of positions of one board size.
    ///
    /// # Shapes
    /// - `planes`: `[B, 17, H, W]`
    /// - answer: `[B, H·W + 1]` logits and `[B]` values
    #[must_use]
    pub fn forward(&self, planes: Tensor<4>) -> NetOutput {
        let stem = relu(self.stem.bn.forward(self.stem.conv.forward(planes)));
        let tower = self.blocks.iter().fold(stem, |x, block| block.forward(x));
        NetOutput {
            policy_logits: self.policy.forward(tower.clone()),
            value: self.value.forward(tower),
        }
    }
}

#[derive(Module, Debug)]
pub(crate) struct Stem {
    pub(crate) conv: Conv,
    pub(crate) bn: BatchNorm,
}

#[derive(Module, Debug)]
pub(crate) struct Block {
    pub(crate) conv1: Conv,
    pub(crate) bn1: BatchNorm,
    pub(crate) conv2: Conv,
    pub(crate) bn2: BatchNorm,
}

impl Block {
    fn load(from: &Source<'_>, name: &str) -> Result<Self, NetworkError> {
        Ok(Self {
            conv1: Conv::load(from, &format!("{name}.conv1"))?,
            bn1: load_norm(from, &format!("{name}.bn1"))?,
            conv2: Conv::load(from, &format!("{name}.conv2"))?,
            bn2: load_norm(from, &format!("{name}.bn2"))?,
        })
    }

    /// `[B, C, H, W]` to the same.
    fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let inner = relu(self.bn1.forward(self.conv1.forward(x.clone())));
        relu(self.bn2.forward(self.conv2.forward(inner)) + x)
    }
}

#[derive(Module, Debug)]
pub(crate) struct PolicyHead {
    pub(crate) conv: Conv,
    pub(crate) bn: BatchNorm,
    pub(crate) out: PointOut,
    pub(crate) pass: Dense,
}

impl PolicyHead {
    /// `[B, C, H, W]` to `[B, H·W + 1]`.
    fn forward(&self, x: Tensor<4>) -> Tensor<2> {
        self.answer(relu(self.bn.forward(self.conv.forward(x))))
    }

    /// What follows the features of the first convolution: `[B, P, H, W]` to `[B, H·W + 1]`.
    pub(crate) fn answer(&self, p: Tensor<4>) -> Tensor<2> {
        let [batch, _, height, width] = p.dims();
        let pass = self.pass.forward(pool(p.clone()));
        let points = self.out.forward(p).reshape([batch, height * width]);
        Tensor::cat(vec![points, pass], 1)
    }
}

#[derive(Module, Debug)]
pub(crate) struct ValueHead {
    pub(crate) conv: Conv,
    pub(crate) bn: BatchNorm,
    pub(crate) hidden: Dense,
    pub(crate) out: Dense,
}

impl ValueHead {
    /// `[B, C, H, W]` to `[B]`.
    fn forward(&self, x: Tensor<4>) -> Tensor<1> {
        self.answer(relu(self.bn.forward(self.conv.forward(x))))
    }

    /// What follows the features of the first convolution: `[B, V, H, W]` to `[B]`.
    pub(crate) fn answer(&self, v: Tensor<4>) -> Tensor<1> {
        let batch = v.dims()[0];
        let hidden = relu(self.hidden.forward(pool(v)));
        self.out.forward(hidden).tanh().reshape([batch])
    }
}
