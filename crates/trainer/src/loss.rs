//! The paper's loss, `l = (z − v)² − πᵀ log p + c‖θ‖²` (Silver et al. 2017, equation 1), without
//! its last term, which the optimiser adds.

use burn::tensor::activation::log_softmax;
use burn::tensor::{Device, Tensor, TensorData};

use crate::Batch;

/// Stands for −∞ before the softmax: far enough that its exponential is exactly 0, and finite, so
/// that no `∞ − ∞` or `0 · ∞` can turn up in the backward pass.
pub(crate) const MASKED: f32 = -1e30;

/// The loss of a batch and its parts, each a tensor of one number: the mean over the samples,
/// weighted by their weights.
#[derive(Debug)]
pub struct AlphaLoss {
    /// `value_weight · value + policy`; its backward pass gives the gradients.
    pub total: Tensor<1>,
    /// Cross entropy of π and p, in nats.
    pub policy: Tensor<1>,
    /// Squared error of v against z.
    pub value: Tensor<1>,
}

/// The loss of `logits` `[B, A]` and `value` `[B]` against a batch.
///
/// Illegal moves are masked out of the logits before the softmax, so p is a distribution over
/// legal moves, an illegal one has probability exactly 0, and its logit gets gradient exactly 0.
///
/// # Panics
/// When the shapes do not fit the batch.
#[must_use]
pub fn alpha_loss(
    logits: Tensor<2>,
    value: Tensor<1>,
    batch: &Batch,
    value_weight: f64,
) -> AlphaLoss {
    let device = logits.device();
    let rows = batch.len;
    let actions = batch.size.actions();
    let policy_target = matrix(&batch.policy, rows, actions, &device);
    let illegal = matrix(&batch.legal, rows, actions, &device).equal_scalar(0.0);
    let log_p = log_softmax(logits.mask_fill(illegal.clone(), MASKED), 1).mask_fill(illegal, 0.0);
    let cross_entropy = (policy_target * log_p).sum_dim(1).reshape([rows]).neg();

    let z = vector(&batch.value, &device);
    let error = (value - z).square();

    // Dividing by the weights' sum makes the loss the same whatever their unit.
    let sum: f32 = batch.weight.iter().sum();
    let share: Vec<f32> = batch.weight.iter().map(|w| w / sum.max(f32::MIN_POSITIVE)).collect();
    let share = vector(&share, &device);
    let policy = (cross_entropy * share.clone()).sum();
    let value = (error * share).sum();
    AlphaLoss { total: value.clone().mul_scalar(value_weight) + policy.clone(), policy, value }
}

/// A constant `[rows, columns]` on the device.
pub(crate) fn matrix(data: &[f32], rows: usize, columns: usize, device: &Device) -> Tensor<2> {
    Tensor::from_data(TensorData::new(data.to_vec(), [rows, columns]), device)
}

/// A constant `[len]` on the device.
pub(crate) fn vector(data: &[f32], device: &Device) -> Tensor<1> {
    Tensor::from_data(TensorData::new(data.to_vec(), [data.len()]), device)
}

/// How often the batch's most probable legal move is the target's, and how often the value has the
/// result's sign, both as fractions; draws have no sign and don't count.
pub(crate) fn accuracies(logits: &[f32], value: &[f32], batch: &Batch) -> (f64, f64) {
    let actions = batch.size.actions();
    let best = |scores: &[f32], legal: &[f32]| {
        let mut best = None;
        for (action, (&score, &legal)) in scores.iter().zip(legal).enumerate() {
            if legal > 0.0 && best.is_none_or(|(_, top)| score > top) {
                best = Some((action, score));
            }
        }
        best.map(|(action, _)| action)
    };
    let hits = (0..batch.len)
        .filter(|row| {
            let row = row * actions..(row + 1) * actions;
            let legal = &batch.legal[row.clone()];
            best(&logits[row.clone()], legal) == best(&batch.policy[row], legal)
        })
        .count();
    let decided: Vec<(f32, f32)> =
        value.iter().zip(&batch.value).map(|(&v, &z)| (v, z)).filter(|&(_, z)| z != 0.0).collect();
    let right = decided.iter().filter(|&&(v, z)| v * z > 0.0).count();
    (hits as f64 / batch.len.max(1) as f64, right as f64 / decided.len().max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tengen_features::FeatureSet;
    use tengen_rules::BoardSize;

    /// Two positions on a 1×2 board: actions are left, right, pass.
    fn batch() -> Batch {
        Batch {
            policy: vec![0.5, 0.0, 0.5, 0.0, 0.0, 1.0],
            legal: vec![1.0, 0.0, 1.0, 1.0, 1.0, 1.0],
            value: vec![1.0, -1.0],
            weight: vec![1.0, 1.0],
            ..Batch::blank(FeatureSet::Agz, BoardSize::new(2, 1).unwrap(), 2)
        }
    }

    fn number(tensor: &Tensor<1>) -> f32 {
        tensor.clone().into_data().try_to_vec::<f32>().unwrap()[0]
    }

    #[test]
    fn the_loss_by_hand() {
        let device = Device::default();
        // Row 1: ln 3 against 0 over two legal moves, p = (3/4, 1/4), whatever the illegal logit.
        // Row 2: equal logits, p = 1/3 each.
        let logits = matrix(&[3f32.ln(), 50.0, 0.0, 2.0, 2.0, 2.0], 2, 3, &device);
        let value = vector(&[0.5, 0.0], &device);
        let loss = alpha_loss(logits, value, &batch(), 0.5);
        let first = -0.5 * 0.75f32.ln() - 0.5 * 0.25f32.ln();
        let second = 3f32.ln();
        let policy = 0.5 * (first + second);
        let squares = 0.5 * (0.25 + 1.0);
        assert!((number(&loss.policy) - policy).abs() < 1e-6, "{} {policy}", number(&loss.policy));
        assert!((number(&loss.value) - squares).abs() < 1e-6);
        assert!((number(&loss.total) - (policy + 0.5 * squares)).abs() < 1e-6);
    }

    #[test]
    fn weights_average_whatever_their_unit() {
        let device = Device::default();
        let logits = || matrix(&[0.3, 0.1, -0.2, 1.0, 2.0, 3.0], 2, 3, &device);
        let value = || vector(&[0.5, 0.0], &device);
        let of = |weight: [f32; 2]| {
            let batch = Batch { weight: weight.to_vec(), ..batch() };
            number(&alpha_loss(logits(), value(), &batch, 1.0).total)
        };
        assert!((of([4.0, 4.0]) - of([1.0, 1.0])).abs() < 1e-6);
        assert!((0.75 * of([1.0, 0.0]) + 0.25 * of([0.0, 1.0]) - of([3.0, 1.0])).abs() < 1e-6);
    }

    #[test]
    fn an_illegal_move_gets_exactly_no_gradient_however_large_its_logit() {
        let device = Device::default().autodiff();
        for illegal in [-1e4, 0.0, 1e4, 1e20] {
            let logits = matrix(&[0.7, illegal, -0.1, 0.0, 0.5, 0.2], 2, 3, &device).require_grad();
            let value = vector(&[0.5, 0.0], &device).require_grad();
            let loss = alpha_loss(logits.clone(), value.clone(), &batch(), 1.0);
            let gradients = loss.total.backward();
            let slope = logits.grad(&gradients).unwrap().into_data().try_to_vec::<f32>().unwrap();
            assert_eq!(slope[1], 0.0, "{slope:?}");
            // The softmax's gradient is p − π, divided by the batch's two samples.
            let p = 1.0 / (1.0 + (-0.8f32).exp());
            for (found, expected) in slope.iter().zip([(p - 0.5) / 2.0, 0.0, (0.5 - p) / 2.0]) {
                assert!((found - expected).abs() < 1e-6, "{slope:?}");
            }
            // 2(v − z)/2.
            let slope = value.grad(&gradients).unwrap().into_data().try_to_vec::<f32>().unwrap();
            assert_eq!(slope, [-0.5, 1.0]);
        }
    }

    #[test]
    fn logits_a_thousand_apart_keep_loss_and_gradient_finite() {
        let device = Device::default().autodiff();
        let logits =
            matrix(&[1000.0, 0.0, -1000.0, 0.0, 1000.0, 0.0], 2, 3, &device).require_grad();
        let loss = alpha_loss(logits.clone(), vector(&[0.0, 0.0], &device), &batch(), 1.0);
        // −½·(−2000) and −(−1000), over two samples: no ε flattens the tail.
        assert_eq!(number(&loss.policy), 1000.0);
        let slope =
            logits.grad(&loss.total.backward()).unwrap().into_data().try_to_vec::<f32>().unwrap();
        assert!(slope.iter().all(|x| x.is_finite()), "{slope:?}");
    }

    #[test]
    fn accuracies_by_hand_ignore_illegal_moves_and_draws() {
        let mut batch = batch();
        batch.policy[0] = 0.6;
        batch.policy[2] = 0.4;
        let hit = accuracies(&[1.0, 9.0, 0.0, 0.0, 0.0, 1.0], &[0.1, 0.2], &batch);
        assert_eq!(hit, (1.0, 0.5));
        batch.value[1] = 0.0;
        let miss = accuracies(&[0.0, 9.0, 1.0, 0.0, 0.0, 1.0], &[0.1, 0.2], &batch);
        assert_eq!(miss, (0.5, 1.0));
    }
}
