//! The residual network: its shape, its weights, its file, and evaluators that run it.
//!
//! Weights live on the host as named tensors ([`Weights`]), and everything else is made from
//! them or turned back into them:
//!
//! ```text
//! NetworkConfig ──init_weights(seed)──▶ Weights ◀──save_network / load_network──▶ <hash>.safetensors
//!                                        │   ▲
//!                     Net::from_weights  ▼   │  Net::to_weights
//!                                         Net  (burn: training, and the reference evaluator)
//! ```
//!
//! [`TrainingNet`] computes on plain CPUs what burn would of a training step, several times faster.
//! [`NativeEvaluator`] answers leaves fast on plain CPUs; with the feature `libtorch`, `LibtorchEvaluator`
//! does on CPUs and GPUs (`docs/gpu.md`); [`BurnEvaluator`] answers the same through burn's forward
//! pass. burn types stay in this crate and in the trainer; devices are chosen in one file
//! ([`DeviceKind`], `docs/adr/0001`).

mod burn_backend;
mod burn_evaluator;
mod check_positions;
mod config;
mod describe;
mod device;
mod device_check;
mod device_config;
mod error;
mod file;
#[cfg(test)]
mod fixture;
mod heads;
mod id;
mod init;
mod layers;
#[cfg(feature = "libtorch")]
mod libtorch;
mod naming;
mod native;
mod net;
mod onnx;
mod pytorch;
mod training;
mod weights;

pub use burn_backend::BurnBackend;
pub use burn_evaluator::BurnEvaluator;
pub use config::{NORM_EPSILON, NetworkConfig};
pub use describe::{NetDescription, TrainingMemory, describe, training_memory};
pub use device::DeviceKind;
pub use device_check::{DeviceCheck, check_device, libtorch_facts};
pub use device_config::{DeviceConfig, Precision};
pub use error::NetworkError;
pub use file::{NetworkMeta, load_network, save_network};
pub use heads::{NetOutput, ScoreOutput};
pub use id::NetworkId;
pub use init::init_seeded;
#[cfg(feature = "libtorch")]
pub use libtorch::LibtorchEvaluator;
pub use native::{KernelCheck, NativeEvaluator, Peaks, check_kernels};
pub use net::Net;
pub use onnx::export_onnx;
pub use pytorch::import_pytorch;
pub use training::{Traced, TrainingNet};
pub use weights::{HostTensor, Weights};
