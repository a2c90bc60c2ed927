//! How fast the tree alone is, with a signature that a refactor must not move.

#![allow(clippy::unwrap_used)] // helpers of tests may panic

mod common;

use std::time::Instant;

use common::*;
use tengen_inference::UniformEvaluator;
use tengen_search::{SearchConfig, Tree, run_search};

/// Simulations under uniform evaluations; the hash of the root's visits.
fn signature(side: usize, simulations: u32) -> u64 {
    let mut tree = Tree::new(empty(side, 0.5), &SearchConfig::default());
    run_search(&mut tree, &mut UniformEvaluator, simulations, &mut rng(0)).unwrap();
    let visits = tree.root().children.into_iter().map(|c| u64::from(c.visits));
    visits.fold(0xcbf2_9ce4_8422_2325, |hash, n| (hash ^ n).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn the_same_search_has_the_same_signature() {
    assert_eq!(signature(6, 500), signature(6, 500));
}

/// `cargo test --release -p tengen-search --test speed -- --ignored --nocapture`
#[test]
#[ignore = "a measurement, not a check"]
fn simulations_per_second() {
    for (side, simulations) in [(6, 100_000), (9, 50_000), (19, 10_000)] {
        let start = Instant::now();
        let signature = signature(side, simulations);
        let rate = f64::from(simulations) / start.elapsed().as_secs_f64();
        println!("{side}x{side}: {rate:.0} simulations/s, signature {signature:016x}");
    }
}
