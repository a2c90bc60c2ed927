//! The heads as burn modules: what follows the features of their first convolutions.

use burn::module::Module;
use burn::nn::BatchNorm;
use burn::tensor::Tensor;
use burn::tensor::activation::{relu, softplus};

use crate::layers::{
    Conv, Dense, OnBoard, PointOut, Source, load_norm, on_board, pool, pool_with_size,
};
use crate::{NetworkConfig, NetworkError};

/// Points of score that one unit of the score head's outputs stands for (KataGo's `scoremean_multiplier`).
pub(crate) const SCORE_UNIT: f32 = 20.0;

/// What a network says about a batch of positions, everything from the side of the player to move.
#[derive(Clone, Debug)]
pub struct NetOutput {
    /// `[B, H·W + 1]` logits, row-major points, then pass; illegal moves not yet masked.
    pub policy_logits: Tensor<2>,
    /// `[B]`, in [-1, 1] for the player to move.
    pub value: Tensor<1>,
    /// `[B, H·W + 1]` logits of the opponent's answer; with `network.opponent_policy`.
    pub opponent_logits: Option<Tensor<2>>,
    /// `[B, H·W + 1]` logits of the policy to the power of a quarter; with `network.soft_policy`.
    pub soft_logits: Option<Tensor<2>>,
    /// `[B, H·W]`, whose tanh is 1 for a point that the player to move will own, -1 for the
    /// opponent's; with `network.ownership`.
    pub ownership_logits: Option<Tensor<2>>,
    /// The final score; with `network.score`.
    pub score: Option<ScoreOutput>,
    /// `[B, 3]`, each in [-1, 1]: what the search will think in a short, a middle and a long while;
    /// with `network.short_term_values`.
    pub short_term: Option<Tensor<2>>,
}

/// What a network says about the score.
#[derive(Clone, Debug)]
pub struct ScoreOutput {
    /// `[B]` points that the player to move wins by, komi included.
    pub mean: Tensor<1>,
    /// `[B]` points: the root of the mean's expected squared error.
    pub stdev: Tensor<1>,
}

/// A value for each point and one for the pass.
#[derive(Module, Debug)]
pub(crate) struct ActionsOut {
    pub(crate) points: PointOut,
    pub(crate) pass: Dense,
}

impl ActionsOut {
    fn load(from: &Source<'_>, points: &str, pass: &str) -> Result<Self, NetworkError> {
        Ok(Self { points: PointOut::load(from, points)?, pass: Dense::load(from, pass)? })
    }

    /// `[B, P, H, W]` and its pooling `[B, 2·P]` to `[B, H·W + 1]`.
    fn forward(&self, p: Tensor<4>, pooled: Tensor<2>) -> Tensor<2> {
        let points = self.points.forward(p).flatten::<2>(1, 3);
        Tensor::cat(vec![points, self.pass.forward(pooled)], 1)
    }
}

#[derive(Module, Debug)]
pub(crate) struct PolicyHead {
    pub(crate) conv: Conv,
    pub(crate) bn: BatchNorm,
    /// From the pooled features to a bias for each of them.
    pub(crate) pool: Option<Dense>,
    pub(crate) out: ActionsOut,
    pub(crate) opponent: Option<ActionsOut>,
    pub(crate) soft: Option<ActionsOut>,
}

impl PolicyHead {
    pub(crate) fn load(from: &Source<'_>, config: &NetworkConfig) -> Result<Self, NetworkError> {
        let actions = |points, pass| ActionsOut::load(from, points, pass);
        let opponent = || actions("policy.opponent", "policy.opponent_pass");
        let soft = || actions("policy.soft", "policy.soft_pass");
        Ok(Self {
            conv: Conv::load(from, "policy.conv")?,
            bn: load_norm(from, "policy.bn")?,
            pool: config.policy_pooling.then(|| Dense::load(from, "policy.pool")).transpose()?,
            out: actions("policy.out", "policy.pass")?,
            opponent: config.opponent_policy.then(opponent).transpose()?,
            soft: config.soft_policy.then(soft).transpose()?,
        })
    }

    /// `[B, C, H, W]` to `[B, P, H, W]`.
    pub(crate) fn features(&self, x: Tensor<4>) -> Tensor<4> {
        relu(self.bn.forward(self.conv.forward(x)))
    }
}

#[derive(Module, Debug)]
pub(crate) struct ValueHead {
    pub(crate) conv: Conv,
    pub(crate) bn: BatchNorm,
    pub(crate) hidden: Dense,
    pub(crate) out: Dense,
    pub(crate) ownership: Option<PointOut>,
    /// To the mean and, before its softplus, the standard deviation, both in units of 20 points.
    pub(crate) score: Option<Dense>,
    pub(crate) short_term: Option<Dense>,
}

impl ValueHead {
    pub(crate) fn load(from: &Source<'_>, config: &NetworkConfig) -> Result<Self, NetworkError> {
        let dense = |name: &str| Dense::load(from, name);
        let ownership = || PointOut::load(from, "value.ownership");
        Ok(Self {
            conv: Conv::load(from, "value.conv")?,
            bn: load_norm(from, "value.bn")?,
            hidden: dense("value.hidden")?,
            out: dense("value.out")?,
            ownership: config.ownership.then(ownership).transpose()?,
            score: config.score.then(|| dense("value.score")).transpose()?,
            short_term: config.short_term_values.then(|| dense("value.short_term")).transpose()?,
        })
    }

    /// `[B, C, H, W]` to `[B, V, H, W]`.
    pub(crate) fn features(&self, x: Tensor<4>) -> Tensor<4> {
        relu(self.bn.forward(self.conv.forward(x)))
    }
}

/// What both heads make of their features, `[B, P, H, W]` and `[B, V, H, W]`.
pub(crate) fn answer(
    (policy, value): (&PolicyHead, &ValueHead),
    p: Tensor<4>,
    v: Tensor<4>,
    boards: Option<&OnBoard>,
) -> NetOutput {
    let p = match &policy.pool {
        Some(bias) => {
            let bias = bias.forward(pool_with_size(p.clone(), boards));
            on_board(relu(p + bias.unsqueeze_dim::<3>(2).unsqueeze_dim::<4>(3)), boards)
        }
        None => p,
    };
    let pooled = pool(p.clone(), boards);
    let actions = |head: &ActionsOut| head.forward(p.clone(), pooled.clone());

    let batch = v.dims()[0];
    let ownership = value.ownership.as_ref().map(|head| head.forward(v.clone()).flatten(1, 3));
    let hidden = relu(value.hidden.forward(pool(v, boards)));
    let score = value.score.as_ref().map(|head| {
        let out = head.forward(hidden.clone()).mul_scalar(SCORE_UNIT);
        let column = |at: usize| out.clone().narrow(1, at, 1).reshape([batch]);
        let stdev = softplus(column(1).div_scalar(SCORE_UNIT), 1.0).mul_scalar(SCORE_UNIT);
        ScoreOutput { mean: column(0), stdev }
    });
    let short_term = value.short_term.as_ref().map(|head| head.forward(hidden.clone()).tanh());
    NetOutput {
        policy_logits: actions(&policy.out),
        value: value.out.forward(hidden).tanh().reshape([batch]),
        opponent_logits: policy.opponent.as_ref().map(actions),
        soft_logits: policy.soft.as_ref().map(actions),
        ownership_logits: ownership,
        score,
        short_term,
    }
}
