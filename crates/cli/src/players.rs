//! Who can sit at the board: names on the command line → evaluators.

use std::num::NonZeroUsize;
use std::path::Path;

use anyhow::{Context, Result, bail};
use tengen_inference::{LeafEvaluator, RolloutEvaluator, SplitEvaluator, UniformEvaluator};
use tengen_network::{DeviceConfig, NetworkConfig, Weights, load_network};
use tengen_store::{Rollback, Store};

use crate::config::Config;
use crate::run_dir::{RunDir, is_lost};

/// Random games a leaf of the player `rollouts`: enough to tell won from lost, few enough for
/// thousands of leaves a second on small boards.
const ROLLOUTS: NonZeroUsize = NonZeroUsize::new(4).expect("4 is not zero");

/// A player of matches and of GTP games.
pub enum Player {
    /// Search over a uniform prior and an even value.
    Uniform,
    /// Search over a uniform prior and the results of random games.
    Rollouts,
    /// A network.
    Network {
        /// Shown in tables: the start of the id.
        name: String,
        /// Architecture.
        config: NetworkConfig,
        /// Weights.
        weights: Weights,
        /// Where it is computed.
        devices: DeviceConfig,
    },
}

impl Player {
    /// Reads `uniform`, `rollouts`, a network file, a run's folder, `RUN:first` or `RUN:ID`; with a run comes
    /// its config. A network plays on `devices`.
    pub fn parse(text: &str, devices: &DeviceConfig) -> Result<(Self, Option<Config>)> {
        if text == "uniform" {
            return Ok((Self::Uniform, None));
        }
        if text == "rollouts" {
            return Ok((Self::Rollouts, None));
        }
        if text.starts_with("gtp:") {
            bail!("{text}: a GTP program can sit at the board of `tengen match` only");
        }
        let path = Path::new(text);
        if path.is_file() {
            let (config, weights, _) =
                load_network(path).with_context(|| format!("the network {text}"))?;
            let name = path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into());
            let devices = devices.clone();
            return Ok((Self::Network { name: short(&name), config, weights, devices }, None));
        }
        let (folder, wanted) = match text.rsplit_once(':') {
            Some((folder, id)) if !path.is_dir() => (folder, id),
            _ => (text, "best"),
        };
        let dir = RunDir::new(folder);
        if !dir.exists() {
            bail!(
                "{text} is no player: give `uniform`, `rollouts`, a .safetensors file, a run's folder, \
                 RUN:first or RUN:ID"
            );
        }
        let (store, run) = dir.open_existing()?;
        let id = find_network(&store, wanted)?;
        Ok((Self::of_run(&dir, &id, devices)?, Some(dir.config(&run)?)))
    }

    /// A network of a run, named by the start of its id.
    pub fn of_run(dir: &RunDir, id: &str, devices: &DeviceConfig) -> Result<Self> {
        let (config, weights) = dir.load(id)?;
        Ok(Self::Network { name: short(id), config, weights, devices: devices.clone() })
    }

    /// The id of the run's best network, and that network. A missing or damaged file takes the best pointer
    /// back to the best before it, and says so.
    pub fn best_of_run(
        dir: &RunDir,
        store: &mut Store,
        devices: &DeviceConfig,
    ) -> Result<(String, Self)> {
        loop {
            let best = store.best()?.context("the run has no best network")?.id;
            let error = match Self::of_run(dir, &best, devices) {
                Ok(player) => return Ok((best, player)),
                Err(error) if is_lost(&error) => error,
                Err(error) => return Err(error),
            };
            let earlier = store.rollback(Rollback::Pointer, "tengen", &format!("{error:#}")).with_context(|| {
                format!(
                    "{error:#}; no earlier best network is left: restore the file from a copy, or \
                     name another network with `tengen promote`"
                )
            })?;
            tracing::warn!("{error:#}; going on with {earlier}, the best network before it");
            store.add_event(
                "network-lost",
                &serde_json::json!({ "network": best, "why": format!("{error:#}"), "now": earlier })
                    .to_string(),
            )?;
        }
    }

    /// Its name in tables and game records.
    pub fn name(&self) -> &str {
        match self {
            Self::Uniform => "uniform",
            Self::Rollouts => "rollouts",
            Self::Network { name, .. } => name,
        }
    }

    /// A new evaluator that plays as this player, on the first device.
    pub fn evaluator(&self) -> Result<Box<dyn LeafEvaluator>> {
        self.evaluator_of(0)
    }

    /// An evaluator whose batches `threads` threads share, and which also judges the ownership of the
    /// points, where its network has that head.
    pub fn analyst_on(&self, threads: usize) -> Result<Box<dyn LeafEvaluator>> {
        let analyst = |thread| match self {
            Self::Network { config, weights, devices, .. } => {
                Ok(devices.analyst(config, weights, thread)?)
            }
            _ => self.evaluator_of(thread),
        };
        let first = analyst(0)?;
        if threads <= 1 {
            return Ok(first);
        }
        let others = (1..threads).map(analyst).collect::<Result<_>>()?;
        Ok(Box::new(SplitEvaluator::new(first, others)))
    }

    /// The evaluator of worker number `worker`, on the device that is its.
    pub fn evaluator_of(&self, worker: usize) -> Result<Box<dyn LeafEvaluator>> {
        Ok(match self {
            Self::Uniform => Box::new(UniformEvaluator),
            Self::Rollouts => Box::new(RolloutEvaluator::new(ROLLOUTS, 0)),
            Self::Network { config, weights, devices, .. } => {
                devices.evaluator(config, weights, worker)?
            }
        })
    }
}

/// The network that `best`, `first` or the start of an id names.
pub fn find_network(store: &Store, wanted: &str) -> Result<String> {
    match wanted {
        "best" => Ok(store.best()?.context("the run has no best network yet")?.id),
        "first" => {
            let networks = store.networks()?;
            Ok(networks
                .into_iter()
                .find(|n| n.parent.is_none())
                .context("the run has no first network")?
                .id)
        }
        start => {
            let ids: Vec<String> = store
                .networks()?
                .into_iter()
                .map(|n| n.id)
                .filter(|id| id.starts_with(start))
                .collect();
            match ids.as_slice() {
                [id] => Ok(id.clone()),
                [] => bail!("no network of the run begins with {start:?}"),
                many => bail!("{} networks begin with {start:?}; give more of the id", many.len()),
            }
        }
    }
}

/// The first ten digits of an id: enough to tell nets apart in a table.
pub fn short(id: &str) -> String {
    id.chars().take(10).collect()
}
