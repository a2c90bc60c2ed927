//! Where a run is: a folder on this machine, or a schema on a PostgreSQL server.

use std::path::Path;

use anyhow::{Context, Result, bail};
use tengen_fleet::Connect;
use tengen_store::{RunRow, Store, Upstream, UpstreamError};

use crate::run_dir::RunDir;

/// A run's address on the command line.
#[derive(Clone, Debug)]
pub struct Place(String);

impl Place {
    /// Reads `postgres://…`, a run's folder, or `env:NAME`, which takes either from an environment
    /// variable: a process list shows arguments, and addresses may hold passwords.
    pub fn parse(text: &str) -> Result<Self> {
        let place = match text.strip_prefix("env:") {
            Some(name) => std::env::var(name)
                .with_context(|| format!("--store {text}: no such environment variable"))?,
            None => text.to_owned(),
        };
        let place = Self(place);
        if !place.is_server() && !place.folder().exists() {
            bail!("no run at {}: give postgres://… or a run's folder", place.0);
        }
        Ok(place)
    }

    fn is_server(&self) -> bool {
        self.0.starts_with("postgres://") || self.0.starts_with("postgresql://")
    }

    fn folder(&self) -> RunDir {
        RunDir::new(&self.0)
    }

    /// The folder of the run's network files, where it is on this machine.
    pub fn networks(&self) -> Option<std::path::PathBuf> {
        (!self.is_server()).then(|| self.folder().networks())
    }

    /// The run's store, for a process that may do everything with it.
    pub fn open(&self) -> Result<(Store, RunRow)> {
        if !self.is_server() {
            return self.folder().open_existing();
        }
        let store = Store::open_any(&self.0)?;
        let run = store.run()?.with_context(|| format!("no run in {} yet", store.place()))?;
        Ok((store, run))
    }

    /// Connects as a worker, which may do little, again whenever asked.
    pub fn connector(&self) -> Connect {
        if self.is_server() {
            let url = self.0.clone();
            return Box::new(move || connect_server(&url));
        }
        let file = self.folder().database();
        Box::new(move || connect_file(&file))
    }
}

fn connect_file(file: &Path) -> Result<Box<dyn Upstream>, UpstreamError> {
    Ok(Box::new(Store::open(file)?) as Box<dyn Upstream>)
}

#[cfg(feature = "postgres")]
fn connect_server(url: &str) -> Result<Box<dyn Upstream>, UpstreamError> {
    Ok(Box::new(tengen_store::WorkerClient::connect(url)?) as Box<dyn Upstream>)
}

/// Says what this program lacks.
#[cfg(not(feature = "postgres"))]
fn connect_server(url: &str) -> Result<Box<dyn Upstream>, UpstreamError> {
    Ok(Box::new(Store::open_any(url)?) as Box<dyn Upstream>)
}
