//! The pass itself: a few boards at a time through the whole tower.

use super::fold::FoldedNet;
use super::heads::{self, HeadScratch};
use super::kernel::{Places, Simd, Then, convolve};

/// Points that go through the tower together: enough to use each block of weights often, few
/// enough that their activations stay in a core's own cache.
const POINTS_TOGETHER: usize = 384;

/// A folded network with the room it computes in.
///
/// Each board lies in a grid with a border of one point that stays zero, so that a 3×3
/// convolution needs no special case at the edge. All room is reused; it is only made anew when
/// the board's size changes.
#[derive(Clone, Debug)]
pub(super) struct Forward {
    net: FoldedNet,
    simd: Simd,
    width: usize,
    height: usize,
    /// Grid index of every true point, board after board.
    points: Vec<usize>,
    /// Grid distances of a 3×3 kernel's taps, in the order of the stored weights.
    taps: [isize; 9],
    /// `[grid, planes]`.
    input: Vec<f32>,
    /// `[grid, channels]`: the residual stream.
    trunk: Vec<f32>,
    /// `[grid, channels]`: between the two convolutions of a block.
    inner: Vec<f32>,
    /// `[grid, policy + value channels]`.
    features: Vec<f32>,
    scratch: HeadScratch,
}

impl Forward {
    pub(super) fn new(net: FoldedNet, simd: Simd) -> Self {
        Self {
            net,
            simd,
            width: 0,
            height: 0,
            points: Vec::new(),
            taps: [0; 9],
            input: Vec::new(),
            trunk: Vec::new(),
            inner: Vec::new(),
            features: Vec::new(),
            scratch: HeadScratch::default(),
        }
    }

    /// Boards of this size that go through the tower together.
    pub(super) fn boards_together(width: usize, height: usize) -> usize {
        (POINTS_TOGETHER / (width * height)).max(1)
    }

    /// Makes room for boards of this size; nothing to do if it was the last one.
    pub(super) fn fit(&mut self, width: usize, height: usize) {
        if (width, height) == (self.width, self.height) {
            return;
        }
        (self.width, self.height) = (width, height);
        let boards = Self::boards_together(width, height);
        let (columns, rows) = (width + 2, height + 2);
        self.points.clear();
        for board in 0..boards {
            for row in 0..height {
                let start = (board * rows + row + 1) * columns + 1;
                self.points.extend(start..start + width);
            }
        }
        for (tap, to) in self.taps.iter_mut().enumerate() {
            let (down, right) = (tap as isize / 3 - 1, tap as isize % 3 - 1);
            *to = down * columns as isize + right;
        }
        // Borders must be zero, whatever lay there for the last size.
        let grid = boards * rows * columns;
        for (buffer, channels) in [
            (&mut self.input, self.net.stem.inputs),
            (&mut self.trunk, self.net.stem.stride()),
            (&mut self.inner, self.net.stem.stride()),
            (&mut self.features, self.net.heads.stride()),
        ] {
            buffer.clear();
            buffer.resize(grid * channels, 0.0);
        }
    }

    /// Puts one board's planes, `[H, W, planes]`, in its place.
    pub(super) fn set_input(&mut self, board: usize, planes: &[f32]) {
        let channels = self.net.stem.inputs;
        let area = self.width * self.height;
        let rows = planes.chunks_exact(self.width * channels);
        for (start, row) in self.points[board * area..].iter().step_by(self.width).zip(rows) {
            self.input[start * channels..][..row.len()].copy_from_slice(row);
        }
    }

    /// Runs the tower and both 1×1 convolutions on the first `boards` boards.
    pub(super) fn run(&mut self, boards: usize) {
        let points = &self.points[..boards * self.width * self.height];
        let net = &self.net;
        let stem = Places { points, taps: &self.taps, stride: net.stem.inputs };
        convolve(self.simd, &net.stem, &stem, &self.input, &mut self.trunk, Then::Relu);

        let stride = net.stem.stride();
        let tower = Places { points, taps: &self.taps, stride };
        for [first, second] in &net.blocks {
            convolve(self.simd, first, &tower, &self.trunk, &mut self.inner, Then::Relu);
            convolve(self.simd, second, &tower, &self.inner, &mut self.trunk, Then::AddRelu);
        }
        let heads = Places { points, taps: &[0], stride };
        convolve(self.simd, &net.heads, &heads, &self.trunk, &mut self.features, Then::Relu);
    }

    /// After [`Forward::run`]: writes one board's `[area + 1]` logits and returns its value.
    pub(super) fn answer(&mut self, board: usize, logits: &mut [f32]) -> f32 {
        let area = self.width * self.height;
        let points = &self.points[board * area..][..area];
        heads::answer(&self.net, &self.features, points, &mut self.scratch, logits)
    }
}
