//! What comes in: games of several workers, and blocks of matches leased and given back.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tengen_record::{EndReason, GameRecord, SearchRecord, Turn};
use tengen_rules::{BoardSize, Color, GameState, Komi, Move, Rules};
use tengen_store::{
    BlockGame, GameId, NetworkStatus, NewMatch, NewNetwork, PROTOCOL, Store, Upload, Upstream,
    WorkerClient, WorkerHello,
};

use crate::AnyError;

/// Games of one call, as a worker's outbox sends them.
pub const BATCH: u64 = 64;
/// Between one lease and the next: twenty a second, as when sixty-four workers ask every two to four seconds.
const LEASE_EVERY: Duration = Duration::from_millis(50);

/// Who sends, and where to.
pub struct Senders<'a> {
    pub url: &'a str,
    pub uid: &'a str,
    /// Begins their names: every phase has workers of its own, whose numbers begin anew.
    pub phase: &'a str,
    pub workers: u64,
    pub payload: &'a [u8],
    /// Games acknowledged so far.
    pub accepted: &'a AtomicU64,
}

impl Senders<'_> {
    /// Hands in games until everybody has sent its share of `games` or `until` has come; with a `pace`, all
    /// together so many a second.
    pub fn send_all(
        &self,
        games: u64,
        pace: Option<u64>,
        until: Option<Instant>,
    ) -> Result<(), AnyError> {
        let pause = pace.map(|pace| (BATCH * self.workers) as f64 / pace as f64);
        std::thread::scope(|scope| {
            let senders: Vec<_> = (0..self.workers)
                .map(|worker| {
                    let name = format!("{}-{worker}", self.phase);
                    // In turn, not in step.
                    let share = worker as f64 / self.workers as f64;
                    let first = Duration::from_secs_f64(pause.unwrap_or(0.0) * share);
                    let pause = pause.map(Duration::from_secs_f64);
                    scope.spawn(move || {
                        std::thread::sleep(first);
                        self.send(&name, games / self.workers, pause, until)
                    })
                })
                .collect();
            for sender in senders {
                sender.join().map_err(|_| "a worker panicked")??;
            }
            Ok(())
        })
    }

    /// What one worker hands in, a batch every `pause`.
    fn send(
        &self,
        name: &str,
        games: u64,
        pause: Option<Duration>,
        until: Option<Instant>,
    ) -> Result<(), AnyError> {
        let mut client = WorkerClient::connect(self.url)?;
        client.register(&hello(name))?;
        let mut due = Instant::now();
        for first in (0..games).step_by(BATCH as usize) {
            if until.is_some_and(|until| Instant::now() >= until) {
                break;
            }
            let batch: Vec<Upload> = (first..(first + BATCH).min(games))
                .map(|counter| Upload {
                    id: GameId::derive(self.uid, name, counter),
                    worker: name.to_owned(),
                    counter,
                    network: "uniform".to_owned(),
                    payload: self.payload.to_vec(),
                    payload_hash: *blake3::hash(self.payload).as_bytes(),
                })
                .collect();
            let told = client.submit(&batch)?;
            self.accepted.fetch_add(told.accepted, Ordering::Relaxed);
            if let Some(pause) = pause {
                due += pause;
                std::thread::sleep(due.saturating_duration_since(Instant::now()));
            }
        }
        Ok(())
    }
}

/// Leases a block and gives it back with a game, again and again; how long each lease took goes to `times`.
pub fn lease_again_and_again(
    url: &str,
    done: &AtomicBool,
    payload: &[u8],
    times: &Mutex<Vec<Duration>>,
) -> Result<(), AnyError> {
    let mut client = WorkerClient::connect(url)?;
    client.register(&hello("gate"))?;
    while !done.load(Ordering::Relaxed) {
        let began = Instant::now();
        let Some(block) = client.lease_block("gate")? else { return Err("no block left".into()) };
        times.lock().map_err(|_| "a thread panicked")?.push(began.elapsed());
        let game = BlockGame {
            pair: block.pairs.start,
            colour: 0,
            payload: payload.to_vec(),
            payload_hash: *blake3::hash(payload).as_bytes(),
        };
        client.finish_block(&block.lease, &[game])?;
        std::thread::sleep(LEASE_EVERY);
    }
    Ok(())
}

fn hello(name: &str) -> WorkerHello {
    WorkerHello {
        name: name.to_owned(),
        host: "here".to_owned(),
        device: "none".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        protocol: PROTOCOL,
    }
}

/// Matches of 200 pairs each, of which a block always lacks a game.
pub fn offer_matches(store: &mut Store, matches: u32) -> Result<(), AnyError> {
    let network = |id: String, status| NewNetwork {
        file: format!("networks/{id}.safetensors"),
        id,
        parent: None,
        step: 0,
        games: 0,
        samples: 0,
        status,
        losses_json: "{}".to_owned(),
    };
    store.add_network(&network("base".to_owned(), NetworkStatus::Best))?;
    for number in 0..matches {
        let plan = NewMatch {
            gate_config_json: "{}".to_owned(),
            pairs_planned: 200,
            base: "base".to_owned(),
        };
        let candidate = network(format!("c{number}"), NetworkStatus::Candidate);
        let id = store.add_candidate(&candidate, &plan)?;
        store.offer_match(id)?;
    }
    Ok(())
}

/// A 9×9 game with as many targets as make it about 2 KB: every third point in turn, then passes.
pub fn game(digest: &str) -> GameRecord {
    let size = BoardSize::square(9).expect("9 is a board size");
    let (rules, komi) =
        (Rules::tromp_taylor(), Komi::from_points(7.5).expect("7.5 points are a komi"));
    let mut state = GameState::new(size, rules, komi);
    let mut turns = Vec::new();
    let points = (0..81).map(|k| (k * 37) % 81).take(60).map(|k| size.move_at(k));
    for (k, mv) in points.chain([Move::Pass, Move::Pass]).enumerate() {
        if state.check(mv).is_err() {
            continue;
        }
        let weight = |action: u16| (u32::from(action) * 7919 + k as u32 * 104_729) as u16 % 97 + 1;
        let actions = (0..27).map(|a| (a * 3 + k as u16 % 3).min(80));
        let policy: Vec<_> =
            actions.filter(|a| state.check(size.move_at(usize::from(*a))).is_ok()).collect();
        let search = (!policy.is_empty()).then(|| SearchRecord {
            policy: policy.into_iter().map(|action| (action, weight(action))).collect(),
            root_value: 0.25,
            visits: 120,
            is_target: true,
            weight: 1.0,
        });
        if state.play(mv).is_ok() {
            turns.push(Turn { mv, search });
        }
    }
    GameRecord {
        size,
        rules,
        komi,
        setup_black: Vec::new(),
        setup_white: Vec::new(),
        first_to_play: Color::Black,
        seed: 1,
        players: ["uniform".to_owned(), "uniform".to_owned()],
        config_digest: digest.to_owned(),
        outcome: state.outcome().expect("two passes end a game"),
        turns,
        end: EndReason::TwoPasses,
    }
}
