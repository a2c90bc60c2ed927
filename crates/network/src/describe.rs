//! What a network costs, from its config alone.

use serde::Serialize;
use tengen_rules::BoardSize;

use crate::{NetworkConfig, NetworkError};

/// The size and the price of a network on a board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NetDescription {
    /// Trained numbers; running statistics are not counted.
    pub parameters: u64,
    /// Bytes of all tensors as `f32`, running statistics included.
    pub weight_bytes: u64,
    /// Floating-point operations of one position's forward pass, a multiply-add counted as two;
    /// convolutions and dense layers only.
    pub flops_per_position: u64,
    /// Side of the square of points that one point of the tower sees, in points.
    pub receptive_field: u32,
    /// Whether each point of the tower sees the whole board (the heads' pooling aside), by the field or
    /// by a block that pools.
    pub sees_whole_board: bool,
    /// The heads, by the config's keys; policy and value are always there.
    pub heads: Vec<&'static str>,
}

/// What a training step on the processor holds, in bytes, without the padding to whole vectors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TrainingMemory {
    /// Samples of a step.
    pub batch: usize,
    /// The weights, and the copy that a step is tried on.
    pub weights: u64,
    /// Velocities, and their copy.
    pub optimiser: u64,
    /// Gradients of the weights.
    pub gradients: u64,
    /// What the backward pass wants of the forward pass: planes, and each convolution's output before and
    /// after its normalisation.
    pub activations: u64,
    /// All together.
    pub total: u64,
}

/// What training the network of `config` takes on boards of `size` with `batch` samples a step.
///
/// # Errors
/// [`NetworkError::Config`] with every problem of the config.
pub fn training_memory(
    config: &NetworkConfig,
    size: BoardSize,
    batch: usize,
) -> Result<TrainingMemory, NetworkError> {
    let facts = describe(config, size)?;
    let tensors = config.tensors()?;
    // A convolution with a bias ends a head: it stands beyond what we keep.
    let kept = tensors.iter().filter(|(name, shape)| {
        let bias = name.replace(".weight", ".bias");
        shape.len() == 4 && tensors.iter().all(|(other, _)| *other != bias)
    });
    let channels: usize = kept.map(|(_, shape)| 2 * shape[0]).sum();
    let points = (batch * size.area()) as u64;
    let activations = 4 * points * (config.features()?.planes() + channels) as u64;
    let (weights, trained) = (2 * facts.weight_bytes, 4 * facts.parameters);
    let total = weights + 3 * trained + activations;
    let (optimiser, gradients) = (2 * trained, trained);
    Ok(TrainingMemory { batch, weights, optimiser, gradients, activations, total })
}

/// Describes the network of `config` on a board of `size`.
///
/// # Errors
/// [`NetworkError::Config`] with every problem of the config.
pub fn describe(config: &NetworkConfig, size: BoardSize) -> Result<NetDescription, NetworkError> {
    config.require_sound()?;
    let tensors = config.tensors()?;
    let count = |shape: &[usize]| shape.iter().map(|&n| n as u64).product::<u64>();
    let total: u64 = tensors.iter().map(|(_, shape)| count(shape)).sum();
    let trained = tensors.iter().filter(|(name, _)| NetworkConfig::is_trained(name));
    let flops = tensors.iter().map(|(_, shape)| match shape.len() {
        4 => 2 * count(shape) * size.area() as u64,
        2 => 2 * count(shape),
        _ => 0,
    });
    let receptive_field = 3 + 4 * config.blocks as u32;
    let heads = [
        ("ownership", config.ownership),
        ("score", config.score),
        ("opponent_policy", config.opponent_policy),
        ("soft_policy", config.soft_policy),
        ("short_term_values", config.short_term_values),
    ];
    let further = heads.iter().filter(|(_, on)| *on).map(|(head, _)| *head);
    // A corner sees the opposite one when half the field reaches across.
    let reach = receptive_field as usize / 2;
    Ok(NetDescription {
        parameters: trained.map(|(_, shape)| count(shape)).sum(),
        weight_bytes: 4 * total,
        flops_per_position: flops.sum(),
        receptive_field,
        sees_whole_board: reach + 1 >= size.width().max(size.height())
            || !config.pooling_blocks.is_empty(),
        heads: ["policy", "value"].into_iter().chain(further).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_of_one_block_and_two_channels_is_counted_by_hand() {
        let config = NetworkConfig {
            blocks: 1,
            channels: 2,
            policy_channels: 1,
            value_channels: 1,
            value_hidden: 3,
            ..NetworkConfig::default()
        };
        let size = BoardSize::square(3).unwrap();
        let description = describe(&config, size).unwrap();
        // Multiplied weights per point: stem 17·2·9, block 2·(2·2·9), heads 2 + 1 + 2.
        let per_point = 306 + 72 + 5;
        // Pooled: pass 2, hidden 2·3, out 3.
        let pooled = 2 + 6 + 3;
        assert_eq!(description.flops_per_position, 2 * (9 * per_point + pooled));
        // Gamma and beta of 3·2 + 2·1 channels; biases 1 + 1 + 3 + 1.
        assert_eq!(description.parameters, per_point + pooled + 16 + 6);
        assert_eq!(description.weight_bytes, 4 * (description.parameters + 16));
        assert_eq!(description.receptive_field, 7);
        assert!(description.sees_whole_board);
        let five = BoardSize::square(5).unwrap();
        assert!(!describe(&config, five).unwrap().sees_whole_board);
        let pooling = NetworkConfig { pooling_blocks: vec![0], score: true, ..config.clone() };
        let pooling = describe(&pooling, five).unwrap();
        assert!(pooling.sees_whole_board);
        assert_eq!(pooling.heads, ["policy", "value", "score"]);

        let memory = training_memory(&config, size, 10).unwrap();
        // Three tower convolutions of two channels, two heads of one, each before and after.
        assert_eq!(memory.activations, 4 * 10 * 9 * (17 + 2 * (3 * 2 + 2)));
        assert_eq!(memory.gradients, 4 * description.parameters);
        assert_eq!(memory.weights, 2 * description.weight_bytes);
        let parts = memory.weights + memory.optimiser + memory.gradients + memory.activations;
        assert_eq!(memory.total, parts);
    }

    #[test]
    fn the_papers_tower_of_19_blocks_sees_a_whole_19_board() {
        let config = NetworkConfig { blocks: 19, channels: 256, ..NetworkConfig::default() };
        let description = describe(&config, BoardSize::square(19).unwrap()).unwrap();
        assert!(description.sees_whole_board);
        assert!((22_000_000..24_000_000).contains(&description.parameters));
    }
}
