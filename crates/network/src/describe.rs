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
    /// Whether each point of the tower sees the whole board (the heads' pooling aside).
    pub sees_whole_board: bool,
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
    // A corner sees the opposite one when half the field reaches across.
    let reach = receptive_field as usize / 2;
    Ok(NetDescription {
        parameters: trained.map(|(_, shape)| count(shape)).sum(),
        weight_bytes: 4 * total,
        flops_per_position: flops.sum(),
        receptive_field,
        sees_whole_board: reach + 1 >= size.width().max(size.height()),
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
        assert!(!describe(&config, BoardSize::square(5).unwrap()).unwrap().sees_whole_board);
    }

    #[test]
    fn the_papers_tower_of_19_blocks_sees_a_whole_19_board() {
        let config = NetworkConfig { blocks: 19, channels: 256, ..NetworkConfig::default() };
        let description = describe(&config, BoardSize::square(19).unwrap()).unwrap();
        assert!(description.sees_whole_board);
        assert!((22_000_000..24_000_000).contains(&description.parameters));
    }
}
