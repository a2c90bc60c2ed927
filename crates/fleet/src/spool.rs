//! A worker's folder: its outbox, its networks, and the lock that keeps a second worker out.

use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tengen_store::{Outbox, OutboxCounts, OutboxGame, StoreError};

use crate::FleetError;

/// Bytes kept free on the disk for what lets games leave: to note that a game was sent takes room too. Enough
/// for the outbox to take in its log.
const RESERVE: usize = 768 * 1024;
/// The file that holds it.
const RESERVE_FILE: &str = "reserve";
/// Games noted as sent in one step on a full disk: their pages fit into the reserve.
const FEW: usize = 16;

/// The spool folder of one worker process: shared by the thread that plays and the one that ships.
///
/// Finished games go in and stay until the run has acknowledged them. Nothing is ever dropped: a
/// spool over its limit [`is_full`](Self::is_full), and whoever plays then waits. On a disk that is full to the
/// last byte games still leave: a file in the folder holds some room, is deleted when they need it, and
/// comes back before the next game goes in.
#[derive(Debug)]
pub struct Spool {
    folder: PathBuf,
    outbox: Mutex<Outbox>,
    worker: String,
    limit: u64,
    waiting: AtomicU64,
    waiting_bytes: AtomicU64,
    /// Whether the file that holds room is there, whole.
    reserved: AtomicBool,
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
        let (path, reserve) = (folder.join("outbox.db"), folder.join(RESERVE_FILE));
        let outbox = match Outbox::open(&path, label) {
            // Its log needs room before anything can leave.
            Err(StoreError::DiskFull) if std::fs::remove_file(&reserve).is_ok() => {
                Outbox::open(&path, label)?
            }
            told => told?,
        };
        let reserved = reserve.metadata().is_ok_and(|file| file.len() == RESERVE as u64);
        let counts = outbox.counts()?;
        let spool = Self {
            folder: folder.to_owned(),
            worker: outbox.worker().to_owned(),
            outbox: Mutex::new(outbox),
            limit,
            waiting: AtomicU64::new(counts.waiting),
            waiting_bytes: AtomicU64::new(counts.waiting_bytes),
            reserved: AtomicBool::new(reserved),
            _lock: lock,
        };
        // On a full disk it comes later.
        spool.reserve();
        Ok(spool)
    }

    /// Holds room for what lets games leave; false where there is none.
    fn reserve(&self) -> bool {
        if self.reserved.load(Ordering::Relaxed) {
            return true;
        }
        let path = self.folder.join(RESERVE_FILE);
        let made = File::create(&path).and_then(|mut file| {
            // Not zeros alone: a disk that compresses would hold no room.
            let mut noise = vec![0; RESERVE];
            blake3::Hasher::new().finalize_xof().fill(&mut noise);
            file.write_all(&noise)?;
            file.sync_all()
        });
        if made.is_err() {
            // Part of it is worth nothing here, and room elsewhere.
            let _ = std::fs::remove_file(&path);
        }
        self.reserved.store(made.is_ok(), Ordering::Relaxed);
        made.is_ok()
    }

    /// Lets go of that room; false where it was gone already.
    fn release(&self) -> bool {
        self.reserved.swap(false, Ordering::Relaxed)
            && std::fs::remove_file(self.folder.join(RESERVE_FILE)).is_ok()
    }

    /// Something that lets games leave: where the disk is full, with the room held for it.
    fn settle<T>(
        &self,
        outbox: &mut Outbox,
        act: impl Fn(&mut Outbox) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match act(outbox) {
            Err(StoreError::DiskFull) if self.release() => act(outbox),
            told => told,
        }
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
        if !self.reserve() {
            return Err(StoreError::DiskFull);
        }
        self.put(&mut outbox, game)
    }

    /// [`push`](Self::push) for a worker that ends: on a full disk it takes the room held back.
    ///
    /// # Errors
    /// [`StoreError::DiskFull`] where that is not enough.
    pub(crate) fn push_last(&self, game: &OutboxGame) -> Result<(), StoreError> {
        let mut outbox = self.outbox();
        self.settle(&mut outbox, |outbox| self.put(outbox, game))
    }

    fn put(&self, outbox: &mut Outbox, game: &OutboxGame) -> Result<(), StoreError> {
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
        if self.reserved.load(Ordering::Relaxed) {
            match outbox.acknowledge(&counters) {
                Err(StoreError::DiskFull) => self.release(),
                told => {
                    told?;
                    self.leave(games);
                    return Ok(());
                }
            };
        }
        // A few games at a time, each time from an empty log: their pages fit into the room that was held.
        for (games, counters) in games.chunks(FEW).zip(counters.chunks(FEW)) {
            outbox.empty_log()?;
            outbox.acknowledge(counters)?;
            self.leave(games);
        }
        Ok(())
    }

    /// The run will not have this game.
    pub(crate) fn set_aside(&self, game: &OutboxGame, why: &str) -> Result<(), StoreError> {
        let mut outbox = self.outbox();
        self.settle(&mut outbox, |outbox| outbox.set_aside(game.counter, why))?;
        self.leave(std::slice::from_ref(game));
        Ok(())
    }

    /// [`Outbox::ask`].
    pub(crate) fn ask(&self) -> Result<bool, StoreError> {
        self.settle(&mut self.outbox(), Outbox::ask)
    }

    /// [`Outbox::asked`].
    pub(crate) fn asked(&self) -> Result<(), StoreError> {
        self.settle(&mut self.outbox(), Outbox::asked)
    }

    /// [`Outbox::forget_sent`].
    pub(crate) fn forget_sent(&self, age: Duration) -> Result<u64, StoreError> {
        self.settle(&mut self.outbox(), |outbox| outbox.forget_sent(age))
    }

    /// Everything sent lately waits again; returns how many games that are.
    pub(crate) fn send_again(&self) -> Result<u64, StoreError> {
        let mut outbox = self.outbox();
        let games = self.settle(&mut outbox, Outbox::send_again)?;
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
