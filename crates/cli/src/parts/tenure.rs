//! One trainer a run, wherever it runs: the lease `trainer` of a run on a server.
//!
//! In a folder the lock of the part does that. On a server whoever comes second waits for the lease: a
//! standby that takes over a minute after the trainer before it was last heard of. A trainer that slept
//! through its lease can write nothing any more: every write shows the lease first.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use tengen_store::{Engine, Lease, Store, StoreError};

use crate::run_dir::RunDir;
use crate::stop::Stop;

/// The lease's name.
const NAME: &str = "trainer";
/// How long it lasts without a sign of life.
const LASTS: Duration = Duration::from_secs(60);
/// Between two signs of life.
const BEAT: Duration = Duration::from_secs(15);
/// How often a standby looks whether the lease is free, and a heart whether it may stop.
const LOOK: Duration = Duration::from_millis(500);

/// The lease while this process holds it: kept alive by a thread of its own, as a turn of training may take
/// longer than it lasts. Given back when dropped.
pub struct Tenure {
    lease: Lease,
    over: Arc<AtomicBool>,
    lost: Arc<AtomicBool>,
    heart: Option<JoinHandle<()>>,
}

impl Tenure {
    /// Takes the lease of a run on a server, waiting while another process holds it, and fences `store`
    /// with it. `None` for a run in a folder, or when `stop` came first.
    pub fn take(dir: &RunDir, store: &mut Store, stop: &Stop) -> Result<Option<Self>> {
        if store.engine() == Engine::Sqlite {
            return Ok(None);
        }
        let Some(lease) = wait(store, stop)? else { return Ok(None) };
        store.fence_with(Some(lease.clone()));
        tracing::info!(holder = %lease.holder, epoch = lease.epoch, "this process is the run's trainer");
        let (over, lost) = (Arc::default(), Arc::default());
        // A connection of its own: the trainer's is busy within a turn.
        let (mut own, told) = (dir.open_store()?, (Arc::clone(&over), Arc::clone(&lost)));
        let beaten = lease.clone();
        let heart = Some(thread::spawn(move || beat(&mut own, &beaten, &told.0, &told.1)));
        Ok(Some(Self { lease, over, lost, heart }))
    }

    /// Whether the lease is still this process's, as far as is known.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`].
    pub fn check(&self) -> Result<()> {
        if self.lost.load(Ordering::Acquire) {
            let Lease { name, holder, epoch } = self.lease.clone();
            bail!(StoreError::LeaseLost { name, holder, epoch });
        }
        Ok(())
    }
}

impl Drop for Tenure {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        if let Some(heart) = self.heart.take() {
            // It gives the lease back; a panic in it is on stderr already.
            let _ = heart.join();
        }
    }
}

/// Whether `error` says that another process is the trainer now.
pub fn is_lost(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref::<StoreError>(), Some(StoreError::LeaseLost { .. }))
}

/// Takes the lease as soon as it is free; `None` when `stop` came first.
fn wait(store: &mut Store, stop: &Stop) -> Result<Option<Lease>> {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let holder = format!("{}:{}", host.trim(), std::process::id());
    let mut told = false;
    while !stop.now() {
        match store.require(NAME, &holder, LASTS) {
            Ok(lease) => return Ok(Some(lease)),
            Err(held @ StoreError::LeaseHeld { .. }) => {
                if !told {
                    eprintln!("waiting: {held}");
                    told = true;
                }
            }
            Err(away) if told && away.is_temporary() => {}
            Err(error) => return Err(error.into()),
        }
        thread::sleep(LOOK);
    }
    Ok(None)
}

/// Keeps the lease alive until it is `over` or `lost`. An outage passes: the lease is this process's until
/// somebody else takes it.
fn beat(store: &mut Store, lease: &Lease, over: &AtomicBool, lost: &AtomicBool) {
    let mut at = Instant::now() + BEAT;
    while !over.load(Ordering::Acquire) {
        thread::sleep(LOOK);
        if Instant::now() < at {
            continue;
        }
        at = Instant::now() + BEAT;
        match store.heartbeat(lease, LASTS) {
            Ok(true) => {}
            Ok(false) => return lost.store(true, Ordering::Release),
            Err(error) => tracing::warn!("no sign of life of this trainer: {error}"),
        }
    }
    if let Err(error) = store.release(lease) {
        tracing::warn!("the trainer's lease was not given back and runs out by itself: {error}");
    }
}
