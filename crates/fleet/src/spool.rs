//! A worker's folder: its outbox, its networks, and the lock that keeps a second worker out.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tengen_store::{Outbox, OutboxCounts, OutboxGame, StoreError};

use crate::FleetError;

/// The spool folder of one worker process: shared by the thread that plays and the one that ships.
///
/// Finished games go in and stay until the run has acknowledged them. Nothing is ever dropped: a
/// spool over its limit [`is_full`](Self::is_full), and whoever plays then waits.
#[derive(Debug)]
pub struct Spool {
    folder: PathBuf,
    outbox: Mutex<Outbox>,
    worker: String,
    limit: u64,
    waiting: AtomicU64,
    waiting_bytes: AtomicU64,
    /// Held until the process ends, however it ends.
    _lock: File,
}

impl Spool {
    /// Opens the spool in `folder`, making it where needed. `label` begins a new worker's name;
    /// above `limit` bytes of unsent games the spool is full.
    ///
    /// # Errors
    /// [`FleetError::SpoolInUse`] while another process has it; the folder's and the outbox's own.
    pub fn open(folder: &Path, label: &str, limit: u64) -> Result<Self, FleetError> {
        std::fs::create_dir_all(folder.join("networks")).map_err(FleetError::io(folder))?;
        let path = folder.join("worker.lock");
        let lock = File::create(&path).map_err(FleetError::io(&path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(FleetError::SpoolInUse(folder.to_owned()));
            }
            Err(TryLockError::Error(source)) => return Err(FleetError::Io { path, source }),
        }
        let outbox = Outbox::open(&folder.join("outbox.db"), label)?;
        let counts = outbox.counts()?;
        Ok(Self {
            folder: folder.to_owned(),
            worker: outbox.worker().to_owned(),
            outbox: Mutex::new(outbox),
            limit,
            waiting: AtomicU64::new(counts.waiting),
            waiting_bytes: AtomicU64::new(counts.waiting_bytes),
            _lock: lock,
        })
    }

    /// The worker's name for ever.
    #[must_use]
    pub fn worker(&self) -> &str {
        &self.worker
    }

    /// The folder of the networks that are kept here.
    #[must_use]
    pub fn networks(&self) -> PathBuf {
        self.folder.join("networks")
    }

    /// Puts a finished game in; on return it survives a power cut.
    ///
    /// # Errors
    /// [`StoreError::DiskFull`], after which the caller still has the game.
    pub fn push(&self, game: &OutboxGame) -> Result<(), StoreError> {
        let mut outbox = self.outbox();
        outbox.push(std::slice::from_ref(game))?;
        // Under the lock, so that no recount falls between.
        self.waiting.fetch_add(1, Ordering::Relaxed);
        self.waiting_bytes.fetch_add(game.payload.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Games not acknowledged yet.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Whether more bytes wait than the limit says: then play pauses.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.waiting_bytes.load(Ordering::Relaxed) >= self.limit
    }

    /// What the outbox holds.
    ///
    /// # Errors
    /// Only the file's own.
    pub fn counts(&self) -> Result<OutboxCounts, StoreError> {
        self.outbox().counts()
    }

    /// The outbox itself, for one short action.
    pub(crate) fn outbox(&self) -> MutexGuard<'_, Outbox> {
        // A panic elsewhere leaves whole transactions behind.
        self.outbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run has these games.
    pub(crate) fn acknowledge(&self, games: &[OutboxGame]) -> Result<(), StoreError> {
        let counters: Vec<u64> = games.iter().map(|game| game.counter).collect();
        let mut outbox = self.outbox();
        outbox.acknowledge(&counters)?;
        self.leave(games);
        Ok(())
    }

    /// The run will not have this game.
    pub(crate) fn set_aside(&self, game: &OutboxGame, why: &str) -> Result<(), StoreError> {
        let mut outbox = self.outbox();
        outbox.set_aside(game.counter, why)?;
        self.leave(std::slice::from_ref(game));
        Ok(())
    }

    /// Everything sent lately waits again; returns how many games that are.
    pub(crate) fn send_again(&self) -> Result<u64, StoreError> {
        let mut outbox = self.outbox();
        let games = outbox.send_again()?;
        let counts = outbox.counts()?;
        self.waiting.store(counts.waiting, Ordering::Relaxed);
        self.waiting_bytes.store(counts.waiting_bytes, Ordering::Relaxed);
        Ok(games)
    }

    fn leave(&self, games: &[OutboxGame]) {
        let bytes: usize = games.iter().map(|game| game.payload.len()).sum();
        self.waiting.fetch_sub(games.len() as u64, Ordering::Relaxed);
        self.waiting_bytes.fetch_sub(bytes as u64, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(counter: u64) -> OutboxGame {
        OutboxGame { counter, network: "uniform".into(), payload: vec![0; 100] }
    }

    /// As in leela-zero#810: clients that shared a folder sent each other's games.
    #[test]
    fn a_second_worker_on_the_same_folder_is_refused_until_the_first_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let first = Spool::open(folder.path(), "box", 1000).unwrap();
        let refused = Spool::open(folder.path(), "box", 1000).unwrap_err();
        assert!(matches!(refused, FleetError::SpoolInUse(_)), "{refused}");
        assert!(refused.to_string().contains("--spool"));
        let name = first.worker().to_owned();
        drop(first);
        assert_eq!(Spool::open(folder.path(), "box", 1000).unwrap().worker(), name);
    }

    #[test]
    fn a_full_spool_says_so_and_still_takes_what_is_finished() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::open(folder.path(), "box", 250).unwrap();
        for counter in 0..3 {
            assert!(!spool.is_full(), "{counter}");
            spool.push(&game(counter)).unwrap();
        }
        assert!(spool.is_full());
        spool.push(&game(3)).unwrap();
        assert_eq!(spool.waiting(), 4);
        drop(spool);
        let spool = Spool::open(folder.path(), "box", 250).unwrap();
        assert!(spool.is_full(), "also after a restart");
        spool.acknowledge(&[game(0), game(1)]).unwrap();
        assert!(!spool.is_full());
        assert_eq!(spool.send_again().unwrap(), 2);
        assert!(spool.is_full());
    }
}
