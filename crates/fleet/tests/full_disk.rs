//! Disks that fill up: the worker's, and the server's. Nothing is dropped, and everything goes on once there
//! is room again. The disks are small file systems in memory, which only root may mount.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use common::scene::{Scene, WorkerProcess, finished, wait_for, work_if_told};
use common::{Fault, Model, TestHost, config, plan};
use tempfile::TempDir;
use tengen_fleet::{FleetError, Idle, Janitor, Shipper, Spool, WorkerConfig, work};
use tengen_store::testing::PgServer;
use tengen_store::{OutboxGame, StoreError};

/// A busy machine lets a worker of low priority wait.
const PATIENCE: Duration = Duration::from_secs(180);

/// Not a test of its own: a worker process.
#[test]
fn child_works_until_told() {
    work_if_told();
}

/// A file system of some megabytes, gone with the test.
struct Disk(TempDir);

impl Disk {
    /// `None`, with a line, where mounting is refused.
    fn new(megabytes: u32) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let size = format!("size={megabytes}m,mode=0777");
        let args = ["-t", "tmpfs", "-o", &size, "tengen-test"];
        let mounted = Command::new("mount").args(args).arg(folder.path()).output();
        match mounted {
            Ok(done) if done.status.success() => Some(Self(folder)),
            other => {
                let why = other.map(|done| String::from_utf8_lossy(&done.stderr).into_owned());
                eprintln!("SKIPPED: a full disk: mount: {why:?}");
                None
            }
        }
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Fills the disk but for some kilobytes, with a file that [`make_room`](Self::make_room) deletes.
    fn fill(&self, left: u64) {
        let free = self.free().saturating_sub(left);
        match fs::write(self.ballast(), vec![0; (free * 1024) as usize]) {
            // Somebody else was quicker: just as full.
            Err(error) if error.kind() == std::io::ErrorKind::StorageFull => {}
            written => written.unwrap(),
        }
    }

    fn make_room(&self) {
        fs::remove_file(self.ballast()).unwrap();
    }

    fn ballast(&self) -> PathBuf {
        self.path().join("ballast")
    }

    /// Free kilobytes.
    fn free(&self) -> u64 {
        let told =
            Command::new("df").args(["--output=avail", "-k"]).arg(self.path()).output().unwrap();
        let told = String::from_utf8(told.stdout).unwrap();
        told.lines().last().unwrap().trim().parse().unwrap()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Lazily: a process may have just ended on it.
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}

/// Lets a worker play into a spool on `disk` for a run that is away, until it says that the disk is full.
#[test]
fn a_full_spool_disk_pauses_play_drops_nothing_and_goes_on_when_there_is_room() {
    let Some(disk) = Disk::new(16) else { return };
    let (model, host) = (Model::default(), TestHost::default());
    let config = WorkerConfig { rest: PATIENCE, ..config(&disk.path().join("spool")) };
    let stop = AtomicBool::new(false);
    let report = thread::scope(|scope| {
        let worker = scope.spawn(|| {
            work(&config, &host, model.connect(), &|| stop.load(Ordering::Relaxed)).unwrap()
        });
        let _stop = StopOnDrop(&stop);
        model.wait_until("games", |run| run.games.len() > 5);
        model.run(|run| run.faults.extend([Some(Fault::Away); 10_000]));
        disk.fill(64);
        // No play at all for a while: the disk is full, and whoever played waits.
        let counters = || {
            let path = config.spool.join("outbox.db");
            let db = rusqlite::Connection::open(path).unwrap();
            db.query_row("SELECT next_counter FROM worker", [], |row| row.get::<_, u64>(0)).unwrap()
        };
        let mut last = (counters(), std::time::Instant::now());
        wait_for("a full disk", PATIENCE, || {
            let now = counters();
            if now != last.0 {
                last = (now, std::time::Instant::now());
            }
            last.1.elapsed() > Duration::from_millis(800) && disk.free() <= 24
        });
        let before = last.0;
        disk.make_room();
        wait_for("play after there is room", PATIENCE, || counters() > before + 10);
        model.run(|run| run.faults.clear());
        // A link that found the run away so often may wait for a minute before it asks again.
        wait_for("everything", PATIENCE, || model.run(|run| run.games.len() as u64) > before + 10);
        stop.store(true, Ordering::Relaxed);
        worker.join().unwrap()
    });
    let seconds = report.idle.iter().find(|(idle, _)| *idle == Idle::DiskFull);
    assert!(seconds.is_some_and(|(_, seconds)| *seconds > 0.5), "{report:?}");
    assert_eq!(report.waiting, 0);
    model.run(|run| {
        assert_eq!((run.games.len() as u64, run.quarantined), (report.games, 0));
    });
}

/// To note that a game was sent takes room too; without any kept for it, games would never leave.
#[test]
fn games_leave_a_disk_that_is_full_to_the_last_byte_also_after_a_restart() {
    for restarts in [false, true] {
        let Some(disk) = Disk::new(3) else { return };
        let folder = disk.path().join("spool");
        let mut spool = Spool::open(&folder, "box", u64::MAX).unwrap();
        let mut model = Model::default();
        let mut shipper = Shipper::new("0123");
        let push = |spool: &Spool, counter: u64| {
            // Of a length at which every game has a page of its own.
            let payload = [&counter.to_le_bytes()[..], &[7; 3000]].concat();
            spool.push(&OutboxGame { counter, network: "uniform".into(), payload })
        };
        push(&spool, 0).unwrap();
        while !shipper.ship(&spool, &mut model).unwrap().is_nothing() {}
        let full = (1..).find(|&counter| push(&spool, counter).is_err()).unwrap();
        disk.fill(0);
        assert!(full > 100, "{full}");
        assert!(matches!(push(&spool, full), Err(StoreError::DiskFull)));
        if restarts {
            drop(spool);
            spool = Spool::open(&folder, "box", u64::MAX).unwrap();
            shipper = Shipper::new("0123");
        }
        while !shipper.ship(&spool, &mut model).unwrap().is_nothing() {}
        assert_eq!(spool.waiting(), 0);
        model.run(|run| assert_eq!(run.games.len() as u64, full));
        disk.make_room();
        push(&spool, full).unwrap();
    }
}

struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The server's disk fills up in the middle of it all; a server that dies of that is started again, as
/// a service manager does, once there is room.
#[test]
fn a_full_server_disk_loses_no_game_and_counts_none_twice() {
    let Some(disk) = Disk::new(160) else { return };
    let Some(server) = PgServer::start_in(disk.path()) else { return };
    let scene = Scene::on(server);
    scene.store().set_ahead_limit(None).unwrap();
    let spools: Vec<PathBuf> =
        (0..2).map(|n| scene.folder.path().join(format!("spool{n}"))).collect();
    let workers: Vec<WorkerProcess> =
        spools.iter().map(|spool| WorkerProcess::start(&scene.url(), spool)).collect();
    let (mut store, mut janitor) = (scene.store(), Janitor::default());
    let mut sweep =
        |store: &mut tengen_store::Store| match janitor.sweep(store, &|_| Ok(plan()), None) {
            Ok(swept) => swept.total(),
            // Also a disk that is full passes.
            Err(FleetError::Store(error)) if error.is_temporary() => 0,
            Err(error) => panic!("{error}"),
        };
    wait_for("games", PATIENCE, || {
        sweep(&mut store);
        store.counts().unwrap().games > 20
    });
    disk.fill(0);
    let waiting = || -> i64 {
        let of = |spool: &PathBuf| {
            let db = rusqlite::Connection::open(spool.join("outbox.db")).unwrap();
            let sql = "SELECT count(*) FROM games WHERE sent_us IS NULL AND refused IS NULL";
            db.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap()
        };
        spools.iter().map(of).sum()
    };
    // Inserts fail, or the server is dead: games stay with the workers, who play on.
    wait_for("games that wait in the spools", PATIENCE, || {
        sweep(&mut store);
        waiting() > 600
    });
    disk.make_room();
    let _ = scene.server.crash();
    scene.server.start_again().unwrap();
    fs::write(scene.folder.path().join("stop"), "").unwrap();
    workers.into_iter().for_each(WorkerProcess::join);
    // What is left: a worker may have been told to wait for a minute.
    for spool in &spools {
        WorkerProcess::start(&scene.url(), spool).join();
    }
    wait_for("an empty inbox", PATIENCE, || {
        sweep(&mut store);
        store.waiting_uploads().unwrap() == 0
    });
    let mut finished: Vec<_> = spools.iter().flat_map(|spool| finished(spool)).collect();
    let last = store.counts().unwrap().last_seq;
    let stored = store.games_in(0, last).unwrap();
    assert_eq!(stored.len() as u64, last, "no gaps");
    let mut stored: Vec<_> = stored.into_iter().map(|game| (game.worker, game.counter)).collect();
    finished.sort();
    stored.sort();
    assert_eq!(stored, finished, "none lost, none twice");
    assert!(store.quarantined(9).unwrap().is_empty());
    assert!(store.fsck().unwrap().ok);
}
