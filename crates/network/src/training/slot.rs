//! A share of a batch's boards with all that a pass remembers of them: one task's work.

use super::grid::Grid;
use super::kernels;
use super::layer::{Layer, Role, Taps};
use super::norm::{Moments, Points, Slopes};
use super::telling::{Telling, Told};
use crate::native::simd::Kernel;

/// Points that are worked on together, at least: enough to use each block of weights often, few
/// enough that a layer's input and output stay in a core's own cache.
const POINTS_TOGETHER: usize = 128;

/// Some boards of a batch.
#[derive(Debug)]
pub(super) struct Slot {
    grid: Grid,
    taps: Taps,
    /// Points worked on together: whole boards.
    together: usize,
    planes: Vec<f32>,
    layers: Vec<Memory>,
    /// Gradient of the residual stream, where the pass back stands.
    stream: Vec<f32>,
    /// Gradient between the two convolutions of a block.
    inner: Vec<f32>,
    /// Gradient of the heads' features.
    features: Vec<f32>,
    /// Gradient of the convolution's output of a 3×3 layer, and of the heads.
    dz: [Vec<f32>; 2],
    /// What this slot adds to the gradient of the layer's weights, `[taps, inputs, stride]`.
    pub dw: Vec<f32>,
    /// The same for the telling of the layer before, if it tells.
    pub told: Vec<f32>,
    /// Moments of the layer's convolution.
    pub moments: Vec<Moments>,
    /// Sums over the gradient of the layer's normalised output.
    pub slopes: Vec<Slopes>,
}

/// What a layer's backward pass needs of its forward pass.
#[derive(Debug)]
struct Memory {
    /// After the convolution.
    z: Vec<f32>,
    /// After normalisation, addition and ReLU.
    y: Vec<f32>,
    told: Told,
}

impl Slot {
    pub(super) fn new(layers: &[Layer], boards: usize, height: usize, width: usize) -> Self {
        let grid = Grid::new(boards, height, width);
        let room = |stride: usize| vec![0.0; grid.len * stride];
        let tower = layers.first().map_or(0, |layer| layer.stride);
        let heads = layers.last().map_or(0, |layer| layer.stride);
        Self {
            taps: Taps::new(&grid),
            together: POINTS_TOGETHER.div_ceil(grid.area.max(1)) * grid.area,
            planes: room(layers.first().map_or(0, |layer| layer.x_stride)),
            layers: layers
                .iter()
                .map(|layer| Memory {
                    z: room(layer.stride),
                    y: room(layer.stride),
                    told: layer.telling.as_ref().map_or_else(Told::default, |t| t.room(boards)),
                })
                .collect(),
            stream: room(tower),
            inner: room(tower),
            features: room(heads),
            dz: [room(tower), room(heads)],
            dw: Vec::new(),
            told: Vec::new(),
            moments: Vec::new(),
            slopes: Vec::new(),
            grid,
        }
    }

    /// Floats of this slot's boards in `[boards, channels, area]`.
    pub(super) fn dense(&self, channels: usize) -> usize {
        self.grid.points.len() * channels
    }

    /// Takes the planes, `[boards, planes, area]`.
    pub(super) fn set_planes(&mut self, planes: &[f32], channels: usize) {
        scatter(&self.grid, planes, 0, channels, channels, &mut self.planes);
    }

    /// Takes the inputs without a place on the board, `[boards, globals]`.
    pub(super) fn set_globals(&mut self, globals: &[f32]) {
        if let Some(stem) = self.layers.first_mut() {
            stem.told.pooled.copy_from_slice(globals);
        }
    }

    /// Boards of this slot.
    pub(super) fn boards(&self) -> usize {
        self.grid.points.len() / self.grid.area.max(1)
    }

    /// Normalises the layer before, convolves, and observes the outputs.
    pub(super) fn forward(&mut self, kernel: Kernel, layers: &[Layer], index: usize) {
        let layer = &layers[index];
        self.moments.clear();
        self.moments.resize(layer.stride, Moments::default());
        for points in self.grid.points.chunks(self.together) {
            if index > 0 {
                finish(kernel, &self.grid, &mut self.layers, layers, index - 1, points);
            }
            let (before, now) = self.layers.split_at_mut(index);
            let x = before.last().map_or(&self.planes, |memory| &memory.y);
            let z = &mut now[0].z;
            let shape = layer.shape(&self.taps);
            kernels::convolve(kernel, &shape, points, x, &layer.forward, false, z);
            let at = Points { points, area: self.grid.area, stride: layer.stride };
            kernels::observe(kernel, &at, z, &mut self.moments);
        }
    }

    /// Normalises the last layer and writes its channels from `first` on to `to`,
    /// `[boards, channels, area]`.
    pub(super) fn finish_heads(&mut self, kernel: Kernel, layers: &[Layer]) {
        let last = layers.len() - 1;
        finish(kernel, &self.grid, &mut self.layers, layers, last, &self.grid.points);
    }

    /// Writes the heads' features from channel `first` on to `to`, `[boards, channels, area]`.
    pub(super) fn features(&self, layers: &[Layer], first: usize, channels: usize, to: &mut [f32]) {
        let (Some(layer), Some(memory)) = (layers.last(), self.layers.last()) else { return };
        let (area, stride) = (self.grid.area, layer.stride);
        let boards = self.grid.points.chunks_exact(area);
        for (board, points) in to.chunks_exact_mut(channels * area).zip(boards) {
            for (channel, plane) in board.chunks_exact_mut(area).enumerate() {
                for (to, point) in plane.iter_mut().zip(points) {
                    *to = memory.y[point * stride + first + channel];
                }
            }
        }
    }

    /// Takes the gradient of the heads' features from channel `first` on.
    pub(super) fn set_slopes(&mut self, layers: &[Layer], slopes: &[f32], first: usize, n: usize) {
        let stride = layers.last().map_or(0, |layer| layer.stride);
        scatter(&self.grid, slopes, first, n, stride, &mut self.features);
    }

    /// Takes the features' gradient back through the last ReLU.
    pub(super) fn rectify_heads(&mut self, kernel: Kernel, layers: &[Layer]) {
        let last = layers.len() - 1;
        self.slopes.clear();
        self.slopes.resize(layers[last].stride, Slopes::default());
        let Memory { z, y, .. } = &self.layers[last];
        let at =
            Points { points: &self.grid.points, area: self.grid.area, stride: layers[last].stride };
        let statistics = [&layers[last].mean[..], &layers[last].inv_std];
        let (dy, sums) = (&mut self.features, &mut self.slopes);
        kernels::rectify_back(kernel, &at, [y, z], statistics, dy, sums);
    }

    /// Takes the gradient of the layer's normalised output back to its weights, to its input, and
    /// through the ReLU of the layer before.
    pub(super) fn backward(&mut self, kernel: Kernel, layers: &[Layer], index: usize) {
        let layer = &layers[index];
        let before = index.checked_sub(1).map(|before| &layers[before]);
        self.dw.clear();
        self.dw.resize(layer.gradient_length(), 0.0);
        self.slopes.clear();
        self.slopes.resize(before.map_or(0, |layer| layer.stride), Slopes::default());
        let telling = before.and_then(|layer| layer.telling.as_ref());
        self.told.clear();
        self.told.resize(telling.map_or(0, Telling::gradient_length), 0.0);
        let [tower_dz, heads_dz] = &mut self.dz;
        // The gradient of a second half's output stays: it is also that of the block's input.
        let (dy, dx, dz, add) = match layer.role {
            Role::Heads => (&mut self.features, &mut self.stream, heads_dz, false),
            Role::Second => (&mut self.stream, &mut self.inner, tower_dz, false),
            Role::First => (&mut self.inner, &mut self.stream, tower_dz, true),
            Role::Stem => (&mut self.stream, &mut self.inner, tower_dz, false),
        };
        let area = self.grid.area;
        let x = before.map_or(&self.planes, |_| &self.layers[index - 1].y);
        for points in self.grid.points.chunks(self.together) {
            let at = Points { points, area, stride: layer.stride };
            let z = &self.layers[index].z;
            kernels::normalise_back(kernel, &at, z, &layer.mean, &layer.slant, dy, dz);
            let shape = layer.shape(&self.taps);
            kernels::weight_gradient(kernel, &shape, points, x, dz, &mut self.dw);
            let Some(before) = before else { continue };
            let shape = layer.shape_back(&self.taps);
            kernels::convolve(kernel, &shape, points, dz, &layer.backward, add, dx);
            let at = Points { points, area, stride: before.stride };
            let Memory { z, y, told } = &self.layers[index - 1];
            if let Some(telling) = telling {
                for points in points.chunks_exact(area) {
                    let at = Points { points, ..at };
                    let told = told.of(telling, self.grid.board_of(points[0]));
                    telling.backward(&at, y, dx, told, &mut self.told);
                }
            }
            let statistics = [&before.mean[..], &before.inv_std];
            kernels::rectify_back(kernel, &at, [y, z], statistics, dx, &mut self.slopes);
        }
    }
}

/// Normalisation, addition and ReLU of layer `index` at `points`.
fn finish(
    kernel: Kernel,
    grid: &Grid,
    memories: &mut [Memory],
    layers: &[Layer],
    index: usize,
    points: &[usize],
) {
    let layer = &layers[index];
    let (before, now) = memories.split_at_mut(index);
    let skip = match layer.role {
        Role::Second => index.checked_sub(2).map(|input| &before[input].y[..]),
        _ => None,
    };
    let Memory { z, y, told } = &mut now[0];
    let at = Points { points, area: grid.area, stride: layer.stride };
    if let Some(telling) = &layer.telling {
        for points in points.chunks_exact(grid.area) {
            let at = Points { points, ..at };
            let told = told.of_mut(telling, grid.board_of(points[0]));
            telling.forward(&at, z, [&layer.scale, &layer.shift], y, told);
        }
        return;
    }
    kernels::normalise(kernel, &at, z, [&layer.scale, &layer.shift], skip, y);
}

/// Puts `[boards, channels, area]` into a grid of `stride`, from channel `first` on.
fn scatter(
    grid: &Grid,
    from: &[f32],
    first: usize,
    channels: usize,
    stride: usize,
    to: &mut [f32],
) {
    let boards = grid.points.chunks_exact(grid.area);
    for (board, points) in from.chunks_exact(channels * grid.area).zip(boards) {
        for (channel, plane) in board.chunks_exact(grid.area).enumerate() {
            for (x, point) in plane.iter().zip(points) {
                to[point * stride + first + channel] = *x;
            }
        }
    }
}
