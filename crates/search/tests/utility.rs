//! Searching for points beside the result.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::*;
use tengen_inference::{Evaluation, ScriptedEvaluator};
use tengen_rules::{Color, GameState, Value};
use tengen_search::{SearchConfig, Tree, run_search};

/// Says that everybody wins alike and that the first player's stone on the first column is worth
/// 20 points more than any other.
fn greedy() -> ScriptedEvaluator {
    ScriptedEvaluator::new(|leaf| {
        let state: &GameState = leaf.state;
        let legal = state.legal_moves();
        let prior = 1.0 / legal.iter().count() as f32;
        let policy = (0..state.size().actions())
            .map(|action| if legal.contains(action) { prior } else { 0.0 })
            .collect();
        let first = state.size().points().filter(|point| point.index() % 5 == 0);
        let mine = first.filter(|&point| state.stone(point) == Some(Color::Black)).count();
        let lead = 20.0 * mine.min(1) as f32;
        let mut answer = Evaluation::new(policy, Value::new(0.0));
        answer.score = Some(if state.to_play() == Color::Black { lead } else { -lead });
        Ok(answer)
    })
}

fn searched(score_utility: f32) -> Tree {
    let config = SearchConfig { score_utility, dirichlet_fraction: 0.0, ..by_hand() };
    let mut tree = Tree::new(empty(5, 0.5), &config);
    run_search(&mut tree, &mut greedy(), 200, &mut rng(0)).unwrap();
    tree
}

#[test]
fn of_moves_that_win_alike_the_one_of_more_points_is_searched() {
    let share = |tree: &Tree| {
        let root = tree.root();
        let first: u32 = root
            .children
            .iter()
            .filter(|c| c.action % 5 == 0 && c.action < 25)
            .map(|c| c.visits)
            .sum();
        f64::from(first) / f64::from(root.visits)
    };
    let (plain, greedy) = (searched(0.0), searched(0.5));
    assert!(share(&plain) < 0.3, "five of 26 moves: {}", share(&plain));
    assert!(share(&greedy) > 0.6, "{}", share(&greedy));
}

#[test]
fn what_is_said_of_winning_stays_about_winning() {
    let root = searched(0.5).root();
    assert_eq!((root.value.get(), root.raw_value.get()), (0.0, 0.0));
    let best = root.best().unwrap();
    assert!(best.q.get() > 0.2 && best.result.get() == 0.0, "{best:?}");
}

#[test]
fn results_follow_the_tree_to_its_next_root() {
    let tree = searched(0.5);
    let best = tree.root().best().unwrap().action;
    let mv = tree.root_state().size().move_at(best);
    let expected = tree.root().best().unwrap().result;
    let next = tree.advance(mv).root();
    assert!(next.visits > 0);
    assert!((next.value.get() + expected.get()).abs() < 1e-6, "{next:?}");
}

#[test]
fn it_is_refused_with_proofs_and_with_shared_nodes() {
    for config in [
        SearchConfig { score_utility: 0.3, graph: true, ..SearchConfig::default() },
        SearchConfig { score_utility: 0.3, solve: true, ..SearchConfig::default() },
        SearchConfig { score_utility: f32::NAN, ..SearchConfig::default() },
    ] {
        assert!(config.validate().iter().any(|p| p.starts_with("search.score_utility")));
    }
}
