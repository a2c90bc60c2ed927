//! The fast pass against the definition, written as slowly as it reads.

use std::num::NonZeroUsize;

use tengen_features::{FeatureSet, encode};
use tengen_inference::{EvalError, Evaluation, Leaf, LeafEvaluator};
use tengen_rules::Symmetry;

use super::NativeEvaluator;
use crate::fixture::{config, everything, positions, random_weights};
use crate::{BurnEvaluator, DeviceKind, NORM_EPSILON, NetworkConfig, Weights};

fn evaluator(config: &NetworkConfig, weights: &Weights) -> NativeEvaluator {
    NativeEvaluator::new(config, weights, NonZeroUsize::new(64).unwrap()).unwrap()
}

/// The network by its definition: planes `[17, H, W]` to logits and value.
fn naive(
    config: &NetworkConfig,
    weights: &Weights,
    planes: &[f32],
    (w, h): (usize, usize),
) -> (Vec<f32>, f32) {
    let data = |name: &str| &weights.get(name).unwrap().data;
    // relu(bn(conv(x)) + skip)
    let conv = |conv: &str, bn: &str, x: &[f32], skip: Option<&[f32]>| {
        let shape = &weights.get(&format!("{conv}.weight")).unwrap().shape;
        let (outputs, inputs, k) = (shape[0], shape[1], shape[2] as isize);
        let kernel = data(&format!("{conv}.weight"));
        let norm = |part: &str, o: usize| data(&format!("{bn}.{part}"))[o];
        let mut out = vec![0.0; outputs * w * h];
        for o in 0..outputs {
            for (row, col) in (0..h as isize).flat_map(|r| (0..w as isize).map(move |c| (r, c))) {
                let mut sum = 0.0;
                for i in 0..inputs {
                    for (dr, dc) in (0..k).flat_map(|r| (0..k).map(move |c| (r, c))) {
                        let (r, c) = (row + dr - k / 2, col + dc - k / 2);
                        if (0..h as isize).contains(&r) && (0..w as isize).contains(&c) {
                            let at = (o * inputs + i) * (k * k) as usize + (dr * k + dc) as usize;
                            sum += kernel[at] * x[i * w * h + r as usize * w + c as usize];
                        }
                    }
                }
                let centred = (sum - norm("mean", o)) / (norm("var", o) + NORM_EPSILON).sqrt();
                let to = o * w * h + row as usize * w + col as usize;
                let y = centred * norm("gamma", o) + norm("beta", o);
                out[to] = (y + skip.map_or(0.0, |s| s[to])).max(0.0);
            }
        }
        out
    };
    let dense = |name: &str, x: &[f32]| -> Vec<f32> {
        let rows = data(&format!("{name}.weight")).chunks(x.len());
        rows.zip(data(&format!("{name}.bias")))
            .map(|(row, bias)| row.iter().zip(x).map(|(a, b)| a * b).sum::<f32>() + bias)
            .collect()
    };
    let pooled = |x: &[f32]| -> Vec<f32> {
        let channels = || x.chunks(w * h);
        let means = channels().map(|c| c.iter().sum::<f32>() / (w * h) as f32);
        means.chain(channels().map(|c| c.iter().copied().fold(f32::MIN, f32::max))).collect()
    };

    let mut x = conv("stem.conv", "stem.bn", planes, None);
    for i in 0..config.blocks {
        let b = format!("blocks.{i}");
        let t = conv(&format!("{b}.conv1"), &format!("{b}.bn1"), &x, None);
        x = conv(&format!("{b}.conv2"), &format!("{b}.bn2"), &t, Some(&x));
    }
    let p = conv("policy.conv", "policy.bn", &x, None);
    let mut logits: Vec<f32> = (0..w * h)
        .map(|at| {
            let column: Vec<f32> = p.chunks(w * h).map(|channel| channel[at]).collect();
            dense("policy.out", &column)[0]
        })
        .collect();
    logits.push(dense("policy.pass", &pooled(&p))[0]);
    let v = conv("value.conv", "value.bn", &x, None);
    let hidden: Vec<f32> = dense("value.hidden", &pooled(&v)).iter().map(|x| x.max(0.0)).collect();
    (logits, dense("value.out", &hidden)[0].tanh())
}

fn assert_close(answer: &Evaluation, leaf: &Leaf<'_>, logits: &[f32], value: f32) {
    let wanted = Evaluation::from_logits(leaf, logits, value).unwrap();
    for (a, b) in answer.policy.iter().zip(&wanted.policy) {
        assert!((a - b).abs() < 1e-4, "prior {a}, by definition {b}");
    }
    assert!((answer.value.get() - value).abs() < 1e-4, "value {:?} for {value}", answer.value);
}

#[test]
fn agrees_with_the_definition_on_every_shape() {
    for (case, (blocks, channels, width, height)) in
        [(2, 32, 6, 6), (1, 7, 5, 5), (2, 19, 9, 9), (0, 1, 2, 2), (1, 33, 3, 7), (1, 16, 19, 19)]
            .into_iter()
            .enumerate()
    {
        let mut config = config(blocks, channels);
        if channels % 2 == 1 {
            config.policy_channels = 3;
            config.value_channels = 5;
            config.value_hidden = 11;
        }
        let weights = random_weights(&config, case as u64);
        let count = if width == 19 { 2 } else { 13 };
        let states = positions(width, height, count, case as u64);
        let leaves: Vec<Leaf<'_>> = states
            .iter()
            .zip(Symmetry::all().into_iter().cycle())
            .map(|(state, s)| {
                let valid = s.valid_for(state.size());
                Leaf { state, symmetry: if valid { s } else { Symmetry::IDENTITY } }
            })
            .collect();
        let max = NonZeroUsize::new(64).unwrap();
        for mut evaluator in [
            NativeEvaluator::new(&config, &weights, max).unwrap(),
            NativeEvaluator::portable(&config, &weights, max).unwrap(),
        ] {
            let answers = evaluator.evaluate(&leaves).unwrap();
            assert_eq!(answers.len(), leaves.len());
            for (answer, leaf) in answers.iter().zip(&leaves) {
                answer.check(leaf.state).unwrap();
                let mut planes = vec![0.0; 17 * width * height];
                encode(FeatureSet::Agz, leaf.state, leaf.symmetry, &mut planes);
                let (logits, value) = naive(&config, &weights, &planes, (width, height));
                assert_close(answer, leaf, &logits, value);
            }
        }
    }
}

#[test]
fn agrees_with_burn() {
    let config = config(3, 24);
    let weights = random_weights(&config, 11);
    let max = NonZeroUsize::new(64).unwrap();
    let device = DeviceKind::Cpu.device().unwrap();
    let mut burn = BurnEvaluator::new(&config, &weights, &device, max).unwrap();
    let mut native = evaluator(&config, &weights);
    for (width, height) in [(5, 5), (6, 6), (9, 9)] {
        let states = positions(width, height, 16, 21);
        let leaves: Vec<Leaf<'_>> = states
            .iter()
            .zip(Symmetry::all().into_iter().cycle())
            .map(|(state, symmetry)| Leaf { state, symmetry })
            .collect();
        let theirs = burn.evaluate(&leaves).unwrap();
        for (ours, theirs) in native.evaluate(&leaves).unwrap().iter().zip(&theirs) {
            for (a, b) in ours.policy.iter().zip(&theirs.policy) {
                assert!((a - b).abs() < 1e-4, "prior {a}, burn's {b}");
            }
            let (a, b) = (ours.value.get(), theirs.value.get());
            assert!((a - b).abs() < 1e-4, "value {a}, burn's {b}");
        }
    }
}

#[test]
fn an_answer_does_not_depend_on_its_batch_or_on_the_size_before() {
    let config = config(2, 20);
    let mut evaluator = evaluator(&config, &random_weights(&config, 3));
    let mut states = positions(6, 6, 25, 1);
    states.extend(positions(9, 9, 9, 2));
    states.extend(positions(4, 5, 3, 3));
    states.extend(positions(6, 6, 7, 4));
    let leaves: Vec<Leaf<'_>> = states.iter().map(Leaf::new).collect();
    let together = evaluator.evaluate(&leaves).unwrap();
    for (leaf, wanted) in leaves.iter().zip(&together).rev() {
        let alone = evaluator.evaluate(std::slice::from_ref(leaf)).unwrap();
        assert_eq!(alone[0], *wanted, "bit for bit");
    }
    assert_eq!(evaluator.evaluate(&[]).unwrap(), []);
}

#[test]
fn clones_answer_the_same_from_several_threads() {
    let config = config(2, 20);
    let evaluator = evaluator(&config, &random_weights(&config, 3));
    let states = positions(7, 7, 20, 1);
    let leaves: Vec<Leaf<'_>> = states.iter().map(Leaf::new).collect();
    let wanted = evaluator.clone().evaluate(&leaves).unwrap();
    std::thread::scope(|scope| {
        let ask = || {
            let mut own = evaluator.clone();
            let leaves = &leaves;
            scope.spawn(move || own.evaluate(leaves).unwrap())
        };
        for thread in [ask(), ask(), ask()] {
            assert_eq!(thread.join().unwrap(), wanted, "bit for bit");
        }
    });
}

#[test]
fn a_deep_and_wide_network_stays_within_the_tolerance_of_burn() {
    let config = config(6, 96);
    let weights = random_weights(&config, 12);
    let max = NonZeroUsize::new(8).unwrap();
    let device = DeviceKind::Cpu.device().unwrap();
    let mut burn = BurnEvaluator::new(&config, &weights, &device, max).unwrap();
    let mut native = evaluator(&config, &weights);
    for side in [6, 7, 9] {
        let states = positions(side, side, 3, 5);
        let leaves: Vec<Leaf<'_>> = states.iter().map(Leaf::new).collect();
        let theirs = burn.evaluate(&leaves).unwrap();
        for (ours, theirs) in native.evaluate(&leaves).unwrap().iter().zip(&theirs) {
            for (a, b) in ours.policy.iter().zip(&theirs.policy) {
                assert!((a - b).abs() < 1e-4, "{side}: prior {a}, burn's {b}");
            }
            let (a, b) = (ours.value.get(), theirs.value.get());
            assert!((a - b).abs() < 1e-4, "{side}: value {a}, burn's {b}");
        }
    }
}

#[test]
fn too_large_a_batch_and_foreign_weights_are_refused() {
    let small = config(1, 8);
    let weights = random_weights(&small, 9);
    assert!(NativeEvaluator::new(&config(2, 8), &weights, NonZeroUsize::MIN).is_err());
    let mut evaluator = NativeEvaluator::new(&small, &weights, NonZeroUsize::MIN).unwrap();
    let states = positions(5, 5, 2, 1);
    let leaves: Vec<Leaf<'_>> = states.iter().map(Leaf::new).collect();
    let refusal = evaluator.evaluate(&leaves).unwrap_err();
    assert_eq!(refusal, EvalError::BatchTooLarge { asked: 2, max: 1 });
}

#[test]
fn every_option_agrees_with_burn_score_and_ownership_included() {
    for (blocks, channels, pooled) in [(1, 7, 0), (2, 24, 0), (3, 32, 31), (2, 20, 1), (0, 8, 0)] {
        let mut config = everything(config(blocks, channels));
        config.pooling_channels = pooled;
        if blocks < 2 {
            config.feature_set = FeatureSet::Go.name().to_owned();
            config.global_inputs = blocks == 1;
        }
        let weights = random_weights(&config, 7 + blocks as u64);
        let max = NonZeroUsize::new(64).unwrap();
        let device = DeviceKind::Cpu.device().unwrap();
        let mut burn = BurnEvaluator::new(&config, &weights, &device, max).unwrap();
        let mut native = evaluator(&config, &weights).telling_ownership();
        let portable = NativeEvaluator::portable(&config, &weights, max).unwrap();
        let mut portable = portable.telling_ownership();
        for (width, height) in [(2, 2), (5, 4), (9, 9), (19, 19)] {
            let states = positions(width, height, if width == 19 { 3 } else { 13 }, 21);
            let leaves: Vec<Leaf<'_>> = states
                .iter()
                .zip(Symmetry::all().into_iter().cycle())
                .map(|(state, s)| {
                    let valid = s.valid_for(state.size());
                    Leaf { state, symmetry: if valid { s } else { Symmetry::IDENTITY } }
                })
                .collect();
            let theirs = burn.evaluate(&leaves).unwrap();
            for native in [&mut native, &mut portable] {
                for (ours, theirs) in native.evaluate(&leaves).unwrap().iter().zip(&theirs) {
                    let what = format!("{blocks} blocks of {channels} at {width}x{height}");
                    assert_near(&ours.policy, &theirs.policy, &what);
                    assert_near(&[ours.value.get()], &[theirs.value.get()], &what);
                    let ownership = [ours, theirs].map(|e| e.ownership.as_ref().unwrap());
                    assert_eq!(ownership[0].len(), width * height);
                    assert_near(ownership[0], ownership[1], &what);
                    // Points, twenty to the unit that the network computes in.
                    let score = [ours, theirs].map(|e| [e.score.unwrap() / 20.0]);
                    assert_near(&score[0], &score[1], &what);
                }
            }
        }
    }
}

fn assert_near(ours: &[f32], theirs: &[f32], what: &str) {
    for (a, b) in ours.iter().zip(theirs) {
        assert!((a - b).abs() < 1e-4, "{what}: {a}, burn's {b}");
    }
}

#[test]
fn heads_that_only_training_reads_change_no_answer_and_ownership_comes_back_in_the_boards_own_way()
{
    let plain = config(2, 16);
    let with_heads = NetworkConfig {
        ownership: true,
        opponent_policy: true,
        soft_policy: true,
        short_term_values: true,
        ..plain.clone()
    };
    let weights = random_weights(&with_heads, 5);
    let known = plain.tensors().unwrap();
    let fewer = weights.0.iter().filter(|(name, _)| known.iter().any(|(known, _)| known == *name));
    let fewer = Weights(fewer.map(|(name, tensor)| (name.clone(), tensor.clone())).collect());
    let states = positions(6, 6, 9, 3);
    let leaves: Vec<Leaf<'_>> = states.iter().map(Leaf::new).collect();
    let mut all = evaluator(&with_heads, &weights);
    let answers = all.evaluate(&leaves).unwrap();
    assert_eq!(answers, evaluator(&plain, &fewer).evaluate(&leaves).unwrap(), "bit for bit");
    let silent = evaluator(&plain, &fewer).telling_ownership().evaluate(&leaves[..1]).unwrap();
    assert!(silent[0].ownership.is_none() && answers[0].ownership.is_none());

    // An empty board looks the same from everywhere: what is said there must only be turned.
    let mut all = all.telling_ownership();
    let size = states[0].size();
    let mut owners = |symmetry| {
        let leaf = Leaf { state: &states[0], symmetry };
        all.evaluate(&[leaf]).unwrap().remove(0).ownership.unwrap()
    };
    let straight = owners(Symmetry::IDENTITY);
    for symmetry in Symmetry::all() {
        for (point, owner) in owners(symmetry).iter().enumerate() {
            assert_eq!(*owner, straight[symmetry.apply_action(size, point)]);
        }
    }
}
