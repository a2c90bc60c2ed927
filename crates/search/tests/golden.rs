//! Whole searches against recorded answers: what a change of the tree's layout must not move.

#![allow(clippy::unwrap_used)] // helpers of tests may panic

mod common;

use common::*;
use tengen_search::{SearchConfig, Tree, choose_move, policy_target, run_search};

/// Folds words into a signature.
fn fold(hash: u64, word: u64) -> u64 {
    (hash ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(7)
}

/// Ten moves with noise and reuse on an opinionated evaluator; the hash of all root visits, moves
/// and targets.
fn signature(side: usize, config: &SearchConfig) -> u64 {
    let mut noise = rng(17);
    let mut symmetries = rng(18);
    let mut evaluator = opinionated();
    let mut tree = Tree::new(empty(side, 0.5), config);
    let mut hash = 0xcbf2_9ce4_8422_2325;
    for _ in 0..10 {
        if !tree.is_root_expanded() {
            run_search(&mut tree, &mut evaluator, 0, &mut symmetries).unwrap();
        }
        tree.add_root_noise(&mut noise);
        run_search(&mut tree, &mut evaluator, config.visits, &mut symmetries).unwrap();
        let root = tree.root();
        for child in &root.children {
            hash = fold(hash, child.action as u64 * 7919 + u64::from(child.visits));
        }
        for (action, weight) in policy_target(&root, config) {
            hash = fold(hash, u64::from(action) << 16 | u64::from(weight));
        }
        let action = choose_move(&root, 0.0, &mut noise);
        hash = fold(hash, action as u64);
        let mv = tree.root_state().size().move_at(action);
        tree = tree.advance(mv);
        if tree.root_state().is_over() {
            break;
        }
    }
    hash
}

#[test]
fn searches_of_an_opinionated_evaluator_stay_what_they_were() {
    let base = SearchConfig { visits: 150, ..SearchConfig::default() };
    let one = SearchConfig { leaves_per_batch: 1, ..base.clone() };
    let forced =
        SearchConfig { forced_playouts: 2.0, root_policy_temperature: 1.2, ..base.clone() };
    let gumbel = SearchConfig { gumbel: true, visits: 40, ..base.clone() };
    for (name, side, config, expected) in [
        ("default", 7, base, 0x201d_3a28_27cd_8a56),
        ("one leaf at a time", 9, one, 0xcd4c_587f_fd92_6959),
        ("forced playouts", 5, forced, 0x48ca_d783_c412_fe86),
        ("gumbel", 6, gumbel, 0xaee1_768c_342f_d224),
    ] {
        let found = signature(side, &config);
        assert_eq!(found, expected, "{name}: {found:#018x}");
    }
}
