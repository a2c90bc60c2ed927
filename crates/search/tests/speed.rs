//! The bench's signature, its memory, and how often a simulation allocates.

#![allow(clippy::unwrap_used)] // helpers of tests may panic

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::*;
use tengen_inference::Evaluation;
use tengen_rules::{BoardSize, Value};
use tengen_search::{SearchConfig, Selected, Tree, bench};

/// Counts this thread's allocations: the tests of a binary run side by side.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // A thread that is ending has no counter any more, and no test.
    let _ = ALLOCATIONS.try_with(|n| n.set(n.get() + 1));
}

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promises are the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn visits(visits: u32) -> SearchConfig {
    SearchConfig { visits, ..SearchConfig::default() }
}

#[test]
fn the_same_bench_has_the_same_signature() {
    let once = bench(BoardSize::square(6).unwrap(), &visits(50), 8, 6);
    let again = bench(BoardSize::square(6).unwrap(), &visits(50), 8, 6);
    assert_eq!((once.signature, once.simulations), (again.signature, again.simulations));
    assert_eq!(once.simulations, 8 * 6 * 50);
    assert_eq!(once.signature, BENCH_6, "{:#018x}", once.signature);
}

/// Only a change of behaviour moves this; a commit that does says why.
const BENCH_6: u64 = 0xa3b5_5666_7e19_4c40;

#[test]
fn a_19x19_tree_of_800_visits_takes_less_than_two_megabytes() {
    let report = bench(BoardSize::square(19).unwrap(), &visits(800), 1, 1);
    assert!(report.tree_nodes > 790, "{report:?}");
    assert!(report.tree_bytes < 2_000_000, "{} bytes", report.tree_bytes);
    let node = report.tree_bytes / report.tree_nodes;
    assert!(node < 362 * 5 + 250, "{node} bytes a node");
}

/// Once a tree has met its depth, simulations allocate only when an arena grows by a quarter.
#[test]
fn a_simulation_allocates_nothing_in_the_steady_state() {
    for (name, config) in [
        ("puct", visits(800)),
        ("gumbel", SearchConfig { gumbel: true, ..visits(800) }),
        ("solve", SearchConfig { solve: true, ..visits(800) }),
        ("graph", SearchConfig { graph: true, ..visits(800) }),
    ] {
        let mut tree = Tree::new(empty(9, 7.5), &config);
        let answer = Evaluation::new(vec![1.0 / 82.0; 82], Value::DRAW);
        let simulate = |tree: &mut Tree, simulations| {
            for _ in 0..simulations {
                if let Selected::Leaf(leaf) = tree.select() {
                    tree.expand_and_backup(leaf, &answer);
                }
            }
        };
        simulate(&mut tree, 400);
        let before = ALLOCATIONS.get();
        simulate(&mut tree, 400);
        let made = ALLOCATIONS.get() - before;
        assert!(made <= 30, "{name}: {made} allocations in 400 simulations");
    }
}

/// `cargo test --release -p tengen-search --test speed -- --ignored --nocapture`
#[test]
#[ignore = "a measurement, not a check"]
fn simulations_per_second() {
    for (side, moves) in [(6, 20), (9, 20), (19, 8)] {
        let report = bench(BoardSize::square(side).unwrap(), &visits(400), 64, moves);
        let rate = report.rate();
        println!(
            "{side}x{side}: {rate:.0} simulations/s of a core, {} bytes for {} nodes, signature {:016x}",
            report.tree_bytes, report.tree_nodes, report.signature
        );
    }
}
