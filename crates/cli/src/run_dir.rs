//! A run's folder: where its files lie, who owns it, and how it is opened.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use tengen_network::{
    DeviceConfig, NetworkConfig, NetworkError, NetworkMeta, Weights, load_network, save_network,
};
use tengen_store::{NetworkStatus, NewNetwork, NewRun, RunRow, Store};

use crate::config::Config;

/// Paths inside a run's folder (docs/file-formats.md).
#[derive(Clone, Debug)]
pub struct RunDir(PathBuf);

impl RunDir {
    /// Names the folder; touches nothing.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The game store.
    pub fn database(&self) -> PathBuf {
        self.0.join("tengen.db")
    }

    /// The file that names the server where the run's store is, in place of a store in the folder:
    /// `postgres://…`, or `env:NAME` for a variable that holds it.
    pub fn server_file(&self) -> PathBuf {
        self.0.join("store.url")
    }

    /// The server that keeps the run's store, if one does.
    pub fn server(&self) -> Result<Option<String>> {
        let path = self.server_file();
        let told = || format!("the store's address in {}", path.display());
        match std::fs::read_to_string(&path) {
            Ok(text) => from_environment(text.trim()).map(Some).with_context(told),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(told),
        }
    }

    /// Opens the store, in the folder or on its server.
    pub fn open_store(&self) -> Result<Store> {
        Ok(match self.server()? {
            Some(server) => Store::open_any(&server)?,
            None => Store::open(&self.database())?,
        })
    }

    /// The folder of network files.
    pub fn networks(&self) -> PathBuf {
        self.0.join("networks")
    }

    /// The file of one network.
    pub fn network(&self, id: &str) -> PathBuf {
        self.networks().join(format!("{id}.safetensors"))
    }

    /// Makes the folder and its parts.
    pub fn create(&self) -> Result<()> {
        std::fs::create_dir_all(self.networks())
            .with_context(|| format!("cannot make the run's folder {}", self.0.display()))
    }

    /// Whether a run lies here.
    pub fn exists(&self) -> bool {
        self.database().is_file() || self.server_file().is_file()
    }

    /// Opens the store of a run that must exist.
    pub fn open_existing(&self) -> Result<(Store, RunRow)> {
        if !self.exists() {
            bail!("no run in {}: `tengen loop --config FILE` starts one there", self.0.display());
        }
        let store = self.open_store()?;
        let run = store
            .run()?
            .with_context(|| format!("the store in {} holds no run yet", self.0.display()))?;
        Ok((store, run))
    }

    /// The effective config that the run was started with, but for the devices: those are of the box
    /// that started it.
    pub fn config(&self, run: &RunRow) -> Result<Config> {
        let config = Config::parse(&run.config_text)
            .with_context(|| format!("the config stored in {}", self.0.display()))?;
        Ok(Config { device: DeviceConfig::default(), ..config })
    }

    /// Takes the part `role` of the run for this process; the lock ends with the process, however
    /// it ends.
    pub fn lock(&self, role: &str) -> Result<File> {
        let path = self.0.join(format!("{role}.lock"));
        let file =
            File::create(&path).with_context(|| format!("cannot open {}", path.display()))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => bail!(
                "the {role} of the run in {} is already running in another process; stop it first, \
                 or look at it with `tengen status --run {}`",
                self.0.display(),
                self.0.display()
            ),
            Err(TryLockError::Error(error)) => {
                Err(error).with_context(|| format!("cannot lock {}", path.display()))
            }
        }
    }

    /// Loads one network of the run.
    pub fn load(&self, id: &str) -> Result<(NetworkConfig, Weights)> {
        let path = self.network(id);
        let (config, weights, _) =
            load_network(&path).with_context(|| format!("the network {}", path.display()))?;
        Ok((config, weights))
    }

    /// Starts the run or goes on with it: the run's row and the first, untrained network.
    pub fn start(&self, config: &Config, accept_change: bool) -> Result<(Store, RunRow)> {
        self.create()?;
        let mut store = self.open_store()?;
        let digest = config.digest()?;
        let run = match store.run()? {
            Some(run) if run.config_digest == digest => run,
            // An older release wrote it, before some key existed: the same config all the same.
            Some(run)
                if Config::parse(&run.config_text).and_then(|c| c.digest()).ok().as_ref()
                    == Some(&digest) =>
            {
                store.update_config(&config.to_toml()?, &digest)?;
                store.run()?.context("the run's row vanished")?
            }
            Some(run) if accept_change => {
                store.update_config(&config.to_toml()?, &digest)?;
                store.add_event(
                    "config-changed",
                    &serde_json::json!({"from": run.config_digest, "to": digest}).to_string(),
                )?;
                store.run()?.context("the run's row vanished")?
            }
            Some(run) => bail!(
                "the run in {} was started with another config (digest {}, this one is {digest}); \
                 give --run another folder, or --accept-config-change to go on with this one",
                self.0.display(),
                run.config_digest
            ),
            None => store.init_run(&NewRun {
                name: config.run.name.clone(),
                config_text: config.to_toml()?,
                config_digest: digest,
                seed: config.run.seed,
            })?,
        };
        if store.best()?.is_none() {
            let (id, file) = self.save_first(config)?;
            store.add_network(&NewNetwork {
                id: id.clone(),
                parent: None,
                file,
                step: 0,
                games: 0,
                samples: 0,
                status: NetworkStatus::Initial,
                losses_json: "{}".into(),
            })?;
            store.set_initial_best(&id)?;
        }
        Ok((store, run))
    }

    fn save_first(&self, config: &Config) -> Result<(String, String)> {
        let weights = config.network.init_weights(config.run.seed)?;
        let meta = NetworkMeta { run: config.run.name.clone(), ..NetworkMeta::default() };
        self.save_weights(&config.network, &weights, &meta)
    }

    /// Writes a network file; returns its id and its path inside the run's folder.
    pub fn save_weights(
        &self,
        config: &NetworkConfig,
        weights: &Weights,
        meta: &NetworkMeta,
    ) -> Result<(String, String)> {
        let id = save_network(&self.networks(), config, weights, meta)?.to_string();
        let file = format!("networks/{id}.safetensors");
        Ok((id, file))
    }
}

/// An address as it is, or taken from the environment for `env:NAME`: process lists and files show
/// arguments, and addresses may hold passwords.
pub fn from_environment(text: &str) -> Result<String> {
    match text.strip_prefix("env:") {
        Some(name) => {
            std::env::var(name).with_context(|| format!("{text}: no such environment variable"))
        }
        None => Ok(text.to_owned()),
    }
}

/// Whether a network's file is gone or no longer what its name promises.
pub fn is_lost(error: &anyhow::Error) -> bool {
    match error.downcast_ref::<NetworkError>() {
        Some(NetworkError::Io { source, .. }) => source.kind() == std::io::ErrorKind::NotFound,
        Some(error) => matches!(
            error,
            NetworkError::Damaged { .. }
                | NetworkError::Format { .. }
                | NetworkError::InFile { .. }
        ),
        None => false,
    }
}
