//! The `[device]` section.

use std::num::NonZeroUsize;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use tengen_inference::LeafEvaluator;

use crate::{DeviceKind, NetworkConfig, NetworkError, Weights};

/// In what numbers a tower is computed. The heads are always computed in `f32`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// 32 bits. On CUDA cuDNN may round factors to TF32 (10 bits of mantissa) unless the
    /// environment says `NVIDIA_TF32_OVERRIDE=0`.
    #[default]
    F32,
    /// bfloat16: 8 bits of mantissa, the range of `f32`.
    Bf16,
    /// IEEE half: 11 bits of mantissa, at most 65,504. For GPUs.
    Fp16,
}

impl Precision {
    /// The name in configs and messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::Bf16 => "bf16",
            Self::Fp16 => "fp16",
        }
    }

    /// The precision called `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::F32, Self::Bf16, Self::Fp16].into_iter().find(|p| p.name() == name)
    }
}

/// Where networks are computed. A box's own business: it stands in no game's config digest, so boxes
/// with and without GPUs may share a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DeviceConfig {
    /// Where positions are evaluated: `cpu`, `libtorch:cpu`, `cuda:0`, …; one name or a list. Worker
    /// i of self-play or of a match takes the i-th of the list, beginning anew at its end, so that
    /// several GPUs share the games. Default `cpu`.
    #[serde(deserialize_with = "one_or_many")]
    pub inference: Vec<DeviceKind>,
    /// Where training steps are computed: one name, as above. Default `cpu`.
    pub training: DeviceKind,
    /// Numbers of the tower in evaluation: `f32`, `bf16` or `fp16`; `cpu` has `f32` alone, `fp16`
    /// is for CUDA. Default `f32`. Training is in `f32`.
    pub precision: Precision,
    /// Most positions that a device computes together. A GPU wants its games in flight a worker to
    /// be this or twice this (docs/gpu.md). Default 256.
    pub max_batch: usize,
}

impl Default for DeviceConfig {
    fn default() -> Self {
        Self {
            inference: vec![DeviceKind::Cpu],
            training: DeviceKind::Cpu,
            precision: Precision::F32,
            max_batch: 256,
        }
    }
}

impl DeviceConfig {
    /// The same devices for everything.
    #[must_use]
    pub fn on(devices: &[DeviceKind]) -> Self {
        let first = devices.first().copied().unwrap_or_default();
        let inference = if devices.is_empty() { vec![first] } else { devices.to_vec() };
        Self { inference, training: first, ..Self::default() }
    }

    /// Everything that is wrong with this section on any machine, each with its key.
    #[must_use]
    pub fn validate(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.inference.is_empty() {
            problems.push("device.inference is empty, must name a device".to_owned());
        }
        if !(1..=65_536).contains(&self.max_batch) {
            problems.push(format!("device.max_batch is {}, must be 1 to 65536", self.max_batch));
        }
        for &device in &self.inference {
            let has = match self.precision {
                Precision::F32 => true,
                Precision::Bf16 => device.is_libtorch(),
                Precision::Fp16 => device.is_cuda(),
            };
            if !has {
                problems.push(format!(
                    "device.precision is {}, which {device} in device.inference does not have",
                    self.precision.name()
                ));
            }
        }
        problems
    }

    /// That this build on this machine has every device named.
    ///
    /// # Errors
    /// As [`DeviceKind::require`], for the first that is missing.
    pub fn require(&self) -> Result<(), NetworkError> {
        self.inference.iter().chain([&self.training]).try_for_each(|device| device.require())
    }

    /// The evaluator of worker number `worker`.
    ///
    /// # Errors
    /// As [`DeviceKind::evaluator`].
    pub fn evaluator(
        &self,
        config: &NetworkConfig,
        weights: &Weights,
        worker: usize,
    ) -> Result<Box<dyn LeafEvaluator>, NetworkError> {
        let (device, max_batch) = self.place_of(worker);
        device.evaluator(config, weights, self.precision, max_batch)
    }

    /// As [`evaluator`](Self::evaluator), and each evaluation tells the ownership of the points, where
    /// the network has that head.
    ///
    /// # Errors
    /// As [`DeviceKind::evaluator`].
    pub fn analyst(
        &self,
        config: &NetworkConfig,
        weights: &Weights,
        worker: usize,
    ) -> Result<Box<dyn LeafEvaluator>, NetworkError> {
        let (device, max_batch) = self.place_of(worker);
        device.analyst(config, weights, self.precision, max_batch)
    }

    /// A worker's device, and its largest batch there.
    fn place_of(&self, worker: usize) -> (DeviceKind, NonZeroUsize) {
        let device = match self.inference.len() {
            0 => DeviceKind::Cpu,
            several => self.inference[worker % several],
        };
        (device, NonZeroUsize::new(self.max_batch).unwrap_or(NonZeroUsize::MIN))
    }
}

fn one_or_many<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<DeviceKind>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a device's name or a list of them")]
    enum Named {
        One(String),
        Many(Vec<String>),
    }
    let names = match Named::deserialize(from)? {
        Named::One(name) => vec![name],
        Named::Many(names) => names,
    };
    // Parsed here, so that the message is ours and not "no variant matched".
    let parsed = names.iter().map(|name| name.parse().map_err(D::Error::custom));
    parsed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<DeviceConfig, serde_json::Error> {
        serde_json::from_str(json)
    }

    #[test]
    fn one_name_is_a_list_of_one_and_what_is_written_reads_back() {
        let one = read(r#"{"inference": "cuda:1"}"#).unwrap();
        assert_eq!(one.inference, [DeviceKind::Cuda(1)]);
        let many = read(r#"{"inference": ["cuda:0", "cuda:1"], "precision": "bf16"}"#).unwrap();
        assert_eq!(many.inference, [DeviceKind::Cuda(0), DeviceKind::Cuda(1)]);
        assert_eq!(many.precision, Precision::Bf16);
        let again = read(&serde_json::to_string(&many).unwrap()).unwrap();
        assert_eq!(again, many);
        let message = read(r#"{"inference": ["gpu"]}"#).unwrap_err().to_string();
        assert!(message.contains("`cuda:0`"), "{message}");
    }

    #[test]
    fn every_problem_is_listed_by_its_key() {
        assert_eq!(DeviceConfig::default().validate(), Vec::<String>::new());
        let none = DeviceConfig { inference: vec![], max_batch: 0, ..DeviceConfig::default() };
        assert_eq!(none.validate().len(), 2, "{:?}", none.validate());
        let half = DeviceConfig {
            inference: vec![DeviceKind::Cpu, DeviceKind::LibtorchCpu, DeviceKind::Cuda(0)],
            precision: Precision::Fp16,
            ..DeviceConfig::default()
        };
        assert_eq!(half.validate().len(), 2, "{:?}", half.validate());
        assert!(half.validate()[0].starts_with("device.precision is fp16, which cpu"));
    }

    #[test]
    fn workers_take_the_devices_in_turn() {
        let config = NetworkConfig { blocks: 1, channels: 4, ..NetworkConfig::default() };
        let weights = config.init_weights(1).unwrap();
        let devices = DeviceConfig {
            inference: vec![DeviceKind::Cpu, DeviceKind::Cuda(250)],
            max_batch: 7,
            ..DeviceConfig::default()
        };
        for worker in [0, 2] {
            let evaluator = devices.evaluator(&config, &weights, worker).unwrap();
            assert_eq!(evaluator.max_batch().get(), 7);
            assert_eq!(devices.analyst(&config, &weights, worker).unwrap().max_batch().get(), 7);
        }
        for worker in [1, 3] {
            assert!(
                devices.evaluator(&config, &weights, worker).is_err(),
                "no machine has 251 GPUs"
            );
        }
    }
}
