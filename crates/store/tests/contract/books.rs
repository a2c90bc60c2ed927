//! What fsck finds, and what opening a store refuses.

use std::sync::Barrier;

use crate::common::{self, Bench, record};
use tengen_store::{SCHEMA_VERSION, Store, StoreError};

cases! {
    a_sound_store_has_no_problems,
    fsck_finds_a_flipped_byte_in_a_game,
    fsck_finds_a_missing_number_in_the_middle,
    fsck_finds_a_missing_number_at_the_end,
    fsck_finds_cooked_sums,
    fsck_finds_a_cooked_result,
    fsck_finds_cooked_counts,
    fsck_finds_a_moved_best_pointer,
    fsck_finds_a_promotion_without_a_row,
    fsck_finds_cooked_points,
    a_migration_of_another_build_is_refused,
    a_newer_schema_is_refused_by_its_number,
    processes_that_open_a_fresh_store_at_once_take_turns,
    a_number_beyond_the_columns_is_refused_not_wrapped,
}

/// The one problem that fsck sees.
fn only_problem(bench: &Bench) -> String {
    let report = bench.store.fsck().unwrap();
    assert!(!report.ok);
    assert_eq!(report.problems.len(), 1, "{:?}", report.problems);
    report.problems[0].clone()
}

fn a_sound_store_has_no_problems(bench: &mut Bench) {
    bench.fill(4);
    let report = bench.store.fsck().unwrap();
    assert_eq!((report.ok, report.games, report.positions), (true, 4, 10));
}

fn fsck_finds_a_flipped_byte_in_a_game(bench: &mut Bench) {
    bench.fill(3);
    bench.flip_a_byte("games", "seq = 2");
    assert!(only_problem(bench).starts_with("game 2: "));
    assert_eq!(bench.store.games_in(2, 3).unwrap().len(), 1);
    let refused = bench.store.games_in(0, 3).unwrap_err();
    assert!(refused.to_string().contains("tengen store fsck"), "{refused}");
}

fn fsck_finds_a_missing_number_in_the_middle(bench: &mut Bench) {
    bench.fill(4);
    bench.sql("DELETE FROM games WHERE seq = 2");
    assert_eq!(only_problem(bench), "games 2 to 2 are missing");
}

fn fsck_finds_a_missing_number_at_the_end(bench: &mut Bench) {
    bench.fill(4);
    bench.sql("DELETE FROM games WHERE seq = 4");
    assert_eq!(only_problem(bench), "the run counts 4 games, the newest is 3");
}

/// Runs `sql` on a sound store and finds `words` among the problems.
fn cooked(bench: &mut Bench, sql: &str, words: &str) {
    bench.fill(3);
    let id = bench.candidate("a", "b");
    let game = common::resigned(tengen_rules::Color::Black);
    bench.store.record_match_game(id, 0, 0, 1.0, &game).unwrap();
    assert!(bench.store.fsck().unwrap().ok);
    bench.sql(sql);
    let problems = bench.store.fsck().unwrap().problems.join("\n");
    assert!(problems.contains(words), "{sql}: {problems}");
}

fn fsck_finds_cooked_sums(bench: &mut Bench) {
    cooked(bench, "UPDATE games SET cumulative = 99 WHERE seq = 3", "they sum up to 6");
}

fn fsck_finds_a_cooked_result(bench: &mut Bench) {
    cooked(bench, "UPDATE games SET result = 'W+R' WHERE seq = 1", "the row says");
}

fn fsck_finds_cooked_counts(bench: &mut Bench) {
    cooked(bench, "UPDATE games SET positions = 7, cumulative = 12 WHERE seq = 3", "7 positions");
}

fn fsck_finds_a_moved_best_pointer(bench: &mut Bench) {
    cooked(bench, "UPDATE runs SET best = 'b'", "promotions end at");
}

fn fsck_finds_a_promotion_without_a_row(bench: &mut Bench) {
    let sql = "UPDATE matches SET verdict = 'promote', promoted = 1, decided_us = 1";
    cooked(bench, sql, "no promotion");
}

fn fsck_finds_cooked_points(bench: &mut Bench) {
    cooked(bench, "UPDATE match_games SET points = 0", "contradict");
}

fn a_migration_of_another_build_is_refused(bench: &mut Bench) {
    bench.fill(1);
    bench
        .sql("UPDATE migrations SET checksum = (SELECT payload_hash FROM games) WHERE version = 2");
    let refused = Store::open_any(&bench.place).unwrap_err();
    assert!(matches!(refused, StoreError::ForeignMigration { version: 2, .. }), "{refused}");
}

fn a_newer_schema_is_refused_by_its_number(bench: &mut Bench) {
    bench.pretend_schema(SCHEMA_VERSION + 1);
    let refused = Store::open_any(&bench.place).unwrap_err();
    assert!(
        matches!(refused, StoreError::NewerSchema { found, .. } if found == SCHEMA_VERSION + 1),
        "{refused}"
    );
}

fn processes_that_open_a_fresh_store_at_once_take_turns(bench: &mut Bench) {
    for round in 0..3 {
        let place = bench.another_place();
        let start = Barrier::new(4);
        let uids: Vec<String> = std::thread::scope(|scope| {
            let open = || {
                start.wait();
                let mut store = Store::open_any(&place).unwrap();
                store.init_run(&common::new_run(7)).unwrap().uid
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(open)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(uids.iter().all(|uid| *uid == uids[0]), "round {round}: {uids:?}");
    }
}

fn a_number_beyond_the_columns_is_refused_not_wrapped(bench: &mut Bench) {
    let record = record(1);
    let game = bench.game("w", u64::MAX, &record);
    let refused = bench.store.append_games(&[game]).unwrap_err().to_string();
    assert!(refused.contains("out of range"), "{refused}");
    assert_eq!(bench.store.counts().unwrap().games, 0);
    assert!(bench.store.fsck().unwrap().ok);
}
