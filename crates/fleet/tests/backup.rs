//! A run restored from `pg_dump` on another server: the workers of the one that is gone go on, and what the
//! backup lacks comes back from them.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs::File;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use common::{TestHost, config, plan};
use tengen_fleet::{Connect, Janitor, work};
use tengen_store::testing::PgServer;
use tengen_store::{NewRun, Outbox, Store, Upstream, WorkerClient};

const SCHEMA: &str = "run";

/// What `docs/backup.md` says to do, on a server that has nothing yet.
fn restore(server: &PgServer, dump: &std::path::Path) {
    let done = server
        .client("pg_restore")
        .args(["--no-owner", "--no-privileges", "--exit-on-error", "--dbname=postgres"])
        .stdin(File::open(dump).unwrap())
        .status()
        .unwrap();
    assert!(done.success());
    grant(server);
}

/// The fleet's roles, and a worker's login.
fn grant(server: &PgServer) {
    Store::connect(&server.url(SCHEMA)).unwrap().grant_roles().unwrap();
    let made = server
        .client("psql")
        .args(["-q", "-c", "CREATE ROLE box LOGIN IN ROLE tengen_worker"])
        .status()
        .unwrap();
    assert!(made.success());
}

fn connector(url: &Arc<Mutex<String>>) -> Connect {
    let url = Arc::clone(url);
    Box::new(move || {
        let url = url.lock().unwrap().clone();
        Ok(Box::new(WorkerClient::connect(&url)?) as Box<dyn Upstream>)
    })
}

/// Settles what waits until the run holds `games`.
fn settle_until(store: &mut Store, janitor: &mut Janitor, games: u64) {
    let begun = Instant::now();
    while store.counts().unwrap().games < games {
        janitor.sweep(store, &|_| Ok(plan()), None).unwrap();
        assert!(begun.elapsed() < Duration::from_secs(60), "{games} games do not come");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_run_restored_from_pg_dump_gets_from_its_workers_what_the_backup_lacks() {
    let (Some(old), Some(new)) = (PgServer::start(), PgServer::start()) else { return };
    let mut store = Store::connect(&old.url(SCHEMA)).unwrap();
    let run = NewRun {
        name: "test".into(),
        config_text: String::new(),
        config_digest: "c0ffee".into(),
        seed: 7,
    };
    store.init_run(&run).unwrap();
    grant(&old);
    let url = Arc::new(Mutex::new(old.url_of("box", SCHEMA)));
    let (folder, host, stop) =
        (tempfile::tempdir().unwrap(), TestHost::default(), AtomicBool::new(false));
    let spools = ["known", "stranger"].map(|name| folder.path().join(name));
    let dump = folder.path().join("run.dump");
    let mut janitor = Janitor::default();
    let finished = thread::scope(|scope| {
        let begin = |spool: &std::path::Path| {
            let (config, connect) = (config(spool), connector(&url));
            let (host, stop) = (&host, &stop);
            scope.spawn(move || {
                work(&config, host, connect, &|| stop.load(Ordering::Relaxed)).unwrap()
            })
        };
        let _stop = StopOnDrop(&stop);
        let known = begin(&spools[0]);
        settle_until(&mut store, &mut janitor, 40);
        // In the midst of play.
        let dumped = old
            .client("pg_dump")
            .args(["--format=custom", "--schema", SCHEMA])
            .stdout(Stdio::from(File::create(&dump).unwrap()))
            .status()
            .unwrap();
        assert!(dumped.success());
        // A worker that the backup knows nothing of, and games that it lacks.
        let stranger = begin(&spools[1]);
        let games = store.counts().unwrap().games + 80;
        settle_until(&mut store, &mut janitor, games);
        old.crash().unwrap();

        restore(&new, &dump);
        let mut store = Store::connect(&new.url(SCHEMA)).unwrap();
        let report = store.fsck().unwrap();
        assert!(report.ok, "{:?}", report.problems);
        assert!(store.counts().unwrap().games < games);
        assert_eq!(store.workers().unwrap().len(), 1);
        *url.lock().unwrap() = new.url_of("box", SCHEMA);
        settle_until(&mut store, &mut janitor, games + 40);
        stop.store(true, Ordering::Relaxed);
        let finished = [known, stranger].map(|worker| {
            let report = worker.join().unwrap();
            assert_eq!(report.waiting, 0);
            report.games
        });
        while janitor.sweep(&mut store, &|_| Ok(plan()), None).unwrap().total() > 0 {}
        finished.iter().sum::<u64>()
    });

    let store = Store::connect(&new.url(SCHEMA)).unwrap();
    assert_eq!(store.workers().unwrap().len(), 2, "the stranger introduced itself");
    for spool in &spools {
        let outbox = Outbox::open(&spool.join("outbox.db"), "box").unwrap();
        assert_eq!(outbox.counts().unwrap().refused, 0, "no game was set aside");
    }
    assert_eq!(store.counts().unwrap().games, finished, "every game, each once");
    assert!(store.quarantined(9).unwrap().is_empty());
    assert!(store.fsck().unwrap().ok);
}

/// A failed assertion must not leave workers playing for ever.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
