//! Stopping: Ctrl-C (or SIGTERM) once asks for a clean end, twice ends the process at once.
//!
//! Ending at once loses nothing that was stored: every write is a transaction or a rename.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// What can end an invocation: a signal or the clock.
#[derive(Clone)]
pub struct Stop {
    asked: Arc<AtomicBool>,
    deadline: Option<Instant>,
}

impl Stop {
    /// Installs the signal handler; `minutes` = 0 means no time limit.
    pub fn install(minutes: f64) -> Result<Self> {
        let asked = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&asked);
        ctrlc::set_handler(move || {
            if seen.swap(true, Ordering::SeqCst) {
                eprintln!("stopping now; what was stored is safe");
                std::process::exit(130);
            }
            eprintln!("finishing the step in hand; once more stops at once");
        })
        .context("cannot install the Ctrl-C handler")?;
        let deadline = (minutes > 0.0)
            .then(|| Instant::now().checked_add(Duration::from_secs_f64(minutes.min(1e7) * 60.0)))
            .flatten();
        Ok(Self { asked, deadline })
    }

    /// Whether to end: a signal came or the time is up.
    pub fn now(&self) -> bool {
        self.signalled() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// The same without the clock: the closing report comes after the time is up.
    pub fn without_deadline(&self) -> Self {
        Self { asked: Arc::clone(&self.asked), deadline: None }
    }

    /// The same with a time limit of its own, from now: for a part of an invocation's work.
    pub fn within(&self, limit: Duration) -> Self {
        Self { asked: Arc::clone(&self.asked), deadline: Instant::now().checked_add(limit) }
    }

    /// Whether a signal came.
    pub fn signalled(&self) -> bool {
        self.asked.load(Ordering::SeqCst)
    }
}
