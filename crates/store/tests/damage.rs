//! What the store refuses to open, what fsck finds, and what a crash leaves.

#![allow(clippy::unwrap_used)]

mod common;

use std::fs::{self, OpenOptions};
use std::sync::Barrier;

use common::{Bench, record};
use tengen_store::{SCHEMA_VERSION, Store, StoreError};

/// The one problem that fsck sees.
fn only_problem(bench: &Bench) -> String {
    let report = bench.store.fsck().unwrap();
    assert!(!report.ok);
    assert_eq!(report.problems.len(), 1, "{:?}", report.problems);
    report.problems[0].clone()
}

#[test]
fn a_sound_store_has_no_problems() {
    let mut bench = Bench::new();
    bench.fill(4);
    let report = bench.store.fsck().unwrap();
    assert_eq!((report.ok, report.games, report.positions), (true, 4, 10));
}

#[test]
fn fsck_finds_a_flipped_byte_in_a_game() {
    let mut bench = Bench::new();
    bench.fill(3);
    let raw = bench.raw();
    let mut blob: Vec<u8> =
        raw.query_row("SELECT payload FROM games WHERE seq = 2", [], |row| row.get(0)).unwrap();
    let middle = blob.len() / 2;
    blob[middle] ^= 1;
    raw.execute("UPDATE games SET payload = ?1 WHERE seq = 2", [&blob]).unwrap();
    assert!(only_problem(&bench).starts_with("game 2: "));
    assert_eq!(bench.store.games_in(2, 3).unwrap().len(), 1);
    let refused = bench.store.games_in(0, 3).unwrap_err();
    assert!(refused.to_string().contains("tengen store fsck"), "{refused}");
}

#[test]
fn fsck_finds_a_missing_number_in_the_middle_and_at_the_end() {
    let mut bench = Bench::new();
    bench.fill(4);
    bench.raw().execute("DELETE FROM games WHERE seq = 2", []).unwrap();
    assert_eq!(only_problem(&bench), "games 2 to 2 are missing");
    let mut bench = Bench::new();
    bench.fill(4);
    bench.raw().execute("DELETE FROM games WHERE seq = 4", []).unwrap();
    assert_eq!(only_problem(&bench), "the run counts 4 games, the newest is 3");
}

#[test]
fn fsck_finds_cooked_books() {
    for (sql, words) in [
        ("UPDATE games SET cumulative = 99 WHERE seq = 3", "they sum up to 6"),
        ("UPDATE games SET result = 'W+R' WHERE seq = 1", "the row says"),
        ("UPDATE games SET positions = 7, cumulative = 12 WHERE seq = 3", "7 positions"),
        ("UPDATE runs SET best = 'b'", "promotions end at"),
        ("UPDATE matches SET verdict = 'promote', promoted = 1, decided_us = 1", "no promotion"),
        ("UPDATE match_games SET points = 0", "contradict"),
    ] {
        let mut bench = Bench::new();
        bench.fill(3);
        let id = bench.candidate("a", "b");
        let game = common::resigned(tengen_rules::Color::Black);
        bench.store.record_match_game(id, 0, 0, 1.0, &game).unwrap();
        assert!(bench.store.fsck().unwrap().ok);
        bench.raw().execute_batch(sql).unwrap();
        let problems = bench.store.fsck().unwrap().problems.join("\n");
        assert!(problems.contains(words), "{sql}: {problems}");
    }
}

#[test]
fn a_newer_schema_is_refused_by_its_number_and_left_alone() {
    let bench = Bench::new();
    let path = bench.path();
    bench.raw().pragma_update(None, "user_version", SCHEMA_VERSION + 1).unwrap();
    drop(bench.store);
    let before = fs::read(&path).unwrap();
    let refused = Store::open(&path).unwrap_err();
    assert!(
        matches!(refused, StoreError::NewerSchema { found, .. } if found == SCHEMA_VERSION + 1)
    );
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_migration_of_another_build_is_refused() {
    let bench = Bench::new();
    bench.raw().execute("UPDATE migrations SET checksum = x'00' WHERE version = 2", []).unwrap();
    let refused = Store::open(&bench.path()).unwrap_err();
    assert!(matches!(refused, StoreError::ForeignMigration { version: 2, .. }), "{refused}");
}

#[test]
fn garbage_and_other_databases_are_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tengen.db");
    fs::write(&path, "(;GM[1]SZ[9])".repeat(400)).unwrap();
    let before = fs::read(&path).unwrap();
    let refused = Store::open(&path).unwrap_err();
    assert!(matches!(refused, StoreError::NotADatabase { .. }), "{refused}");
    assert_eq!(fs::read(&path).unwrap(), before);

    let path = folder.path().join("mail.db");
    rusqlite::Connection::open(&path).unwrap().execute_batch("CREATE TABLE mail (x)").unwrap();
    let before = fs::read(&path).unwrap();
    let refused = Store::open(&path).unwrap_err();
    assert!(matches!(refused, StoreError::NotAStore { .. }), "{refused}");
    assert_eq!(fs::read(&path).unwrap(), before);

    let refused = Store::open(&folder.path().join("nowhere/tengen.db")).unwrap_err();
    assert!(matches!(refused, StoreError::Open { .. }), "{refused}");
}

#[test]
fn a_file_cut_short_is_refused() {
    let mut bench = Bench::new();
    bench.fill(3);
    let (path, folder) = (bench.path(), bench.folder);
    // The last connection to close moves the log into the file.
    drop(bench.store);
    let length = fs::metadata(&path).unwrap().len();
    for keep in [length / 2, 2048, 50] {
        let copy = folder.path().join(format!("{keep}.db"));
        fs::copy(&path, &copy).unwrap();
        OpenOptions::new().write(true).open(&copy).unwrap().set_len(keep).unwrap();
        let refused = Store::open(&copy).unwrap_err();
        assert!(
            matches!(refused, StoreError::Damaged { .. } | StoreError::NotADatabase { .. }),
            "{keep} of {length} bytes: {refused}"
        );
    }
}

#[test]
fn a_transaction_cut_off_by_a_crash_leaves_nothing() {
    let mut bench = Bench::new();
    bench.fill(2);
    let raw = bench.raw();
    raw.execute_batch(
        "BEGIN IMMEDIATE; UPDATE runs SET last_seq = 99; DELETE FROM games WHERE seq = 2;",
    )
    .unwrap();
    drop(raw);
    let mut store = bench.again();
    assert!(store.fsck().unwrap().ok);
    let next = record(1);
    let appended = store.append_games(&[bench.game("w", 2, &next)]).unwrap();
    assert_eq!(appended.last_seq, 3);
}

#[test]
fn a_backup_is_a_store_and_never_overwrites() {
    let mut bench = Bench::new();
    bench.fill(3);
    let copy = bench.folder.path().join("copy.db");
    bench.store.backup(&copy).unwrap();
    let opened = Store::open(&copy).unwrap();
    assert_eq!(opened.digest().unwrap(), bench.store.digest().unwrap());
    assert!(opened.fsck().unwrap().ok);
    assert!(matches!(bench.store.backup(&copy), Err(StoreError::BackupExists { .. })));
}

#[test]
fn a_full_disk_is_told_as_such_and_leaves_the_store_sound() {
    let bench = Bench::new();
    let mut full = bench.again();
    full.limit_pages(1).unwrap();
    let records: Vec<_> = (0..200).map(|_| record(20)).collect();
    let games: Vec<_> = records.iter().zip(0..).map(|(r, k)| bench.game("w", k, r)).collect();
    let refused = full.append_games(&games).unwrap_err();
    assert!(matches!(refused, StoreError::DiskFull), "{refused}");
    assert!(bench.store.fsck().unwrap().ok);
    assert_eq!(bench.store.counts().unwrap().games, 0);
}

#[test]
fn processes_that_open_a_fresh_file_at_once_take_turns() {
    for round in 0..10 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tengen.db");
        let start = Barrier::new(4);
        let uids: Vec<String> = std::thread::scope(|scope| {
            let open = || {
                start.wait();
                let mut store = Store::open(&path).unwrap();
                store.init_run(&common::new_run(7)).unwrap().uid
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(open)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(uids.iter().all(|uid| *uid == uids[0]), "round {round}: {uids:?}");
    }
}
