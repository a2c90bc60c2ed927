//! Two matchmakers at once, with the lease and without: each match has one verdict, the one that its games
//! ask for, and each promotion moves the best network once.
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use common::scene::{Scene, hello};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tengen_evaluator::{GateConfig, Tally, Verdict, decide};
use tengen_fleet::{FleetError, MatchEnd, attend_match};
use tengen_record::{EndReason, GameRecord, Turn, encode};
use tengen_rules::{BoardSize, Color, GameState, Komi, Move, Rules};
use tengen_store::{Block, BlockGame, Store, StoreError, Upstream};

const PAIRS: u32 = 4;
const GATE: &str = r#"{"mode":"fixed","pairs":4,"threshold":0.6,"visits":4}"#;
/// How long a matchmaker's lease lasts here.
const LEASE: Duration = Duration::from_millis(150);

/// A 5×5 game that `winner` wins by the whole board: a stone of its own, and passes.
fn won_by(winner: Color, stone: usize, players: [&str; 2]) -> GameRecord {
    let size = BoardSize::square(5).unwrap();
    let (rules, komi) = (Rules::tromp_taylor(), Komi::from_points(0.5).unwrap());
    let stone = size.move_at(stone);
    let moves = match winner {
        Color::Black => vec![stone, Move::Pass, Move::Pass],
        Color::White => vec![Move::Pass, stone, Move::Pass, Move::Pass],
    };
    let mut state = GameState::new(size, rules, komi);
    moves.iter().for_each(|&mv| state.play(mv).unwrap());
    GameRecord {
        size,
        rules,
        komi,
        setup_black: Vec::new(),
        setup_white: Vec::new(),
        first_to_play: Color::Black,
        seed: 1,
        players: players.map(str::to_owned),
        config_digest: "c0ffee".into(),
        turns: moves.into_iter().map(|mv| Turn { mv, search: None }).collect(),
        outcome: state.outcome().unwrap(),
        end: EndReason::TwoPasses,
    }
}

/// The games of a block in which the candidate wins everything or nothing.
fn script(block: &Block, wins: bool) -> Vec<BlockGame> {
    let slots = block.pairs.clone().flat_map(|pair| [(pair, 0), (pair, 1)]);
    let game = |(pair, colour)| {
        let (candidate, base) = (block.candidate.as_str(), block.base.as_str());
        let players = if colour == 0 { [candidate, base] } else { [base, candidate] };
        let winner = if wins == (colour == 0) { Color::Black } else { Color::White };
        // Another point for each pair, as repeated pairs have no say.
        let payload = encode(&won_by(winner, pair as usize, players));
        let payload_hash = *blake3::hash(&payload).as_bytes();
        BlockGame { pair, colour, payload, payload_hash }
    };
    slots.filter(|slot| !block.done.contains(slot)).map(game).collect()
}

/// What one matchmaker did.
#[derive(Debug, Default)]
struct Done {
    ends: Vec<(i64, MatchEnd)>,
    /// Times that it found itself without the lease in the middle of its work.
    lost: u32,
}

/// Attends matches, and hesitates at random in the middle of it, until `over`.
fn matchmaker(scene: &Scene, name: &str, leased: bool, over: &AtomicBool) -> Done {
    let mut store = scene.store();
    let mut rng = ChaCha8Rng::seed_from_u64(blake3::hash(name.as_bytes()).as_bytes()[0].into());
    let mut done = Done::default();
    while !over.load(Ordering::Relaxed) {
        if leased {
            let Some(lease) = store.acquire("matchmaker", name, LEASE).unwrap() else {
                thread::sleep(Duration::from_millis(5));
                continue;
            };
            store.fence_with(Some(lease));
        }
        // Some rounds on one lease, with a nap now and then that outlasts it.
        for _ in 0..20 {
            let nap =
                if leased && rng.random_bool(0.02) { 2 * LEASE } else { Duration::from_millis(2) };
            thread::sleep(nap);
            match attend_match(&mut store) {
                Ok(round) => {
                    let end = round.and_then(|round| Some((round.match_id, round.end?)));
                    done.ends.extend(end);
                }
                Err(FleetError::Store(StoreError::LeaseLost { .. })) => {
                    done.lost += 1;
                    break;
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
    done
}

/// Plays whatever block is offered as `wins` says of its candidate.
fn player(scene: &Scene, wins: &Mutex<BTreeMap<String, bool>>, over: &AtomicBool) {
    let mut client = scene.client();
    client.register(&hello("player")).unwrap();
    while !over.load(Ordering::Relaxed) {
        match client.lease_block("player").unwrap() {
            None => thread::sleep(Duration::from_millis(2)),
            Some(block) => {
                let wins = wins.lock().unwrap()[&block.candidate];
                client.finish_block(&block.lease, &script(&block, wins)).unwrap();
            }
        }
    }
}

/// `matches` matches, entered two at a time against the best network of the moment, so that now and then
/// one is decided whose base has just fallen.
fn decide_by_two(matches: u32, leased: bool) {
    let Some(scene) = Scene::new() else { return };
    let first = scene.first_best(b"base");
    let (over, wins) = (AtomicBool::new(false), Mutex::new(BTreeMap::new()));
    let begun = Instant::now();
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let entered = AtomicU32::new(0);
    let done = thread::scope(|scope| {
        let over = OverOnDrop(&over);
        let makers =
            ["one", "other"].map(|name| scope.spawn(|| matchmaker(&scene, name, leased, over.0)));
        scope.spawn(|| player(&scene, &wins, over.0));
        let store = scene.store();
        while entered.load(Ordering::Relaxed) < matches {
            if makers.iter().any(|maker| maker.is_finished()) {
                break;
            }
            if !store.open_matches().unwrap().is_empty() {
                thread::sleep(Duration::from_millis(2));
                continue;
            }
            let best = store.best().unwrap().unwrap().id;
            for _ in 0..2 {
                let name = format!("candidate {}", entered.fetch_add(1, Ordering::Relaxed));
                let id = blake3::hash(name.as_bytes()).to_hex().to_string();
                wins.lock().unwrap().insert(id, rng.random_bool(0.4));
                scene.candidate(name.as_bytes(), &best, GATE, PAIRS);
            }
        }
        while !store.open_matches().unwrap().is_empty()
            && !makers.iter().any(|maker| maker.is_finished())
        {
            thread::sleep(Duration::from_millis(2));
        }
        drop(over);
        makers.map(|maker| maker.join().unwrap())
    });
    check(&scene.store(), &first, matches, &done, &wins.into_inner().unwrap());
    let (promoted, lost) = (
        scene.store().promotions().unwrap().len() - 1,
        done.iter().map(|maker| maker.lost).sum::<u32>(),
    );
    println!(
        "two matchmakers {} the lease, {matches} matches in {:.0} s: one verdict each, {promoted} promotions, \
         {lost} rounds of a matchmaker that had lost its lease",
        if leased { "with" } else { "without" },
        begun.elapsed().as_secs_f64()
    );
}

struct OverOnDrop<'a>(&'a AtomicBool);

impl Drop for OverOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn check(
    store: &Store,
    first: &str,
    matches: u32,
    done: &[Done; 2],
    wins: &BTreeMap<String, bool>,
) {
    let rows = store.matches().unwrap();
    assert_eq!(rows.len(), matches as usize);
    // What the two say they concluded is every match, once.
    let mut ends: Vec<_> = done.iter().flat_map(|maker| maker.ends.iter().cloned()).collect();
    ends.sort_by_key(|(id, _)| *id);
    let concluded: Vec<i64> = ends.iter().map(|(id, _)| *id).collect();
    assert_eq!(concluded, rows.iter().map(|row| row.id).collect::<Vec<_>>(), "one verdict each");
    let gate: GateConfig = serde_json::from_str(GATE).unwrap();
    let mut promoted = Vec::new();
    for (row, (_, end)) in rows.iter().zip(&ends) {
        let detail: serde_json::Value =
            serde_json::from_str(row.detail_json.as_ref().unwrap()).unwrap();
        if let MatchEnd::Void(why) = end {
            assert_eq!((row.verdict.as_deref(), row.promoted), (Some("void"), Some(false)));
            assert!(why.contains("is the best network now"), "{why}");
            assert_ne!(
                promoted.last().map_or(first, |(_, to): &(i64, String)| to.as_str()),
                row.base
            );
            continue;
        }
        let tally: Tally = serde_json::from_value(detail).unwrap();
        let promote = decide(&tally, &gate) == Verdict::Promote;
        assert_eq!(promote, wins[&row.candidate], "match {}: {tally:?}", row.id);
        assert_eq!(row.promoted, Some(promote));
        assert_eq!(*end == MatchEnd::Promoted, promote);
        let games = store.match_games(row.id).unwrap();
        let points: f32 = games.iter().map(|game| game.points).sum();
        assert_eq!((games.len(), points), (8, if promote { 8.0 } else { 0.0 }));
        if promote {
            promoted.push((row.id, row.candidate.clone()));
        }
    }
    // The best network's history: each match that says so, once, from the base that it was played against.
    let history = store.promotions().unwrap();
    let moves: Vec<_> =
        history[1..].iter().map(|row| (row.match_id.unwrap(), row.network.clone())).collect();
    assert_eq!(moves, promoted, "promotions are the matches that say so");
    for pair in history.windows(2) {
        assert_eq!(pair[1].previous.as_ref(), Some(&pair[0].network));
    }
    assert_eq!(store.best().unwrap().unwrap().id, history.last().unwrap().network);
    assert!(store.quarantined(9).unwrap().is_empty());
    assert!(store.fsck().unwrap().ok);
}

#[test]
fn two_matchmakers_give_each_match_one_verdict() {
    decide_by_two(20, false);
    decide_by_two(20, true);
}

#[test]
#[ignore = "a minute"]
fn two_matchmakers_over_two_hundred_matches() {
    decide_by_two(200, false);
    decide_by_two(200, true);
}
