//! A look at a game in play, for whoever watches.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tengen_record::GameRecord;

/// A window on one game of a pool. Looking costs the games nothing but a copy, made when asked for.
#[derive(Debug, Clone, Default)]
pub struct Spectator(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    asked: AtomicBool,
    seen: Mutex<Option<(u64, GameRecord)>>,
}

impl Spectator {
    /// What was last seen, once, and a request for the next look: the number of the game in the run
    /// and its record so far ([`GameSlot::so_far`](crate::GameSlot::so_far)). `None` until a worker
    /// has come by.
    pub fn look(&self) -> Option<(u64, GameRecord)> {
        let seen = self.0.seen.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.0.asked.store(true, Ordering::Relaxed);
        seen
    }

    /// Shows a game, if somebody has asked.
    pub(crate) fn show(&self, game: impl FnOnce() -> (u64, GameRecord)) {
        if self.0.asked.swap(false, Ordering::Relaxed) {
            *self.0.seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(game());
        }
    }
}
