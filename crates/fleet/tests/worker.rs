//! A whole worker against a run in memory: it plays, ships, waits, changes networks and ends as told.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use common::{Fault, Model, TestHost, config, plan};
use tengen_fleet::{FleetError, Idle, WorkReport, WorkerConfig, play_block, work};
use tengen_inference::UniformEvaluator;
use tengen_record::decode;
use tengen_store::{Block, BlockLease, Outbox, RunMode, UpstreamError};

/// Lets a worker work while `meanwhile` looks on, then tells it to stop.
fn worker(
    model: &Model,
    config: &WorkerConfig,
    host: &TestHost,
    meanwhile: impl FnOnce(),
) -> Result<WorkReport, FleetError> {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let worker =
            scope.spawn(|| work(config, host, model.connect(), &|| stop.load(Ordering::Relaxed)));
        let _stop = StopOnDrop(&stop);
        meanwhile();
        stop.store(true, Ordering::Relaxed);
        worker.join().unwrap()
    })
}

/// A failed assertion must not leave the worker playing for ever.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn idle(report: &WorkReport, reason: Idle) -> bool {
    report.idle.iter().any(|(idle, seconds)| *idle == reason && *seconds > 0.0)
}

/// Games in the outbox of a worker that has ended.
fn left(spool: &Path) -> u64 {
    Outbox::open(&spool.join("outbox.db"), "box").unwrap().counts().unwrap().waiting
}

#[test]
fn it_registers_plays_and_ships_everything_before_it_ends() {
    let (folder, model, host) =
        (tempfile::tempdir().unwrap(), Model::default(), TestHost::default());
    let report = worker(&model, &config(folder.path()), &host, || {
        model.wait_until("twenty games", |run| run.games.len() >= 20);
    })
    .unwrap();
    model.run(|run| {
        assert_eq!((run.games.len() as u64, report.waiting), (report.games, 0));
        assert_eq!(run.workers[&report.worker].games, report.games, "the run heard the totals");
        let mut moves = Vec::new();
        for game in run.games.values() {
            let record = decode(&game.payload).unwrap();
            record.validate().unwrap();
            assert_eq!((&*game.network, &*record.config_digest), ("uniform", "c0ffee"));
            assert_eq!(record.players, ["uniform", "uniform"]);
            moves.push(record.turns.iter().map(|turn| turn.mv).collect::<Vec<_>>());
        }
        moves.dedup();
        assert!(moves.len() > 10, "games differ");
    });
    // Another worker counts from 0 too, and plays other games.
    let other = tempfile::tempdir().unwrap();
    let before = report.games as usize;
    worker(&model, &config(other.path()), &host, || {
        model.wait_until("more games", |run| run.games.len() >= before + 10);
    })
    .unwrap();
    model.run(|run| {
        let seeds: std::collections::HashSet<u64> =
            run.games.values().map(|game| decode(&game.payload).unwrap().seed).collect();
        assert_eq!(seeds.len(), run.games.len());
    });
}

#[test]
fn an_outage_stops_no_game_and_a_restart_goes_on_with_the_numbers() {
    let (folder, model, host) =
        (tempfile::tempdir().unwrap(), Model::default(), TestHost::default());
    let config = WorkerConfig { rest: Duration::from_millis(50), ..config(folder.path()) };
    let report = worker(&model, &config, &host, || {
        model.wait_until("a game", |run| !run.games.is_empty());
        model.run(|run| run.faults.extend([Some(Fault::Away); 1000]));
        let counter = || {
            let path = folder.path().join("outbox.db");
            Outbox::open(&path, "box").unwrap().next_counter().unwrap()
        };
        let (begun, before) = (Instant::now(), counter());
        while counter() < before + 20 {
            assert!(begun.elapsed() < Duration::from_secs(30), "play goes on");
            thread::sleep(Duration::from_millis(5));
        }
    })
    .unwrap();
    assert!(report.waiting >= 20, "{report:?}");
    assert_eq!(left(folder.path()), report.waiting);
    model.run(|run| run.faults.clear());
    let second = worker(&model, &config, &host, || {
        model.wait_until("old and new games", |run| run.games.len() as u64 > report.games + 5);
    })
    .unwrap();
    assert_eq!(second.worker, report.worker);
    let games = report.games + second.games;
    model.run(|run| assert_eq!((run.games.len() as u64, run.quarantined), (games, 0)));
}

#[test]
fn a_full_spool_pauses_play_and_drops_nothing() {
    let (folder, model, host) =
        (tempfile::tempdir().unwrap(), Model::default(), TestHost::default());
    model.run(|run| run.faults.extend([None, Some(Fault::Away), Some(Fault::Away)]));
    let config = WorkerConfig { spool_bytes: 1000, ..config(folder.path()) };
    let report = worker(&model, &config, &host, || {
        model.wait_until("many games", |run| run.games.len() >= 40);
    })
    .unwrap();
    assert!(idle(&report, Idle::SpoolFull), "{report:?}");
    model.run(|run| assert_eq!(run.games.len() as u64, report.games));
}

#[test]
fn it_waits_while_the_run_is_paused_or_ahead() {
    let (folder, model, host) =
        (tempfile::tempdir().unwrap(), Model::default(), TestHost::default());
    model.run(|run| run.state.mode = RunMode::Paused);
    let report = worker(&model, &config(folder.path()), &host, || {
        model.wait_until("it to register", |run| !run.workers.is_empty());
        thread::sleep(Duration::from_millis(50));
        model.run(|run| {
            assert!(run.games.is_empty());
            run.state.mode = RunMode::Running;
            run.state.ahead = true;
        });
        thread::sleep(Duration::from_millis(100));
        model.run(|run| {
            assert!(run.games.is_empty());
            run.state.ahead = false;
        });
        model.wait_until("games", |run| run.games.len() >= 8);
    })
    .unwrap();
    assert!(idle(&report, Idle::Paused) && idle(&report, Idle::Ahead), "{report:?}");
}

#[test]
fn a_draining_run_lets_it_finish_ship_and_exit() {
    let (folder, model, host) =
        (tempfile::tempdir().unwrap(), Model::default(), TestHost::default());
    let draining = thread::scope(|scope| {
        let config = config(folder.path());
        let worker = scope.spawn({
            let (model, host) = (&model, &host);
            move || work(&config, host, model.connect(), &|| false)
        });
        model.wait_until("a game", |run| !run.games.is_empty());
        model.run(|run| run.state.mode = RunMode::Draining);
        worker.join().unwrap().unwrap()
    });
    model.run(|run| assert_eq!(run.games.len() as u64, draining.games));
}

#[test]
fn a_new_network_takes_over_and_a_damaged_one_does_not() {
    let (folder, model, host) =
        (tempfile::tempdir().unwrap(), Model::default(), TestHost::default());
    let first = model.run(|run| run.promote(b"first"));
    let games_of = |network: &str| {
        let network = network.to_owned();
        move |run: &common::ModelRun| run.games.values().filter(|g| g.network == network).count()
    };
    worker(&model, &config(folder.path()), &host, || {
        model.wait_until("games of the first", |run| games_of(&first)(run) >= 5);
        // The run's bytes of the second are cut short.
        let damaged = model.run(|run| {
            let hash = run.promote(b"second");
            run.networks.insert(hash.clone(), b"secon".to_vec());
            hash
        });
        let before = model.run(|run| run.games.len());
        model.wait_until("more games", |run| run.games.len() >= before + 20);
        model.run(|run| assert_eq!(games_of(&damaged)(run), 0));
        // One that this program cannot read is not used either.
        let unreadable = model.run(|run| run.promote(b"unknown format"));
        let before = model.run(|run| run.games.len());
        model.wait_until("more games", |run| run.games.len() >= before + 20);
        model.run(|run| assert_eq!(games_of(&unreadable)(run), 0));
        let third = model.run(|run| run.promote(b"third"));
        model.wait_until("games of the third", |run| games_of(&third)(run) >= 5);
    })
    .unwrap();
    assert_eq!(*host.loaded.lock().unwrap(), [b"first".to_vec(), b"third".to_vec()]);
}

#[test]
fn without_its_first_network_it_waits_for_it() {
    let (folder, model, host) =
        (tempfile::tempdir().unwrap(), Model::default(), TestHost::default());
    let hash = model.run(|run| run.promote(b"first"));
    model.run(|run| run.networks.clear());
    let report = worker(&model, &config(folder.path()), &host, || {
        model.wait_until("it to register", |run| !run.workers.is_empty());
        thread::sleep(Duration::from_millis(60));
        model.run(|run| assert!(run.games.is_empty(), "no game by another player than {hash}"));
    })
    .unwrap();
    assert!(idle(&report, Idle::NoNetwork), "{report:?}");
}

#[test]
fn a_run_that_speaks_another_protocol_or_has_blocked_the_worker_ends_it_with_one_line() {
    let (folder, model, host) =
        (tempfile::tempdir().unwrap(), Model::default(), TestHost::default());
    model.run(|run| run.protocol += 1);
    let refused = work(&config(folder.path()), &host, model.connect(), &|| false).unwrap_err();
    assert!(refused.to_string().contains("install that version"), "{refused}");
    assert!(matches!(refused, FleetError::Upstream(UpstreamError::Version { .. })));
}

#[test]
fn a_run_restored_from_a_backup_is_greeted_again() {
    let (folder, model, host) =
        (tempfile::tempdir().unwrap(), Model::default(), TestHost::default());
    worker(&model, &config(folder.path()), &host, || {
        model.wait_until("a game", |run| !run.games.is_empty());
        model.run(|run| run.workers.clear());
        model.wait_until("a second greeting", |run| !run.workers.is_empty());
    })
    .unwrap();
}

/// It knows nobody, and the worker has nothing in its sent-log: no game may be taken for one that the run
/// won't have.
#[test]
fn a_run_restored_to_before_a_worker_came_refuses_none_of_its_games() {
    let (folder, model, host) =
        (tempfile::tempdir().unwrap(), Model::default(), TestHost::default());
    let config = WorkerConfig { sent_log: Duration::ZERO, ..config(folder.path()) };
    let report = worker(&model, &config, &host, || {
        model.wait_until("it to register", |run| !run.workers.is_empty());
        model.run(|run| run.faults.extend([Some(Fault::Away); 1000]));
        thread::sleep(Duration::from_millis(300));
        model.run(|run| {
            run.knows_its_workers = true;
            run.workers.clear();
            run.games.clear();
            run.faults.clear();
        });
        model.wait_until("games", |run| run.games.len() >= 5);
    })
    .unwrap();
    assert_eq!(report.waiting, 0);
    let outbox = Outbox::open(&folder.path().join("outbox.db"), "box").unwrap();
    assert_eq!(outbox.counts().unwrap().refused, 0);
}

fn block(pairs: std::ops::Range<u32>, done: Vec<(u32, u8)>) -> Block {
    Block {
        lease: BlockLease { match_id: 3, block: 0, worker: String::new(), epoch: 1 },
        candidate: String::new(),
        base: String::new(),
        gate_config_json: r#"{"pairs":6,"visits":4,"opening_moves":1}"#.into(),
        pairs,
        done,
        lease_seconds: 60,
    }
}

#[test]
fn a_block_is_leased_played_and_handed_in_and_self_play_goes_on() {
    let (folder, model, host) =
        (tempfile::tempdir().unwrap(), Model::default(), TestHost::default());
    model.run(|run| {
        let base = run.promote(b"base");
        let candidate = run.promote(b"candidate");
        run.state.best = Some(base.clone());
        // Blocks are played while self-play waits for the trainer.
        run.state.ahead = true;
        run.blocks.push_back(Block { candidate, base, ..block(1..4, vec![(2, 1)]) });
    });
    worker(&model, &config(folder.path()), &host, || {
        model.wait_until("the block", |run| !run.block_games.is_empty());
        model.run(|run| run.state.ahead = false);
        model.wait_until("games", |run| run.games.len() >= 5);
    })
    .unwrap();
    model.run(|run| {
        let [(lease, games)] = &run.block_games[..] else { panic!("{:?}", run.block_games) };
        assert_eq!((lease.match_id, lease.epoch), (3, 1));
        let slots: Vec<_> = games.iter().map(|game| (game.pair, game.colour)).collect();
        assert_eq!(slots, [(1, 0), (1, 1), (2, 0), (3, 0), (3, 1)]);
    });
}

#[test]
fn whoever_plays_a_slot_on_however_many_threads_plays_the_same_game() {
    let run = Model::default().run(|run| run.state.clone());
    let play = |pairs, threads: usize| {
        let evaluators = (0..threads)
            .map(|_| [Box::new(UniformEvaluator) as _, Box::new(UniformEvaluator) as _])
            .collect();
        play_block(&block(pairs, vec![]), &run, &plan(), evaluators, &|| false).unwrap()
    };
    let whole = play(0..6, 1);
    assert_eq!(whole.len(), 12);
    assert_eq!([play(0..2, 2), play(2..5, 3), play(5..6, 1)].concat(), whole);
}
