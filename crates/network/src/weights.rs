//! A network's numbers on the host: names, shapes and `f32` data, no tensor library.
//!
//! This is what the file on disk holds, what the native evaluator folds, what the trainer
//! updates, and what [`Net`](crate::Net) is built from. The names and PyTorch layouts are
//! [`NetworkConfig::tensors`](crate::NetworkConfig::tensors).

use std::collections::BTreeMap;

use crate::{NetworkConfig, NetworkError};

/// One tensor on the host, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct HostTensor {
    /// The extents, outermost first; `[C_out, C_in, 3, 3]` for a convolution.
    pub shape: Vec<usize>,
    /// `shape.iter().product()` numbers, the last axis running fastest.
    pub data: Vec<f32>,
}

impl HostTensor {
    /// A tensor with every element `value`.
    #[must_use]
    pub fn full(shape: &[usize], value: f32) -> Self {
        Self { shape: shape.to_vec(), data: vec![value; shape.iter().product()] }
    }
}

/// All tensors of a network by name. The order is the names' own, so that two equal networks
/// are written as the same bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Weights(pub BTreeMap<String, HostTensor>);

impl Weights {
    /// The tensor called `name`.
    ///
    /// # Errors
    /// [`NetworkError::MissingTensor`] when there is none.
    pub fn get(&self, name: &str) -> Result<&HostTensor, NetworkError> {
        self.0.get(name).ok_or_else(|| NetworkError::MissingTensor(name.to_owned()))
    }

    /// How many numbers all tensors hold together, running statistics included.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.values().map(|tensor| tensor.data.len()).sum()
    }

    /// That these are exactly the tensors of `config`: every name, no other, each of its
    /// shape, every number finite, no running variance below zero.
    ///
    /// # Errors
    /// The config's problems, or the first thing that is not so, by tensor name.
    pub fn check(&self, config: &NetworkConfig) -> Result<(), NetworkError> {
        // First of all: the list below is as long as the config says, and a file may say anything.
        config.require_sound()?;
        let expected = config.tensors()?;
        for (name, shape) in &expected {
            let tensor = self.get(name)?;
            if tensor.shape != *shape || tensor.data.len() != shape.iter().product::<usize>() {
                return Err(NetworkError::WrongShape {
                    name: name.clone(),
                    expected: shape.clone(),
                    found: tensor.shape.clone(),
                });
            }
            if let Some(&value) = tensor.data.iter().find(|v| !v.is_finite()) {
                return Err(NetworkError::NotFinite { name: name.clone(), value });
            }
            if name.ends_with(".var")
                && let Some(&value) = tensor.data.iter().find(|v| **v < 0.0)
            {
                return Err(NetworkError::NegativeVariance { name: name.clone(), value });
            }
        }
        if expected.len() != self.0.len() {
            let stranger = self
                .0
                .keys()
                .find(|name| !expected.iter().any(|(known, _)| known == *name))
                .expect("more tensors than names leave one without a name");
            return Err(NetworkError::UnknownTensor(stranger.clone()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> (NetworkConfig, Weights) {
        let config = NetworkConfig { blocks: 1, channels: 4, ..NetworkConfig::default() };
        let weights = config
            .tensors()
            .unwrap()
            .into_iter()
            .map(|(name, shape)| (name, HostTensor::full(&shape, 0.5)))
            .collect();
        (config, Weights(weights))
    }

    #[test]
    fn the_tensors_of_a_config_pass_its_check() {
        let (config, weights) = small();
        weights.check(&config).unwrap();
    }

    #[test]
    fn a_missing_a_foreign_and_a_misshapen_tensor_are_refused_by_name() {
        let (config, weights) = small();
        let mut missing = weights.clone();
        missing.0.remove("blocks.0.bn2.mean");
        let message = missing.check(&config).unwrap_err().to_string();
        assert!(message.contains("blocks.0.bn2.mean"), "{message}");

        let mut foreign = weights.clone();
        foreign.0.insert("blocks.1.bn2.mean".into(), HostTensor::full(&[4], 0.0));
        let message = foreign.check(&config).unwrap_err().to_string();
        assert!(message.contains("blocks.1.bn2.mean"), "{message}");

        let mut misshapen = weights;
        misshapen.0.insert("stem.bn.gamma".into(), HostTensor::full(&[5], 0.0));
        let message = misshapen.check(&config).unwrap_err().to_string();
        assert!(message.contains("stem.bn.gamma"), "{message}");
    }

    #[test]
    fn a_number_that_is_not_finite_or_a_negative_variance_is_refused_by_name() {
        let (config, weights) = small();
        for (name, value) in [
            ("value.out.bias", f32::NAN),
            ("policy.pass.weight", f32::INFINITY),
            ("stem.bn.var", -0.1),
        ] {
            let mut broken = weights.clone();
            broken.0.get_mut(name).unwrap().data[0] = value;
            let message = broken.check(&config).unwrap_err().to_string();
            assert!(message.contains(name), "{message}");
        }
    }
}
