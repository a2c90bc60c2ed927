//! LibTorch against the native pass, on the processor: the same code runs on a GPU.

use std::num::NonZeroUsize;

use tengen_inference::{EvalError, Evaluation, Leaf, LeafEvaluator};
use tengen_rules::{BoardSize, GameState, Komi, Rules, Symmetry};

use super::LibtorchEvaluator;
use crate::fixture::{config, everything, positions, random_weights};
use crate::{DeviceKind, NativeEvaluator, NetworkConfig, Precision, Weights};

const CPU: DeviceKind = DeviceKind::LibtorchCpu;

fn max(batch: usize) -> NonZeroUsize {
    NonZeroUsize::new(batch).unwrap()
}

fn libtorch(config: &NetworkConfig, weights: &Weights, precision: Precision) -> LibtorchEvaluator {
    LibtorchEvaluator::new(config, weights, CPU, precision, max(64)).unwrap()
}

fn native(config: &NetworkConfig, weights: &Weights, leaves: &[Leaf<'_>]) -> Vec<Evaluation> {
    let mut native = NativeEvaluator::new(config, weights, max(64)).unwrap();
    native.evaluate(leaves).unwrap()
}

/// The positions of a game as it is written down, from the empty board on.
fn game(side: usize, moves: &str) -> Vec<GameState> {
    let size = BoardSize::square(side).unwrap();
    let komi = Komi::from_points(7.5).unwrap();
    let mut states = vec![GameState::new(size, Rules::tromp_taylor(), komi)];
    for vertex in moves.split_whitespace() {
        let mut next = states.last().unwrap().clone();
        next.play(size.parse_vertex(vertex).unwrap()).unwrap();
        states.push(next);
    }
    states
}

/// Openings as people play them, and what random play leads to.
fn real_positions() -> Vec<GameState> {
    let mut states = game(9, "E5 G3 C7 G7 F6 G6 F7 G5 C3 E3 D4 F8 E8 F9 G8 H8 H9 G9 C2 pass");
    states.extend(game(19, "Q16 D4 Q3 D17 R5 C15 F17 D15 K17 C6 O17 F3 R14 Q10 O3 K4"));
    states.extend(positions(9, 9, 9, 2));
    states.extend(positions(5, 7, 6, 3));
    states
}

/// Each leaf through another symmetry that its board has.
fn turned(states: &[GameState]) -> Vec<Leaf<'_>> {
    let symmetries = Symmetry::all().into_iter().cycle();
    let leaf = |(state, symmetry): (_, Symmetry)| match symmetry.valid_for(GameState::size(state)) {
        true => Leaf { state, symmetry },
        false => Leaf::new(state),
    };
    states.iter().zip(symmetries).map(leaf).collect()
}

/// The largest difference of a prior or a value.
fn worst(ours: &[Evaluation], theirs: &[Evaluation]) -> f32 {
    assert_eq!(ours.len(), theirs.len());
    let mut worst = 0.0f32;
    for (a, b) in ours.iter().zip(theirs) {
        worst = worst.max((a.value.get() - b.value.get()).abs());
        a.policy.iter().zip(&b.policy).for_each(|(x, y)| worst = worst.max((x - y).abs()));
    }
    assert!(worst.is_finite());
    worst
}

#[test]
fn agrees_with_the_native_pass_on_random_nets_and_real_positions_of_several_sizes_in_one_batch() {
    let states = real_positions();
    let leaves = turned(&states);
    for (seed, (blocks, channels)) in [(0, 7), (1, 33), (3, 24), (6, 96)].into_iter().enumerate() {
        let mut config = config(blocks, channels);
        if channels % 2 == 1 {
            (config.policy_channels, config.value_channels) = (3, 5);
            config.value_hidden = 11;
        }
        let weights = random_weights(&config, seed as u64);
        let ours = libtorch(&config, &weights, Precision::F32).evaluate(&leaves).unwrap();
        ours.iter().zip(&leaves).for_each(|(answer, leaf)| answer.check(leaf.state).unwrap());
        let worst = worst(&ours, &native(&config, &weights, &leaves));
        assert!(worst <= 1e-4, "{blocks} blocks, {channels} channels: {worst}");
    }
}

#[test]
fn every_option_agrees_with_the_native_pass_score_and_ownership_included() {
    let states = real_positions();
    let leaves = turned(&states);
    for (seed, (blocks, channels)) in [(0, 7), (1, 33), (3, 24)].into_iter().enumerate() {
        let mut config = everything(config(blocks, channels));
        if blocks < 2 {
            config.feature_set = tengen_features::FeatureSet::Go.name().to_owned();
            config.global_inputs = blocks == 1;
        }
        let weights = random_weights(&config, seed as u64);
        let mut ours = libtorch(&config, &weights, Precision::F32).telling_ownership();
        let ours = ours.evaluate(&leaves).unwrap();
        let mut native = NativeEvaluator::new(&config, &weights, max(64)).unwrap();
        native = native.telling_ownership();
        let theirs = native.evaluate(&leaves).unwrap();
        assert!(worst(&ours, &theirs) <= 1e-4);
        for (a, b) in ours.iter().zip(&theirs) {
            assert!((a.score.unwrap() - b.score.unwrap()).abs() <= 20.0 * 1e-4);
            let owners = a.ownership.as_ref().unwrap().iter().zip(b.ownership.as_ref().unwrap());
            owners.for_each(|(x, y)| assert!((x - y).abs() <= 1e-4));
        }
        let silent = libtorch(&config, &weights, Precision::F32).evaluate(&leaves).unwrap();
        assert!(silent.iter().all(|a| a.score.is_some() && a.ownership.is_none()));
    }
}

#[test]
fn batches_made_for_a_gpu_give_the_same_answers() {
    let config = config(2, 20);
    let weights = random_weights(&config, 5);
    let states = real_positions();
    let leaves = &turned(&states)[..48];
    // 48 leaves in two batches of 24, each filled up to a multiple of 3.
    let mut gpu =
        LibtorchEvaluator::made_for(true, &config, &weights, CPU, Precision::F32, max(24)).unwrap();
    assert_eq!(gpu.max_batch().get(), 48);
    let worst = worst(&gpu.evaluate(leaves).unwrap(), &native(&config, &weights, leaves));
    assert!(worst <= 1e-4, "{worst}");
}

#[test]
fn bfloat16_stays_near_in_policy_and_value() {
    let config = config(6, 64);
    let weights = random_weights(&config, 8);
    let states = real_positions();
    let leaves = turned(&states);
    let theirs = native(&config, &weights, &leaves);
    let ours = libtorch(&config, &weights, Precision::Bf16).evaluate(&leaves).unwrap();
    assert_ne!(ours, theirs, "computed in fewer bits");
    let (mut divergence, mut error) = (0.0f32, 0.0f32);
    for (a, b) in ours.iter().zip(&theirs) {
        let terms = b.policy.iter().zip(&a.policy).filter(|(p, q)| **p > 0.0 && **q > 0.0);
        divergence = divergence.max(terms.map(|(p, q)| p * (p / q).ln()).sum());
        error = error.max((a.value.get() - b.value.get()).abs());
    }
    println!("bf16: KL {divergence} nats and value error {error} at most");
    assert!(divergence < 1e-4 && error < 0.01, "KL {divergence}, value {error}");
}

#[test]
fn clones_on_several_threads_share_the_weights_and_answer_the_same() {
    let config = config(2, 20);
    let evaluator = libtorch(&config, &random_weights(&config, 3), Precision::F32);
    let states = positions(7, 7, 20, 1);
    let leaves = turned(&states);
    let wanted = evaluator.clone().evaluate(&leaves).unwrap();
    std::thread::scope(|scope| {
        let ask = || {
            let mut own = evaluator.clone();
            let leaves = &leaves;
            scope.spawn(move || own.evaluate(leaves).unwrap())
        };
        for thread in [ask(), ask(), ask()] {
            assert!(worst(&thread.join().unwrap(), &wanted) <= 1e-6);
        }
    });
}

#[test]
fn what_cannot_be_computed_is_refused_with_its_reason() {
    let small = config(1, 8);
    let weights = random_weights(&small, 9);
    let two = config(2, 8);
    assert!(LibtorchEvaluator::new(&two, &weights, CPU, Precision::F32, max(1)).is_err());
    let mut evaluator =
        LibtorchEvaluator::new(&small, &weights, CPU, Precision::F32, max(1)).unwrap();
    assert_eq!(evaluator.evaluate(&[]).unwrap(), []);
    let states = positions(5, 5, 2, 1);
    let refusal = evaluator.evaluate(&turned(&states)).unwrap_err();
    assert_eq!(refusal, EvalError::BatchTooLarge { asked: 2, max: 1 });
    let missing = DeviceKind::Cuda(250);
    let error = LibtorchEvaluator::new(&small, &weights, missing, Precision::F32, max(1));
    let message = error.unwrap_err().to_string();
    assert!(message.contains("cuda:250"), "{message}");
}
