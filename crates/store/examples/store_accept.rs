//! How many games a second a run on PostgreSQL takes from its workers, every commit synced, and how long
//! leasing a block takes beside an open transaction that reads.
//!
//! `cargo run --release -p tengen-store --features test-server --example store_accept -- [GAMES] [WORKERS] [FOLDER]`
//! starts a server of its own with its data in FOLDER, so server and workers share this machine's cores.
//! First everybody sends as fast as it can; then 1,000 games a second come in while blocks are leased
//! and given back, beside a transaction that stays open.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tengen_record::{EndReason, GameRecord, SearchRecord, Turn, encode};
use tengen_rules::{BoardSize, Color, GameState, Komi, Move, Rules};
use tengen_store::testing::PgServer;
use tengen_store::{
    BlockGame, GameId, NetworkStatus, NewMatch, NewNetwork, NewRun, PROTOCOL, Store, Upload,
    Upstream, WorkerClient, WorkerHello,
};

type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// Games of one call, as a worker's outbox sends them.
const BATCH: u64 = 64;

/// Games a second while leases are timed.
const PACED: u64 = 1000;

fn main() -> Result<(), AnyError> {
    let mut args = std::env::args().skip(1);
    let games: u64 = args.next().map_or(Ok(20_000), |text| text.parse())?;
    let workers: u64 = args.next().map_or(Ok(8), |text| text.parse())?;
    let folder = args.next().map_or_else(std::env::temp_dir, PathBuf::from);
    let Some(server) = PgServer::start_in(&folder) else { return Ok(()) };
    let url = server.url("accept");
    let mut store = Store::connect(&url)?;
    let digest = "c0ffee".to_owned();
    let run = store.init_run(&NewRun {
        name: "accept".to_owned(),
        config_text: String::new(),
        config_digest: digest.clone(),
        seed: 1,
    })?;
    store.grant_roles()?;
    let payload = encode(&game(&digest));
    println!("games of {} bytes, {workers} workers, {BATCH} games a call", payload.len());

    // A reader that keeps its snapshot open for the whole measurement.
    let mut reader =
        postgres::Client::connect(url.split("&schema").next().unwrap_or(&url), postgres::NoTls)?;
    reader.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT * FROM accept.runs")?;

    let began = Instant::now();
    send_all(&url, &run.uid, workers, games, None, &payload)?;
    let took = began.elapsed().as_secs_f64();
    let accepted = store.waiting_uploads()?;
    println!("accepted {accepted} games in {took:.2} s: {:.0} games/s", accepted as f64 / took);

    offer_matches(&mut store, 4)?;
    let done = AtomicBool::new(false);
    let mut leases = std::thread::scope(|scope| {
        let leaser = scope.spawn(|| lease_times(&url, &done, &payload));
        let sent = send_all(&url, &run.uid, workers, games / 2, Some(PACED), &payload);
        done.store(true, Ordering::Relaxed);
        let leases = leaser.join().map_err(|_| "the leasing worker panicked")??;
        sent.map(|()| leases)
    })?;
    leases.sort();
    let at = |share: f64| leases[((leases.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    println!(
        "{} leases while {PACED} games/s came in, beside an open transaction: median {:.1} ms, p99 {:.1} ms",
        leases.len(),
        at(0.5),
        at(0.99)
    );

    let began = Instant::now();
    let mut settled = 0;
    loop {
        let waiting = store.take_uploads(0, 256)?;
        if waiting.is_empty() {
            break;
        }
        settled += store.settle_uploads(&waiting, &mut |_, _| Ok(()))?.accepted;
    }
    let took = began.elapsed().as_secs_f64();
    println!(
        "settled {settled} games, each replayed, in {took:.2} s: {:.0} games/s",
        settled as f64 / took
    );
    reader.batch_execute("ROLLBACK")?;
    Ok(())
}

/// Hands in `games` games from `workers` connections, all together `pace` a second.
fn send_all(
    url: &str,
    uid: &str,
    workers: u64,
    games: u64,
    pace: Option<u64>,
    payload: &[u8],
) -> Result<(), AnyError> {
    std::thread::scope(|scope| {
        let senders: Vec<_> = (0..workers)
            .map(|worker| {
                // Every phase has workers of its own, whose numbers begin anew.
                let name = format!("w{}-{worker}", pace.unwrap_or(0));
                let pause = pace
                    .map(|pace| Duration::from_secs_f64((BATCH * workers) as f64 / pace as f64));
                scope.spawn(move || send(url, uid, &name, games / workers, pause, payload))
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
    url: &str,
    uid: &str,
    name: &str,
    games: u64,
    pause: Option<Duration>,
    payload: &[u8],
) -> Result<(), AnyError> {
    let mut client = WorkerClient::connect(url)?;
    client.register(&hello(name))?;
    let mut due = Instant::now();
    for first in (0..games).step_by(BATCH as usize) {
        let batch: Vec<Upload> = (first..(first + BATCH).min(games))
            .map(|counter| Upload {
                id: GameId::derive(uid, name, counter),
                worker: name.to_owned(),
                counter,
                network: "uniform".to_owned(),
                payload: payload.to_vec(),
                payload_hash: *blake3::hash(payload).as_bytes(),
            })
            .collect();
        client.submit(&batch)?;
        if let Some(pause) = pause {
            due += pause;
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
        }
    }
    Ok(())
}

/// Leases a block and gives it back with a game, again and again.
fn lease_times(url: &str, done: &AtomicBool, payload: &[u8]) -> Result<Vec<Duration>, AnyError> {
    let mut client = WorkerClient::connect(url)?;
    client.register(&hello("gate"))?;
    let mut times = Vec::new();
    while !done.load(Ordering::Relaxed) {
        let began = Instant::now();
        let Some(block) = client.lease_block("gate")? else { return Err("no block left".into()) };
        times.push(began.elapsed());
        let game = BlockGame {
            pair: block.pairs.start,
            colour: 0,
            payload: payload.to_vec(),
            payload_hash: *blake3::hash(payload).as_bytes(),
        };
        client.finish_block(&block.lease, &[game])?;
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(times)
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
fn offer_matches(store: &mut Store, matches: u32) -> Result<(), AnyError> {
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
fn game(digest: &str) -> GameRecord {
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
