//! The heads after their 1×1 convolutions: pooling and small dense layers.

use super::fold::FoldedNet;

/// Reused room for the pooled features of one board.
#[derive(Clone, Debug, Default)]
pub(super) struct HeadScratch {
    /// Mean, then max, of the policy channels.
    policy: Vec<f32>,
    /// Mean, then max, of the value channels.
    value: Vec<f32>,
    hidden: Vec<f32>,
}

/// Reads one board's policy and value features, `[area, stride]`, writes `[area + 1]` logits and returns the value in `(-1, 1)`.
pub(super) fn answer(
    net: &FoldedNet,
    features: &[f32],
    stride: usize,
    scratch: &mut HeadScratch,
    logits: &mut [f32],
) -> f32 {
    let (p, v) = (net.policy_channels, net.value_channels);
    pool(features, stride, 0, p, &mut scratch.policy);
    pool(features, stride, p, v, &mut scratch.value);

    let bias = net.policy_out.bias[0];
    let (pass, on_board) = logits.split_last_mut().expect("passing is always an action");
    for (logit, point) in on_board.iter_mut().zip(features.chunks_exact(stride)) {
        *logit = bias + dot(&point[..p], &net.policy_out.weights);
    }
    *pass = net.policy_pass.bias[0] + dot(&scratch.policy, &net.policy_pass.weights);

    scratch.hidden.clear();
    let rows = net.value_hidden.weights.chunks_exact(2 * v).zip(&net.value_hidden.bias);
    scratch.hidden.extend(rows.map(|(row, bias)| (bias + dot(row, &scratch.value)).max(0.0)));
    (net.value_out.bias[0] + dot(&scratch.hidden, &net.value_out.weights)).tanh()
}

/// Mean, then max, over all points of `channels` channels from `first` on.
fn pool(features: &[f32], stride: usize, first: usize, channels: usize, pooled: &mut Vec<f32>) {
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
fn dot(a: &[f32], b: &[f32]) -> f32 {
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
