//! Select, expand, backup: hand-computed walks.

#![allow(clippy::unwrap_used)] // helpers of tests may panic

mod common;

use common::*;
use tengen_inference::{Evaluation, LeafEvaluator, ScriptedEvaluator, UniformEvaluator};
use tengen_rules::{Color, GameState, Move, Value};
use tengen_search::{SearchConfig, Selected, Tree, run_search, search_move};

/// Three moves at the root of an empty 3x3 board: A (0, prior 0.5) is worth -0.5, B (1, 0.3) is
/// worth 0.2, C (2, 0.2) is worth 0, all for the root's player and whatever follows.
fn three_moves() -> ScriptedEvaluator {
    ScriptedEvaluator::new(|leaf| {
        let state = leaf.state;
        let mut answer = UniformEvaluator.evaluate(&[*leaf])?.remove(0);
        let first = |i: usize| state.stone(state.size().points().nth(i).unwrap());
        let for_black = match state.move_number() {
            0 => {
                answer.policy.fill(0.0);
                answer.policy[..3].copy_from_slice(&[0.5, 0.3, 0.2]);
                0.0
            }
            _ if first(0) == Some(Color::Black) => -0.5,
            _ if first(1) == Some(Color::Black) => 0.2,
            _ => 0.0,
        };
        let sign = if state.to_play() == Color::Black { 1.0 } else { -1.0 };
        // One reply only, far from A, B and C, so that the first stone tells the branch.
        if state.move_number() > 0 {
            let pass = state.size().pass_action();
            let reply = (3..pass).find(|&a| answer.policy[a] > 0.0).unwrap_or(pass);
            answer.policy.fill(0.0);
            answer.policy[reply] = 1.0;
        }
        answer.value = Value::new(sign * for_black);
        Ok(answer)
    })
}

#[test]
fn puct_follows_a_table_computed_by_hand() {
    // At N visits: score = Q + P * sqrt(N) / (1 + n), an untried move counts as the root's mean.
    //   N=1  A -.250  B  .050  C -.050     N=6  A .112  B .347  C .245
    //   N=2  A -.146  B  .412  C  .183     N=7  A .161  B .332  C .265
    //   N=3  A -.067  B  .373  C  .321     N=8  A .207  B .321  C .283
    //   N=4  A  .000  B  .350  C  .420     N=9  A .250  B .313  C .300
    //   N=5  A  .059  B  .368  C  .224     N=10 A .291  B .305  C .316
    let mut tree = Tree::new(empty(3, 0.5), &by_hand());
    let mut evaluator = three_moves();
    simulate(&mut tree, &mut evaluator);
    let mut walk = String::new();
    let mut before = [0; 3];
    for _ in 0..11 {
        simulate(&mut tree, &mut evaluator);
        let root = tree.root();
        for (i, name) in ["A", "B", "C"].iter().enumerate() {
            if root.children[i].visits > before[i] {
                walk.push_str(name);
            }
            before[i] = root.children[i].visits;
        }
    }
    assert_eq!(walk, "ABBBCBBBBBC");
    let q: Vec<f32> = tree.root().children[..3].iter().map(|c| c.q.get()).collect();
    for (found, expected) in q.iter().zip([-0.5, 0.2, 0.0]) {
        assert!((found - expected).abs() < 1e-6, "{q:?}");
    }
}

#[test]
fn visits_sum_to_simulations() {
    let mut tree = Tree::new(empty(4, 0.5), &SearchConfig::default());
    run_search(&mut tree, &mut UniformEvaluator, 137, &mut rng(3)).unwrap();
    let root = tree.root();
    assert_eq!(tree.simulations(), 137);
    assert_eq!(root.visits, 137);
    assert_eq!(root.children.iter().map(|c| c.visits).sum::<u32>(), 137);
    assert_eq!(root.children.len(), 17, "16 points and pass");
}

#[test]
fn terminal_results_are_backed_up() {
    // Black has passed on an empty board: a second pass ends the game, and komi alone decides it.
    for (komi, for_white) in [(0.5, Value::WIN), (-0.5, Value::LOSS), (0.0, Value::DRAW)] {
        let mut state = empty(3, komi);
        let stone = play_at(&state, 1, 1);
        state.play(Move::Pass).unwrap();
        assert_eq!(state.to_play(), Color::White);
        let mut tree = Tree::new(state.clone(), &by_hand());
        let mut evaluator = uniform_with(|_| 0.1);
        let mut finished = 0;
        for _ in 0..60 {
            finished += u32::from(simulate(&mut tree, &mut evaluator).is_none());
        }
        let pass = *tree.root().children.last().unwrap();
        assert_eq!(pass.action, state.size().pass_action());
        assert!(pass.visits >= 1 && finished >= pass.visits);
        assert_eq!(pass.q, for_white, "komi {komi}: exact, however often it is visited");
        assert_eq!(tree.root().visits, 59, "a finished game is a simulation like any other");
        // The node is terminal for good and advancing there leaves nothing to search.
        let mut over = tree.clone().advance(Move::Pass);
        assert!(!over.is_root_expanded());
        assert!(matches!(over.select(), Selected::Terminal));
        assert!(!tree.advance(stone).root_state().is_over());
    }
}

#[test]
fn backup_flips_the_sign_at_each_ply() {
    // One line only; each position says how it looks to its own player to move.
    let says = [0.0, 0.25, 0.5, -0.75];
    let mut evaluator = ScriptedEvaluator::new(move |leaf| {
        let mut answer = UniformEvaluator.evaluate(&[*leaf])?.remove(0);
        let line = answer.policy.iter().position(|&p| p > 0.0).unwrap();
        answer.policy.fill(0.0);
        answer.policy[line] = 1.0;
        answer.value = Value::new(says[leaf.state.move_number()]);
        Ok(answer)
    });
    let mut tree = Tree::new(empty(3, 0.5), &by_hand());
    for ply in 0..says.len() {
        let state = simulate(&mut tree, &mut evaluator).unwrap();
        assert_eq!(state.move_number(), ply, "one ply deeper each time");
    }
    // Black at the root: -0.25 + 0.5 + 0.75; White below: -0.5 - 0.75; Black again: 0.75.
    for expected in [(-0.25 + 0.5 + 0.75) / 3.0, (-0.5 - 0.75) / 2.0, 0.75] {
        let child = tree.root().children[0];
        let stats = tree.root();
        let line = stats.children.iter().find(|c| c.visits > 0).unwrap_or(&child);
        assert!((line.q.get() - expected).abs() < 1e-6, "{line:?}");
        let mv = tree.root_state().size().move_at(line.action);
        tree = tree.advance(mv);
    }
}

#[test]
fn finds_a_capture_that_wins() {
    // Four White stones in atari: taking them at D3 wins the game, everything else loses it.
    let state = drawn(&["XOO.", "XOOX", ".XXX"], Color::Black, 5.5);
    let config = SearchConfig { visits: 120, ..SearchConfig::default() };
    let (action, root) = search_move(&mut counts_the_board(), &state, &config, 1).unwrap();
    assert_eq!(state.size().move_at(action), play_at(&state, 3, 0));
    assert!(root.value.get() > 0.0);
}

#[test]
fn virtual_loss_spreads_leaves_and_abandoning_leaves_no_trace() {
    let mut tree = Tree::new(empty(3, 0.5), &by_hand());
    simulate(&mut tree, &mut UniformEvaluator);
    let before = tree.root();
    let mut leaves = Vec::new();
    for _ in 0..8 {
        match tree.select() {
            Selected::Leaf(leaf) => leaves.push(leaf),
            Selected::Terminal => unreachable!("no game ends within one move"),
        }
    }
    let mut seen: Vec<u64> = leaves.iter().map(|l| l.state().situation_hash()).collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 8, "eight moves of equal prior, eight leaves");
    leaves.into_iter().for_each(|leaf| tree.abandon(leaf));
    assert_eq!(tree.root(), before);
    simulate(&mut tree, &mut UniformEvaluator);
    assert_eq!(tree.root().visits, 1);
}

#[test]
fn an_evaluator_that_fails_leaves_the_tree_usable() {
    let mut calls = 0;
    let mut flaky = ScriptedEvaluator::new(move |leaf| {
        calls += 1;
        if calls == 20 {
            return Err(tengen_inference::EvalError::Backend("device lost".into()));
        }
        Ok(UniformEvaluator.evaluate(&[*leaf])?.remove(0))
    });
    let mut tree = Tree::new(empty(3, 0.5), &SearchConfig::default());
    assert!(run_search(&mut tree, &mut flaky, 100, &mut rng(1)).is_err());
    let done = tree.simulations();
    run_search(&mut tree, &mut flaky, 100 - done, &mut rng(1)).unwrap();
    assert_eq!(tree.root().visits, 100);
}

#[test]
fn a_leaf_reached_twice_is_backed_up_twice() {
    let mut evaluator: ScriptedEvaluator = uniform_with(|_| 0.5);
    let mut tree = Tree::new(empty(3, 0.5), &by_hand());
    let root: GameState = tree.root_state().clone();
    let (first, second) = match (tree.select(), tree.select()) {
        (Selected::Leaf(a), Selected::Leaf(b)) => (a, b),
        other => unreachable!("{other:?}"),
    };
    let answer: Evaluation = ask(&mut evaluator, &root);
    tree.expand_and_backup(first, &answer);
    tree.expand_and_backup(second, &answer);
    assert_eq!(tree.root().children.len(), 10, "its edges were made once");
}
