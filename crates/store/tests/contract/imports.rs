//! Imported games: stored once, with their origin, and out of self-play's sight.

use crate::common::{Bench, record};
use tengen_record::{GameRecord, RecordError, SoundRecord};
use tengen_store::{ImportBatch, ImportCounts, ImportGame, ImportProgress};

cases! {
    imported_games_come_back_with_file_and_place,
    no_window_cursor_or_count_of_self_play_sees_them,
    the_same_moves_are_stored_once_whatever_file_they_come_from,
    an_import_goes_on_where_it_stopped_and_a_batch_counts_once,
    fsck_reads_imported_games_too,
}

/// A game without a search, as a file has it.
fn game(moves: usize) -> GameRecord {
    let mut game = record(moves);
    for turn in &mut game.turns {
        turn.search = None;
    }
    game
}

fn packed(index: u64, record: GameRecord) -> ImportGame {
    ImportGame::pack(index, &SoundRecord::check(record).unwrap())
}

/// Games `from..to` of the file named by `hash`; game `k` has `k + 1` moves or so.
fn batch(hash: u8, from: u64, to: u64, complete: bool) -> ImportBatch {
    let games = (from..to).map(|k| packed(k, game(k as usize + 1))).collect();
    let path = format!("games/{hash}.sgf");
    ImportBatch { hash: [hash; 32], path, from, to, games, complete }
}

fn imported_games_come_back_with_file_and_place(bench: &mut Bench) {
    let counts = bench.store.append_imports(&[batch(1, 0, 3, true), batch(2, 5, 5, true)]).unwrap();
    assert_eq!(counts, ImportCounts { stored: 3, ..ImportCounts::default() });
    let found = bench.again().imported_games(1, u64::MAX).unwrap();
    let origins: Vec<_> =
        found.iter().map(|g| (g.import_seq, g.path.as_str(), g.file_index)).collect();
    assert_eq!(origins, [(2, "games/1.sgf", 1), (3, "games/1.sgf", 2)]);
    assert_eq!(found[1].record, game(3));
}

fn no_window_cursor_or_count_of_self_play_sees_them(bench: &mut Bench) {
    bench.fill(4);
    let seen = |bench: &Bench| {
        let store = &bench.store;
        let seqs: Vec<u64> = store.games_in(0, u64::MAX).unwrap().iter().map(|g| g.seq).collect();
        let window = store.window_start(u64::MAX, 3).unwrap();
        (store.counts().unwrap(), store.run().unwrap(), store.digest().unwrap(), seqs, window)
    };
    let before = seen(bench);
    bench.store.append_imports(&[batch(1, 0, 9, true)]).unwrap();
    assert_eq!(seen(bench), before);
    bench.fill(5);
    assert_eq!(bench.store.counts().unwrap().games, 5);
    let report = bench.store.fsck().unwrap();
    assert!(report.ok, "{:?}", report.problems);
}

fn the_same_moves_are_stored_once_whatever_file_they_come_from(bench: &mut Bench) {
    bench.store.append_imports(&[batch(1, 0, 3, true)]).unwrap();
    let mut renamed = game(2);
    renamed.players = ["Black".to_owned(), "someone else".to_owned()];
    let mut other = batch(2, 0, 2, true);
    other.games[1] = packed(1, renamed);
    let counts = bench.store.append_imports(&[other]).unwrap();
    assert_eq!(counts, ImportCounts { repeated: 2, ..ImportCounts::default() });
    assert_eq!(bench.store.import_counts().unwrap(), ImportCounts { stored: 3, ..counts });
}

fn an_import_goes_on_where_it_stopped_and_a_batch_counts_once(bench: &mut Bench) {
    let mut first = batch(1, 0, 3, false);
    first.games.remove(1);
    let counts = bench.store.append_imports(&[first.clone()]).unwrap();
    assert_eq!(counts, ImportCounts { stored: 2, refused: 1, repeated: 0 });
    let progress = bench.again().import_progress().unwrap()[&[1; 32]];
    assert_eq!(progress, ImportProgress { done: 3, complete: false });
    // Again, as another process would: nothing happens.
    assert_eq!(bench.store.append_imports(&[first]).unwrap().stored, 0);
    assert_eq!(bench.store.append_imports(&[batch(1, 3, 5, true)]).unwrap().stored, 2);
    let progress = bench.store.import_progress().unwrap()[&[1; 32]];
    assert_eq!(progress, ImportProgress { done: 5, complete: true });
    let sum = ImportCounts { stored: 4, refused: 1, repeated: 0 };
    assert_eq!(bench.store.import_counts().unwrap(), sum);
}

#[test]
fn an_illegal_game_cannot_even_be_packed() {
    let mut illegal = game(3);
    illegal.turns.push(illegal.turns[0].clone());
    illegal.turns.push(illegal.turns[0].clone());
    assert!(matches!(SoundRecord::check(illegal), Err(RecordError::Illegal { .. })));
}

fn fsck_reads_imported_games_too(bench: &mut Bench) {
    bench.store.append_imports(&[batch(1, 0, 3, true)]).unwrap();
    bench.sql("UPDATE imported_games SET result = 'B+99' WHERE import_seq = 2");
    bench.sql("DELETE FROM imported_games WHERE import_seq = 1");
    let report = bench.store.fsck().unwrap();
    assert_eq!(report.problems.len(), 2, "{:?}", report.problems);
    assert_eq!(report.problems[0], "imported games 1 to 1 are missing");
    assert!(
        report.problems[1].starts_with("imported game 2: the row says"),
        "{:?}",
        report.problems
    );
}
