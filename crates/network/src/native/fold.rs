//! Weights with the batch normalisations folded in.

use crate::{NORM_EPSILON, NetworkConfig, NetworkError, Weights};

/// A convolution with its batch normalisation folded into weights and bias.
#[derive(Clone, Debug)]
pub(crate) struct FoldedConv {
    /// Input channels.
    pub inputs: usize,
    /// Taps of the kernel: 1 or 9.
    pub taps: usize,
    /// `[outputs, inputs, taps]`.
    pub weights: Vec<f32>,
    /// `[outputs]`.
    pub bias: Vec<f32>,
}

impl FoldedConv {
    /// Folds the named `(conv, norm)` pairs over one input into one convolution that writes their
    /// outputs side by side.
    fn side_by_side(weights: &Weights, pairs: &[(&str, &str)]) -> Result<Self, NetworkError> {
        let mut folded = Self { inputs: 0, taps: 0, weights: Vec::new(), bias: Vec::new() };
        for (conv, norm) in pairs {
            let kernel = weights.get(&format!("{conv}.weight"))?;
            let [outputs, channels, height, width] = kernel.shape[..] else {
                return Err(NetworkError::WrongShape {
                    name: format!("{conv}.weight"),
                    expected: vec![0; 4],
                    found: kernel.shape.clone(),
                });
            };
            (folded.inputs, folded.taps) = (channels, height * width);
            let row_length = channels * height * width;
            let part = |part: &str| weights.get(&format!("{norm}.{part}")).map(|t| &t.data);
            let (gamma, beta) = (part("gamma")?, part("beta")?);
            let (mean, var) = (part("mean")?, part("var")?);
            for output in 0..outputs {
                let scale = gamma[output] / (var[output] + NORM_EPSILON).sqrt();
                let row = &kernel.data[output * row_length..][..row_length];
                folded.weights.extend(row.iter().map(|w| w * scale));
                folded.bias.push(beta[output] - mean[output] * scale);
            }
        }
        Ok(folded)
    }
}

/// A dense layer `[outputs, inputs]` with its bias, as it is stored.
#[derive(Clone, Debug)]
pub(crate) struct Dense {
    pub weights: Vec<f32>,
    pub bias: Vec<f32>,
}

impl Dense {
    fn named(weights: &Weights, name: &str) -> Result<Self, NetworkError> {
        let part = |part: &str| weights.get(&format!("{name}.{part}")).map(|t| t.data.clone());
        Ok(Self { weights: part("weight")?, bias: part("bias")? })
    }
}

/// A whole network, ready to run: what a search asks for. Heads that only training reads are not in
/// it.
#[derive(Clone, Debug)]
pub(crate) struct FoldedNet {
    pub stem: FoldedConv,
    /// From the inputs without a place on the board to a bias for each of the stem's channels.
    pub globals: Option<Dense>,
    pub blocks: Vec<[FoldedConv; 2]>,
    /// What each block's pooled channels tell the others, where it pools.
    pub pools: Vec<Option<Dense>>,
    /// Both heads' 1×1 convolutions, policy channels first.
    pub heads: FoldedConv,
    pub policy_channels: usize,
    pub value_channels: usize,
    pub policy_pool: Option<Dense>,
    pub policy_out: Dense,
    pub policy_pass: Dense,
    pub value_hidden: Dense,
    pub value_out: Dense,
    pub value_score: Option<Dense>,
    pub value_ownership: Option<Dense>,
}

impl FoldedNet {
    /// Folds `weights`, which must be those of `config`.
    pub(crate) fn new(config: &NetworkConfig, weights: &Weights) -> Result<Self, NetworkError> {
        weights.check(config)?;
        let conv = |conv: &str, norm: &str| FoldedConv::side_by_side(weights, &[(conv, norm)]);
        let dense =
            |there: bool, name: &str| there.then(|| Dense::named(weights, name)).transpose();
        let (mut blocks, mut pools) = (Vec::new(), Vec::new());
        for i in 0..config.blocks {
            let half =
                |k: usize| conv(&format!("blocks.{i}.conv{k}"), &format!("blocks.{i}.bn{k}"));
            blocks.push([half(1)?, half(2)?]);
            pools.push(dense(config.pools(i), &format!("blocks.{i}.pool"))?);
        }
        let heads = [("policy.conv", "policy.bn"), ("value.conv", "value.bn")];
        Ok(Self {
            stem: conv("stem.conv", "stem.bn")?,
            globals: dense(config.global_inputs, "stem.globals")?,
            blocks,
            pools,
            heads: FoldedConv::side_by_side(weights, &heads)?,
            policy_channels: config.policy_channels,
            value_channels: config.value_channels,
            policy_pool: dense(config.policy_pooling, "policy.pool")?,
            policy_out: Dense::named(weights, "policy.out")?,
            policy_pass: Dense::named(weights, "policy.pass")?,
            value_hidden: Dense::named(weights, "value.hidden")?,
            value_out: Dense::named(weights, "value.out")?,
            value_score: dense(config.score, "value.score")?,
            value_ownership: dense(config.ownership, "value.ownership")?,
        })
    }
}
