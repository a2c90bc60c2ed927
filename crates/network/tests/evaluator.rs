//! The burn evaluator behind the seam: order, legality, symmetry.

#![allow(clippy::unwrap_used, reason = "a test stops at its first surprise")]

use std::num::NonZeroUsize;

use tengen_inference::{EvalError, Evaluation, Leaf, LeafEvaluator};
use tengen_network::{BurnEvaluator, DeviceKind, NetworkConfig};
use tengen_rules::{BoardSize, GameState, Komi, Move, Rules, Symmetry};

fn evaluator(max_batch: usize) -> BurnEvaluator {
    let config = NetworkConfig { blocks: 2, channels: 8, ..NetworkConfig::default() };
    let mut weights = config.init_weights(5).unwrap();
    // Outputs as large as a trained network's, so that a difference would show.
    for name in ["policy.out.weight", "policy.pass.weight", "value.out.weight"] {
        for weight in &mut weights.0.get_mut(name).unwrap().data {
            *weight *= 10.0;
        }
    }
    let max_batch = NonZeroUsize::new(max_batch).unwrap();
    BurnEvaluator::new(&config, &weights, &DeviceKind::Cpu.device().unwrap(), max_batch).unwrap()
}

/// The game of `moves` (GTP vertices, Black first), each turned by `symmetry`.
fn game(size: BoardSize, moves: &str, symmetry: Symmetry) -> GameState {
    let komi = Komi::from_points(7.5).unwrap();
    let mut state = GameState::new(size, Rules::tromp_taylor(), komi);
    for vertex in moves.split_whitespace() {
        let mv = match size.parse_vertex(vertex).unwrap() {
            Move::Play(point) => Move::Play(symmetry.apply(size, point)),
            Move::Pass => Move::Pass,
        };
        state.play(mv).unwrap();
    }
    state
}

fn nine() -> BoardSize {
    BoardSize::square(9).unwrap()
}

fn assert_close(a: &Evaluation, b: &Evaluation, what: &str) {
    assert!((a.value.get() - b.value.get()).abs() < 1e-4, "{what}: {a:?} {b:?}");
    for (x, y) in a.policy.iter().zip(&b.policy) {
        assert!((x - y).abs() < 1e-4, "{what}: {x} {y}");
    }
}

#[test]
fn answers_come_in_the_order_asked_with_boards_of_several_sizes_in_one_batch() {
    let five = BoardSize::square(5).unwrap();
    let states = [
        game(nine(), "", Symmetry::IDENTITY),
        game(nine(), "C3 G7 pass", Symmetry::IDENTITY),
        game(five, "C3", Symmetry::IDENTITY),
        game(nine(), "E5", Symmetry::IDENTITY),
    ];
    let leaves: Vec<Leaf<'_>> = states.iter().map(Leaf::new).collect();
    let mut evaluator = evaluator(4);
    let together = evaluator.evaluate(&leaves).unwrap();
    assert_eq!(together.len(), leaves.len());
    for (leaf, answer) in leaves.iter().zip(&together) {
        answer.check(leaf.state).unwrap();
        let alone = evaluator.evaluate(&[*leaf]).unwrap();
        assert_close(answer, &alone[0], "alone or in a batch");
    }
    assert_ne!(together[0], together[3]);
}

#[test]
fn illegal_moves_have_exactly_zero_and_the_rest_sums_to_one() {
    let state = game(nine(), "D5 A1 F5 A2 E4 B1 E6 B2", Symmetry::IDENTITY);
    let answer = evaluator(1).evaluate(&[Leaf::new(&state)]).unwrap().remove(0);
    let legal = state.legal_moves();
    let illegal: Vec<usize> = (0..nine().actions()).filter(|a| !legal.contains(*a)).collect();
    assert!(illegal.len() >= 8);
    assert!(illegal.iter().all(|a| answer.policy[*a] == 0.0));
    assert!(legal.iter().all(|a| answer.policy[a] > 0.0));
    assert!((answer.policy.iter().sum::<f32>() - 1.0).abs() < 1e-5);
}

#[test]
fn looking_through_a_symmetry_is_evaluating_the_turned_board_and_turning_back() {
    let moves = "C3 G7 D7 G3 pass F5 E2";
    let size = nine();
    let plain = game(size, moves, Symmetry::IDENTITY);
    let mut evaluator = evaluator(8);
    for symmetry in Symmetry::all() {
        let leaf = Leaf { state: &plain, symmetry };
        let looked = evaluator.evaluate(&[leaf]).unwrap().remove(0);
        let turned = game(size, moves, symmetry);
        let there = evaluator.evaluate(&[Leaf::new(&turned)]).unwrap().remove(0);
        let back =
            Evaluation::new(Evaluation::turn_back(size, symmetry, &there.policy), there.value);
        assert_close(&looked, &back, &format!("symmetry {}", symmetry.index()));
    }
}

#[test]
fn a_batch_over_the_limit_is_refused_and_an_empty_one_is_nothing() {
    let state = game(nine(), "", Symmetry::IDENTITY);
    let mut evaluator = evaluator(1);
    assert_eq!(evaluator.evaluate(&[]).unwrap(), []);
    assert_eq!(
        evaluator.evaluate(&[Leaf::new(&state), Leaf::new(&state)]),
        Err(EvalError::BatchTooLarge { asked: 2, max: 1 })
    );
}
