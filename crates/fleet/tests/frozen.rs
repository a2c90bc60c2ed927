//! A worker process that sleeps past the lease of its block: another plays it, and what the sleeper hands in
//! after it woke is refused. Weights that come torn or corrupted from a real server.
#![allow(clippy::unwrap_used)]

mod common;

use std::time::Duration;

use common::plan;
use common::scene::{Scene, WorkerProcess, hello, wait_for, work_if_told};
use tengen_fleet::{Janitor, MatchEnd, attend_match, play_block};
use tengen_inference::UniformEvaluator;
use tengen_store::{BlockRow, Upstream};

/// A busy machine lets a worker of low priority wait.
const PATIENCE: Duration = Duration::from_secs(180);
/// One block of eight pairs, which take a while; equals score near a half, far above the threshold.
const GATE: &str = r#"{"mode":"fixed","pairs":8,"threshold":0.1,"visits":1500,"opening_moves":2}"#;

/// Not a test of its own: a worker process.
#[test]
fn child_works_until_told() {
    work_if_told();
}

/// Lets a worker process freeze in the middle of a block; `run_out` sees to it that its lease does.
fn a_sleeper_comes_too_late(run_out: fn(&Scene)) {
    let Some(scene) = Scene::new() else { return };
    let base = scene.first_best(b"base");
    let (id, candidate) = scene.candidate(b"candidate", &base, GATE, 8);
    let mut store = scene.store();
    store.offer_match(id).unwrap();
    let the_block = || -> BlockRow { scene.store().blocks(id).unwrap().remove(0) };

    let mut sleeper = WorkerProcess::start(&scene.url(), &scene.folder.path().join("spool"));
    wait_for("a lease", PATIENCE, || the_block().state == "leased");
    sleeper.freeze();
    let asleep = the_block();
    assert_eq!((asleep.state.as_str(), asleep.epoch), ("leased", 1), "frozen in the middle of it");
    assert!(store.take_match_uploads(99).unwrap().is_empty());
    run_out(&scene);

    let mut other = scene.client();
    let run = other.register(&hello("other")).unwrap();
    let block = other.lease_block("other").unwrap().expect("the lease ran out");
    assert_eq!((block.lease.match_id, block.lease.block, block.lease.epoch), (id, 0, 2));
    assert!(block.done.is_empty());

    // It wakes, and goes back to self-play once it has heard that the block is gone, or handed it in.
    let games = || scene.store().workers().unwrap().iter().map(|w| w.counts.games).sum::<u64>();
    let before = games();
    sleeper.thaw();
    wait_for("self-play after the block", PATIENCE, || games() > before + 5);
    assert!(store.take_match_uploads(99).unwrap().is_empty(), "nothing late was kept");
    let now = the_block();
    assert_eq!((now.state.as_str(), now.worker.as_str(), now.epoch), ("leased", "other", 2));

    let players = vec![[Box::new(UniformEvaluator) as _, Box::new(UniformEvaluator) as _]];
    let played = play_block(&block, &run, &plan(), players, &|| false).unwrap();
    assert_eq!(played.len(), 16);
    assert!(other.finish_block(&block.lease, &played).unwrap());
    let round = attend_match(&mut store).unwrap().unwrap();
    assert_eq!(round.end, Some(MatchEnd::Promoted), "{round:?}");
    assert_eq!(store.match_games(id).unwrap().len(), 16);
    // Again, and by the sleeper's old proof.
    assert!(!other.finish_block(&block.lease, &played).unwrap());
    assert!(attend_match(&mut store).unwrap().is_none());
    let moves = store.promotions().unwrap();
    let moves: Vec<_> = moves.iter().map(|row| (row.kind.as_str(), row.network.as_str())).collect();
    assert_eq!(moves, [("initial", base.as_str()), ("match", candidate.as_str())], "one promotion");
    assert!(store.quarantined(9).unwrap().is_empty());
    std::fs::write(scene.folder.path().join("stop"), "").unwrap();
    sleeper.join();
}

#[test]
fn a_worker_asleep_past_its_lease_comes_too_late() {
    a_sleeper_comes_too_late(|scene| scene.sql("UPDATE match_blocks SET until_us = 1"));
}

/// The same with the lease as it is.
#[test]
#[ignore = "a minute and more"]
fn a_worker_asleep_for_ninety_seconds_comes_too_late() {
    a_sleeper_comes_too_late(|_| std::thread::sleep(Duration::from_secs(90)));
}

/// Whatever the server hands out under a network's hash, no game is played by other weights.
#[test]
fn torn_and_corrupted_weights_play_no_game() {
    let Some(scene) = Scene::new() else { return };
    let first: Vec<u8> = (0..3_000_000_u32).map(|k| (k % 251) as u8).collect();
    let best = scene.first_best(&first);
    let mut worker = WorkerProcess::start(&scene.url(), &scene.folder.path().join("spool"));
    let (mut store, mut janitor) = (scene.store(), Janitor::default());
    let mut games_of = |network: &str| {
        janitor.sweep(&mut store, &|_| Ok(plan()), None).unwrap();
        let count = "SELECT count(*) FROM games WHERE network = $1";
        let of: i64 = scene.raw().query_one(count, &[&network]).unwrap().get(0);
        of
    };
    wait_for("games of the first", PATIENCE, || games_of(&best) > 5);
    let damages = [
        (
            "a bit",
            "UPDATE network_chunks SET bytes = set_bit(bytes, 7, 1 - get_bit(bytes, 7)) WHERE chunk = 1 AND hash = ",
        ),
        (
            "a chunk's end",
            "UPDATE network_chunks SET bytes = substr(bytes, 1, 1000) WHERE chunk = 2 AND hash = ",
        ),
        ("the last chunk", "DELETE FROM network_chunks WHERE chunk = 2 AND hash = "),
        ("a chunk between", "DELETE FROM network_chunks WHERE chunk = 1 AND hash = "),
        ("everything", "DELETE FROM network_chunks WHERE hash = "),
    ];
    for (what, sql) in damages {
        let bytes: Vec<u8> = first.iter().chain(what.as_bytes()).copied().collect();
        let next = scene.network(&bytes, Some(&best));
        scene.sql(&format!("{sql}'{}'", next.id));
        let mut keeper = scene.store();
        keeper.add_network(&next).unwrap();
        keeper.promote_by_hand(&next.id, "test", what).unwrap();
        // It plays on with the first, as the run would not take games of the damaged one.
        let before = games_of(&best);
        wait_for("more games of the first", PATIENCE, || games_of(&best) > before + 20);
        assert_eq!(games_of(&next.id), 0, "{what}");
        keeper.rollback(tengen_store::Rollback::Pointer, "test", "back").unwrap();
    }
    let sound = scene.network(b"sound", Some(&best));
    let mut keeper = scene.store();
    keeper.add_network(&sound).unwrap();
    keeper.promote_by_hand(&sound.id, "test", "sound").unwrap();
    wait_for("games of a sound one", PATIENCE, || games_of(&sound.id) > 5);
    assert!(!worker.is_gone());
    std::fs::write(scene.folder.path().join("stop"), "").unwrap();
    worker.join();
}
