//! Games enter once, get numbers without gaps, and readers miss none.

use crate::common::{Bench, game, new_run, record};
use tengen_store::{Conclusion, Counts, GameId, Rollback, Store, StoreError};

cases! {
    two_writers_taking_turns_leave_no_gap_and_a_reader_misses_nothing,
    runs_that_did_the_same_have_the_same_digest,
    a_game_stored_twice_counts_once,
    a_game_reads_back_as_it_was,
    the_same_name_with_other_moves_keeps_the_first_and_tells,
    a_batch_with_one_bad_game_stores_nothing,
    a_rollback_with_its_games_takes_them_out_of_the_window_and_a_promotion_brings_them_back,
    the_window_is_the_shortest_one_that_holds_enough,
    a_run_starts_once_and_keeps_every_configuration,
    self_play_waits_once_it_is_the_limit_ahead_of_the_trainer,
}

fn a_game_stored_twice_counts_once(bench: &mut Bench) {
    let (a, b) = (record(2), record(3));
    let batch = [bench.game("w", 0, &a), bench.game("w", 1, &b)];
    let first = bench.store.append_games(&batch).unwrap();
    assert_eq!((first.inserted, first.already_there, first.last_seq), (2, 0, 2));
    let again = bench.store.append_games(&batch).unwrap();
    assert_eq!((again.inserted, again.already_there, again.last_seq), (0, 2, 2));
    let twice = [bench.game("w", 2, &a), bench.game("w", 2, &a)];
    let twice = bench.store.append_games(&twice).unwrap();
    assert_eq!((twice.inserted, twice.already_there, twice.last_seq), (1, 1, 3));
    let counts = bench.store.counts().unwrap();
    assert_eq!(counts, Counts { games: 3, positions: 7, last_seq: 3 });
    assert_eq!(bench.store.run().unwrap().unwrap().last_seq, 3);
}

fn a_game_reads_back_as_it_was(bench: &mut Bench) {
    let game = record(4);
    bench.store.append_games(&[bench.game("w", 9, &game)]).unwrap();
    let stored = &bench.again().games_in(0, u64::MAX).unwrap()[0];
    assert_eq!((stored.seq, stored.worker.as_str(), stored.counter), (1, "w", 9));
    assert_eq!(stored.id, GameId::derive(&bench.uid, "w", 9));
    assert_eq!(stored.record, game);
    assert_eq!(bench.store.next_counter("w").unwrap(), 10);
    assert_eq!(bench.store.next_counter("other").unwrap(), 0);
}

fn the_same_name_with_other_moves_keeps_the_first_and_tells(bench: &mut Bench) {
    let (a, b) = (record(2), record(3));
    bench.store.append_games(&[bench.game("w", 0, &a)]).unwrap();
    let again = bench.store.append_games(&[bench.game("w", 0, &b)]).unwrap();
    assert_eq!(again.already_there, 1);
    assert_eq!(bench.store.games_in(0, 1).unwrap()[0].record, a);
    assert_eq!(bench.store.events(9).unwrap()[0].kind, "game-conflict");
}

fn a_batch_with_one_bad_game_stores_nothing(bench: &mut Bench) {
    let good = record(2);
    let mut bad = record(2);
    bad.turns[1].mv = bad.turns[0].mv;
    let batch = [bench.game("w", 0, &good), bench.game("w", 1, &bad)];
    assert!(matches!(bench.store.append_games(&batch), Err(StoreError::RefusedGame { .. })));
    // Here the refusal falls inside the transaction, after the first game is in.
    let mut alias = bench.game("w", 0, &good);
    alias.id = GameId([9; 16]);
    let batch = [bench.game("w", 0, &good), alias];
    assert!(matches!(bench.store.append_games(&batch), Err(StoreError::CounterTaken { .. })));
    assert_eq!(bench.store.counts().unwrap(), Counts::default());
    assert!(bench.store.fsck().unwrap().ok);
}

fn two_writers_taking_turns_leave_no_gap_and_a_reader_misses_nothing(bench: &mut Bench) {
    const GAMES: u64 = 30;
    let record = record(1);
    std::thread::scope(|scope| {
        for worker in ["a", "b"] {
            let (uid, record) = (&bench.uid, &record);
            let mut store = bench.again();
            scope.spawn(move || {
                for pair in 0..GAMES / 2 {
                    let batch = [2 * pair, 2 * pair + 1].map(|k| game(uid, worker, k, record));
                    store.append_games(&batch).unwrap();
                }
            });
        }
        let reader = bench.again();
        let mut seen = Vec::new();
        while (seen.len() as u64) < 2 * GAMES {
            let cursor = seen.last().copied().unwrap_or(0);
            seen.extend(reader.games_in(cursor, u64::MAX).unwrap().iter().map(|game| game.seq));
        }
        assert_eq!(seen, (1..=2 * GAMES).collect::<Vec<_>>());
    });
    assert!(bench.store.fsck().unwrap().ok);
}

/// The naive twin: walk back from `upto` until the window is full.
fn window_start_by_walking(sizes: &[(u64, u64)], upto: u64, positions: u64) -> u64 {
    let mut held = 0;
    for &(seq, size) in sizes.iter().rev().filter(|(seq, _)| *seq <= upto) {
        if held >= positions {
            return seq;
        }
        held += size;
    }
    0
}

fn a_rollback_with_its_games_takes_them_out_of_the_window_and_a_promotion_brings_them_back(
    bench: &mut Bench,
) {
    let id = bench.candidate("a", "b");
    let verdict = Conclusion { verdict: "promote".into(), promote: true, detail_json: "{}".into() };
    bench.store.conclude(id, &verdict).unwrap();
    let records = [3, 2, 5, 1].map(record);
    let mut games: Vec<_> =
        records.iter().zip(0..).map(|(record, k)| bench.game("w", k, record)).collect();
    for (game, network) in games.iter_mut().zip(["a", "b", "a", "b"]) {
        game.network = network.to_owned();
    }
    bench.store.append_games(&games).unwrap();
    let withdrawn = |store: &Store| -> Vec<bool> {
        store.games_in(0, 9).unwrap().iter().map(|game| game.withdrawn).collect()
    };
    assert_eq!(bench.store.window_start(4, 4).unwrap(), 2);
    let now = bench.store.rollback(Rollback::PointerAndGames, "me", "it went astray").unwrap();
    assert_eq!(now, "a");
    assert_eq!(withdrawn(&bench.store), [false, true, false, true]);
    assert_eq!(bench.store.withdrawn_networks().unwrap(), ["b"]);
    assert_eq!(bench.store.withdrawn_positions(u64::MAX).unwrap(), 3);
    assert_eq!(bench.store.withdrawn_positions(2).unwrap(), 2);
    // Of what is left, 5 lie in game 3 and 3 in game 1.
    let starts = [1, 5, 6, 9].map(|wanted| bench.store.window_start(4, wanted).unwrap());
    assert_eq!(starts, [2, 2, 0, 0]);
    assert_eq!(bench.store.counts().unwrap().games, 4, "nothing is deleted");
    assert!(bench.store.fsck().unwrap().ok);
    bench.store.promote_by_hand("b", "me", "it was not so bad").unwrap();
    assert_eq!(withdrawn(&bench.store), [false; 4]);
}

fn the_window_is_the_shortest_one_that_holds_enough(bench: &mut Bench) {
    // Games without any target in between, as cheap searches leave them.
    let records = [3, 0, 0, 2, 5, 0, 1, 0].map(record);
    let games: Vec<_> =
        records.iter().zip(0..).map(|(record, k)| bench.game("w", k, record)).collect();
    bench.store.append_games(&games).unwrap();
    let sizes = bench.store.positions_by_seq(0, u64::MAX).unwrap();
    assert_eq!(sizes.iter().map(|s| s.1).collect::<Vec<_>>(), [3, 0, 0, 2, 5, 0, 1, 0]);
    for upto in 0..=9 {
        for positions in 0..=12 {
            let start = bench.store.window_start(upto, positions).unwrap();
            let twin = window_start_by_walking(&sizes, upto, positions as u64);
            assert_eq!(start, twin, "upto {upto}, positions {positions}");
        }
    }
}

fn a_run_starts_once_and_keeps_every_configuration(bench: &mut Bench) {
    let again = bench.store.init_run(&new_run(7)).unwrap();
    assert_eq!(again.uid, bench.uid);
    assert_eq!(again.uid.len(), 32);
    let refused = bench.store.init_run(&new_run(8)).unwrap_err();
    assert!(refused.to_string().contains("seed = 7"), "{refused}");
    bench.store.update_config("b = 1", "beef").unwrap();
    let run = bench.store.run().unwrap().unwrap();
    assert_eq!((run.config_text.as_str(), run.config_digest.as_str()), ("b = 1", "beef"));
    assert!(bench.store.config("c0ffee").unwrap().unwrap().contains("test"));
    // Half of all seeds are negative for SQLite.
    let folder = tempfile::tempdir().unwrap();
    let mut other = Store::open(&folder.path().join("t.db")).unwrap();
    assert!(matches!(other.append_games(&[]), Err(StoreError::NoRun)));
    assert_eq!(other.init_run(&new_run(u64::MAX)).unwrap().seed, u64::MAX);
}

fn runs_that_did_the_same_have_the_same_digest(one: &mut Bench) {
    let mut two = one.twin();
    one.fill(3);
    two.fill(2);
    assert_ne!(one.store.digest().unwrap(), two.store.digest().unwrap());
    let last = record(3);
    two.store.append_games(&[two.game("w", 2, &last)]).unwrap();
    assert_ne!(one.uid, two.uid);
    assert_eq!(one.store.digest().unwrap(), two.store.digest().unwrap());
}

fn self_play_waits_once_it_is_the_limit_ahead_of_the_trainer(bench: &mut Bench) {
    bench.fill(4);
    assert!(!bench.store.is_too_far_ahead().unwrap());
    bench.again().set_ahead_limit(Some(3)).unwrap();
    assert!(bench.store.is_too_far_ahead().unwrap());
    bench.store.set_trained(2).unwrap();
    assert!(!bench.store.is_too_far_ahead().unwrap());
    // A trainer that goes on from an older checkpoint does not call for more games.
    bench.store.set_trained(1).unwrap();
    assert_eq!(bench.store.run().unwrap().unwrap().trained_seq, 2);
}
