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
//! [`NativeEvaluator`] answers leaves fast on plain CPUs; [`BurnEvaluator`] answers the same through
//! burn's forward pass. burn types stay in this crate
//! and in the trainer; devices are chosen in one file ([`DeviceKind`], `docs/adr/0001`).

mod burn_evaluator;
mod config;
mod describe;
mod device;
mod error;
mod file;
mod id;
mod init;
mod layers;
mod naming;
mod native;
mod net;
mod training;
mod weights;

pub use burn_evaluator::BurnEvaluator;
pub use config::{NORM_EPSILON, NetworkConfig};
pub use describe::{NetDescription, describe};
pub use device::DeviceKind;
pub use error::NetworkError;
pub use file::{NetworkMeta, load_network, save_network};
pub use id::NetworkId;
pub use init::init_seeded;
pub use native::{KernelCheck, NativeEvaluator, Peaks, check_kernels};
pub use net::{Net, NetOutput};
pub use training::{Traced, TrainingNet};
pub use weights::{HostTensor, Weights};
