//! Global pooling inside a block, one board at a time.

use super::fold::Dense;
use super::heads::{dot, pool};
use super::simd::Layout;
use crate::layers::size_factor;

/// Reused room.
#[derive(Clone, Debug, Default)]
pub(super) struct Pooling {
    /// Mean, mean by size, maximum.
    pooled: Vec<f32>,
    bias: Vec<f32>,
}

impl Pooling {
    /// Between a pooling block's two convolutions: rectifies and pools a board's first channels, adds
    /// to each other channel what `told` makes of them, and rectifies these too. `board` starts at the
    /// board's first point, and `layout` says where the others are.
    pub(super) fn tell(
        &mut self,
        told: &Dense,
        (width, height): (usize, usize),
        layout: &Layout,
        board: &mut [f32],
    ) {
        let others = told.bias.len();
        let pooled = told.weights.len() / others / 3;
        let area = width * height;
        self.pooled.clear();
        self.pooled.resize(3 * pooled, 0.0);
        let (mean, rest) = self.pooled.split_at_mut(pooled);
        let (sized, max) = rest.split_at_mut(pooled);
        // What is rectified is at least 0.
        for line in board.chunks_mut(layout.row).take(height) {
            for point in line.chunks_exact_mut(layout.column).take(width) {
                for ((x, mean), max) in point.iter_mut().zip(&mut *mean).zip(&mut *max) {
                    *x = x.max(0.0);
                    *mean += *x;
                    *max = max.max(*x);
                }
            }
        }
        let (share, factor) = (1.0 / area as f32, size_factor(area));
        for (mean, sized) in mean.iter_mut().zip(sized) {
            *mean *= share;
            *sized = *mean * factor;
        }
        told.apply(&self.pooled, &mut self.bias);
        add_and_rectify(&self.bias, pooled, (width, height), layout, board);
    }

    /// After the stem's convolution: adds to each channel what `told` makes of the board's `globals`, and
    /// rectifies. `board` and `layout` are as for [`tell`](Self::tell).
    pub(super) fn tell_globals(
        &mut self,
        told: &Dense,
        globals: &[f32],
        size: (usize, usize),
        layout: &Layout,
        board: &mut [f32],
    ) {
        told.apply(globals, &mut self.bias);
        add_and_rectify(&self.bias, 0, size, layout, board);
    }

    /// The same for a head's `channels` first features of each of a board's points, `[area, stride]`,
    /// all of which are pooled and told.
    pub(super) fn tell_all(
        &mut self,
        told: &Dense,
        features: &mut [f32],
        stride: usize,
        channels: usize,
    ) {
        let factor = size_factor(features.len() / stride);
        pool(features, stride, 0, channels, &mut self.bias);
        let (mean, max) = self.bias.split_at(channels);
        self.pooled.clear();
        self.pooled.extend_from_slice(mean);
        self.pooled.extend(mean.iter().map(|x| x * factor));
        self.pooled.extend_from_slice(max);
        told.apply(&self.pooled, &mut self.bias);
        for point in features.chunks_exact_mut(stride) {
            for (x, bias) in point.iter_mut().zip(&self.bias) {
                *x = (*x + bias).max(0.0);
            }
        }
    }
}

/// Adds the `bias` to the channels from `first` on of each of the board's points, and rectifies these.
fn add_and_rectify(
    bias: &[f32],
    first: usize,
    (width, height): (usize, usize),
    layout: &Layout,
    board: &mut [f32],
) {
    for line in board.chunks_mut(layout.row).take(height) {
        for point in line.chunks_exact_mut(layout.column).take(width) {
            for (x, bias) in point[first..].iter_mut().zip(bias) {
                *x = (*x + bias).max(0.0);
            }
        }
    }
}

impl Dense {
    /// `to = weights · x + bias`.
    fn apply(&self, x: &[f32], to: &mut Vec<f32>) {
        to.clear();
        let rows = self.weights.chunks_exact(x.len().max(1)).zip(&self.bias);
        to.extend(rows.map(|(row, bias)| bias + dot(row, x)));
    }
}
