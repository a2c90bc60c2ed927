//! Which device a command computes on: the command line over the config file.

use anyhow::{Result, bail};
use clap::Args;
use tengen_network::{DeviceConfig, DeviceKind, Precision};

/// Options of every command that runs a network.
#[derive(Clone, Debug, Default, Args)]
pub struct DeviceArgs {
    /// Where the network is computed: cpu, libtorch:cpu, cuda:0, …; several with commas are shared by
    /// the workers. Default: the config's, else cpu.
    #[arg(long, value_delimiter = ',')]
    pub device: Vec<DeviceKind>,
    /// Numbers of the network's tower in evaluation: f32, bf16 or fp16. Default: the config's, else f32.
    #[arg(long, value_parser = precision)]
    pub precision: Option<Precision>,
}

/// Reads `--precision`.
pub fn precision(name: &str) -> Result<Precision, String> {
    Precision::named(name).ok_or_else(|| format!("{name:?} is none of f32, bf16, fp16"))
}

impl DeviceArgs {
    /// The devices meant, all of them there.
    pub fn over(&self, config: &DeviceConfig) -> Result<DeviceConfig> {
        let mut devices = config.clone();
        if let Some(&first) = self.device.first() {
            devices.inference.clone_from(&self.device);
            devices.training = first;
        }
        devices.precision = self.precision.unwrap_or(devices.precision);
        let problems = devices.validate();
        if !problems.is_empty() {
            bail!("{}", problems.join("; "));
        }
        devices.require()?;
        Ok(devices)
    }

    /// The devices meant where there is no config.
    pub fn alone(&self) -> Result<DeviceConfig> {
        self.over(&DeviceConfig::default())
    }
}
