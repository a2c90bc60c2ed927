//! The switches that are off by default: proofs, graph search, bounds.

#![allow(clippy::unwrap_used)] // helpers of tests may panic

mod common;

use common::*;
use tengen_inference::{CountingEvaluator, UniformEvaluator};
use tengen_rules::{BoardSize, Color, GameState, KoRule, Komi, Move, Rules, Value};
use tengen_search::{
    ChildStats, RootStats, SearchConfig, Selected, Tree, choose_best, choose_move, run_search,
};

fn solving() -> SearchConfig {
    SearchConfig { solve: true, ..by_hand() }
}

/// The result with best play for the player to move, by trying everything.
fn minimax(state: &GameState) -> f32 {
    if let Some(outcome) = state.outcome() {
        return outcome.value_for(state.to_play()).get();
    }
    let after = |action: usize| {
        let mut next = state.clone();
        next.play(state.size().move_at(action)).unwrap();
        -minimax(&next)
    };
    state.legal_moves().iter().map(after).fold(-1.0, f32::max)
}

#[test]
fn proofs_agree_with_trying_everything() {
    for (width, height) in [(2, 1), (3, 1)] {
        for komi in [-1.5, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0] {
            let size = BoardSize::new(width, height).unwrap();
            let komi = Komi::from_points(komi).unwrap();
            let state = GameState::new(size, Rules::tromp_taylor(), komi);
            let mut tree = Tree::new(state.clone(), &solving());
            run_search(&mut tree, &mut UniformEvaluator, 1, &mut rng(0)).unwrap();
            while tree.root().proven.is_none() && tree.simulations() < 20_000 {
                run_search(&mut tree, &mut UniformEvaluator, 50, &mut rng(0)).unwrap();
            }
            let root = tree.root();
            assert_eq!(root.proven, Some(Value::new(minimax(&state))), "{size} {komi:?}");
            assert_eq!(Some(root.value), root.proven);
            // The move played keeps the result.
            let mut next = state.clone();
            next.play(size.move_at(choose_best(&root, &solving()))).unwrap();
            assert_eq!(-minimax(&next), minimax(&state));
            assert_eq!(root.visits, root.children.iter().map(|c| c.visits).sum::<u32>());
        }
    }
}

#[test]
fn a_pass_that_wins_is_proven_and_played_however_it_looks() {
    // White has passed and Black is ahead; the evaluator dislikes every position.
    let mut state = drawn(&["XX.", ".XX", "OO."], Color::White, 0.5);
    state.play(Move::Pass).unwrap();
    let mut tree = Tree::new(state.clone(), &solving());
    run_search(&mut tree, &mut uniform_with(|_| 0.9), 60, &mut rng(0)).unwrap();
    let root = tree.root();
    let pass = state.size().pass_action();
    assert_eq!(root.proven, Some(Value::WIN));
    assert_eq!(root.children.last().unwrap().proven, Some(Value::WIN));
    assert_eq!(root.best().unwrap().action, pass);
    assert_eq!(choose_move(&root, 0.0, &mut rng(1)), pass);
    assert_eq!(root.visits, 60, "a proven root still counts its simulations");
    // Nothing is proven, and nothing kept, where the switch is off.
    let plain = tree.clone().advance_with(play_at(&state, 2, 0), &by_hand());
    assert!(plain.root().children.iter().all(|c| c.proven.is_none()));
    let mut plain = Tree::new(state, &by_hand());
    run_search(&mut plain, &mut uniform_with(|_| 0.9), 60, &mut rng(0)).unwrap();
    assert!(plain.root().proven.is_none());
}

fn child(action: usize, visits: u32, q: f32, q_stdev: f32) -> ChildStats {
    let (prior, raw_prior) = (0.25, 0.25);
    let q = Value::new(q);
    ChildStats { action, visits, q, result: q, q_stdev, prior, raw_prior, proven: None }
}

fn root_of(children: Vec<ChildStats>) -> RootStats {
    RootStats {
        visits: children.iter().map(|c| c.visits).sum(),
        value: Value::DRAW,
        raw_value: Value::DRAW,
        children,
        winner: None,
        noised: false,
        proven: None,
    }
}

#[test]
fn the_lower_bound_prefers_what_is_surely_good() {
    // 0.30 - 5 * 0.4 / 10 = 0.10 against 0.28 - 5 * 0.1 / 7 = 0.209; the third has too few visits.
    let root = root_of(vec![
        child(0, 100, 0.30, 0.4),
        child(1, 49, 0.28, 0.1),
        child(2, 9, 0.9, 0.0),
        child(3, 0, 0.0, 0.0),
    ]);
    assert!((root.children[0].lower_bound(5.0) - 0.1).abs() < 1e-5);
    // Two equal values: a variance of 1 / 9, so 0.5 - 5 * sqrt(1 / 18) = -0.679.
    assert!((child(0, 2, 0.5, 0.0).lower_bound(5.0) + 0.678_511).abs() < 1e-5);
    assert_eq!(choose_best(&root, &SearchConfig::default()), 0, "by visits");
    let bound = SearchConfig { lcb_stdevs: 5.0, ..SearchConfig::default() };
    assert_eq!(choose_best(&root, &bound), 1);
    let mut won = root.clone();
    won.children[2].proven = Some(Value::WIN);
    assert_eq!(choose_best(&won, &bound), 2, "proof beats any bound");
    let single = root_of(vec![child(0, 1, 0.1, 0.0), child(1, 0, 0.0, 0.0)]);
    assert_eq!(choose_best(&single, &bound), 0);
}

#[test]
fn a_proven_loss_is_not_drawn_unless_all_is_lost() {
    let mut root = root_of(vec![child(0, 90, 0.3, 0.1), child(1, 10, -0.2, 0.1)]);
    root.children[0].proven = Some(Value::LOSS);
    for seed in 0..50 {
        assert_eq!(choose_move(&root, 1.0, &mut rng(seed)), 1);
    }
    root.children[1].proven = Some(Value::LOSS);
    let drawn: Vec<usize> = (0..50).map(|seed| choose_move(&root, 1.0, &mut rng(seed))).collect();
    assert!(drawn.contains(&0) && drawn.contains(&1));
}

#[test]
fn the_spread_of_values_is_told() {
    // Values of the first move: what its positions are worth, alternating 0.5 and -0.5.
    let mut tree = Tree::new(empty(3, 0.5), &by_hand());
    let mut sign = 1.0;
    for _ in 0..41 {
        let mut answer = match tree.select() {
            Selected::Leaf(leaf) => {
                let answer = ask(&mut UniformEvaluator, leaf.state());
                Some((leaf, answer))
            }
            Selected::Terminal => None,
        };
        if let Some((leaf, answer)) = answer.take() {
            sign = -sign;
            let value = Value::new(0.5 * sign);
            tree.expand_and_backup(leaf, &tengen_inference::Evaluation { value, ..answer });
        }
    }
    for child in tree.root().children.iter().filter(|c| c.visits > 1) {
        let expected = (0.25 - child.q.get().powi(2)).max(0.0).sqrt();
        assert!((child.q_stdev - expected).abs() < 1e-4, "{child:?}");
    }
}

fn graph() -> SearchConfig {
    SearchConfig { graph: true, ..by_hand() }
}

#[test]
fn orders_of_moves_that_meet_share_a_node() {
    let (mut tree, mut joined) =
        (Tree::new(empty(3, 0.5), &by_hand()), Tree::new(empty(3, 0.5), &graph()));
    let mut counted = CountingEvaluator::new(UniformEvaluator);
    run_search(&mut tree, &mut UniformEvaluator, 2_000, &mut rng(0)).unwrap();
    run_search(&mut joined, &mut counted, 2_000, &mut rng(0)).unwrap();
    assert!(joined.node_count() * 4 < tree.node_count() * 3, "{} nodes", joined.node_count());
    assert!(counted.stats().evaluations < 1_900, "{:?}", counted.stats());
    let root = joined.root();
    assert_eq!((joined.simulations(), root.visits), (2_000, 2_000));
    assert_eq!(root.children.iter().map(|c| c.visits).sum::<u32>(), 2_000);
    // A position is worth what its moves are worth on the whole, each with its share of visits.
    let sum: f32 = root.children.iter().map(|c| c.q.get() * c.visits as f32).sum();
    let mean = (root.raw_value.get() + sum) / 2_001.0;
    assert!((root.value.get() - mean).abs() < 1e-3);
}

#[test]
fn a_graph_stays_legal_through_kos_and_reuse() {
    // Two stones in atari in a corner: ko and superko decide what may be played, and equal boards
    // are reached with different bans. Every walk plays a real game, so a wrong node would panic.
    for ko in [KoRule::Simple, KoRule::Positional, KoRule::Situational] {
        let rules = Rules { ko, ..Rules::tromp_taylor() };
        for (side, komi) in [(2, 0.5), (3, -0.5)] {
            let size = BoardSize::square(side).unwrap();
            let state = GameState::new(size, rules, Komi::from_points(komi).unwrap());
            for leaves_per_batch in [1, 6] {
                let config = SearchConfig { leaves_per_batch, ..graph() };
                let mut tree = Tree::new(state.clone(), &config);
                for turn in 0..8 {
                    run_search(&mut tree, &mut opinionated(), 400, &mut rng(turn)).unwrap();
                    assert_eq!(tree.simulations(), 400, "{ko:?} {side}");
                    let action = choose_move(&tree.root(), 1.0, &mut rng(turn));
                    tree = tree.advance(size.move_at(action));
                    if tree.root_state().is_over() {
                        break;
                    }
                }
            }
        }
    }
}

#[test]
fn switches_that_contradict_each_other_are_named() {
    let both = SearchConfig { solve: true, graph: true, ..SearchConfig::default() };
    assert_eq!(both.validate().len(), 1);
    assert!(both.validate()[0].contains("search.solve"));
    let off = SearchConfig { c_puct_stdev_scale: 1.5, lcb_min_share: -0.1, ..Default::default() };
    assert_eq!(off.validate().len(), 2);
}
