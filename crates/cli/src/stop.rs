//! Stopping: Ctrl-C (or SIGTERM) once asks for a clean end, twice ends the process at once.
//!
//! Ending at once loses nothing that was stored: every write is a transaction or a rename.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use cpu_time::ProcessTime;

/// What can end an invocation: a signal, the clock, or the processor time it has used.
#[derive(Clone)]
pub struct Stop {
    asked: Arc<AtomicBool>,
    limit: Limit,
}

#[derive(Clone, Copy)]
enum Limit {
    None,
    Clock(Instant),
    /// Processor time that this process may have used in all.
    Processor(Duration),
}

impl Limit {
    fn after(time: Duration) -> Self {
        Instant::now().checked_add(time).map_or(Self::None, Self::Clock)
    }

    fn is_reached(self) -> bool {
        match self {
            Self::None => false,
            Self::Clock(deadline) => Instant::now() >= deadline,
            Self::Processor(limit) => processor_time() >= limit,
        }
    }
}

/// Processor time that this process has used, all threads together.
pub fn processor_time() -> Duration {
    ProcessTime::try_now().map_or(Duration::ZERO, |time| time.as_duration())
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
        let limit = match minutes > 0.0 {
            true => Limit::after(Duration::from_secs_f64(minutes.min(1e7) * 60.0)),
            false => Limit::None,
        };
        Ok(Self { asked, limit })
    }

    /// Whether to end: a signal came or a limit is reached.
    pub fn now(&self) -> bool {
        self.signalled() || self.limit.is_reached()
    }

    /// The same without a limit: the closing report comes after the time is up.
    pub fn without_deadline(&self) -> Self {
        Self { asked: Arc::clone(&self.asked), limit: Limit::None }
    }

    /// The same with a time limit of its own, from now: for a part of an invocation's work.
    pub fn within(&self, limit: Duration) -> Self {
        Self { asked: Arc::clone(&self.asked), limit: Limit::after(limit) }
    }

    /// The same with a limit of its own on processor time, from now.
    pub fn within_processor_time(&self, limit: Duration) -> Self {
        let limit = Limit::Processor(processor_time().saturating_add(limit));
        Self { asked: Arc::clone(&self.asked), limit }
    }

    /// Whether a signal came.
    pub fn signalled(&self) -> bool {
        self.asked.load(Ordering::SeqCst)
    }
}
