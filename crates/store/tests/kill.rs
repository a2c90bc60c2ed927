//! A process killed while it stores games, as the operating system kills.
#![allow(clippy::unwrap_used)]

mod common;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use common::{Bench, game, record};
use tengen_store::Store;

const CHILD: &str = "TENGEN_STORE_KILL_TEST";

/// Not a test of its own: what the child process does until it is killed.
#[test]
fn child_stores_games_for_ever() {
    let Ok(path) = std::env::var(CHILD) else { return };
    let mut store = Store::open(Path::new(&path)).unwrap();
    let uid = store.run().unwrap().unwrap().uid;
    let record = record(3);
    for counter in store.next_counter("w").unwrap().. {
        let appended = store.append_games(&[game(&uid, "w", counter, &record)]).unwrap();
        println!("stored {}", appended.last_seq);
    }
}

#[test]
fn a_kill_at_any_time_loses_no_acknowledged_game_and_counts_none_twice() {
    let mut bench = Bench::sqlite();
    for acknowledged in [1, 7, 20] {
        let before = bench.store.counts().unwrap().games;
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child_stores_games_for_ever", "--nocapture"])
            .env(CHILD, bench.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let told = lines
            .filter_map(|line| line.unwrap().split_once("stored ")?.1.parse::<u64>().ok())
            .take(acknowledged)
            .last();
        child.kill().unwrap();
        child.wait().unwrap();

        assert_eq!(told, Some(before + acknowledged as u64));
        let report = bench.again().fsck().unwrap();
        assert!(report.ok, "{:?}", report.problems);
        assert!(Some(report.games) >= told);
        // The outbox is sent again from its start: every game is there or is added once.
        let (uid, record) = (&bench.uid, &record(3));
        let all: Vec<_> = (0..report.games + 2).map(|k| game(uid, "w", k, record)).collect();
        let appended = bench.store.append_games(&all).unwrap();
        assert_eq!((appended.inserted, appended.last_seq), (2, report.games + 2));
    }
}
