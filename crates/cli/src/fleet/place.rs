//! Where a run is: a folder on this machine, or a schema on a PostgreSQL server.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use tengen_blob::BlobPlace;
use tengen_fleet::Connect;
use tengen_store::{RunRow, Store, Upstream, UpstreamError};

use crate::run_dir::{RunDir, from_environment};

/// A run's address on the command line.
#[derive(Clone, Debug)]
pub struct Place {
    /// `postgres://…`, or the file of a store.
    store: String,
    /// The run's folder of network files, where it is on this machine.
    networks: Option<PathBuf>,
}

impl Place {
    /// Reads `postgres://…`, a run's folder, or `env:NAME`, which takes either from an environment
    /// variable.
    pub fn parse(text: &str) -> Result<Self> {
        let address = from_environment(text).with_context(|| format!("--store {text}"))?;
        if is_server(&address) {
            return Ok(Self { store: address, networks: None });
        }
        let folder = RunDir::new(&address);
        if !folder.exists() {
            bail!("no run at {address}: give postgres://… or a run's folder");
        }
        let file = || folder.database().display().to_string();
        let store = folder.server()?.unwrap_or_else(file);
        Ok(Self { store, networks: Some(folder.networks()) })
    }

    /// The folder of the run's network files, where it is on this machine.
    pub fn networks(&self) -> Option<PathBuf> {
        self.networks.clone()
    }

    /// The run's store, for a process that may do everything with it.
    pub fn open(&self) -> Result<(Store, RunRow)> {
        let store = Store::open_any(&self.store)?;
        let run = store.run()?.with_context(|| format!("no run in {} yet", store.place()))?;
        Ok((store, run))
    }

    /// Connects as a worker, which may do little, again whenever asked.
    pub fn connector(&self) -> Connect {
        let store = self.store.clone();
        if is_server(&store) {
            return Box::new(move || connect_server(&store));
        }
        Box::new(move || Ok(Box::new(Store::open(Path::new(&store))?) as Box<dyn Upstream>))
    }
}

/// Reads `--blobs`: a place of networks, or `env:NAME`, which takes it from an environment variable.
pub fn blob_place(text: &str) -> Result<BlobPlace> {
    let place = from_environment(text).with_context(|| format!("--blobs {text}"))?;
    Ok(place.parse()?)
}

fn is_server(address: &str) -> bool {
    address.starts_with("postgres://") || address.starts_with("postgresql://")
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
