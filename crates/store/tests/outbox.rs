//! A worker's outbox: nothing lost, nothing twice, whatever instruction the worker dies at.
#![allow(clippy::unwrap_used)]

mod common;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use tengen_store::{Outbox, OutboxCounts, OutboxGame, Store, StoreError};

const CHILD: &str = "TENGEN_OUTBOX_KILL_TEST";

fn game(counter: u64) -> OutboxGame {
    OutboxGame { counter, network: "uniform".into(), payload: vec![counter as u8; 100] }
}

fn counters(outbox: &Outbox) -> Vec<u64> {
    outbox.batch(usize::MAX, usize::MAX).unwrap().iter().map(|game| game.counter).collect()
}

#[test]
fn name_counter_and_games_outlive_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("outbox.db");
    let mut outbox = Outbox::open(&path, "box").unwrap();
    let name = outbox.worker().to_owned();
    assert_eq!((name.len(), outbox.next_counter().unwrap()), ("box-".len() + 16, 0));
    // Games end in another order than they begin.
    outbox.push(&[game(3)]).unwrap();
    outbox.push(&[game(1), game(3)]).unwrap();
    drop(outbox);
    let outbox = Outbox::open(&path, "renamed").unwrap();
    assert_eq!(outbox.worker(), name);
    assert_eq!(outbox.next_counter().unwrap(), 4, "no number is given twice");
    assert_eq!(outbox.batch(9, usize::MAX).unwrap(), [game(1), game(3)]);
    assert_ne!(Outbox::open(&folder.path().join("other.db"), "box").unwrap().worker(), name);
}

#[test]
fn a_batch_keeps_to_its_games_and_bytes_but_holds_one_at_least() {
    let folder = tempfile::tempdir().unwrap();
    let mut outbox = Outbox::open(&folder.path().join("outbox.db"), "box").unwrap();
    assert!(outbox.batch(9, 9).unwrap().is_empty());
    outbox.push(&(0..5).map(game).collect::<Vec<_>>()).unwrap();
    for (games, bytes, expected) in [(2, 1000, 2), (9, 250, 2), (9, 1, 1), (9, 9000, 5)] {
        assert_eq!(outbox.batch(games, bytes).unwrap().len(), expected, "{games}, {bytes}");
    }
    assert_eq!(outbox.counts().unwrap().waiting_bytes, 500);
}

#[test]
fn an_acknowledged_game_rests_in_the_sent_log_until_it_is_old() {
    let folder = tempfile::tempdir().unwrap();
    let mut outbox = Outbox::open(&folder.path().join("outbox.db"), "box").unwrap();
    outbox.push(&(0..4).map(game).collect::<Vec<_>>()).unwrap();
    assert_eq!(outbox.newest_sent().unwrap(), None);
    outbox.acknowledge(&[0, 1]).unwrap();
    outbox.set_aside(2, "no game of this run").unwrap();
    assert_eq!(counters(&outbox), [3]);
    assert_eq!(outbox.newest_sent().unwrap(), Some(game(1)));
    assert_eq!(outbox.forget_sent(Duration::from_secs(600)).unwrap(), 0);
    assert_eq!(outbox.send_again().unwrap(), 2);
    assert_eq!(counters(&outbox), [0, 1, 3]);
    outbox.acknowledge(&[0]).unwrap();
    assert_eq!(outbox.forget_sent(Duration::ZERO).unwrap(), 1);
    let counts = OutboxCounts { waiting: 2, waiting_bytes: 200, sent: 0, refused: 1 };
    assert_eq!(outbox.counts().unwrap(), counts);
    assert_eq!(outbox.next_counter().unwrap(), 4, "deleting gives no number back");
}

/// A question whose answer was lost may itself have given the run its newest game back.
#[test]
fn an_asking_without_an_end_is_remembered_until_everything_is_sent_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("outbox.db");
    let mut outbox = Outbox::open(&path, "box").unwrap();
    assert!(!outbox.ask().unwrap());
    outbox.asked().unwrap();
    assert!(!outbox.ask().unwrap());
    drop(outbox);
    let mut outbox = Outbox::open(&path, "box").unwrap();
    assert!(outbox.ask().unwrap());
    outbox.send_again().unwrap();
    assert!(!outbox.ask().unwrap());
}

#[test]
fn unsent_games_are_never_given_to_another_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut outbox = Outbox::open(&folder.path().join("outbox.db"), "box").unwrap();
    outbox.bind("one").unwrap();
    outbox.push(&[game(0)]).unwrap();
    outbox.bind("one").unwrap();
    let refused = outbox.bind("two").unwrap_err();
    assert!(matches!(refused, StoreError::OtherRunsGames { games: 1, .. }), "{refused}");
    outbox.acknowledge(&[0]).unwrap();
    outbox.bind("two").unwrap();
    assert_eq!(outbox.send_again().unwrap(), 0, "the sent-log is the other run's");
    assert_eq!(outbox.next_counter().unwrap(), 1);
}

#[test]
fn a_store_is_no_outbox_and_an_outbox_no_store() {
    let bench = common::Bench::sqlite();
    let refused = Outbox::open(&bench.path(), "box").unwrap_err();
    assert!(matches!(refused, StoreError::NotAnOutbox { .. }), "{refused}");
    let path = bench.folder.path().join("outbox.db");
    drop(Outbox::open(&path, "box").unwrap());
    assert!(matches!(Store::open(&path), Err(StoreError::NotAStore { .. })));
    std::fs::write(&path, b"no database at all, but long enough to look like one").unwrap();
    assert!(Outbox::open(&path, "box").is_err());
}

#[test]
fn a_full_disk_refuses_a_game_whole_and_takes_it_later() {
    let folder = tempfile::tempdir().unwrap();
    let mut outbox = Outbox::open(&folder.path().join("outbox.db"), "box").unwrap();
    outbox.limit_pages(1).unwrap();
    let large = OutboxGame { payload: vec![7; 100_000], ..game(0) };
    assert!(matches!(outbox.push(std::slice::from_ref(&large)), Err(StoreError::DiskFull)));
    assert_eq!((outbox.counts().unwrap().waiting, outbox.next_counter().unwrap()), (0, 0));
    outbox.limit_pages(u32::MAX).unwrap();
    outbox.push(&[large]).unwrap();
    assert_eq!(outbox.counts().unwrap().waiting, 1);
}

/// Not a test of its own: what the child process does until it is killed.
#[test]
fn child_finishes_games_for_ever() {
    let Ok(path) = std::env::var(CHILD) else { return };
    let mut outbox = Outbox::open(Path::new(&path), "box").unwrap();
    for counter in outbox.next_counter().unwrap().. {
        outbox.push(&[game(counter)]).unwrap();
        println!("finished {counter}");
    }
}

#[test]
fn a_kill_at_any_time_loses_no_finished_game() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("outbox.db");
    for finished in [1, 7, 20] {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child_finishes_games_for_ever", "--nocapture"])
            .env(CHILD, &path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let told = lines
            .filter_map(|line| line.unwrap().split_once("finished ")?.1.parse::<u64>().ok())
            .take(finished)
            .last()
            .unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let outbox = Outbox::open(&path, "box").unwrap();
        let next = outbox.next_counter().unwrap();
        assert!(next > told);
        assert_eq!(counters(&outbox), (0..next).collect::<Vec<_>>());
    }
}
