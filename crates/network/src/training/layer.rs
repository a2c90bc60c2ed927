//! A convolution with its batch normalisation: parameters as the kernels want them.

use super::grid::Grid;
use super::norm::{Moments, Slant, Slopes};
use super::telling::Telling;
use crate::layers::NORM_MOMENTUM;
use crate::{HostTensor, NORM_EPSILON, NetworkError, Weights};

/// Named tensors that a layer takes some of its channels from.
#[derive(Clone, Debug)]
struct Part {
    conv: String,
    norm: String,
    outputs: usize,
}

/// The layer's place in the network, which decides what it reads and what is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Reads the planes.
    Stem,
    /// The first half of a residual block.
    First,
    /// The second half: the block's input is added before its ReLU.
    Second,
    /// Both heads' 1×1 convolutions side by side, the policy's channels first.
    Heads,
}

/// A layer's shape, its parameters of this step, and what the batch's statistics made of them.
///
/// Channels are padded to whole blocks: a padded channel has no weights and γ = β = 0, so that it
/// is zero forward and backward.
#[derive(Clone, Debug)]
pub(super) struct Layer {
    pub role: Role,
    parts: Vec<Part>,
    /// 9 or 1.
    pub taps: usize,
    /// Channels read.
    pub inputs: usize,
    /// Floats of a point of what is read.
    pub x_stride: usize,
    /// Floats of a point of what is written.
    pub stride: usize,
    block: usize,
    /// `[stride / block, taps, inputs, block]`.
    pub forward: Vec<f32>,
    /// The same for the gradient of the inputs: `[x_stride / block, taps, outputs, block]`; empty
    /// where nothing asks for it.
    pub backward: Vec<f32>,
    gamma: Vec<f32>,
    beta: Vec<f32>,
    pub mean: Vec<f32>,
    var: Vec<f32>,
    pub inv_std: Vec<f32>,
    /// `y = z · scale + shift`.
    pub scale: Vec<f32>,
    pub shift: Vec<f32>,
    pub slant: Slant,
    /// What its first channels tell the others, if they do.
    pub telling: Option<Telling>,
}

impl Layer {
    /// A layer whose channels come from the named `(conv, norm)` pairs. `block` is the kernel's.
    pub(super) fn new(role: Role, inputs: usize, block: usize, parts: &[(&str, usize)]) -> Self {
        let outputs: usize = parts.iter().map(|(_, outputs)| outputs).sum();
        let stride = outputs.next_multiple_of(block);
        let parts = parts.iter().map(|&(name, outputs)| Part {
            conv: format!("{}.weight", name.replace('*', "conv")),
            norm: name.replace('*', "bn"),
            outputs,
        });
        let zeros = vec![0.0; stride];
        Self {
            role,
            parts: parts.collect(),
            taps: if role == Role::Heads { 1 } else { 9 },
            inputs,
            x_stride: if role == Role::Stem { inputs } else { inputs.next_multiple_of(block) },
            stride,
            block,
            forward: Vec::new(),
            backward: Vec::new(),
            gamma: zeros.clone(),
            beta: zeros.clone(),
            mean: zeros.clone(),
            var: zeros.clone(),
            inv_std: zeros.clone(),
            scale: zeros.clone(),
            shift: zeros.clone(),
            slant: Slant { scale: zeros.clone(), tilt: zeros.clone(), shift: zeros },
            telling: None,
        }
    }

    /// The same, whose first `pooled` channels tell the others through the dense layer `name`.
    pub(super) fn telling(mut self, name: String, pooled: usize) -> Self {
        self.telling = Some(Telling::pooling(name, pooled, self.outputs() - pooled));
        self
    }

    /// The same, all whose channels are told `inputs` given numbers through the dense layer `name`.
    pub(super) fn given(mut self, name: &str, inputs: usize) -> Self {
        self.telling = Some(Telling::given(name.to_owned(), inputs, self.outputs()));
        self
    }

    fn outputs(&self) -> usize {
        self.parts.iter().map(|part| part.outputs).sum()
    }

    /// Floats of the gradient of the weights, `[taps, inputs, stride]`.
    pub(super) fn gradient_length(&self) -> usize {
        self.taps * self.inputs * self.stride
    }

    /// Takes this step's parameters from checked `weights`.
    pub(super) fn load(&mut self, weights: &Weights) -> Result<(), NetworkError> {
        let (taps, inputs, block, outputs) = (self.taps, self.inputs, self.block, self.outputs());
        self.forward.clear();
        self.forward.resize(self.gradient_length(), 0.0);
        self.backward.clear();
        if self.role != Role::Stem {
            self.backward.resize(self.x_stride * taps * outputs, 0.0);
        }
        if let Some(telling) = &mut self.telling {
            telling.load(weights)?;
        }
        let mut first = 0;
        for part in &self.parts {
            let kernel = weights.get(&part.conv)?;
            for (channel, kernel) in kernel.data.chunks_exact(inputs * taps).enumerate() {
                let output = first + channel;
                for (input, kernel) in kernel.chunks_exact(taps).enumerate() {
                    for (tap, &weight) in kernel.iter().enumerate() {
                        let row = (output / block * taps + tap) * inputs + input;
                        self.forward[row * block + output % block] = weight;
                        if self.role != Role::Stem {
                            // Seen from the input, the kernel is turned by half a circle.
                            let row = (input / block * taps + taps - 1 - tap) * outputs + output;
                            self.backward[row * block + input % block] = weight;
                        }
                    }
                }
            }
            let copy = |what: &str, to: &mut [f32]| -> Result<(), NetworkError> {
                let tensor = weights.get(&format!("{}.{what}", part.norm))?;
                to[first..][..part.outputs].copy_from_slice(&tensor.data);
                Ok(())
            };
            copy("gamma", &mut self.gamma)?;
            copy("beta", &mut self.beta)?;
            first += part.outputs;
        }
        Ok(())
    }

    /// Takes the statistics of the batch.
    pub(super) fn set_statistics(&mut self, moments: &[Moments]) {
        for (channel, moments) in moments.iter().enumerate() {
            let var = moments.squares / moments.count.max(1.0);
            let inv_std = 1.0 / (var + f64::from(NORM_EPSILON)).sqrt();
            let scale = f64::from(self.gamma[channel]) * inv_std;
            self.mean[channel] = moments.mean as f32;
            self.var[channel] = var as f32;
            self.inv_std[channel] = inv_std as f32;
            self.scale[channel] = scale as f32;
            self.shift[channel] = (f64::from(self.beta[channel]) - moments.mean * scale) as f32;
        }
    }

    /// Takes the sums over the gradient of `count` outputs a channel.
    pub(super) fn set_slopes(&mut self, sums: &[Slopes], count: usize) {
        let share = 1.0 / count.max(1) as f64;
        for (channel, sums) in sums.iter().enumerate() {
            let scale = f64::from(self.scale[channel]);
            let inv_std = f64::from(self.inv_std[channel]);
            self.slant.scale[channel] = scale as f32;
            self.slant.tilt[channel] = (scale * inv_std * sums.gamma * share) as f32;
            self.slant.shift[channel] = (scale * sums.beta * share) as f32;
        }
    }

    /// The gradients by name, in the layouts of [`Weights`]: `dw` is `[taps, inputs, stride]`.
    pub(super) fn gradients(&self, dw: &[f32], sums: &[Slopes], to: &mut Weights) {
        let (taps, inputs) = (self.taps, self.inputs);
        let side = if taps == 9 { 3 } else { 1 };
        let mut first = 0;
        for part in &self.parts {
            let mut data = Vec::with_capacity(part.outputs * inputs * taps);
            for output in first..first + part.outputs {
                for input in 0..inputs {
                    let rows = (0..taps).map(|tap| tap * inputs + input);
                    data.extend(rows.map(|row| dw[row * self.stride + output]));
                }
            }
            let shape = vec![part.outputs, inputs, side, side];
            to.0.insert(part.conv.clone(), HostTensor { shape, data });
            let sums = &sums[first..][..part.outputs];
            let mut push = |what: &str, data: Vec<f32>| {
                let tensor = HostTensor { shape: vec![data.len()], data };
                to.0.insert(format!("{}.{what}", part.norm), tensor);
            };
            push("gamma", sums.iter().map(|sums| sums.gamma as f32).collect());
            push("beta", sums.iter().map(|sums| sums.beta as f32).collect());
            first += part.outputs;
        }
    }

    /// The running statistics in `weights`, moved by the batch's.
    pub(super) fn move_statistics(&self, weights: &mut Weights) {
        let keep = 1.0 - NORM_MOMENTUM as f32;
        let mut first = 0;
        for part in &self.parts {
            for (what, batch) in [("mean", &self.mean), ("var", &self.var)] {
                let running = weights.0.get_mut(&format!("{}.{what}", part.norm));
                let running = running.into_iter().flat_map(|tensor| &mut tensor.data);
                for (running, batch) in running.zip(&batch[first..]) {
                    *running = *running * keep + batch * NORM_MOMENTUM as f32;
                }
            }
            first += part.outputs;
        }
    }

    /// The shape of the convolution on `taps` of a grid.
    pub(super) fn shape<'a>(&self, taps: &'a Taps) -> super::loops::Shape<'a> {
        super::loops::Shape {
            taps: taps.of(self.taps),
            inputs: self.inputs,
            x_stride: self.x_stride,
            out_stride: self.stride,
        }
    }

    /// The shape of the convolution that takes the gradient back to the inputs.
    pub(super) fn shape_back<'a>(&self, taps: &'a Taps) -> super::loops::Shape<'a> {
        super::loops::Shape {
            taps: taps.of(self.taps),
            inputs: self.outputs(),
            x_stride: self.stride,
            out_stride: self.x_stride,
        }
    }
}

/// A grid's distances for both kernel sizes.
#[derive(Clone, Debug, Default)]
pub(super) struct Taps {
    nine: Vec<isize>,
    one: Vec<isize>,
}

impl Taps {
    pub(super) fn new(grid: &Grid) -> Self {
        Self { nine: grid.taps(9), one: grid.taps(1) }
    }

    fn of(&self, count: usize) -> &[isize] {
        if count == 9 { &self.nine } else { &self.one }
    }
}
