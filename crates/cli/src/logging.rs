//! Logging by `tracing`: JSON lines in the run's folder, short lines for a person on stderr.

use std::fs::OpenOptions;
use std::path::Path;
use std::sync::Mutex;

use anyhow::{Context, Result};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Starts logging; with a run's folder also to its `log.jsonl`.
pub fn init(run_dir: Option<&Path>) -> Result<()> {
    start(run_dir, LevelFilter::WARN)
}

/// Starts logging for a process that nobody watches: what it does stands on stderr too, for whoever
/// collects that.
pub fn init_service(dir: Option<&Path>) -> Result<()> {
    start(dir, LevelFilter::INFO)
}

fn start(run_dir: Option<&Path>, level: LevelFilter) -> Result<()> {
    let person = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_target(false)
        .without_time()
        .with_filter(level);
    let file = match run_dir {
        Some(dir) => {
            let path = dir.join("log.jsonl");
            let file = OpenOptions::new()
                .create(true)
                .append(true)
                .open(&path)
                .with_context(|| format!("cannot open the log {}", path.display()))?;
            Some(
                tracing_subscriber::fmt::layer()
                    .json()
                    .with_writer(Mutex::new(file))
                    .with_filter(LevelFilter::INFO),
            )
        }
        None => None,
    };
    tracing_subscriber::registry().with(person).with(file).init();
    Ok(())
}
