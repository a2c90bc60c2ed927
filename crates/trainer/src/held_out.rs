//! Games that are never trained on, and what a network says of them.
//!
//! Whole games are kept back, by a hash of the game: positions of one game are too alike to stand on
//! both sides of a split.

use std::num::NonZeroUsize;

use serde::Serialize;
use tengen_features::{FeatureSet, Sample};
use tengen_inference::{Evaluation, Leaf, LeafEvaluator};
use tengen_network::{NativeEvaluator, NetworkConfig, Weights};
use tengen_record::GameRecord;
use tengen_rules::{GameState, Symmetry};

use crate::{Draw, TrainError};

/// Evaluations asked for at once.
const BATCH: usize = 64;
/// Bins of the calibration, by predicted chance of winning.
const BINS: usize = 10;
/// Positions below which a report warns of nothing.
const ENOUGH: usize = 100;
/// The share of its targets' entropy below which a policy's has collapsed.
const COLLAPSED: f64 = 0.1;
/// Moves of 361 points that are the opening, and after which the endgame begins.
const OPENING: usize = 30;
const ENDGAME: usize = 150;

/// Whether a game is kept from training: `fraction` of all games, always the same ones.
#[must_use]
pub fn is_held_out(fraction: f64, seq: u64, record: &GameRecord) -> bool {
    let mut id = [0; 16];
    id[..8].copy_from_slice(&record.seed.to_le_bytes());
    id[8..].copy_from_slice(&seq.to_le_bytes());
    let hash = blake3::hash(&id);
    let mut first = [0; 8];
    first.copy_from_slice(&hash.as_bytes()[..8]);
    // 2^64 is a double; the quotient is below 1 or rounds up to it.
    (u64::from_le_bytes(first) as f64) < fraction * 18_446_744_073_709_551_616.0
}

/// How the weights do on held-out games. Means over positions; `None` where none counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HeldOutReport {
    /// Positions measured.
    pub positions: usize,
    /// Games that they are of.
    pub games: usize,
    /// Cross entropy of π and p, in nats.
    pub policy_loss: f64,
    /// Mean of (z − v)².
    pub value_loss: f64,
    /// KL(π ‖ p): the policy loss less what no network could save.
    pub policy_kl: f64,
    /// Entropy of p, in nats. Near 0 the network has stopped to doubt.
    pub policy_entropy: f64,
    /// Entropy of π, in nats.
    pub target_entropy: f64,
    /// Fraction of positions whose most probable move is π's.
    pub top1: f64,
    /// The same in the opening: the first 30 moves on 361 points, in proportion elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top1_opening: Option<f64>,
    /// Between the two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top1_middle: Option<f64>,
    /// From move 150 on, likewise in proportion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top1_endgame: Option<f64>,
    /// Pearson's correlation of v and z; below 0.5 little was learnt. `None` when one of them is
    /// constant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_correlation: Option<f64>,
    /// Mean distance between the predicted and the actual share of wins, over ten bins of the
    /// prediction: 0 is calibrated.
    pub value_calibration: f64,
    /// Fraction of the points that somebody owned in the end whose owner the head names; with
    /// `network.ownership`, over games whose board was counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ownership_accuracy: Option<f64>,
    /// Mean distance of the predicted score from the real one, in points; with `network.score`, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score_error: Option<f64>,
}

impl HeldOutReport {
    /// What is amiss, each in one line with what to do about it; empty when nothing is.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let mut found = Vec::new();
        if self.positions < ENOUGH {
            return found;
        }
        if self.policy_entropy < COLLAPSED * self.target_entropy {
            found.push(format!(
                "the policy's entropy is {:.3} nats where its targets have {:.3}: it has stopped to \
                 doubt; look for more root noise (search.dirichlet_fraction), higher move temperatures and \
                 a wider window",
                self.policy_entropy, self.target_entropy
            ));
        }
        if self.value_loss > 1.5 {
            found.push(format!(
                "the value is further from held-out results ({:.2}) than a guess of 0 would be: results \
                 or colours are mixed up, or the window is far too small (trainer.window_min_positions)",
                self.value_loss
            ));
        }
        if self.value_correlation.is_some_and(|correlation| correlation < 0.0) {
            found.push(
                "the value goes against the results of held-out games: a sign is wrong somewhere, or \
                 training has only begun"
                    .to_owned(),
            );
        }
        found
    }
}

/// Measures `weights` on drawn positions, each as it lies.
pub(crate) fn measure(
    network: &NetworkConfig,
    weights: &Weights,
    draws: &[Draw<'_>],
) -> Result<HeldOutReport, TrainError> {
    let set = network.features()?;
    let batch = NonZeroUsize::new(BATCH).unwrap_or(NonZeroUsize::MIN);
    let mut evaluator = NativeEvaluator::new(network, weights, batch)?.telling_ownership();
    let mut tally = Tally::default();
    // A game's draws lie side by side: each game is replayed once.
    for game in draws.chunk_by(|a, b| a.seq == b.seq) {
        let targets = targets_of(set, game)?;
        for targets in targets.chunks(BATCH) {
            let leaves: Vec<Leaf<'_>> = targets.iter().map(|t| Leaf::new(&t.state)).collect();
            let answers = evaluator.evaluate(&leaves).map_err(|source| TrainError::HeldOut {
                seq: game[0].seq,
                why: source.to_string(),
            })?;
            for (target, answer) in targets.iter().zip(&answers) {
                tally.add(target, answer);
            }
        }
    }
    tally.report.games = draws.chunk_by(|a, b| a.seq == b.seq).count();
    Ok(tally.finish())
}

/// A position with what the search and the game said of it.
struct Target {
    state: GameState,
    turn: usize,
    sample: Sample,
}

/// The drawn positions of one game.
fn targets_of(set: FeatureSet, draws: &[Draw<'_>]) -> Result<Vec<Target>, TrainError> {
    let (record, labels) = (draws[0].record, draws[0].labels);
    let is_target =
        |turn: &usize| record.turns[*turn].search.as_ref().is_some_and(|search| search.is_target);
    let turns: Vec<usize> = (0..record.turns.len()).filter(is_target).collect();
    let wanted: Vec<usize> =
        draws.iter().filter_map(|draw| turns.get(draw.target).copied()).collect();
    let mut found = Vec::with_capacity(wanted.len());
    for (turn, (state, _)) in record.replay().enumerate() {
        if wanted.contains(&turn) {
            let sample = Sample::new(set, &state, record, labels, turn, Symmetry::IDENTITY)
                .map_err(|source| {
                    let target = turns.iter().position(|&of| of == turn).unwrap_or_default();
                    TrainError::Sample { seq: draws[0].seq, target, source }
                })?;
            found.push(Target { state, turn, sample });
        }
    }
    Ok(found)
}

/// Sums on the way to a report.
#[derive(Default)]
struct Tally {
    report: HeldOutReport,
    /// By phase, positions and hits.
    phases: [(usize, usize); 3],
    values: Vec<(f64, f64)>,
    /// Points with an owner, and those of them whose owner was named.
    owned: (usize, usize),
    /// Positions with a score, and the sum of its errors.
    scored: (usize, f64),
}

impl Tally {
    fn add(&mut self, target: &Target, answer: &Evaluation) {
        let (p, pi) = (&answer.policy, &target.sample.policy);
        let report = &mut self.report;
        report.positions += 1;
        let entropy = |q: &[f32]| {
            let terms = q.iter().filter(|&&x| x > 0.0).map(|&x| f64::from(x) * f64::from(x).ln());
            -terms.sum::<f64>()
        };
        let cross: f64 = pi
            .iter()
            .zip(p)
            .filter(|&(&pi, _)| pi > 0.0)
            .map(|(&pi, &p)| -f64::from(pi) * f64::from(p.max(f32::MIN_POSITIVE)).ln())
            .sum();
        report.policy_loss += cross;
        report.policy_entropy += entropy(p);
        report.target_entropy += entropy(pi);
        let (v, z) = (f64::from(answer.value.get()), f64::from(target.sample.value));
        report.value_loss += (v - z).powi(2);
        self.values.push((v, z));
        let hit = best(p) == best(pi);
        report.top1 += f64::from(u8::from(hit));
        // Compared without division: turn · 361 against moves · area.
        let (turn, area) = (target.turn * 361, target.state.size().area());
        let phase = usize::from(turn >= OPENING * area) + usize::from(turn >= ENDGAME * area);
        self.phases[phase].0 += 1;
        self.phases[phase].1 += usize::from(hit);
        if let (Some(said), Some(owners)) = (&answer.ownership, &target.sample.ownership) {
            for (said, owner) in said.iter().zip(owners).filter(|(_, owner)| **owner != 0.0) {
                self.owned.0 += 1;
                self.owned.1 += usize::from(said * owner > 0.0);
            }
        }
        if let (Some(said), Some(score)) = (answer.score, target.sample.score) {
            self.scored.0 += 1;
            self.scored.1 += f64::from((said - score).abs());
        }
    }

    fn finish(self) -> HeldOutReport {
        let count = self.report.positions.max(1) as f64;
        let [opening, middle, endgame] = self
            .phases
            .map(|(positions, hits)| (positions > 0).then(|| hits as f64 / positions as f64));
        let mut report = self.report;
        for sum in [
            &mut report.policy_loss,
            &mut report.policy_entropy,
            &mut report.target_entropy,
            &mut report.value_loss,
            &mut report.top1,
        ] {
            *sum /= count;
        }
        report.policy_kl = report.policy_loss - report.target_entropy;
        (report.top1_opening, report.top1_middle, report.top1_endgame) = (opening, middle, endgame);
        report.value_correlation = correlation(&self.values);
        report.value_calibration = calibration(&self.values);
        let mean = |count: usize, sum: f64| (count > 0).then(|| sum / count as f64);
        report.ownership_accuracy = mean(self.owned.0, self.owned.1 as f64);
        report.score_error = mean(self.scored.0, self.scored.1);
        report
    }
}

fn best(policy: &[f32]) -> Option<usize> {
    (0..policy.len()).max_by(|&a, &b| policy[a].total_cmp(&policy[b]).then(b.cmp(&a)))
}

/// Pearson's correlation of the pairs.
fn correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    let count = pairs.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let sum =
        |of: &dyn Fn(f64, f64) -> f64| pairs.iter().map(|p| of(p.0 - x, p.1 - y)).sum::<f64>();
    let scale = (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt();
    (scale > 0.0).then(|| sum(&|x, y| x * y) / scale)
}

/// The expected calibration error of the chance of winning, (v + 1) / 2, against (z + 1) / 2.
fn calibration(pairs: &[(f64, f64)]) -> f64 {
    let mut bins = [(0.0, 0.0); BINS];
    for &(v, z) in pairs {
        let (chance, result) = ((v + 1.0) / 2.0, (z + 1.0) / 2.0);
        let bin = &mut bins[((chance * BINS as f64) as usize).min(BINS - 1)];
        bin.0 += chance;
        bin.1 += result;
    }
    let distance: f64 = bins.iter().map(|(chance, result)| (chance - result).abs()).sum();
    distance / pairs.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Window;
    use crate::fixture::game;
    use tengen_rules::Value;

    #[test]
    fn the_split_is_by_game_and_of_the_size_asked_for() {
        let record = game(1, 5, 4);
        let of = |fraction| (0..10_000).filter(|&seq| is_held_out(fraction, seq, &record)).count();
        assert_eq!((of(0.0), of(1.0)), (0, 10_000));
        let tenth = of(0.1);
        assert!((900..1100).contains(&tenth), "{tenth}");
    }

    #[test]
    fn correlation_and_calibration_by_hand() {
        let pairs = [(0.9, 1.0), (0.9, -1.0), (-0.5, -1.0), (-0.5, -1.0)];
        // Bin 9: 1.9 chances against 1 win; bin 2: 0.5 against 0.
        assert!((calibration(&pairs) - (0.9 + 0.5) / 4.0).abs() < 1e-12);
        let expected = 1.4 / (1.96f64 * 3.0).sqrt();
        assert!((correlation(&pairs).unwrap() - expected).abs() < 1e-12);
        assert_eq!(correlation(&[(0.3, 1.0), (0.3, -1.0)]), None);
    }

    #[test]
    fn a_collapsed_policy_and_a_value_with_the_wrong_sign_are_named() {
        let sound = HeldOutReport {
            positions: 200,
            policy_entropy: 1.0,
            target_entropy: 0.9,
            value_loss: 0.8,
            value_correlation: Some(0.6),
            ..HeldOutReport::default()
        };
        assert_eq!(sound.warnings(), Vec::<String>::new());
        let sick = HeldOutReport {
            policy_entropy: 0.05,
            value_loss: 1.6,
            value_correlation: Some(-0.2),
            ..sound
        };
        let found = sick.warnings();
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].contains("stopped to doubt") && found[2].contains("sign is wrong"));
        let few = HeldOutReport { positions: 50, ..sick };
        assert!(few.warnings().is_empty(), "fifty positions prove nothing");
    }

    #[test]
    fn a_measurement_adds_up_and_leaves_no_position_out() {
        let mut window = Window::with_held_out(1.0);
        for seq in 1..=3 {
            window.push(seq, game(seq, 5, 24), 100);
        }
        let draws = window.held_out(1000);
        let network = NetworkConfig { blocks: 1, channels: 8, ..NetworkConfig::default() };
        let weights = network.init_weights(1).unwrap();
        let report = measure(&network, &weights, &draws).unwrap();
        assert_eq!((report.positions, report.games), (36, 3));
        assert!((report.policy_loss - report.policy_kl - report.target_entropy).abs() < 1e-9);
        assert!(report.policy_kl > 0.0 && report.policy_entropy > 1.0, "{report:?}");
        // 25 points: the opening ends with move 2, the endgame begins with move 11.
        let phases = [report.top1_opening, report.top1_middle, report.top1_endgame];
        assert!(phases.iter().all(Option::is_some), "{report:?}");
        assert!((0.0..=1.0).contains(&report.value_calibration));
        assert_eq!((report.ownership_accuracy, report.score_error), (None, None));
        let fewer = measure(&network, &weights, &window.held_out(10)).unwrap();
        assert_eq!(fewer.positions, 10);
        let heads = NetworkConfig { ownership: true, score: true, ..network };
        let report = measure(&heads, &heads.init_weights(1).unwrap(), &draws).unwrap();
        assert!((0.0..=1.0).contains(&report.ownership_accuracy.unwrap()), "{report:?}");
        assert!(report.score_error.unwrap() > 0.0, "{report:?}");
    }

    #[test]
    fn heads_for_points_are_held_to_the_counted_board() {
        let mut window = Window::with_held_out(1.0);
        window.push(1, game(1, 5, 24), 100);
        let targets = targets_of(FeatureSet::Agz, &window.held_out(1000)).unwrap();
        let report = |sign: f32, off: f32| {
            let mut tally = Tally::default();
            for target in &targets {
                let (policy, value) = (target.sample.policy.clone(), Value::new(0.0));
                let owners = target.sample.ownership.as_ref().unwrap();
                let answer = Evaluation {
                    score: Some(target.sample.score.unwrap() + off),
                    ownership: Some(owners.iter().map(|owner| sign * owner / 2.0).collect()),
                    ..Evaluation::new(policy, value)
                };
                tally.add(target, &answer);
            }
            tally.finish()
        };
        let right = report(1.0, -2.0);
        assert_eq!((right.ownership_accuracy, right.score_error), (Some(1.0), Some(2.0)));
        assert_eq!(report(-1.0, 3.0).ownership_accuracy, Some(0.0));
    }
}
