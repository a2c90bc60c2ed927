//! What all evaluators of a network share: its weights, transformed once a tile size.

use std::sync::OnceLock;

use super::fold::{FoldedConv, FoldedNet};
use super::geometry;
use super::packed::PackedConv;
use super::simd::{Kernel, TileSize};

/// Transformed weights beyond this many bytes are not made: the tiles are then smaller.
const MAX_WEIGHT_BYTES: usize = 1 << 30;

/// A folded network and its weights for the tile sizes asked for so far.
#[derive(Debug)]
pub(super) struct SharedNet {
    pub net: FoldedNet,
    pub kernel: Kernel,
    /// Both heads' 1×1 convolutions.
    pub heads: PackedConv,
    towers: [OnceLock<PackedTower>; TileSize::ALL.len()],
}

/// The 3×3 convolutions for one tile size.
#[derive(Debug)]
pub(super) struct PackedTower {
    pub stem: PackedConv,
    pub blocks: Vec<[PackedConv; 2]>,
}

impl SharedNet {
    pub(super) fn new(net: FoldedNet, kernel: Kernel) -> Self {
        let heads = PackedConv::pointwise(&net.heads, kernel);
        Self { net, kernel, heads, towers: Default::default() }
    }

    /// The tile size for boards of this size.
    pub(super) fn tile_size(&self, width: usize, height: usize) -> TileSize {
        let convs = std::iter::once(&self.net.stem).chain(self.net.blocks.iter().flatten());
        let pairs: usize = convs.map(|conv| conv.inputs * conv.bias.len()).sum();
        geometry::choose(width, height, |size| {
            pairs * size.points() * size_of::<f32>() <= MAX_WEIGHT_BYTES
        })
    }

    /// The tower for tiles of `size`, made at the first call.
    pub(super) fn tower(&self, size: TileSize) -> &PackedTower {
        let slot = TileSize::ALL.iter().zip(&self.towers).find(|(known, _)| **known == size);
        let (_, slot) = slot.expect("ALL holds every tile size");
        slot.get_or_init(|| {
            let pack = |conv: &FoldedConv| PackedConv::winograd(conv, self.kernel, size);
            PackedTower {
                stem: pack(&self.net.stem),
                blocks: self.net.blocks.iter().map(|[a, b]| [pack(a), pack(b)]).collect(),
            }
        })
    }
}
