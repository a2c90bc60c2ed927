//! Laws of the pool: the same games as one by one, and no way to hang.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use common::*;
use tengen_inference::LeafEvaluator;
use tengen_record::GameRecord;
use tengen_selfplay::{SelfPlayConfig, SelfPlayPool, game_seed, play_game};

const RUN: u64 = 77;

fn pool(config: &SelfPlayConfig) -> SelfPlayPool {
    SelfPlayPool::new(&settings(4), config, &search(), 10, RUN)
}

fn two_workers() -> SelfPlayConfig {
    SelfPlayConfig { workers: 2, ..config() }
}

fn two() -> Vec<Box<dyn LeafEvaluator>> {
    vec![Box::new(hashed()), Box::new(hashed())]
}

fn alone(counter: u64) -> GameRecord {
    let seed = game_seed(RUN, counter);
    play_game(&mut hashed(), &config(), &search(), &settings(4), seed, players()).unwrap()
}

#[test]
fn the_pools_games_are_those_played_alone() {
    let mut games = BTreeMap::new();
    let mut pool = pool(&config());
    let stats = pool
        .run(&mut boxed(hashed()), "net", 9, &never, &mut |k, g| drop(games.insert(k, g)))
        .unwrap();
    assert_eq!((stats.games, games.len()), (9, 9));
    for (&counter, game) in &games {
        assert_eq!(game, &alone(counter), "game {counter}");
    }
    assert_eq!(stats.game_moves, games.values().map(|g| g.turns.len() as u64).sum::<u64>());
    assert_eq!(stats.targets, games.values().map(|g| g.positions() as u64).sum::<u64>());
    assert!(stats.evaluations > 0 && stats.batches > 0 && stats.moves >= stats.game_moves);
    assert!((stats.batch_fill() - 1.0).abs() < 1e-9, "one leaf a game fills every batch");
    assert!((stats.mean_batch() - 4.0).abs() < 1e-9);
    assert!(stats.evaluations_per_second() > 0.0);
}

#[test]
fn one_worker_hands_games_over_in_the_same_order() {
    let order = || {
        let mut order = Vec::new();
        pool(&config())
            .run(&mut boxed(hashed()), "net", 12, &never, &mut |k, _| order.push(k))
            .unwrap();
        order
    };
    assert_eq!(order(), order());
}

#[test]
fn workers_change_the_order_and_never_a_game() {
    let mut games = BTreeMap::new();
    let mut pool = pool(&two_workers());
    pool.run(&mut two(), "net", 15, &never, &mut |k, g| drop(games.insert(k, g))).unwrap();
    assert_eq!(games.len(), 15, "no game twice, none too many");
    games.iter().for_each(|(&k, game)| assert_eq!(game, &alone(k), "game {k}"));
}

#[test]
fn in_flight_games_survive_between_runs() {
    for stops in [1, 3, 50] {
        let mut pool = pool(&config());
        let mut games = BTreeMap::new();
        while games.len() < 8 {
            // A run of few steps each: every game is cut many times.
            let steps = Cell::new(0);
            let stop = || steps.replace(steps.get() + 1) >= stops;
            let mut keep = |k, g| drop(games.insert(k, g));
            pool.run(&mut boxed(hashed()), "net", 2, &stop, &mut keep).unwrap();
        }
        games.iter().for_each(|(&k, game)| assert_eq!(game, &alone(k), "game {k}"));
        let begun = pool.next_counter() - 10;
        assert_eq!(games.len() + pool.games_in_flight(), begun as usize, "none is lost");
    }
}

#[test]
fn the_network_that_finishes_a_game_signs_it() {
    let mut pool = pool(&config()).with_config_digest("abc");
    let mut ended = 0;
    let calls = Cell::new(0);
    let after_5 = || calls.replace(calls.get() + 1) >= 5;
    pool.run(&mut boxed(hashed()), "old", 99, &after_5, &mut |_, _| ended += 1).unwrap();
    assert_eq!(ended, 0, "too few steps for a game");
    let mut signed = Vec::new();
    pool.run(&mut boxed(hashed()), "new", 4, &never, &mut |_, g| signed.push(g)).unwrap();
    for game in signed {
        assert_eq!(game.players, ["new", "new"]);
        assert_eq!(game.config_digest, "abc");
    }
}

#[test]
fn the_stop_callback_ends_a_run() {
    for (config, mut evaluators) in [(config(), boxed(hashed())), (two_workers(), two())] {
        let mut pool = pool(&config);
        let stats = pool.run(&mut evaluators, "net", usize::MAX, &|| true, &mut |_, _| ()).unwrap();
        assert!(stats.games < 1000);
        let seen = Cell::new(0);
        let enough = || seen.get() >= 5;
        let mut count = |_, _| seen.set(seen.get() + 1);
        let stats = pool.run(&mut evaluators, "net", usize::MAX, &enough, &mut count).unwrap();
        assert!(stats.games >= 5);
    }
}

#[test]
fn games_wanted_are_games_given() {
    let mut pool = pool(&two_workers());
    for wanted in [0, 1, 2, 5, 1] {
        let mut given = 0;
        pool.run(&mut two(), "net", wanted, &never, &mut |_, _| given += 1).unwrap();
        assert_eq!(given, wanted);
    }
}

/// Runs `test` on a thread of its own and fails when it takes a minute.
fn within_a_minute(test: impl FnOnce() + Send + 'static) {
    let (done, wait) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        test();
        let _ = done.send(());
    });
    match wait.recv_timeout(Duration::from_secs(60)) {
        Err(std::sync::mpsc::RecvTimeoutError::Timeout) => panic!("the pool hangs"),
        _ => thread.join().unwrap(),
    }
}

#[test]
fn a_failing_evaluator_never_hangs_the_pool() {
    within_a_minute(|| {
        for how in [Failure::Error, Failure::Panic, Failure::TooFew, Failure::NotANumber] {
            for (good, others) in [(0, 0), (25, 0), (25, 1)] {
                let mut evaluators = boxed(Failing { good, how });
                evaluators.extend((0..others).map(|_| boxed(hashed()).remove(0)));
                let config = SelfPlayConfig { workers: 1 + others, ..config() };
                let mut pool = pool(&config);
                let mut games = BTreeMap::new();
                let mut keep = |k, g| drop(games.insert(k, g));
                let error = pool
                    .run(&mut evaluators, "net", usize::MAX, &never, &mut keep)
                    .expect_err("the failure surfaces");
                if let Failure::Panic = how {
                    assert!(error.to_string().contains("device gone"), "{error}");
                }
                // With evaluators that work the same games go on, and come out as they should.
                let mut sound: Vec<_> = (0..=others).map(|_| boxed(hashed()).remove(0)).collect();
                pool.run(&mut sound, "net", 6, &never, &mut keep).unwrap();
                games.iter().for_each(|(&k, g)| assert_eq!(g, &alone(k), "{how:?}, game {k}"));
                let begun = (pool.next_counter() - 10) as usize;
                assert_eq!(games.len() + pool.games_in_flight(), begun, "{how:?}: none is lost");
            }
        }
    });
}

#[test]
fn a_panicking_caller_never_hangs_the_pool() {
    within_a_minute(|| {
        let mut pool = pool(&two_workers());
        let run = AssertUnwindSafe(|| {
            pool.run(&mut two(), "net", usize::MAX, &never, &mut |_, _| panic!("disk full"))
        });
        assert!(catch_unwind(run).is_err());
    });
}

#[test]
fn a_worker_without_an_evaluator_is_refused() {
    let error = pool(&two_workers())
        .run(&mut boxed(hashed()), "net", 1, &never, &mut |_, _| ())
        .unwrap_err();
    assert!(error.to_string().contains("1 evaluators for 2"), "{error}");
}
