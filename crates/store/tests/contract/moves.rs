//! A run carried from one store into another, between engines and back.

use crate::common::{Bench, game, hello, network, record, resigned, upload};
use tengen_record::SoundRecord;
use tengen_rules::Color;
use tengen_store::testing::PgServer;
use tengen_store::{
    Conclusion, ImportBatch, ImportGame, NetworkStatus, Rollback, Store, StoreError, Upstream,
};

cases! {
    a_run_with_everything_in_it_moves_to_the_other_engine_and_back,
    thousands_of_games_move_with_the_same_digest,
    a_run_is_never_carried_into_another,
    a_run_that_moved_goes_on,
}

/// An empty place on the other engine; on the same one where there is no server.
fn elsewhere(bench: &Bench) -> Store {
    let other = match (bench.store.engine(), PgServer::shared()) {
        (tengen_store::Engine::Sqlite, Some(server)) => server.url(&server.fresh_schema()),
        _ => bench.folder.path().join("elsewhere.db").to_str().unwrap().to_owned(),
    };
    Store::open_any(&other).unwrap()
}

/// Something in every table.
fn live(bench: &mut Bench) {
    bench.fill(5);
    let first = bench.candidate("a", "b");
    let second = bench.candidate("a", "c");
    bench.store.offer_match(second).unwrap();
    bench.store.record_match_game(first, 0, 0, 1.0, &resigned(Color::Black)).unwrap();
    let end =
        Conclusion { verdict: "promote".into(), promote: true, detail_json: "{\"a\":1}".into() };
    bench.store.conclude(first, &end).unwrap();
    bench.store.rollback(Rollback::PointerAndGames, "me", "no").unwrap();
    bench.store.set_elo("b", 12.25, -1.5, 30.0).unwrap();
    bench.store.add_metric(3, "{}").unwrap();
    bench.store.update_config("b = 1", "beef").unwrap();
    bench.store.set_ahead_limit(Some(9)).unwrap();
    bench.store.set_trained(4).unwrap();
    bench.store.acquire("gate", "me", std::time::Duration::from_secs(9)).unwrap().unwrap();
    bench.store.register(&hello("w")).unwrap();
    let mut bad = upload(&bench.uid, "w", 99, &record(1));
    bench.store.submit(std::slice::from_ref(&bad)).unwrap();
    bad.payload.push(0);
    bad.payload_hash[0] ^= 1;
    bench.store.submit(&[bad]).unwrap();
    let block = bench.store.lease_block("w").unwrap().unwrap();
    let (payload, payload_hash) = crate::common::game_bytes(&resigned(Color::White));
    let slot = tengen_store::BlockGame { pair: 0, colour: 1, payload, payload_hash };
    bench.store.finish_block(&block.lease, &[slot]).unwrap();
    let bytes = vec![7; 1_500_000];
    bench.store.put_network_bytes(blake3::hash(&bytes).to_hex().as_str(), &bytes).unwrap();
    let mut imported = record(3);
    imported.turns.iter_mut().for_each(|turn| turn.search = None);
    let games = vec![ImportGame::pack(0, &SoundRecord::check(imported).unwrap())];
    let (hash, path) = ([1; 32], "a.sgf".to_owned());
    let batch = ImportBatch { hash, path, from: 0, to: 1, games, complete: true };
    bench.store.append_imports(&[batch]).unwrap();
}

/// What a reader sees, in words.
fn told(store: &mut Store) -> Vec<String> {
    let matches = store.matches().unwrap();
    let games: Vec<_> = matches.iter().map(|row| store.match_records(row.id).unwrap()).collect();
    let blocks: Vec<_> = matches.iter().map(|row| store.blocks(row.id).unwrap()).collect();
    let mut workers = store.workers().unwrap();
    workers.iter_mut().for_each(|worker| worker.silent_seconds = 0.0);
    let mut events = store.events(999).unwrap();
    events.retain(|event| event.kind != "moved");
    vec![
        format!("{:?}", store.run().unwrap()),
        format!("{:?}", store.config("c0ffee").unwrap()),
        format!("{:?}", store.games_in(0, u64::MAX).unwrap()),
        format!("{:?}", store.networks().unwrap()),
        format!("{matches:?} {games:?} {blocks:?}"),
        format!("{:?}", store.promotions().unwrap()),
        format!("{:?} {:?}", store.metrics().unwrap(), store.withdrawn_networks().unwrap()),
        format!("{events:?}"),
        format!("{:?}", store.imported_games(0, 9).unwrap()),
        format!("{:?} {:?}", store.import_counts().unwrap(), store.import_progress().unwrap()),
        format!("{workers:?}"),
        format!("{:?}", store.take_uploads(0, 99).unwrap()),
        format!("{:?}", store.take_match_uploads(99).unwrap()),
        format!("{:?}", store.quarantined(99).unwrap()),
        format!("{:?}", store.kept_networks().unwrap()),
        store.digest().unwrap(),
    ]
}

fn a_run_with_everything_in_it_moves_to_the_other_engine_and_back(bench: &mut Bench) {
    live(bench);
    let before = told(&mut bench.store);
    let mut there = elsewhere(bench);
    let carried = bench.store.copy_to(&mut there).unwrap();
    assert_eq!((carried.games, carried.digest.as_str()), (5, before[15].as_str()));
    assert_eq!(told(&mut there), before);
    assert!(there.fsck().unwrap().ok, "{:?}", there.fsck().unwrap().problems);
    let mut back = Store::open_any(&bench.another_place()).unwrap();
    there.copy_to(&mut back).unwrap();
    assert_eq!(told(&mut back), before);
    assert_eq!(told(&mut bench.store), before, "what it came from is as it was");
}

fn thousands_of_games_move_with_the_same_digest(bench: &mut Bench) {
    many_games_move(bench, 3000);
}

/// A fleet's day or so: `make move-runs`.
#[test]
#[ignore = "a minute or more"]
fn a_hundred_thousand_games_move_to_a_server_and_back() {
    many_games_move(&mut Bench::sqlite(), 100_000);
    if let Some(mut bench) = Bench::postgres() {
        many_games_move(&mut bench, 100_000);
    }
}

fn many_games_move(bench: &mut Bench, games: u64) {
    let record = record(2);
    for first in (0..games).step_by(500) {
        let batch: Vec<_> =
            (first..first + 500).map(|k| game(&bench.uid, "w", k, &record)).collect();
        bench.store.append_games(&batch).unwrap();
    }
    let mut there = elsewhere(bench);
    let began = std::time::Instant::now();
    let carried = bench.store.copy_to(&mut there).unwrap();
    let (from, to) = (bench.store.engine(), there.engine());
    println!("{games} games from {from:?} to {to:?} in {:.1?}", began.elapsed());
    assert_eq!(carried.games, games);
    assert_eq!(there.digest().unwrap(), bench.store.digest().unwrap());
    assert_eq!(there.counts().unwrap(), bench.store.counts().unwrap());
}

fn a_run_is_never_carried_into_another(bench: &mut Bench) {
    bench.fill(2);
    let mut there = elsewhere(bench);
    assert!(matches!(there.copy_to(&mut bench.store), Err(StoreError::NoRun)));
    bench.store.copy_to(&mut there).unwrap();
    let refused = bench.store.copy_to(&mut there).unwrap_err();
    assert!(matches!(refused, StoreError::TargetInUse { .. }), "{refused}");
    assert_eq!(there.counts().unwrap().games, 2);
}

fn a_run_that_moved_goes_on(bench: &mut Bench) {
    live(bench);
    let mut there = elsewhere(bench);
    bench.store.copy_to(&mut there).unwrap();
    // Numbers that the engine gives by itself go on behind those that came along.
    there.add_event("x", "{}").unwrap();
    there.add_network(&network("d", Some("a"), NetworkStatus::Candidate)).unwrap();
    let plan = tengen_store::NewMatch {
        gate_config_json: "{}".into(),
        pairs_planned: 1,
        base: "a".into(),
    };
    let id =
        there.add_candidate(&network("e", Some("d"), NetworkStatus::Candidate), &plan).unwrap();
    assert!(there.matches().unwrap().iter().all(|row| row.id <= id));
    there.submit(&[upload(&bench.uid, "w", 100, &record(1))]).unwrap();
    let waiting = there.take_uploads(0, 99).unwrap();
    assert_eq!(waiting.len(), 2);
    assert_eq!(there.settle_uploads(&waiting, &mut |_, _| Ok(())).unwrap().accepted, 2);
    let last = record(2);
    let appended = there.append_games(&[game(&bench.uid, "w", 101, &last)]).unwrap();
    assert_eq!(appended.last_seq, 8);
    assert!(there.fsck().unwrap().ok);
}
