//! What the playing thread and the one that talks to the run tell each other.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tengen_store::{Block, BlockGame, BlockLease, RunState, WorkerCounts};

use crate::FleetError;

/// A network on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Net {
    pub hash: String,
    pub file: PathBuf,
}

/// A block of a match and the files of its two networks.
#[derive(Clone, Debug)]
pub(crate) struct BlockWork {
    pub block: Block,
    pub candidate: PathBuf,
    pub base: PathBuf,
}

/// What is known of the run.
#[derive(Debug, Default)]
pub(crate) struct View {
    pub run: Option<RunState>,
    /// The best network that is here: the run's best, or one from before while that has not come.
    /// `None` under a run without networks, too.
    pub net: Option<Net>,
    /// What ends the worker.
    pub fatal: Option<FleetError>,
    /// A block to be played.
    pub offer: Option<BlockWork>,
    /// The block in play; gone once its lease is.
    pub leased: Option<BlockLease>,
    /// Games of a block that is through.
    pub played: Option<(BlockLease, Vec<BlockGame>)>,
}

/// The table between the two threads.
#[derive(Debug, Default)]
pub(crate) struct Desk {
    view: Mutex<View>,
    changed: Condvar,
    /// The view changed since the player looked.
    news: AtomicBool,
    games: AtomicU64,
    evals: AtomicU64,
    /// When the player has ended: until when to go on shipping.
    closing: Mutex<Option<Instant>>,
}

impl Desk {
    /// A look at the view; the player's looks come through [`take_news`](Self::take_news).
    pub fn view(&self) -> MutexGuard<'_, View> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the view and tells the player.
    pub fn change(&self, change: impl FnOnce(&mut View)) {
        change(&mut self.view());
        self.news.store(true, Ordering::Release);
        self.changed.notify_all();
    }

    /// Whether the view changed since [`take_news`](Self::take_news).
    pub fn has_news(&self) -> bool {
        self.news.load(Ordering::Acquire)
    }

    /// The view, as of now; later changes are news again.
    pub fn take_news(&self) -> MutexGuard<'_, View> {
        self.news.store(false, Ordering::Release);
        self.view()
    }

    /// Waits for a change, `most` at most.
    pub fn wait(&self, most: Duration) {
        let view = self.view();
        if !self.has_news() {
            // A wake-up without cause only makes the caller look once more.
            drop(self.changed.wait_timeout(view, most));
        }
    }

    pub fn add_games(&self, games: u64) {
        self.games.fetch_add(games, Ordering::Relaxed);
    }

    pub fn add_evals(&self, evals: u64) {
        self.evals.fetch_add(evals, Ordering::Relaxed);
    }

    /// What the worker has done so far.
    pub fn counts(&self) -> WorkerCounts {
        WorkerCounts {
            games: self.games.load(Ordering::Relaxed),
            evals: self.evals.load(Ordering::Relaxed),
        }
    }

    /// No more games will come; what is there may be shipped for another `rest`.
    pub fn close(&self, rest: Duration) {
        *self.closing.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + rest);
    }

    /// Until when to ship, once the player has ended.
    pub fn closing(&self) -> Option<Instant> {
        *self.closing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
