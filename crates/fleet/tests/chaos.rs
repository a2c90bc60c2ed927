//! Worker processes against a real PostgreSQL, over a link that cuts every fifth answer; workers are
//! killed -9 and frozen at random, the server crashes, matches are played meanwhile. At the end the run has
//! what was finished, once, and a reader that followed it saw every game once and in order.
#![allow(clippy::unwrap_used)]

mod common;
#[path = "common/proxy.rs"]
mod proxy;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use common::plan;
use common::scene::{Scene, WorkerProcess, finished, network_of, work_if_told};
use proxy::Proxy;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tengen_fleet::{FleetError, Janitor, attend_match};
use tengen_store::{NewMatch, Store, StoreError};

/// Games that may wait for the janitor.
const AHEAD: u64 = 1000;
/// How long a block's lease lasts.
const LEASE: Duration = Duration::from_secs(60);
/// A match that nobody wins: the best network stays, so that no game grows old.
const GATE: &str = r#"{"mode":"fixed","pairs":16,"threshold":1.0,"visits":4,"opening_moves":2}"#;

/// Not a test of its own: a worker process.
#[test]
fn child_works_until_told() {
    work_if_told();
}

struct Plan {
    workers: usize,
    lasting: Duration,
    /// Between one blow and the next, on average; two of three kill, one freezes.
    between: Duration,
    crashes: u32,
    /// The longest that a worker is frozen.
    frost: Duration,
}

/// What befell the workers.
#[derive(Default)]
struct Blows {
    kills: u32,
    frosts: u32,
    /// Of these, those of a worker with a leased block, past its lease.
    holders: u32,
}

/// Follows the games as a trainer does, until the run is over and everything read.
fn read_along(scene: &Scene, over: &AtomicBool) -> Vec<(String, u64)> {
    let (store, mut seen) = (scene.store(), Vec::new());
    loop {
        let last = over.load(Ordering::Acquire);
        let cursor = seen.len() as u64;
        match store.games_in(cursor, cursor + 256) {
            Ok(games) if games.is_empty() && last => return seen,
            Ok(games) => seen.extend(games.into_iter().zip(cursor + 1..).map(|(game, due)| {
                assert_eq!(game.seq, due, "the reader skipped a game or saw one twice");
                (game.worker, game.counter)
            })),
            Err(error) => assert!(error.is_temporary(), "{error}"),
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Janitor, trainer and matchmaker of the run; what they say while the server is down passes.
struct Keeper {
    store: Store,
    janitor: Janitor,
    best: String,
    matches: u32,
    look_at: Instant,
}

impl Keeper {
    /// The trainer keeps up with the janitor, and workers wait while the inbox is full: else sixteen of
    /// them on two cores play faster than one janitor replays.
    fn sweep(&mut self) -> Result<(), FleetError> {
        self.janitor.sweep(&mut self.store, &|_| Ok(plan()), None)?;
        let last = self.store.counts()?.last_seq;
        self.store.set_trained(last)?;
        if Instant::now() >= self.look_at {
            self.look_at = Instant::now() + Duration::from_millis(300);
            attend_match(&mut self.store)?;
        }
        Ok(())
    }

    fn passes(&mut self) {
        let done = self.sweep().and_then(|()| Ok(self.enter_a_match()?));
        match done {
            Err(FleetError::Store(error)) => assert!(error.is_temporary(), "{error}"),
            other => other.unwrap(),
        }
    }

    /// Keeps the run until told to end.
    fn keep(&mut self, ended: &AtomicBool) {
        while !ended.load(Ordering::Acquire) {
            self.passes();
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Whoever is at a match goes on with it; one match follows another.
    fn enter_a_match(&mut self) -> Result<(), StoreError> {
        if !self.store.open_matches()?.is_empty() {
            return Ok(());
        }
        self.matches += 1;
        let bytes = format!("candidate {}", self.matches).into_bytes();
        let candidate = network_of(&bytes, Some(&self.best));
        self.store.put_network_bytes(&candidate.id, &bytes)?;
        let plan =
            NewMatch { gate_config_json: GATE.into(), pairs_planned: 16, base: self.best.clone() };
        self.store.add_candidate(&candidate, &plan).map(drop)
    }
}

/// A worker that holds a block, by its number here.
fn a_holder(store: &Store, children: &[WorkerProcess]) -> Option<usize> {
    let of = |spool: &PathBuf| {
        let db = rusqlite::Connection::open(spool.join("outbox.db")).ok()?;
        db.query_row("SELECT uid FROM worker", [], |row| row.get::<_, String>(0)).ok()
    };
    let open = store.open_matches().ok()?;
    let blocks = store.blocks(open.first()?.id).ok()?;
    let holder = blocks.into_iter().find(|block| block.state == "leased")?.worker;
    children.iter().position(|child| of(&child.spool).as_ref() == Some(&holder))
}

fn chaos(chaos: &Plan) {
    let Some(scene) = Scene::new() else { return };
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| read_along(&scene, &over));
        // Also when an assertion fails: the scope waits for the reader.
        let over = EndOnDrop(&over);
        let told = batter(&scene, chaos);
        drop(over);
        let (store, last) = (scene.store(), scene.store().counts().unwrap().last_seq);
        let stored = store.games_in(0, last).unwrap();
        let seqs: Vec<u64> = stored.iter().map(|game| game.seq).collect();
        assert_eq!(seqs, (1..=last).collect::<Vec<_>>(), "no gaps");
        let stored: Vec<(String, u64)> =
            stored.into_iter().map(|game| (game.worker, game.counter)).collect();
        assert_eq!(reader.join().unwrap(), stored, "the reader saw each game once, in order");
        let spools = (0..chaos.workers).map(|n| scene.folder.path().join(format!("spool{n}")));
        let finished: Vec<_> = spools.flat_map(|spool| finished(&spool)).collect();
        let as_set = |games: &[(String, u64)]| games.iter().cloned().collect::<BTreeSet<_>>();
        assert_eq!(as_set(&stored).len(), stored.len(), "none twice");
        assert_eq!(as_set(&stored), as_set(&finished), "none lost, none invented");
        assert!(stored.len() > chaos.workers, "{} games", stored.len());
        assert!(store.quarantined(10).unwrap().is_empty());
        println!("{told}: {} games, none lost, none twice, each read once", stored.len());
    });
}

struct EndOnDrop<'a>(&'a AtomicBool);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Lets the workers work and the blows fall; at its end nothing is on its way any more. Returns what
/// happened, in words.
fn batter(scene: &Scene, chaos: &Plan) -> String {
    let folder = scene.folder.path();
    let best = scene.first_best(b"base");
    let store = scene.store();
    scene.store().set_ahead_limit(Some(AHEAD)).unwrap();
    let (janitor, look_at) = (Janitor::default(), Instant::now());
    let mut keeper = Keeper { store: scene.store(), janitor, best, matches: 0, look_at };
    let socket = folder.join(".s.PGSQL.5432");
    let proxy = Proxy::new(&socket, &scene.server.folder().join(".s.PGSQL.5432"), 0.2, 1);
    let through_proxy = scene.url_over(folder);
    let spool = |n: usize| folder.join(format!("spool{n}"));
    let mut children: Vec<WorkerProcess> =
        (0..chaos.workers).map(|n| WorkerProcess::start(&through_proxy, &spool(n))).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let begun = Instant::now();
    let (mut blows, mut crashes) = (Blows::default(), 0);
    let mut thaw_at: Vec<Option<Instant>> = vec![None; chaos.workers];
    let mut next_blow = begun + chaos.between;
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        // Blows fall whether or not the keeper is busy.
        let ended = EndOnDrop(&ended);
        scope.spawn(|| keeper.keep(ended.0));
        while begun.elapsed() < chaos.lasting {
            thread::sleep(Duration::from_millis(20));
            for (child, at) in children.iter_mut().zip(&mut thaw_at) {
                if at.is_some_and(|at| Instant::now() >= at) {
                    child.thaw();
                    *at = None;
                }
            }
            if begun.elapsed()
                > chaos.lasting.mul_f64((f64::from(crashes) + 0.5) / f64::from(chaos.crashes))
            {
                crashes += 1;
                scene.server.crash().unwrap();
                thread::sleep(Duration::from_millis(300));
                scene.server.start_again().unwrap();
            }
            if Instant::now() < next_blow {
                continue;
            }
            next_blow = Instant::now() + chaos.between.mul_f64(rng.random_range(0.5..1.5));
            // Nobody is put to sleep past the end, which would wait for him.
            let may_freeze = begun.elapsed() + chaos.frost < chaos.lasting;
            if rng.random_bool(2.0 / 3.0) || !may_freeze {
                let victim = rng.random_range(0..children.len());
                children[victim].kill();
                thaw_at[victim] = None;
                children[victim] = WorkerProcess::start(&through_proxy, &spool(victim));
                blows.kills += 1;
                continue;
            }
            let holder = a_holder(&store, &children);
            let victim = holder.unwrap_or_else(|| rng.random_range(0..children.len()));
            let frost = chaos.frost.mul_f64(rng.random_range(0.2..=1.0));
            let frost = if holder.is_some() && chaos.frost > LEASE { chaos.frost } else { frost };
            children[victim].freeze();
            thaw_at[victim] = Some(Instant::now() + frost);
            blows.frosts += 1;
            blows.holders += u32::from(frost > LEASE && holder.is_some());
        }
    });
    let took = begun.elapsed().as_secs();
    finish(scene, &mut keeper, children, thaw_at);
    let cuts = proxy.cuts.load(Ordering::Relaxed);
    assert!(cuts > 0);
    let verdicts = check_matches(&keeper.store);
    format!(
        "{} workers in {took} s, {} kills, {} freezes ({} of them past a block's lease), {crashes} crashes \
         of the server, {cuts} lost answers, {verdicts} matches with one verdict each",
        chaos.workers, blows.kills, blows.frosts, blows.holders
    )
}

/// The end: everybody finishes, and what is left goes over a link that holds.
fn finish(
    scene: &Scene,
    keeper: &mut Keeper,
    children: Vec<WorkerProcess>,
    thaw_at: Vec<Option<Instant>>,
) {
    // Who sleeps past a lease sleeps to its end, and finds a run that goes on.
    while thaw_at.iter().flatten().any(|at| Instant::now() < *at) {
        keeper.passes();
        thread::sleep(Duration::from_millis(20));
    }
    let spools: Vec<PathBuf> = children.iter().map(|child| child.spool.clone()).collect();
    std::fs::write(scene.folder.path().join("stop"), "").unwrap();
    children.into_iter().for_each(WorkerProcess::join);
    for spool in &spools {
        WorkerProcess::start(&scene.url(), spool).join();
    }
    let begun = Instant::now();
    while keeper.store.waiting_uploads().unwrap() > 0 {
        keeper.passes();
        assert!(begun.elapsed() < Duration::from_secs(60), "the inbox empties");
    }
}

/// Every match but the one in play has a verdict, and none promoted; a slot has one game. Returns how many
/// verdicts there are.
fn check_matches(store: &Store) -> usize {
    let matches = store.matches().unwrap();
    for row in &matches {
        let games = store.match_games(row.id).unwrap();
        let slots: BTreeSet<(u32, u8)> =
            games.iter().map(|game| (game.pair, game.colour)).collect();
        assert_eq!(slots.len(), games.len(), "match {}", row.id);
        assert!(row.promoted != Some(true), "{row:?}");
    }
    let kinds: Vec<String> = store.promotions().unwrap().into_iter().map(|row| row.kind).collect();
    assert_eq!(kinds, ["initial"]);
    assert!(store.open_matches().unwrap().len() <= 1);
    matches.iter().filter(|row| row.verdict.is_some()).count()
}

#[test]
fn kills_freezes_crashes_and_lost_answers_lose_no_game_and_count_none_twice() {
    chaos(&Plan {
        workers: 3,
        lasting: Duration::from_secs(4),
        between: Duration::from_millis(500),
        crashes: 1,
        frost: Duration::from_secs(1),
    });
}

/// `make test-fleet`; `TENGEN_CHAOS_SECONDS` for another length.
#[test]
#[ignore = "ten minutes"]
fn sixteen_workers_ten_minutes_five_crashes() {
    let seconds = std::env::var("TENGEN_CHAOS_SECONDS").map_or(600, |text| text.parse().unwrap());
    chaos(&Plan {
        workers: 16,
        lasting: Duration::from_secs(seconds),
        between: Duration::from_secs(2),
        crashes: 5,
        frost: Duration::from_secs(75),
    });
}
