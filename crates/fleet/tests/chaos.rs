//! Worker processes against a real PostgreSQL, over a link that cuts every fifth answer; workers are
//! killed -9 at random, the server crashes. At the end the run has what was finished, once.
#![allow(clippy::unwrap_used)]

mod common;
#[path = "common/proxy.rs"]
mod proxy;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{TestHost, config, plan};
use proxy::Proxy;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tengen_fleet::{FleetError, Janitor, WorkerConfig, work};
use tengen_store::testing::PgServer;
use tengen_store::{NewRun, Store, Upstream, WorkerClient};

const URL: &str = "TENGEN_CHAOS_URL";
/// Games that may wait for the janitor.
const AHEAD: u64 = 1000;
const SPOOL: &str = "TENGEN_CHAOS_SPOOL";

/// Not a test of its own: what a worker process does until it is killed or finds the file `stop`.
#[test]
fn child_works_until_told() {
    let (Ok(url), Ok(spool)) = (std::env::var(URL), std::env::var(SPOOL)) else { return };
    let stop = Path::new(&spool).with_file_name("stop");
    let connect = Box::new(move || Ok(Box::new(WorkerClient::connect(&url)?) as Box<dyn Upstream>));
    let config = WorkerConfig { rest: Duration::from_secs(20), ..config(Path::new(&spool)) };
    work(&config, &TestHost::default(), connect, &|| stop.exists()).unwrap();
}

/// A worker process on `spool`.
fn spawn(url: &str, spool: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_works_until_told", "--nocapture"])
        .env(URL, url)
        .env(SPOOL, spool)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// Every game that was ever finished in this spool: `(worker, counter)`; none may wait any more.
fn finished(spool: &Path) -> Vec<(String, u64)> {
    let db = rusqlite::Connection::open(spool.join("outbox.db")).unwrap();
    let worker: String = db.query_row("SELECT uid FROM worker", [], |row| row.get(0)).unwrap();
    let waiting: i64 = db
        .query_row("SELECT count(*) FROM games WHERE sent_us IS NULL", [], |row| row.get(0))
        .unwrap();
    assert_eq!(waiting, 0, "{}: unsent or refused games", spool.display());
    let mut query = db.prepare("SELECT counter FROM games").unwrap();
    let counters = query.query_map([], |row| row.get::<_, i64>(0)).unwrap();
    counters.map(|counter| (worker.clone(), counter.unwrap().cast_unsigned())).collect()
}

struct Plan {
    workers: usize,
    kills: u32,
    between: Duration,
    crashes: u32,
}

fn chaos(chaos: &Plan) {
    let Some(server) = PgServer::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let schema = server.fresh_schema();
    let mut store = Store::connect(&server.url(&schema)).unwrap();
    store
        .init_run(&NewRun {
            name: "chaos".into(),
            config_text: String::new(),
            config_digest: "c0ffee".into(),
            seed: 7,
        })
        .unwrap();
    store.set_ahead_limit(Some(AHEAD)).unwrap();
    let socket = folder.path().join(".s.PGSQL.5432");
    let proxy = Proxy::new(&socket, &server.folder().join(".s.PGSQL.5432"), 0.2, 1);
    let url_over = |folder: &Path| {
        format!("postgres:///postgres?host={}&user=tengen&schema={schema}", folder.display())
    };
    let through_proxy = url_over(folder.path());
    let spools: Vec<PathBuf> =
        (0..chaos.workers).map(|n| folder.path().join(format!("spool{n}"))).collect();
    let mut children: Vec<Child> =
        spools.iter().map(|spool| spawn(&through_proxy, spool)).collect();
    let mut janitor = Janitor::default();
    // The trainer keeps up with the janitor, and workers wait while the inbox is full: else sixteen of
    // them on two cores play faster than one janitor replays.
    let mut sweep = |store: &mut Store| -> Result<(), FleetError> {
        janitor.sweep(store, &|_| Ok(plan()), None)?;
        let last = store.counts()?.last_seq;
        Ok(store.set_trained(last)?)
    };
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for kill in 1..=chaos.kills {
        let until = Instant::now() + chaos.between;
        while Instant::now() < until {
            // The server may be down; what was swept stays swept.
            let _ = sweep(&mut store);
            std::thread::sleep(Duration::from_millis(20));
        }
        let victim = rng.random_range(0..children.len());
        children[victim].kill().unwrap();
        children[victim].wait().unwrap();
        children[victim] = spawn(&through_proxy, &spools[victim]);
        if kill % (chaos.kills / chaos.crashes.max(1)).max(1) == 0 {
            server.crash().unwrap();
            std::thread::sleep(Duration::from_millis(300));
            server.start_again().unwrap();
        }
    }
    // The end: everybody finishes, and what is left goes over a link that holds.
    std::fs::write(folder.path().join("stop"), "").unwrap();
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    let direct = url_over(server.folder());
    for spool in &spools {
        assert!(spawn(&direct, spool).wait().unwrap().success());
    }
    let begun = Instant::now();
    while store.waiting_uploads().map_or(true, |waiting| waiting > 0) {
        let _ = sweep(&mut store);
        assert!(begun.elapsed() < Duration::from_secs(60), "the inbox empties");
    }
    let finished: Vec<(String, u64)> = spools.iter().flat_map(|spool| finished(spool)).collect();
    let last = store.counts().unwrap().last_seq;
    let stored = store.games_in(0, last).unwrap();
    let seqs: Vec<u64> = stored.iter().map(|game| game.seq).collect();
    assert_eq!(seqs, (1..=last).collect::<Vec<_>>(), "no gaps");
    let stored: Vec<(String, u64)> =
        stored.into_iter().map(|game| (game.worker, game.counter)).collect();
    let as_set = |games: &[(String, u64)]| games.iter().cloned().collect::<BTreeSet<_>>();
    assert_eq!(as_set(&stored).len(), stored.len(), "none twice");
    assert_eq!(as_set(&stored), as_set(&finished), "none lost, none invented");
    assert!(store.quarantined(10).unwrap().is_empty());
    let cuts = proxy.cuts.load(std::sync::atomic::Ordering::Relaxed);
    assert!(stored.len() > chaos.workers && cuts > 0, "{} games, {cuts} cuts", stored.len());
    println!(
        "{} workers, {} kills, {} crashes of the server, {cuts} lost answers: {} games, none lost, none twice",
        chaos.workers,
        chaos.kills,
        chaos.crashes,
        stored.len()
    );
}

#[test]
fn kills_crashes_and_lost_answers_lose_no_game_and_count_none_twice() {
    let between = Duration::from_millis(700);
    chaos(&Plan { workers: 3, kills: 4, between, crashes: 1 });
}

/// `make test-fleet`.
#[test]
#[ignore = "minutes"]
fn sixteen_workers_forty_kills_five_crashes() {
    let between = Duration::from_secs(3);
    chaos(&Plan { workers: 16, kills: 40, between, crashes: 5 });
}
