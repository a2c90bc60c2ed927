//! Networks that were trained elsewhere, by the names that PyTorch gives them.
//!
//! The file is a safetensors file of a module's `state_dict`. The module's attributes are called as
//! our tensors ([`NetworkConfig::tensors`]): `stem.conv`, `stem.bn`, `blocks.0.conv1`, …, `policy.conv`,
//! `policy.bn`, `policy.out`, `policy.pass`, `value.conv`, `value.bn`, `value.hidden`, `value.out`.
//! Layouts are PyTorch's own. A `BatchNorm2d` calls its parts otherwise:
//!
//! | PyTorch | here |
//! |---|---|
//! | `weight` | `gamma` |
//! | `bias` | `beta` |
//! | `running_mean` | `mean` |
//! | `running_var` | `var` |
//! | `num_batches_tracked` | left out |
//!
//! The shape of the network is read off its tensors.

use safetensors::tensor::{Dtype, SafeTensors};
use tengen_features::FeatureSet;

use crate::{HostTensor, NetworkConfig, NetworkError, Weights};

/// The network in the bytes of such a file, which reads the planes of `features`.
///
/// Half-precision tensors are not read. The normalisations' epsilon must be PyTorch's default, which
/// is ours.
///
/// # Errors
/// [`NetworkError::Pytorch`] for bytes that are no such file, and what [`Weights::check`] refuses.
pub fn import_pytorch(
    bytes: &[u8],
    features: FeatureSet,
) -> Result<(NetworkConfig, Weights), NetworkError> {
    let weights = read(bytes).map_err(NetworkError::Pytorch)?;
    let config = shape_of(&weights, features)?;
    weights.check(&config)?;
    Ok((config, weights))
}

fn read(bytes: &[u8]) -> Result<Weights, String> {
    let file = SafeTensors::deserialize(bytes).map_err(|error| error.to_string())?;
    let mut weights = Weights::default();
    for (name, view) in file.iter() {
        if name.ends_with(".num_batches_tracked") {
            continue;
        }
        if view.dtype() != Dtype::F32 {
            return Err(format!("the tensor {name} is {:?}, not F32", view.dtype()));
        }
        let (numbers, _) = view.data().as_chunks::<4>();
        let data = numbers.iter().map(|raw| f32::from_le_bytes(*raw)).collect();
        let tensor = HostTensor { shape: view.shape().to_vec(), data };
        weights.0.insert(our_name(name), tensor);
    }
    Ok(weights)
}

/// What we call PyTorch's `name`.
fn our_name(name: &str) -> String {
    let Some((layer, part)) = name.rsplit_once('.') else { return name.to_owned() };
    let is_norm = layer.rsplit('.').next().is_some_and(|last| last.starts_with("bn"));
    let ours = match part {
        "weight" => "gamma",
        "bias" => "beta",
        "running_mean" => "mean",
        "running_var" => "var",
        other => other,
    };
    if is_norm { format!("{layer}.{ours}") } else { name.to_owned() }
}

/// The config whose tensors these are, if they are a network's at all.
fn shape_of(weights: &Weights, features: FeatureSet) -> Result<NetworkConfig, NetworkError> {
    let extent = |name: &str, axis: usize| -> Result<usize, NetworkError> {
        let tensor = weights.get(name)?;
        tensor.shape.get(axis).copied().ok_or_else(|| NetworkError::WrongShape {
            name: name.to_owned(),
            expected: vec![0; axis + 1],
            found: tensor.shape.clone(),
        })
    };
    let has = |name: &str| weights.0.contains_key(name);
    let blocks = (0..).take_while(|i| has(&format!("blocks.{i}.conv1.weight"))).count();
    let pools = |&i: &usize| has(&format!("blocks.{i}.pool.weight"));
    let pooling_blocks: Vec<usize> = (0..blocks).filter(pools).collect();
    let channels = extent("stem.conv.weight", 0)?;
    let pooling_channels = match pooling_blocks.first() {
        Some(first) => extent(&format!("blocks.{first}.pool.weight"), 1)? / 3,
        None => 0,
    };
    Ok(NetworkConfig {
        blocks,
        channels,
        policy_channels: extent("policy.conv.weight", 0)?,
        value_channels: extent("value.conv.weight", 0)?,
        value_hidden: extent("value.hidden.weight", 0)?,
        feature_set: features.name().to_owned(),
        pooling_blocks,
        pooling_channels,
        global_inputs: has("stem.globals.weight"),
        policy_pooling: has("policy.pool.weight"),
        ownership: has("value.ownership.weight"),
        score: has("value.score.weight"),
        opponent_policy: has("policy.opponent.weight"),
        soft_policy: has("policy.soft.weight"),
        short_term_values: has("value.short_term.weight"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{config, everything, random_weights};
    use safetensors::tensor::{TensorView, serialize};

    /// What PyTorch would have saved.
    fn saved(weights: &Weights) -> Vec<u8> {
        let theirs = |name: &str| {
            let (layer, part) = name.rsplit_once('.').unwrap();
            let part = match part {
                "gamma" => "weight",
                "beta" => "bias",
                "mean" => "running_mean",
                "var" => "running_var",
                other => other,
            };
            format!("{layer}.{part}")
        };
        let raw: Vec<_> = weights
            .0
            .iter()
            .map(|(name, tensor)| {
                let bytes: Vec<u8> = tensor.data.iter().flat_map(|x| x.to_le_bytes()).collect();
                (theirs(name), tensor.shape.clone(), bytes)
            })
            .collect();
        let counted = 3i64.to_le_bytes();
        let count = TensorView::new(Dtype::I64, vec![], &counted).unwrap();
        let views = raw.iter().map(|(name, shape, bytes)| {
            (name.clone(), TensorView::new(Dtype::F32, shape.clone(), bytes).unwrap())
        });
        let views = views.chain([("stem.bn.num_batches_tracked".to_owned(), count)]);
        serialize(views.collect::<Vec<_>>(), None).unwrap()
    }

    #[test]
    fn a_network_saved_by_pytorch_comes_back_with_its_shape() {
        let mut plain = config(3, 8);
        plain.policy_channels = 3;
        let all = NetworkConfig { pooling_channels: 2, ..everything(plain.clone()) };
        for config in [plain, all] {
            let weights = random_weights(&config, 1);
            let (found, back) = import_pytorch(&saved(&weights), FeatureSet::Agz).unwrap();
            assert_eq!(found, config);
            assert_eq!(back, weights);
        }
    }

    #[test]
    fn what_is_no_network_is_refused_by_name() {
        assert!(import_pytorch(b"pickle", FeatureSet::Agz).is_err());
        let mut weights = random_weights(&config(1, 8), 1);
        weights.0.remove("value.hidden.weight");
        let message = import_pytorch(&saved(&weights), FeatureSet::Agz).unwrap_err().to_string();
        assert!(message.contains("value.hidden.weight"), "{message}");
        let mut weights = random_weights(&config(1, 8), 1);
        weights.0.insert("value.extra.weight".into(), HostTensor::full(&[1], 0.0));
        let message = import_pytorch(&saved(&weights), FeatureSet::Agz).unwrap_err().to_string();
        assert!(message.contains("value.extra.weight"), "{message}");
    }
}
