//! Why a network was refused.

use std::path::PathBuf;

/// What can be wrong with a network, its file or its device.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// The config is not one that a network can be made from.
    #[error("the network config is refused: {}", .0.join("; "))]
    Config(Vec<String>),
    /// No feature set of this name is known here.
    #[error("the feature set {0:?} is unknown here")]
    UnknownFeatureSet(String),
    /// A tensor that the config asks for is not there.
    #[error("the tensor {0} is missing")]
    MissingTensor(String),
    /// A tensor is there that the config does not know.
    #[error("the tensor {0} belongs to no layer of this config")]
    UnknownTensor(String),
    /// A tensor has another shape than the config asks for.
    #[error("the tensor {name} has shape {found:?}, the config asks for {expected:?}")]
    WrongShape {
        /// The tensor.
        name: String,
        /// The config's shape.
        expected: Vec<usize>,
        /// The shape found.
        found: Vec<usize>,
    },
    /// A number is infinite or not a number.
    #[error("the tensor {name} holds {value}, which is not finite")]
    NotFinite {
        /// The tensor.
        name: String,
        /// The first such number.
        value: f32,
    },
    /// A running variance is negative.
    #[error("the tensor {name} holds the variance {value}, below zero")]
    NegativeVariance {
        /// The tensor.
        name: String,
        /// The first such number.
        value: f32,
    },
    /// A network id is not 64 lower-case hexadecimal digits.
    #[error("{0:?} is not a network id: 64 lower-case hexadecimal digits")]
    BadId(String),
    /// A network file could not be read or written.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The bytes of a file are not the ones that its name promises.
    #[error("{} is damaged: its bytes hash to {found}, its name promises {expected}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The hash in the name.
        expected: String,
        /// The hash of the bytes.
        found: String,
    },
    /// The file is whole but not a network of ours.
    #[error("{} is not a network: {why}", .path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The file is a sound safetensors file whose network is refused.
    #[error("{}: {source}", .path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Box<NetworkError>,
    },
    /// The bytes are no PyTorch network as a safetensors file.
    #[error("not a PyTorch network: {0}")]
    Pytorch(String),
    /// The tensor library could not do its part.
    #[error("the device {device} failed: {why}")]
    Device {
        /// The device's name.
        device: String,
        /// What it said.
        why: String,
    },
}
