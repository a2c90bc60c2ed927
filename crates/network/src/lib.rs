//! The residual network: its shape, its weights, its file, and evaluators that run it.
//!
//! Weights live on the host as named tensors ([`Weights`]); everything else is made from them.

mod config;
mod error;
mod weights;

pub use config::{NORM_EPSILON, NetworkConfig};
pub use error::NetworkError;
pub use weights::{HostTensor, Weights};
