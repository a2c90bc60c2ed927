//! The first weights of a run, from one seed, the same on every machine and backend.

use burn::tensor::Device;
use rand::Rng;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

use crate::{HostTensor, Net, NetworkConfig, NetworkError, Weights};

/// How much smaller than He's the last layers start, so that an untrained network answers
/// nearly uniform priors and a value near zero.
const OUTPUT_SCALE: f32 = 0.1;

/// The last layers: nothing but a softmax or a tanh follows.
const OUTPUTS: [&str; 10] = [
    "policy.out.weight",
    "policy.pass.weight",
    "policy.opponent.weight",
    "policy.opponent_pass.weight",
    "policy.soft.weight",
    "policy.soft_pass.weight",
    "value.out.weight",
    "value.ownership.weight",
    "value.score.weight",
    "value.short_term.weight",
];

impl NetworkConfig {
    /// Weights drawn from `seed`: layers normal with variance `2 / fan_in` (He et al. 2015,
    /// "Delving deep into rectifiers"), the output layers a tenth of that, biases 0,
    /// normalisations the identity.
    ///
    /// # Errors
    /// [`NetworkError::Config`] with every problem of the config.
    pub fn init_weights(&self, seed: u64) -> Result<Weights, NetworkError> {
        self.require_sound()?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let tensors = self.tensors()?.into_iter();
        let drawn = tensors.map(|(name, shape)| {
            let tensor = first_values(&name, &shape, &mut rng);
            (name, tensor)
        });
        Ok(Weights(drawn.collect()))
    }
}

/// A network with the weights that [`NetworkConfig::init_weights`] draws from `seed`.
///
/// # Errors
/// [`NetworkError::Config`] with every problem of the config.
pub fn init_seeded(
    config: &NetworkConfig,
    seed: u64,
    device: &Device,
) -> Result<Net, NetworkError> {
    Net::from_weights(config, &config.init_weights(seed)?, device)
}

fn first_values(name: &str, shape: &[usize], rng: &mut ChaCha8Rng) -> HostTensor {
    let part = name.rsplit('.').next().unwrap_or(name);
    match part {
        "gamma" | "var" => HostTensor::full(shape, 1.0),
        "weight" => {
            let fan_in: usize = shape[1..].iter().product();
            let scale = if OUTPUTS.contains(&name) { OUTPUT_SCALE } else { 1.0 };
            let deviation = scale * (2.0 / fan_in as f32).sqrt();
            let count = shape.iter().product();
            let data =
                (0..count).map(|_| deviation * rng.sample::<f32, _>(StandardNormal)).collect();
            HostTensor { shape: shape.to_vec(), data }
        }
        _ => HostTensor::full(shape, 0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_gives_one_network_and_another_seed_another() {
        let config = NetworkConfig::default();
        let first = config.init_weights(7).unwrap();
        assert_eq!(first, config.init_weights(7).unwrap());
        assert_ne!(first, config.init_weights(8).unwrap());
        first.check(&config).unwrap();
    }

    #[test]
    fn a_layer_has_the_variance_of_he_and_an_output_a_hundredth_of_it() {
        let config = NetworkConfig {
            blocks: 1,
            channels: 64,
            policy_channels: 512,
            ..NetworkConfig::default()
        };
        let weights = config.init_weights(1).unwrap();
        let ratio = |name: &str| {
            let tensor = weights.get(name).unwrap();
            let fan_in: usize = tensor.shape[1..].iter().product();
            let square: f32 = tensor.data.iter().map(|w| w * w).sum();
            square / tensor.data.len() as f32 * fan_in as f32 / 2.0
        };
        assert!((ratio("blocks.0.conv1.weight") - 1.0).abs() < 0.05);
        assert!((ratio("policy.pass.weight") - 0.01).abs() < 0.002);
    }

    #[test]
    fn a_config_with_problems_makes_no_network() {
        let config = NetworkConfig { channels: 0, ..NetworkConfig::default() };
        assert!(matches!(
            config.init_weights(1),
            Err(NetworkError::Config(problems)) if problems[0].contains("network.channels")
        ));
    }
}
