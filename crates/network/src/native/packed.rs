//! Weights as the kernels want them: transformed, and packed by blocks of output channels.

use super::fold::FoldedConv;
use super::simd::{Kernel, TileSize};

/// A convolution ready for the matrix kernel.
#[derive(Clone, Debug)]
pub(super) struct PackedConv {
    /// Input channels.
    pub inputs: usize,
    /// `[points, outputs / block, inputs, block]`, zero beyond the true outputs. A 1×1 kernel has
    /// one point.
    pub weights: Vec<f32>,
    /// `[outputs rounded up to blocks]`, zero beyond the true outputs.
    pub bias: Vec<f32>,
}

impl PackedConv {
    /// Channels that it writes: the outputs, rounded up to whole blocks.
    pub(super) fn channels(&self) -> usize {
        self.bias.len()
    }

    /// A 3×3 convolution for tiles of `size`.
    pub(super) fn winograd(conv: &FoldedConv, kernel: Kernel, size: TileSize) -> Self {
        let transform = WeightTransform::new(size);
        Self::pack(conv, kernel, size.points(), |taps, to| transform.apply(taps, to))
    }

    /// A 1×1 convolution.
    pub(super) fn pointwise(conv: &FoldedConv, kernel: Kernel) -> Self {
        Self::pack(conv, kernel, 1, |taps, to| to.copy_from_slice(taps))
    }

    fn pack(
        conv: &FoldedConv,
        kernel: Kernel,
        points: usize,
        transform: impl Fn(&[f32], &mut [f32]),
    ) -> Self {
        let block = kernel.block();
        let channels = conv.bias.len().next_multiple_of(block);
        let mut weights = vec![0.0; points * channels * conv.inputs];
        let mut at_points = vec![0.0; points];
        for (index, taps) in conv.weights.chunks_exact(conv.taps).enumerate() {
            let (output, input) = (index / conv.inputs, index % conv.inputs);
            transform(taps, &mut at_points);
            let within = (output / block * conv.inputs + input) * block + output % block;
            for (point, &value) in at_points.iter().enumerate() {
                weights[point * channels * conv.inputs + within] = value;
            }
        }
        let mut bias = conv.bias.clone();
        bias.resize(channels, 0.0);
        Self { inputs: conv.inputs, weights, bias }
    }
}

/// Winograd's transform of 3×3 kernels, in double precision.
pub(super) struct WeightTransform {
    /// `G` of F(m, 3): the powers of each point over its distances from the others, then infinity.
    rows: Vec<[f64; 3]>,
}

impl WeightTransform {
    pub(super) fn new(size: TileSize) -> Self {
        let points = size.finite_points();
        let finite = points.iter().map(|p| {
            let scale: f64 = points.iter().filter(|q| *q != p).map(|q| p - q).product();
            [1.0 / scale, p / scale, p * p / scale]
        });
        Self { rows: finite.chain([[0.0, 0.0, 1.0]]).collect() }
    }

    /// `G g Gᵀ` of the nine `taps`, row by row.
    pub(super) fn apply(&self, taps: &[f32], to: &mut [f32]) {
        for (g, to) in self.rows.iter().zip(to.chunks_exact_mut(self.rows.len())) {
            let half: [f64; 3] = std::array::from_fn(|column| {
                (0..3).map(|k| g[k] * f64::from(taps[3 * k + column])).sum()
            });
            for (g, x) in self.rows.iter().zip(to) {
                *x = (0..3).map(|k| g[k] * half[k]).sum::<f64>() as f32;
            }
        }
    }
}
