//! The heads after their 1×1 convolutions: pooling and small dense layers.

use super::fold::FoldedNet;
use super::pooling::Pooling;
use crate::heads::SCORE_UNIT;

/// Reused room for the pooled features of one board.
#[derive(Clone, Debug, Default)]
pub(super) struct HeadScratch {
    /// Mean, then max, of the policy channels.
    policy: Vec<f32>,
    /// Mean, then max, of the value channels.
    value: Vec<f32>,
    hidden: Vec<f32>,
    pooling: Pooling,
}

/// What the heads say of a board beside its logits, from the side of the player to move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HeadsAnswer {
    /// In `(-1, 1)`.
    pub value: f32,
    /// Points that the player to move leads by, komi included; with such a head.
    pub score: Option<f32>,
}

/// Reads one board's policy and value features, `[area, stride]`, writes `[area + 1]` logits and,
/// where there is such a head and room for it, `[area]` of ownership in `(-1, 1)`.
pub(super) fn answer(
    net: &FoldedNet,
    features: &mut [f32],
    stride: usize,
    scratch: &mut HeadScratch,
    logits: &mut [f32],
    ownership: Option<&mut Vec<f32>>,
) -> HeadsAnswer {
    let (p, v) = (net.policy_channels, net.value_channels);
    if let Some(told) = &net.policy_pool {
        scratch.pooling.tell_all(told, features, stride, p);
    }
    pool(features, stride, 0, p, &mut scratch.policy);
    pool(features, stride, p, v, &mut scratch.value);

    let bias = net.policy_out.bias[0];
    let (pass, on_board) = logits.split_last_mut().expect("passing is always an action");
    for (logit, point) in on_board.iter_mut().zip(features.chunks_exact(stride)) {
        *logit = bias + dot(&point[..p], &net.policy_out.weights);
    }
    *pass = net.policy_pass.bias[0] + dot(&scratch.policy, &net.policy_pass.weights);

    if let (Some(head), Some(ownership)) = (&net.value_ownership, ownership) {
        ownership.clear();
        let points = features.chunks_exact(stride).map(|point| &point[p..][..v]);
        ownership.extend(points.map(|point| (head.bias[0] + dot(point, &head.weights)).tanh()));
    }

    scratch.hidden.clear();
    let rows = net.value_hidden.weights.chunks_exact(2 * v).zip(&net.value_hidden.bias);
    scratch.hidden.extend(rows.map(|(row, bias)| (bias + dot(row, &scratch.value)).max(0.0)));
    let value = (net.value_out.bias[0] + dot(&scratch.hidden, &net.value_out.weights)).tanh();
    // The head's second output, the spread, is training's alone.
    let score = net.value_score.as_ref().map(|head| {
        let mean = &head.weights[..scratch.hidden.len()];
        SCORE_UNIT * (head.bias[0] + dot(&scratch.hidden, mean))
    });
    HeadsAnswer { value, score }
}

/// Mean, then max, over all points of `channels` channels from `first` on.
pub(super) fn pool(
    features: &[f32],
    stride: usize,
    first: usize,
    channels: usize,
    pooled: &mut Vec<f32>,
) {
    pooled.clear();
    pooled.resize(2 * channels, 0.0);
    let (mean, max) = pooled.split_at_mut(channels);
    max.fill(f32::NEG_INFINITY);
    for point in features.chunks_exact(stride) {
        let from = &point[first..][..channels];
        for ((mean, max), &x) in mean.iter_mut().zip(max.iter_mut()).zip(from) {
            *mean += x;
            *max = max.max(x);
        }
    }
    let scale = stride as f32 / features.len() as f32;
    mean.iter_mut().for_each(|sum| *sum *= scale);
}

/// Σ aᵢbᵢ in eight partial sums, an order the compiler may turn into vectors.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a_chunks, a_rest) = a.as_chunks::<8>();
    let (b_chunks, b_rest) = b.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (a, b) in a_chunks.iter().zip(b_chunks) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}
