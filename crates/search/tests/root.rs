//! Root noise, subtree reuse, the move played and the target.

#![allow(clippy::unwrap_used)] // helpers of tests may panic

mod common;

use common::*;
use tengen_inference::UniformEvaluator;
use tengen_rules::{Color, GameState, Move, Value};
use tengen_search::{
    ChildStats, RootStats, SearchConfig, Tree, choose_move, policy_target, run_search,
};

fn noisy() -> SearchConfig {
    SearchConfig { dirichlet_fraction: 0.25, ..by_hand() }
}

/// The bounds that a uniform prior under noise of weight 0.25 must keep.
fn assert_noised(tree: &Tree) {
    let root = tree.root();
    let legal = tree.root_state().legal_moves();
    let actions: Vec<usize> = root.children.iter().map(|c| c.action).collect();
    assert_eq!(actions, legal.iter().collect::<Vec<_>>(), "only legal moves have a prior at all");
    let k = root.children.len() as f32;
    for child in &root.children {
        assert!(child.prior >= 0.75 / k - 1e-6 && child.prior <= 0.75 / k + 0.25 + 1e-6);
        assert!((child.raw_prior - 1.0 / k).abs() < 1e-6, "the evaluator's prior is kept");
    }
    let sum: f32 = root.children.iter().map(|c| c.prior).sum();
    assert!((sum - 1.0).abs() < 1e-5, "{sum}");
    assert!(root.children.iter().any(|c| (c.prior - c.raw_prior).abs() > 1e-4), "noise is there");
}

#[test]
fn root_noise_touches_only_legal_moves() {
    let state = drawn(&["XX.", "X.X", ".OO"], Color::White, 0.5);
    let mut tree = Tree::new(state, &noisy());
    simulate(&mut tree, &mut UniformEvaluator);
    tree.add_root_noise(&mut rng(5));
    assert_noised(&tree);
}

#[test]
fn noise_is_applied_after_tree_reuse() {
    let mut tree = Tree::new(empty(3, 0.5), &noisy());
    let mut noise = rng(6);
    run_search(&mut tree, &mut UniformEvaluator, 1, &mut rng(0)).unwrap();
    tree.add_root_noise(&mut noise);
    run_search(&mut tree, &mut UniformEvaluator, 300, &mut rng(0)).unwrap();
    for _ in 0..2 {
        let best = tree.root().best().unwrap().action;
        let mv = tree.root_state().size().move_at(best);
        tree = tree.advance(mv);
        assert!(tree.is_root_expanded(), "the subtree was kept");
        for child in tree.root().children {
            assert_eq!(child.prior, child.raw_prior, "noise never reaches below the root");
        }
        tree.add_root_noise(&mut noise);
        assert_noised(&tree);
    }
}

#[test]
fn noise_is_drawn_once_a_search() {
    let mut tree = Tree::new(empty(3, 0.5), &noisy());
    simulate(&mut tree, &mut UniformEvaluator);
    let mut noise = rng(7);
    tree.add_root_noise(&mut noise);
    let (once, word) = (tree.root(), noise.get_word_pos());
    tree.add_root_noise(&mut noise);
    assert_eq!(tree.root(), once);
    assert_eq!(noise.get_word_pos(), word, "the second call draws nothing");
}

#[test]
fn advancing_keeps_the_subtree_and_forgets_the_rest() {
    let mut tree = Tree::new(empty(3, 0.5), &by_hand());
    run_search(&mut tree, &mut counts_the_board(), 400, &mut rng(0)).unwrap();
    let best = *tree.root().best().unwrap();
    let mv = tree.root_state().size().move_at(best.action);
    let mut next = tree.advance(mv);
    let root = next.root();
    // The edge had one visit more than its node's edges: the evaluation of the node itself.
    assert_eq!(root.visits + 1, best.visits);
    assert!((root.value.get() + best.q.get()).abs() < 1e-4, "the same mean, seen by the opponent");
    assert_eq!(next.simulations(), 0, "none since this root");
    run_search(&mut next, &mut counts_the_board(), 50, &mut rng(0)).unwrap();
    assert_eq!(next.root().visits, root.visits + 50);
    // A move never visited starts afresh.
    let mut fresh = Tree::new(empty(3, 0.5), &by_hand()).advance(Move::Pass);
    assert_eq!(fresh.root_state().to_play(), Color::White);
    run_search(&mut fresh, &mut UniformEvaluator, 5, &mut rng(0)).unwrap();
    assert_eq!(fresh.root().visits, 5);
}

#[test]
fn root_policy_temperature_flattens_the_priors() {
    let config = SearchConfig { root_policy_temperature: 2.0, ..by_hand() };
    let mut tree = Tree::new(empty(2, 0.5), &config);
    let mut answer = ask(&mut UniformEvaluator, tree.root_state());
    answer.policy.copy_from_slice(&[0.64, 0.36, 0.0, 0.0, 0.0]);
    match tree.select() {
        tengen_search::Selected::Leaf(leaf) => tree.expand_and_backup(leaf, &answer),
        other => unreachable!("{other:?}"),
    }
    let priors: Vec<f32> = tree.root().children.iter().map(|c| c.prior).collect();
    assert!((priors[0] - 0.8 / 1.4).abs() < 1e-6 && (priors[1] - 0.6 / 1.4).abs() < 1e-6);
    assert_eq!(tree.root().children[0].raw_prior, 0.64);
}

/// At a temperature of 0.01 a prior of 1/26 becomes 10^-142, which is none: the priors were 0/0, and a
/// search stepped over its edges. Found by the fuzzer in `kata-set-param`.
#[test]
fn a_root_policy_temperature_near_zero_leaves_the_best_priors_whole() {
    let config = SearchConfig { root_policy_temperature: 0.01, ..by_hand() };
    let mut tree = Tree::new(empty(5, 0.5), &config);
    run_search(&mut tree, &mut UniformEvaluator, 60, &mut rng(0)).unwrap();
    let priors: Vec<f32> = tree.root().children.iter().map(|c| c.prior).collect();
    assert!(priors.iter().all(|p| (p - 1.0 / 26.0).abs() < 1e-6), "{priors:?}");
}

fn root_of(visits: &[u32]) -> RootStats {
    let prior = 1.0 / visits.len() as f32;
    let child = |(action, &visits): (usize, &u32)| ChildStats {
        action,
        visits,
        q: Value::DRAW,
        result: Value::DRAW,
        q_stdev: 0.0,
        prior,
        raw_prior: prior,
        proven: None,
    };
    RootStats {
        visits: visits.iter().sum(),
        value: Value::DRAW,
        raw_value: Value::DRAW,
        children: visits.iter().enumerate().map(child).collect(),
        winner: None,
        noised: false,
        proven: None,
    }
}

#[test]
fn moves_are_drawn_by_visits_to_the_power_of_the_inverse_temperature() {
    let root = root_of(&[30, 0, 60, 10]);
    let mut rng = rng(8);
    for _ in 0..100 {
        assert_eq!(choose_move(&root, 0.0, &mut rng), 2);
        assert_eq!(choose_move(&root, 0.01, &mut rng), 2, "no overflow at low temperature");
    }
    for (temperature, expected) in [(1.0, [0.3, 0.0, 0.6, 0.1]), (0.5, [0.196, 0.0, 0.783, 0.022])]
    {
        let mut counts = [0; 4];
        let draws = 20_000;
        (0..draws).for_each(|_| counts[choose_move(&root, temperature, &mut rng)] += 1);
        for (count, share) in counts.iter().zip(expected) {
            let found = *count as f32 / draws as f32;
            assert!((found - share).abs() < 0.015, "{temperature}: {counts:?}");
        }
    }
}

#[test]
fn targets_are_the_visits() {
    let config = SearchConfig::default();
    assert_eq!(policy_target(&root_of(&[30, 0, 60, 10]), &config), [(0, 30), (2, 60), (3, 10)]);
    let large = policy_target(&root_of(&[100_000, 50_000, 1]), &config);
    assert_eq!(large[0], (0, u16::MAX));
    assert!((i32::from(large[1].1) - 32_768).abs() <= 1);
    let unvisited = policy_target(&root_of(&[0, 0]), &config);
    assert_eq!(unvisited, [(0, u16::MAX), (1, u16::MAX)], "priors, where nothing was searched");
}

#[test]
fn forced_playouts_reach_every_tried_move_and_are_pruned_from_the_target() {
    let config = SearchConfig { forced_playouts: 2.0, ..noisy() };
    let mut tree = Tree::new(drawn(&["XOO.", "XOOX", ".XXX"], Color::Black, 5.5), &config);
    run_search(&mut tree, &mut counts_the_board(), 1, &mut rng(0)).unwrap();
    tree.add_root_noise(&mut rng(9));
    run_search(&mut tree, &mut counts_the_board(), 600, &mut rng(0)).unwrap();
    let root = tree.root();
    for child in root.children.iter().filter(|c| c.visits > 0) {
        let due = (2.0 * child.prior * root.visits as f32).sqrt().floor() as u32;
        assert!(child.visits + 1 >= due, "{child:?} is due {due}");
    }
    let best = root.best().unwrap();
    let target = policy_target(&root, &config);
    let kept: u32 = target.iter().map(|&(_, w)| u32::from(w)).sum();
    assert!(kept < root.visits, "something forced was pruned");
    let of_best = target.iter().find(|&&(a, _)| a as usize == best.action).unwrap();
    assert_eq!(u32::from(of_best.1), best.visits, "the best move keeps all its visits");
}

#[test]
fn the_gumbel_root_halves_its_moves_and_learns_the_improved_policy() {
    let config = SearchConfig { gumbel: true, gumbel_considered: 4, visits: 16, ..by_hand() };
    let state = drawn(&["XOO.", "XOOX", ".XXX"], Color::Black, 5.5);
    let capture = state.size().action(play_at(&state, 3, 0));
    let mut tree = Tree::new(state, &config);
    run_search(&mut tree, &mut counts_the_board(), 1, &mut rng(0)).unwrap();
    run_search(&mut tree, &mut counts_the_board(), 15, &mut rng(0)).unwrap();
    let root = tree.root();
    let mut visits: Vec<u32> = root.children.iter().map(|c| c.visits).collect();
    visits.sort_unstable_by(|a, b| b.cmp(a));
    // Three legal moves (two points and pass) in two rounds of 16 / (2 * 3) and 16 / (2 * 2).
    assert_eq!(visits, [7, 7, 2]);
    assert_eq!(root.winner, Some(capture));
    assert_eq!(choose_move(&root, 0.0, &mut rng(0)), capture);
    let target = policy_target(&root, &config);
    assert_eq!(target, [(capture as u16, u16::MAX)], "the value decides by itself");
}

#[test]
fn gumbel_draws_vary_the_moves_considered_and_never_the_priors() {
    let config = SearchConfig { gumbel: true, gumbel_considered: 3, visits: 6, ..by_hand() };
    let mut first = std::collections::BTreeSet::new();
    for seed in 0..20 {
        let mut tree = Tree::new(empty(3, 0.5), &config);
        simulate(&mut tree, &mut UniformEvaluator);
        tree.add_root_noise(&mut rng(seed));
        run_search(&mut tree, &mut UniformEvaluator, 6, &mut rng(0)).unwrap();
        let root = tree.root();
        assert!(root.children.iter().all(|c| c.prior == c.raw_prior));
        assert_eq!(root.children.iter().filter(|c| c.visits > 0).count(), 3);
        first.insert(choose_move(&root, 1.0, &mut rng(0)));
        // A reused subtree halves over the visits of its own search.
        let best = root.winner.unwrap();
        let mut next = tree.advance(root_move(best));
        run_search(&mut next, &mut UniformEvaluator, 6, &mut rng(0)).unwrap();
        assert_eq!(next.simulations(), 6);
    }
    assert!(first.len() > 3, "{first:?}");
}

fn root_move(action: usize) -> Move {
    empty(3, 0.5).size().move_at(action)
}

/// A 7x7 run at komi 8.5 learned that White may pass on an open board: 97 of 100 games had a pass
/// among their first eight moves, and games shrank to half their length.
#[test]
fn a_pass_waits_for_its_ply_unless_nothing_else_is_legal() {
    let config = SearchConfig { pass_from_ply: 2, ..by_hand() };
    let open = drawn(&["...", "...", "..."], Color::Black, 0.5);
    let may_pass = |state: &GameState| {
        let pass = state.size().pass_action();
        let mut tree = Tree::new(state.clone(), &config);
        run_search(&mut tree, &mut UniformEvaluator, 8, &mut rng(1)).unwrap();
        tree.root().children.iter().any(|child| child.action == pass)
    };
    assert!(!may_pass(&open));
    let mut later = open.clone();
    later.play(later.size().parse_vertex("A1").unwrap()).unwrap();
    assert!(!may_pass(&later));
    later.play(later.size().parse_vertex("B2").unwrap()).unwrap();
    assert!(may_pass(&later));
    // Both points would be suicide, and an empty board comes again: the pass is all there is.
    let stuck = drawn(&[".X", "X."], Color::White, 0.5);
    assert_eq!(stuck.legal_moves().count(), 1);
    assert!(may_pass(&stuck));
}
