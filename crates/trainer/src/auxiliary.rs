//! Losses of the heads beyond policy and value: KataGo's terms, each with a weight of its own.
//!
//! Sources: Wu 2019, "Accelerating self-play learning in Go", and KataGo's `metrics_pytorch.py`, whose
//! numbers the default weights are. A label that a sample lacks has weight 0 in its term: the others'
//! shares don't grow for it.

use burn::tensor::activation::{log_softmax, softplus};
use burn::tensor::{Device, Tensor};
use serde::Serialize;
use tengen_network::{NetOutput, ScoreOutput};

use crate::loss::{MASKED, matrix, vector};
use crate::{Batch, TrainerConfig};

/// Distance in points beyond which the score's error counts linearly (KataGo).
const SCORE_DELTA: f32 = 12.0;
/// The same for the error of its squared error, in square points (KataGo's short-term score error).
const SPREAD_DELTA: f32 = 100.0;
/// Square points of error that no prediction can know (KataGo).
const SPREAD_FLOOR: f32 = 1e-4;
/// What the soft policy is: π, with so much more for each legal move, to this power (KataGo).
const SOFT_POWER: f32 = 0.25;
/// See [`SOFT_POWER`]: a move that was never tried gets a 56th of a certain one's share.
const SOFT_FLOOR: f32 = 1e-7;

/// The terms of a batch, each a tensor of one number; `None` without its head.
#[derive(Debug, Default)]
pub struct AuxiliaryLoss {
    /// The terms times their weights, summed over the samples' shares: what is added to the loss;
    /// `None` without any such head.
    pub total: Option<Tensor<1>>,
    /// The terms by their place in [`AuxiliaryReport`].
    means: [Option<Tensor<1>>; 6],
}

/// The auxiliary terms of a step, each the mean over the samples that have the label, unweighted;
/// absent without its head, 0 where no sample had the label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct AuxiliaryReport {
    /// Binary cross entropy of the points' owners, in nats, mean over the board.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ownership_loss: Option<f64>,
    /// Huber loss of the score, δ = 12 points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score_loss: Option<f64>,
    /// Huber loss of the score's expected squared error against the squared error, δ = 100 square points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score_spread_loss: Option<f64>,
    /// Cross entropy of the opponent's next policy, in nats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opponent_policy_loss: Option<f64>,
    /// Cross entropy of π to the power of a quarter, in nats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub soft_policy_loss: Option<f64>,
    /// Squared error of the short-term values, summed over the three horizons.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short_term_loss: Option<f64>,
}

impl AuxiliaryReport {
    fn terms(&mut self) -> [&mut Option<f64>; 6] {
        [
            &mut self.ownership_loss,
            &mut self.score_loss,
            &mut self.score_spread_loss,
            &mut self.opponent_policy_loss,
            &mut self.soft_policy_loss,
            &mut self.short_term_loss,
        ]
    }

    /// Adds the terms of another part of the batch.
    pub(crate) fn add(&mut self, other: &Self) {
        let mut other = *other;
        for (sum, term) in self.terms().into_iter().zip(other.terms()) {
            *sum = match (*sum, *term) {
                (Some(sum), Some(term)) => Some(sum + term),
                (sum, term) => sum.or(term),
            };
        }
    }

    /// Makes means of sums.
    pub(crate) fn scale(&mut self, share: f64) {
        self.terms().into_iter().flatten().for_each(|term| *term *= share);
    }
}

impl AuxiliaryLoss {
    /// What is added to the loss, read from its device.
    pub(crate) fn added(&self) -> f64 {
        self.total.as_ref().map_or(0.0, |total| f64::from(total.clone().into_scalar::<f32>()))
    }

    /// The terms, read from their device.
    pub(crate) fn report(&self) -> AuxiliaryReport {
        let of = |at: usize| {
            self.means[at].as_ref().map(|mean| f64::from(mean.clone().into_scalar::<f32>()))
        };
        AuxiliaryReport {
            ownership_loss: of(0),
            score_loss: of(1),
            score_spread_loss: of(2),
            opponent_policy_loss: of(3),
            soft_policy_loss: of(4),
            short_term_loss: of(5),
        }
    }
}

/// The terms' weights, in their order.
fn weights(config: &TrainerConfig) -> [f64; 6] {
    [
        config.ownership_weight,
        config.score_weight,
        config.score_spread_weight,
        config.opponent_policy_weight,
        config.soft_policy_weight,
        config.short_term_weight,
    ]
}

/// The auxiliary loss of a network's `output` against a batch, for the heads that it has.
///
/// # Panics
/// When the shapes do not fit the batch.
#[must_use]
pub fn auxiliary_loss(output: &NetOutput, batch: &Batch, config: &TrainerConfig) -> AuxiliaryLoss {
    let device = output.value.device();
    let all = vec![1.0; batch.len];
    let ownership = output.ownership_logits.as_ref().map(|x| ownership_rows(x, batch, &device));
    let score = output.score.as_ref().map(|x| score_rows(x, batch, &device));
    let (score, spread) = score.unzip();
    let opponent = output.opponent_logits.as_ref().map(|x| opponent_rows(x, batch, &device));
    let soft = output.soft_logits.as_ref().map(|x| soft_rows(x, batch, &device));
    let short = output.short_term.as_ref().map(|x| short_term_rows(x, batch, &device));
    let rows = [
        (ownership, &batch.has_score),
        (score, &batch.has_score),
        (spread, &batch.has_score),
        (opponent, &batch.has_opponent_policy),
        (soft, &all),
        (short, &batch.has_short_term),
    ];
    let mut loss = AuxiliaryLoss::default();
    for (at, ((rows, has), weight)) in rows.into_iter().zip(weights(config)).enumerate() {
        let Some(rows) = rows else { continue };
        let sum: f32 = batch.weight.iter().sum();
        let with: Vec<f32> = batch.weight.iter().zip(has).map(|(w, has)| w * has).collect();
        let with_sum: f32 = with.iter().sum();
        let total = (rows * vector(&with, &device)).sum();
        let mean = total.clone().detach().div_scalar(with_sum.max(f32::MIN_POSITIVE));
        loss.means[at] = Some(mean);
        let added = total.mul_scalar(weight / f64::from(sum.max(f32::MIN_POSITIVE)));
        loss.total = Some(match loss.total {
            Some(sum) => sum + added,
            None => added,
        });
    }
    loss
}

/// Of tanh(x) = o: with p = (1 + o) / 2 the logit is 2x. `[B]`.
fn ownership_rows(logits: &Tensor<2>, batch: &Batch, device: &Device) -> Tensor<1> {
    let (rows, area) = (batch.len, batch.size.area());
    let target = matrix(&batch.ownership, rows, area, device).add_scalar(1.0).mul_scalar(0.5);
    let logits = logits.clone().mul_scalar(2.0);
    // −t·ln σ(x) − (1 − t)·ln σ(−x) = softplus(x) − t·x.
    let entropy = softplus(logits.clone(), 1.0) - target * logits;
    entropy.mean_dim(1).reshape([rows])
}

/// Of the mean and of its spread, `[B]` each.
fn score_rows(score: &ScoreOutput, batch: &Batch, device: &Device) -> (Tensor<1>, Tensor<1>) {
    let target = vector(&batch.score, device);
    let error = (score.mean.clone().detach() - target.clone()).square().add_scalar(SPREAD_FLOOR);
    let mean = huber(score.mean.clone() - target, SCORE_DELTA);
    (mean, huber(score.stdev.clone().square() - error, SPREAD_DELTA))
}

/// ½x² up to `delta`, then as steep as there.
fn huber(x: Tensor<1>, delta: f32) -> Tensor<1> {
    let far = x.clone().abs();
    let near = far.clone().clamp_max(delta);
    // ½n² + δ(|x| − n), n = min(|x|, δ).
    near.clone().square().mul_scalar(0.5) + (far - near).mul_scalar(delta)
}

/// The opponent's moves are legal in another position, so that nothing is masked. `[B]`.
fn opponent_rows(logits: &Tensor<2>, batch: &Batch, device: &Device) -> Tensor<1> {
    let (rows, actions) = (batch.len, batch.size.actions());
    let target = matrix(&batch.opponent_policy, rows, actions, device);
    (target * log_softmax(logits.clone(), 1)).sum_dim(1).reshape([rows]).neg()
}

/// `[B]`.
fn soft_rows(logits: &Tensor<2>, batch: &Batch, device: &Device) -> Tensor<1> {
    let (rows, actions) = (batch.len, batch.size.actions());
    let target = matrix(&softened(batch), rows, actions, device);
    let illegal = matrix(&batch.legal, rows, actions, device).equal_scalar(0.0);
    let masked = logits.clone().mask_fill(illegal.clone(), MASKED);
    let log_p = log_softmax(masked, 1).mask_fill(illegal, 0.0);
    (target * log_p).sum_dim(1).reshape([rows]).neg()
}

/// π of each sample to the power of a quarter over the legal moves, `[B, A]`, each row summing to 1.
fn softened(batch: &Batch) -> Vec<f32> {
    let moves = batch.policy.iter().zip(&batch.legal);
    let mut soft: Vec<f32> =
        moves.map(|(p, legal)| legal * (p + SOFT_FLOOR).powf(SOFT_POWER)).collect();
    for row in soft.chunks_exact_mut(batch.size.actions()) {
        let sum: f32 = row.iter().sum();
        row.iter_mut().for_each(|p| *p /= sum.max(f32::MIN_POSITIVE));
    }
    soft
}

/// `[B]`.
fn short_term_rows(values: &Tensor<2>, batch: &Batch, device: &Device) -> Tensor<1> {
    let [rows, horizons] = values.dims();
    let target = matrix(&batch.short_term, rows, horizons, device);
    (values.clone() - target).square().sum_dim(1).reshape([rows])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use tengen_features::FeatureSet;
    use tengen_rules::BoardSize;

    /// Two positions on a 1×2 board, of which the second lacks every label.
    fn batch() -> Batch {
        Batch {
            policy: vec![0.0625, 0.0, 0.9375, 0.0, 0.0, 1.0],
            legal: vec![1.0, 0.0, 1.0, 1.0, 1.0, 1.0],
            value: vec![1.0, -1.0],
            weight: vec![1.0, 3.0],
            ownership: vec![1.0, -1.0, 0.0, 0.0],
            score: vec![5.0, 0.0],
            has_score: vec![1.0, 0.0],
            opponent_policy: vec![0.5, 0.5, 0.0, 0.0, 0.0, 0.0],
            has_opponent_policy: vec![1.0, 0.0],
            short_term: vec![0.5, 0.0, -0.5, 0.0, 0.0, 0.0],
            has_short_term: vec![1.0, 0.0],
            ..Batch::blank(FeatureSet::Agz, BoardSize::new(2, 1).unwrap(), 2)
        }
    }

    fn output(device: &Device) -> NetOutput {
        let table = |data: &[f32]| matrix(data, 2, data.len() / 2, device).require_grad();
        let column = |data: &[f32]| vector(data, device).require_grad();
        NetOutput {
            policy_logits: table(&[0.0; 6]),
            value: column(&[0.0, 0.0]),
            opponent_logits: Some(table(&[3f32.ln(), 0.0, 0.0, 9.0, 0.0, 0.0])),
            soft_logits: Some(table(&[1.0, 50.0, 0.0, 0.0, 0.0, 0.0])),
            ownership_logits: Some(table(&[0.5, 0.5, 7.0, 7.0])),
            score: Some(ScoreOutput { mean: column(&[25.0, 90.0]), stdev: column(&[12.0, 3.0]) }),
            short_term: Some(table(&[0.0, 0.5, 0.5, 0.9, 0.9, 0.9])),
        }
    }

    fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
        tensor.into_data().try_to_vec::<f32>().unwrap()
    }

    #[test]
    fn each_term_by_hand_and_a_missing_label_weighs_nothing() {
        let device = Device::default().autodiff();
        let (output, config) = (output(&device), TrainerConfig::default());
        let loss = auxiliary_loss(&output, &batch(), &config);
        let report = loss.report();
        let near = |found: Option<f64>, expected: f64| {
            let found = found.unwrap();
            assert!(
                (found - expected).abs() < 1e-5 * expected.abs().max(1.0),
                "{found} {expected}"
            );
            expected
        };
        // σ(1) for the point owned, σ(−1) for the one that is the opponent's.
        let sigma = 1.0 / (1.0 + (-1.0f64).exp());
        let ownership = near(report.ownership_loss, -0.5 * (sigma.ln() + (1.0 - sigma).ln()));
        // 20 points off: ½·12² + 12·8. Squared: 400 against 144: ½·100² + 100·156.
        let score = near(report.score_loss, 72.0 + 96.0);
        let spread =
            near(report.score_spread_loss, 5000.0 + 100.0 * (400.0 + 1e-4 - 144.0 - 100.0));
        // p = 3/5, 1/5.
        let opponent = near(report.opponent_policy_loss, -0.5 * (0.6f64.ln() + 0.2f64.ln()));
        // The first row's quarter powers are 0.5 and 0.98399…; the second's a certain pass among three.
        let (a, b) = (0.5, 0.9375f64.powf(0.25));
        let total = 1.0 + 1.0f64.exp();
        let first = -(a / (a + b)) * (1.0f64.exp() / total).ln() - b / (a + b) * (1.0 / total).ln();
        let soft = near(report.soft_policy_loss, 0.25 * first + 0.75 * 3f64.ln());
        let short = near(report.short_term_loss, 0.25 + 0.25 + 1.0);
        // The first sample has a quarter of the weight.
        let expected = 0.25
            * (1.5 * ownership + 0.0015 * score + 2e-5 * spread + 0.15 * opponent + 0.5 * short)
            + 8.0 * soft;
        let total = loss.total.unwrap();
        near(Some(f64::from(numbers(total.clone())[0])), expected);

        let gradients = total.backward();
        let of = |tensor: &Option<Tensor<2>>| {
            numbers(tensor.as_ref().unwrap().grad(&gradients).unwrap())
        };
        for (head, columns) in
            [(&output.ownership_logits, 2), (&output.opponent_logits, 3), (&output.short_term, 3)]
        {
            let slopes = of(head);
            assert!(slopes[..columns].iter().any(|x| *x != 0.0));
            assert!(slopes[columns..].iter().all(|x| *x == 0.0), "{slopes:?}");
        }
        assert_eq!(of(&output.soft_logits)[1], 0.0, "an illegal move");
        let score = output.score.unwrap();
        // The spread teaches the mean nothing: 0.0015 · 12 for a quarter of the weight.
        let slope = numbers(score.mean.grad(&gradients).unwrap());
        assert!((slope[0] - 0.25 * 0.0015 * 12.0).abs() < 1e-7 && slope[1] == 0.0, "{slope:?}");
    }

    #[test]
    fn without_heads_there_is_nothing_to_add_and_without_labels_nothing_but_zeros() {
        let device = Device::default().autodiff();
        let bare = NetOutput {
            opponent_logits: None,
            soft_logits: None,
            ownership_logits: None,
            score: None,
            short_term: None,
            ..output(&device)
        };
        let loss = auxiliary_loss(&bare, &batch(), &TrainerConfig::default());
        assert!(loss.total.is_none());
        assert_eq!(loss.report(), AuxiliaryReport::default());
        let zero = vec![0.0; 2];
        let unlabelled = Batch {
            has_score: zero.clone(),
            has_opponent_policy: zero.clone(),
            has_short_term: zero,
            ..batch()
        };
        let report =
            auxiliary_loss(&output(&device), &unlabelled, &TrainerConfig::default()).report();
        assert_eq!(report.ownership_loss, Some(0.0));
        assert_eq!(report.score_spread_loss, Some(0.0));
        assert!(report.soft_policy_loss.unwrap() > 0.0);
    }

    /// The tensors of the fixture that `scripts/pytorch_reference.py` wrote.
    fn pytorch() -> BTreeMap<String, Vec<f32>> {
        let bytes = include_bytes!("../tests/data/torch-losses.safetensors");
        let tensors = crate::tensors::from_bytes(bytes).unwrap().0;
        tensors.into_iter().map(|(name, tensor)| (name, tensor.data)).collect()
    }

    #[test]
    fn every_term_and_gradient_agrees_with_pytorch() {
        let theirs = pytorch();
        let label = |name: &str| theirs[&format!("label.{name}")].clone();
        let batch = Batch {
            policy: label("policy"),
            legal: label("legal"),
            value: label("value"),
            weight: label("weight"),
            ownership: label("ownership"),
            score: label("score"),
            has_score: label("has_score"),
            opponent_policy: label("opponent_policy"),
            has_opponent_policy: label("has_opponent_policy"),
            short_term: label("short_term"),
            has_short_term: label("has_short_term"),
            ..Batch::blank(FeatureSet::Agz, BoardSize::new(3, 2).unwrap(), 4)
        };
        let device = Device::default().autodiff();
        let given = |name: &str| theirs[&format!("output.{name}")].clone();
        let table = |name: &str, n| matrix(&given(name), 4, n, &device).require_grad();
        let column = |name: &str| vector(&given(name), &device).require_grad();
        let output = NetOutput {
            policy_logits: table("policy_logits", 7),
            value: column("value"),
            opponent_logits: Some(table("opponent_logits", 7)),
            soft_logits: Some(table("soft_logits", 7)),
            ownership_logits: Some(table("ownership_logits", 6)),
            score: Some(ScoreOutput { mean: column("score_mean"), stdev: column("score_stdev") }),
            short_term: Some(table("short_term_values", 3)),
        };
        let (logits, value) = (output.policy_logits.clone(), output.value.clone());
        let alpha = crate::alpha_loss(logits, value, &batch, 1.0);
        let further = auxiliary_loss(&output, &batch, &TrainerConfig::default());
        let report = further.report();
        let near = |found: f64, name: &str| {
            let expected = f64::from(theirs[name][0]);
            assert!(
                (found - expected).abs() <= 1e-4 * expected.abs().max(1.0),
                "{name}: {found} {expected}"
            );
        };
        near(f64::from(numbers(alpha.policy.clone())[0]), "term.policy");
        near(f64::from(numbers(alpha.value.clone())[0]), "term.value");
        for (found, name) in [
            (report.ownership_loss, "term.ownership"),
            (report.score_loss, "term.score"),
            (report.score_spread_loss, "term.score_spread"),
            (report.opponent_policy_loss, "term.opponent_policy"),
            (report.soft_policy_loss, "term.soft_policy"),
            (report.short_term_loss, "term.short_term"),
        ] {
            near(found.unwrap(), name);
        }
        let total = alpha.total + further.total.unwrap();
        near(f64::from(numbers(total.clone())[0]), "total");

        let gradients = total.backward();
        let slopes = |name: &str, found: Vec<f32>| {
            let expected = &theirs[&format!("grad.{name}")];
            assert_eq!(found.len(), expected.len());
            for (a, b) in found.iter().zip(expected) {
                assert!((a - b).abs() <= 1e-4 * b.abs().max(1.0), "{name}: {a}, PyTorch's {b}");
            }
        };
        for (name, table) in [
            ("policy_logits", Some(output.policy_logits)),
            ("opponent_logits", output.opponent_logits),
            ("soft_logits", output.soft_logits),
            ("ownership_logits", output.ownership_logits),
            ("short_term_values", output.short_term),
        ] {
            slopes(name, numbers(table.unwrap().grad(&gradients).unwrap()));
        }
        let ScoreOutput { mean, stdev } = output.score.unwrap();
        for (name, column) in
            [("value", output.value), ("score_mean", mean), ("score_stdev", stdev)]
        {
            slopes(name, numbers(column.grad(&gradients).unwrap()));
        }
    }
}
