//! The one file that chooses devices: their names, whether this build and machine have them, and
//! what computes on them.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

use burn::tensor::Device;
use serde::{Deserialize, Serialize};
use tengen_inference::LeafEvaluator;

use crate::{
    BurnBackend, BurnEvaluator, NativeEvaluator, NetworkConfig, NetworkError, Precision, Weights,
};

/// What a build without LibTorch says about its devices.
#[cfg(not(feature = "libtorch"))]
const NOT_BUILT: &str = "this build has no LibTorch: run scripts/libtorch.sh, set the two lines it \
     prints, and build with `--features libtorch` (docs/gpu.md), or use the device `cpu`";

/// Where a network is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
#[non_exhaustive]
pub enum DeviceKind {
    /// `cpu`: the processor, by our own passes and burn's `flex` backend: pure Rust, in every
    /// build.
    #[default]
    Cpu,
    /// `libtorch:cpu`: the processor, by LibTorch.
    LibtorchCpu,
    /// `cuda:N`: the CUDA device of that number, by LibTorch.
    Cuda(u16),
    /// `burn:…`: one of burn's own backends.
    Burn(BurnBackend),
}

impl DeviceKind {
    /// The name in configs and messages.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Cpu => "cpu".to_owned(),
            Self::LibtorchCpu => "libtorch:cpu".to_owned(),
            Self::Cuda(index) => format!("cuda:{index}"),
            Self::Burn(backend) => backend.name(),
        }
    }

    /// Whether LibTorch computes there.
    #[must_use]
    pub const fn is_libtorch(self) -> bool {
        matches!(self, Self::LibtorchCpu | Self::Cuda(_))
    }

    /// Whether it is a GPU, by LibTorch.
    #[must_use]
    pub const fn is_cuda(self) -> bool {
        matches!(self, Self::Cuda(_))
    }

    /// That this build on this machine can compute there.
    ///
    /// # Errors
    /// [`NetworkError::Device`] with the remedy.
    pub fn require(self) -> Result<(), NetworkError> {
        let missing = match self {
            Self::Cpu => return Ok(()),
            Self::Burn(backend) => match backend.device() {
                Ok(_) => return Ok(()),
                Err(why) => why,
            },
            #[cfg(not(feature = "libtorch"))]
            Self::LibtorchCpu | Self::Cuda(_) => NOT_BUILT.to_owned(),
            #[cfg(feature = "libtorch")]
            Self::LibtorchCpu => return Ok(()),
            #[cfg(feature = "libtorch")]
            Self::Cuda(index) => match crate::libtorch::missing_cuda(index) {
                None => return Ok(()),
                Some(why) => why,
            },
        };
        Err(NetworkError::Device { device: self.name(), why: missing })
    }

    /// burn's device for answering: no gradients, running statistics. LibTorch's devices are burn's
    /// too in builds with the feature `burn-tch`.
    ///
    /// # Errors
    /// As [`DeviceKind::require`].
    // burn 0.22 marks its LibTorch backend deprecated, in favour of its own CUDA backend, whose build
    // fetches a compiler from elsewhere; this is the one place that would change (docs/adr/0006).
    #[allow(
        deprecated,
        reason = "burn's only way to CUDA that builds from a package registry alone"
    )]
    pub fn device(self) -> Result<Device, NetworkError> {
        match self {
            Self::Cpu => Ok(Device::flex()),
            Self::Burn(backend) => {
                backend.device().map_err(|why| NetworkError::Device { device: self.name(), why })
            }
            #[cfg(feature = "burn-tch")]
            Self::LibtorchCpu => self.require().map(|()| Device::libtorch()),
            #[cfg(feature = "burn-tch")]
            Self::Cuda(index) => self.require().map(|()| Device::libtorch_cuda(usize::from(index))),
            #[cfg(not(feature = "burn-tch"))]
            Self::LibtorchCpu | Self::Cuda(_) => {
                self.require()?;
                let why =
                    "burn itself computes there only in builds with `--features burn-tch`".into();
                Err(NetworkError::Device { device: self.name(), why })
            }
        }
    }

    /// burn's device for training: gradients, batch statistics.
    ///
    /// # Errors
    /// As [`DeviceKind::require`].
    pub fn training_device(self) -> Result<Device, NetworkError> {
        Ok(self.device()?.autodiff())
    }

    /// The fastest evaluator of a network on this device, computing its tower in `precision` (`cpu`
    /// always in `f32`).
    ///
    /// # Errors
    /// As [`DeviceKind::require`], and when the config or the weights are refused.
    pub fn evaluator(
        self,
        config: &NetworkConfig,
        weights: &Weights,
        precision: Precision,
        max_batch: NonZeroUsize,
    ) -> Result<Box<dyn LeafEvaluator>, NetworkError> {
        self.made(config, weights, precision, max_batch, false)
    }

    /// As [`DeviceKind::evaluator`], and each evaluation tells the ownership of the points, where the
    /// network has that head.
    ///
    /// # Errors
    /// As [`DeviceKind::evaluator`].
    pub fn analyst(
        self,
        config: &NetworkConfig,
        weights: &Weights,
        precision: Precision,
        max_batch: NonZeroUsize,
    ) -> Result<Box<dyn LeafEvaluator>, NetworkError> {
        self.made(config, weights, precision, max_batch, true)
    }

    fn made(
        self,
        config: &NetworkConfig,
        weights: &Weights,
        precision: Precision,
        max_batch: NonZeroUsize,
        tells_ownership: bool,
    ) -> Result<Box<dyn LeafEvaluator>, NetworkError> {
        if let Self::Burn(_) = self {
            // It always tells what the network says.
            let device = self.device()?;
            return Ok(Box::new(BurnEvaluator::new(config, weights, &device, max_batch)?));
        }
        self.require()?;
        #[cfg(feature = "libtorch")]
        if self.is_libtorch() {
            let made = crate::LibtorchEvaluator::new(config, weights, self, precision, max_batch)?;
            return Ok(Box::new(if tells_ownership { made.telling_ownership() } else { made }));
        }
        let _ = precision;
        let made = NativeEvaluator::new(config, weights, max_batch)?;
        Ok(Box::new(if tells_ownership { made.telling_ownership() } else { made }))
    }
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl From<DeviceKind> for String {
    fn from(device: DeviceKind) -> Self {
        device.name()
    }
}

impl TryFrom<String> for DeviceKind {
    type Error = NetworkError;

    fn try_from(name: String) -> Result<Self, NetworkError> {
        name.parse()
    }
}

impl FromStr for DeviceKind {
    type Err = NetworkError;

    /// Reads a name, of a device of this build or of another.
    fn from_str(name: &str) -> Result<Self, NetworkError> {
        let index = name.strip_prefix("cuda:").map(str::parse);
        if let Some(backend) = BurnBackend::named(name) {
            return Ok(Self::Burn(backend));
        }
        match (name, index) {
            ("cpu", _) => Ok(Self::Cpu),
            ("libtorch:cpu", _) => Ok(Self::LibtorchCpu),
            ("cuda", _) => Ok(Self::Cuda(0)),
            (_, Some(Ok(index))) => Ok(Self::Cuda(index)),
            _ => Err(NetworkError::Device {
                device: name.to_owned(),
                why: "no such device; there are `cpu`, `libtorch:cpu`, `cuda:0`, `cuda:1`, …, and \
                      `burn:cpu`, `burn:wgpu`, `burn:cuda:0`, …"
                    .into(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_no_other_is_a_device() {
        for name in
            ["cpu", "libtorch:cpu", "cuda:0", "cuda:12", "burn:cpu", "burn:wgpu", "burn:cuda:3"]
        {
            let device: DeviceKind = name.parse().unwrap();
            assert_eq!(device.name(), name);
            let json = serde_json::to_string(&device).unwrap();
            assert_eq!(serde_json::from_str::<DeviceKind>(&json).unwrap(), device);
        }
        assert_eq!("cuda".parse::<DeviceKind>().unwrap(), DeviceKind::Cuda(0));
        for name in ["", "gpu", "cuda:", "cuda:-1", "cuda:x", "libtorch", "burn:", "burn:cuda:x"] {
            let message = name.parse::<DeviceKind>().unwrap_err().to_string();
            assert!(message.contains("libtorch:cpu"), "{message}");
        }
    }

    #[test]
    fn only_the_training_device_keeps_gradients() {
        assert!(!DeviceKind::Cpu.device().unwrap().is_autodiff());
        assert!(DeviceKind::Cpu.training_device().unwrap().is_autodiff());
    }

    #[test]
    fn burn_itself_evaluates_where_it_is_named_and_its_gpus_are_refused_with_the_remedy() {
        let burn: DeviceKind = "burn:cpu".parse().unwrap();
        let check = crate::check_device(burn, Precision::F32).unwrap();
        assert!(check.usable && check.worst_difference.unwrap() < 1e-4, "{check:?}");
        let gpu: DeviceKind = "burn:cuda:250".parse().unwrap();
        let message = gpu.require().unwrap_err().to_string();
        assert!(message.contains("burn:cuda:250"), "{message}");
        if !cfg!(feature = "burn-cuda") {
            assert!(message.contains("--features burn-cuda"), "{message}");
        }
    }

    #[test]
    #[cfg(not(feature = "libtorch"))]
    fn a_device_that_the_build_lacks_is_refused_with_the_remedy() {
        for device in [DeviceKind::LibtorchCpu, DeviceKind::Cuda(3)] {
            let config = NetworkConfig { blocks: 1, channels: 4, ..NetworkConfig::default() };
            let weights = config.init_weights(1).unwrap();
            let evaluator =
                device.evaluator(&config, &weights, Precision::F32, NonZeroUsize::MIN).err();
            for error in [device.require().unwrap_err(), evaluator.unwrap()] {
                let message = error.to_string();
                for part in [&device.name(), "scripts/libtorch.sh", "--features libtorch"] {
                    assert!(message.contains(part), "{message}");
                }
            }
        }
    }
}
