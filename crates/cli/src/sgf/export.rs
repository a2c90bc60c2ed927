//! `tengen sgf export`: games of a run as files.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use tengen_record::GameRecord;

use super::args::ExportArgs;
use crate::report;
use crate::run_dir::RunDir;

/// Writes the newest games.
pub fn run(args: &ExportArgs) -> Result<ExitCode> {
    let dir = RunDir::new(&args.run);
    if !dir.exists() {
        bail!("no store in {}", args.run.display());
    }
    let store = dir.open_store()?;
    let games: Vec<(PathBuf, GameRecord)> = if args.imported {
        let last = store.import_counts()?.stored;
        let found = store.imported_games(last.saturating_sub(args.games), last)?;
        let name = |seq| PathBuf::from(format!("imported-{seq:07}.sgf"));
        found.into_iter().map(|game| (name(game.import_seq), game.record)).collect()
    } else {
        let last = store.counts()?.last_seq;
        let found = store.games_in(last.saturating_sub(args.games), last)?;
        let name = |seq| PathBuf::from(format!("game-{seq:07}.sgf"));
        found.into_iter().map(|game| (name(game.seq), game.record)).collect()
    };
    std::fs::create_dir_all(&args.to)
        .with_context(|| format!("cannot make {}", args.to.display()))?;
    for (name, record) in &games {
        report::write_sgf(&args.to.join(name), record)?;
    }
    println!("{} games in {}", games.len(), args.to.display());
    Ok(ExitCode::SUCCESS)
}
