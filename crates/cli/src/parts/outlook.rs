//! What self-play shows of itself: a game in play for `tengen watch`, every n-th game as SGF.
//!
//! Nothing of it is needed by the run: where it cannot be written, a warning says so once and the
//! games go on.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tengen_record::{GameRecord, encode};
use tengen_selfplay::Spectator;

use crate::report::write_sgf;
use crate::run_dir::RunDir;

/// How often the live file is renewed.
const EVERY: Duration = Duration::from_millis(500);

/// One worker process's view for others.
pub struct Outlook {
    spectator: Spectator,
    live: PathBuf,
    sgf: PathBuf,
    worker: String,
    every: u64,
    last: Cell<Option<Instant>>,
    warned: Cell<bool>,
}

impl Outlook {
    /// Shows the pool behind `spectator` in the run's folder, every `every`-th game as SGF (0 for
    /// none).
    pub fn new(dir: &RunDir, worker: &str, every: u64, spectator: Spectator) -> Self {
        Self {
            spectator,
            live: dir.path().join(format!("live-{worker}.game")),
            sgf: dir.path().join("sgf").join("selfplay"),
            worker: worker.into(),
            every,
            last: Cell::new(None),
            warned: Cell::new(false),
        }
    }

    /// To be called often: now and then writes the game in play.
    pub fn tick(&self) {
        if self.last.get().is_some_and(|last| last.elapsed() < EVERY) {
            return;
        }
        self.last.set(Some(Instant::now()));
        if let Some((_, record)) = self.spectator.look() {
            self.warn(write_whole(&self.live, &encode(&record)));
        }
    }

    /// Takes note of finished game number `counter`.
    pub fn finished(&self, counter: u64, record: &GameRecord) {
        if self.every == 0 || !counter.is_multiple_of(self.every) {
            return;
        }
        let path = self.sgf.join(format!("{}-{counter:07}.sgf", self.worker));
        let made = std::fs::create_dir_all(&self.sgf).context("cannot make the folder");
        self.warn(made.and_then(|()| write_sgf(&path, record)));
    }

    fn warn(&self, result: Result<()>) {
        if let Err(error) = result
            && !self.warned.replace(true)
        {
            tracing::warn!("a game could not be shown: {error:#}");
        }
    }
}

/// Writes a file that readers see whole or not at all.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let aside = path.with_extension("tmp");
    std::fs::write(&aside, bytes)
        .and_then(|()| std::fs::rename(&aside, path))
        .with_context(|| format!("cannot write {}", path.display()))
}
