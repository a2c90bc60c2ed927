//! Where a run is: a folder on this machine, a schema on a PostgreSQL server, or behind `tengen serve`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use tengen_blob::BlobPlace;
use tengen_fleet::Connect;
use tengen_serve::{ConnectRun, HttpAddress, HttpUpstream};
use tengen_store::{RunRow, SharedUpstream, Store, Upstream, UpstreamError};

use crate::run_dir::{RunDir, from_environment};

/// Where a token is looked for if nobody says where.
const TOKEN: &str = "env:TENGEN_TOKEN";

/// A run's address on the command line.
#[derive(Clone, Debug)]
pub struct Place {
    /// `postgres://…`, `https://…`, or the file of a store.
    store: String,
    /// The run's folder of network files, where it is on this machine.
    networks: Option<PathBuf>,
    /// For `https://…`: where the server is, and the token that it gave.
    served: Option<(HttpAddress, String)>,
}

impl Place {
    /// Reads `postgres://…`, a run's folder, or `env:NAME`, which takes either from an environment
    /// variable.
    pub fn parse(text: &str) -> Result<Self> {
        Self::parse_with(text, None)
    }

    /// The same, and `https://…` with its token: `env:NAME` for an environment variable that holds it, or the
    /// name of a file that does; `env:TENGEN_TOKEN` unless told otherwise.
    pub fn parse_with(text: &str, token: Option<&str>) -> Result<Self> {
        let address = from_environment(text).with_context(|| format!("--store {text}"))?;
        if HttpAddress::is_meant(&address) {
            let parsed = HttpAddress::parse(&address).map_err(|why| anyhow!("--store: {why}"))?;
            let served = Some((parsed, read_token(token)?));
            return Ok(Self { store: address, networks: None, served });
        }
        if is_server(&address) {
            return Ok(Self { store: address, networks: None, served: None });
        }
        let folder = RunDir::new(&address);
        if !folder.exists() {
            bail!("no run at {address}: give postgres://… or a run's folder");
        }
        let file = || folder.database().display().to_string();
        let store = folder.server()?.unwrap_or_else(file);
        Ok(Self { store, networks: Some(folder.networks()), served: None })
    }

    /// The folder of the run's network files, where it is on this machine.
    pub fn networks(&self) -> Option<PathBuf> {
        self.networks.clone()
    }

    /// The run's store, for a process that may do everything with it.
    pub fn open(&self) -> Result<(Store, RunRow)> {
        if self.served.is_some() {
            bail!("{} is for workers; this command needs the run itself", self.store);
        }
        let store = Store::open_any(&self.store)?;
        let run = store.run()?.with_context(|| format!("no run in {} yet", store.place()))?;
        Ok((store, run))
    }

    /// Connects as a worker, which may do little, again whenever asked.
    pub fn connector(&self) -> Connect {
        if let Some((address, token)) = self.served.clone() {
            return Box::new(move || {
                Ok(Box::new(HttpUpstream::new(&address, &token)?) as Box<dyn Upstream>)
            });
        }
        let store = self.store.clone();
        if is_server(&store) {
            return Box::new(move || connect_server(&store));
        }
        Box::new(move || Ok(Box::new(Store::open(Path::new(&store))?) as Box<dyn Upstream>))
    }

    /// Connects for several parties: as a worker's login on a server, or to the run's file.
    pub fn shared_connector(&self) -> Result<ConnectRun> {
        if self.served.is_some() {
            bail!("{} is served already", self.store);
        }
        let store = self.store.clone();
        Ok(Box::new(move || connect_shared(&store)))
    }
}

/// A token never stands on the command line, where every login of the machine could read it.
fn read_token(from: Option<&str>) -> Result<String> {
    let from = from.unwrap_or(TOKEN);
    let token = if from.starts_with("env:") {
        from_environment(from)
    } else {
        // What was given is not shown: it may be the token itself.
        std::fs::read_to_string(from).context("no such file")
    };
    let token =
        token.context("--token: env:NAME or a file with what `tengen serve token` printed")?;
    Ok(token.trim().to_owned())
}

fn connect_shared(store: &str) -> Result<Box<dyn SharedUpstream>, UpstreamError> {
    #[cfg(feature = "postgres")]
    if is_server(store) {
        return Ok(Box::new(tengen_store::WorkerClient::connect(store)?));
    }
    Ok(Box::new(Store::open_any(store)?))
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
