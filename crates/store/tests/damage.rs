//! What a store in a file refuses to open, and what a crash leaves.

#![allow(clippy::unwrap_used)]

mod common;

use std::fs::{self, OpenOptions};

use common::{Bench, record};
use tengen_store::{SCHEMA_VERSION, Store, StoreError};

#[test]
fn a_newer_schema_is_refused_by_its_number_and_left_alone() {
    let bench = Bench::sqlite();
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
    let mut bench = Bench::sqlite();
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
    let mut bench = Bench::sqlite();
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
    let mut bench = Bench::sqlite();
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
    let bench = Bench::sqlite();
    let mut full = bench.again();
    full.limit_pages(1).unwrap();
    let records: Vec<_> = (0..200).map(|_| record(20)).collect();
    let games: Vec<_> = records.iter().zip(0..).map(|(r, k)| bench.game("w", k, r)).collect();
    let refused = full.append_games(&games).unwrap_err();
    assert!(matches!(refused, StoreError::DiskFull), "{refused}");
    assert!(bench.store.fsck().unwrap().ok);
    assert_eq!(bench.store.counts().unwrap().games, 0);
}
