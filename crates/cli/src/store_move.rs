//! `tengen store move`: a whole run from a file to a server, or back.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use serde_json::json;
use tengen_store::Store;

use crate::run_dir::RunDir;

/// `tengen store move`.
#[derive(Debug, Args)]
pub struct MoveArgs {
    /// Where the run is: its folder, its tengen.db, or postgres://…?schema=NAME.
    #[arg(long)]
    from: PathBuf,
    /// Where it goes; must hold no run yet.
    #[arg(long)]
    to: PathBuf,
    /// Facts as JSON on standard output.
    #[arg(long)]
    json: bool,
}

/// Copies everything in one transaction; the original stays as it is.
pub fn run(args: &MoveArgs) -> Result<()> {
    let from = open_existing(&args.from)?;
    let mut to = open(&args.to)?;
    let moved = from.copy_to(&mut to)?;
    let place = to.place();
    if args.json {
        let facts = json!({ "to": place, "games": moved.games, "rows": moved.rows, "digest": moved.digest });
        println!("{facts}");
    } else {
        println!("{} games, {} rows in all, now also in {place}", moved.games, moved.rows);
        println!(
            "digest {}, the same in both; network files stay in the run's folder",
            moved.digest
        );
    }
    Ok(())
}

/// Opens the store of a run that must exist: in a folder, in a file, or on a server.
pub fn open_existing(place: &Path) -> Result<Store> {
    if is_url(place) || place.is_file() {
        let store = open(place)?;
        if store.run()?.is_none() {
            bail!("{} holds no run yet", store.place());
        }
        return Ok(store);
    }
    Ok(RunDir::new(place).open_existing()?.0)
}

/// Opens a store, making it where there is none.
fn open(place: &Path) -> Result<Store> {
    let folder = RunDir::new(place);
    let path = if place.is_dir() { folder.database() } else { place.to_owned() };
    Ok(Store::open_any(&path.to_string_lossy())?)
}

fn is_url(place: &Path) -> bool {
    let text = place.to_string_lossy();
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}
