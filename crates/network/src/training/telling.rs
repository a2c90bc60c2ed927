//! What is said of a whole board, told to its channels: by global pooling inside a block, by the inputs
//! without a place on the board after the stem.

use super::norm::Points;
use crate::layers::size_factor;
use crate::{HostTensor, NetworkError, Weights};

/// The dense layer between a layer's normalisation and its ReLU: to a bias for each channel from what
/// is given, or for each but the first from the pooling of those, three numbers each.
#[derive(Clone, Debug)]
pub(super) struct Telling {
    name: String,
    /// Channels that are pooled: the first; 0 where numbers are given instead.
    pub pooled: usize,
    /// Numbers that the dense layer reads.
    pub inputs: usize,
    /// Channels that are told: those after them.
    pub told: usize,
    /// `[told, inputs]`.
    weight: Vec<f32>,
    /// `[told]`.
    bias: Vec<f32>,
}

/// What a layer's telling remembers, board by board.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    /// `[boards, inputs]`: what is given, or means, means by size, maxima.
    pub pooled: Vec<f32>,
    /// `[boards, pooled]`: the grid point of each maximum, the first of several.
    pub peaks: Vec<usize>,
}

/// What is not a number stays so.
fn rectified(x: f32) -> f32 {
    if x < 0.0 { 0.0 } else { x }
}

impl Told {
    /// One board's share.
    pub(super) fn of(&self, telling: &Telling, board: usize) -> (&[f32], &[usize]) {
        let (n, all) = (telling.pooled, telling.inputs);
        (&self.pooled[board * all..][..all], &self.peaks[board * n..][..n])
    }

    /// The same, to be written.
    pub(super) fn of_mut(&mut self, telling: &Telling, board: usize) -> (&mut [f32], &mut [usize]) {
        let (n, all) = (telling.pooled, telling.inputs);
        (&mut self.pooled[board * all..][..all], &mut self.peaks[board * n..][..n])
    }
}

impl Telling {
    /// Pooling of `pooled` channels, told to `told` others.
    pub(super) fn pooling(name: String, pooled: usize, told: usize) -> Self {
        Self { name, pooled, inputs: 3 * pooled, told, weight: Vec::new(), bias: Vec::new() }
    }

    /// Given numbers, told to all `told` channels.
    pub(super) fn given(name: String, inputs: usize, told: usize) -> Self {
        Self { name, pooled: 0, inputs, told, weight: Vec::new(), bias: Vec::new() }
    }

    /// Floats of the gradient: `[told, inputs + 1]`, each row's bias last.
    pub(super) fn gradient_length(&self) -> usize {
        self.told * (self.inputs + 1)
    }

    /// Room for `boards` boards.
    pub(super) fn room(&self, boards: usize) -> Told {
        Told { pooled: vec![0.0; boards * self.inputs], peaks: vec![0; boards * self.pooled] }
    }

    /// Takes this step's parameters from checked `weights`.
    pub(super) fn load(&mut self, weights: &Weights) -> Result<(), NetworkError> {
        self.weight.clone_from(&weights.get(&format!("{}.weight", self.name))?.data);
        self.bias.clone_from(&weights.get(&format!("{}.bias", self.name))?.data);
        Ok(())
    }

    /// The gradients by name, from what [`backward`](Self::backward) added up.
    pub(super) fn gradients(&self, sums: &[f32], to: &mut Weights) {
        let inputs = self.inputs;
        let rows = || sums.chunks_exact(inputs + 1);
        let weight = rows().flat_map(|row| &row[..inputs]).copied().collect();
        let weight = HostTensor { shape: vec![self.told, inputs], data: weight };
        let bias = rows().map(|row| row[inputs]).collect();
        let bias = HostTensor { shape: vec![self.told], data: bias };
        to.0.insert(format!("{}.weight", self.name), weight);
        to.0.insert(format!("{}.bias", self.name), bias);
    }

    /// On one board: normalises `z` and rectifies it into `y`, pools the first channels and tells the
    /// others. What is not a number stays so.
    pub(super) fn forward(
        &self,
        at: &Points<'_>,
        z: &[f32],
        [scale, shift]: [&[f32]; 2],
        y: &mut [f32],
        (pooled, peaks): (&mut [f32], &mut [usize]),
    ) {
        let (first, all) = (self.pooled, self.pooled + self.told);
        if first > 0 {
            self.pool(at, z, [scale, shift], y, (&mut *pooled, peaks));
        }
        let rows = self.weight.chunks_exact(self.inputs).zip(&self.bias);
        let shift: Vec<f32> = rows
            .zip(&shift[first..all])
            .map(|((row, bias), shift)| {
                shift + bias + row.iter().zip(&*pooled).map(|(w, x)| w * x).sum::<f32>()
            })
            .collect();
        for &point in at.points {
            let others = point * at.stride + first..point * at.stride + all;
            let z = z[others.clone()].iter().zip(&scale[first..all]);
            for ((y, (z, scale)), shift) in y[others].iter_mut().zip(z).zip(&shift) {
                *y = rectified(z * scale + shift);
            }
        }
    }

    /// The first part of that: the pooled channels.
    fn pool(
        &self,
        at: &Points<'_>,
        z: &[f32],
        [scale, shift]: [&[f32]; 2],
        y: &mut [f32],
        (pooled, peaks): (&mut [f32], &mut [usize]),
    ) {
        let first = self.pooled;
        pooled.fill(0.0);
        let (mean, rest) = pooled.split_at_mut(first);
        let (sized, max) = rest.split_at_mut(first);
        max.fill(f32::NEG_INFINITY);
        for &point in at.points {
            let from = point * at.stride;
            for channel in 0..first {
                let x = rectified(z[from + channel] * scale[channel] + shift[channel]);
                y[from + channel] = x;
                mean[channel] += x;
                if x > max[channel] {
                    (max[channel], peaks[channel]) = (x, point);
                }
            }
        }
        let (share, factor) = (1.0 / at.area as f32, size_factor(at.area));
        for (mean, sized) in mean.iter_mut().zip(sized) {
            *mean *= share;
            *sized = *mean * factor;
        }
    }

    /// On one board: takes the gradient `dy` of `y` back through the others' ReLU, adds to `sums` what
    /// is the parameters', and adds to the pooled channels' gradient what they told.
    pub(super) fn backward(
        &self,
        at: &Points<'_>,
        y: &[f32],
        dy: &mut [f32],
        (pooled, peaks): (&[f32], &[usize]),
        sums: &mut [f32],
    ) {
        let (first, inputs) = (self.pooled, self.inputs);
        let mut slopes = vec![0.0f32; self.told];
        for &point in at.points {
            let others = point * at.stride + first;
            let others = others..others + self.told;
            let dy = dy[others.clone()].iter_mut().zip(&y[others]);
            for (sum, (dy, y)) in slopes.iter_mut().zip(dy) {
                *dy = if *y <= 0.0 { 0.0 } else { *dy };
                *sum += *dy;
            }
        }
        let mut back = vec![0.0f32; inputs];
        let rows = self.weight.chunks_exact(inputs).zip(sums.chunks_exact_mut(inputs + 1));
        for ((row, sums), slope) in rows.zip(&slopes) {
            for (at, (back, weight)) in back.iter_mut().zip(row).enumerate() {
                *back += weight * slope;
                sums[at] += slope * pooled[at];
            }
            sums[inputs] += slope;
        }
        if first == 0 {
            return;
        }
        let (share, factor) = (1.0 / at.area as f32, size_factor(at.area));
        let even: Vec<f32> =
            (0..first).map(|c| share * (back[c] + factor * back[first + c])).collect();
        for &point in at.points {
            let dy = &mut dy[point * at.stride..][..first];
            dy.iter_mut().zip(&even).for_each(|(dy, even)| *dy += even);
        }
        for (channel, &peak) in peaks.iter().enumerate() {
            dy[peak * at.stride + channel] += back[2 * first + channel];
        }
    }
}
