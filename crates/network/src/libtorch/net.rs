//! The folded network as LibTorch tensors, and its forward pass.

use tch::{Device, Kind, TchError, Tensor};

use super::Place;
use crate::native::fold::{Dense, FoldedConv, FoldedNet};

/// Largest relative difference that cuDNN's fused convolution may have from the plain one before
/// it is not used: what rounding to 8 bits of mantissa explains.
const FUSED_TOLERANCE: f64 = 0.05;

/// A network on its device.
#[derive(Debug)]
pub(super) struct Net {
    stem: Conv,
    blocks: Vec<[Conv; 2]>,
    /// Both heads' 1×1 convolutions, policy first: `[P + V, C]`.
    heads: Layer,
    policy: i64,
    value: i64,
    policy_out: Layer,
    policy_pass: Layer,
    value_hidden: Layer,
    value_out: Layer,
}

impl Net {
    /// Puts `net` on its place. `planes` is what a point's planes are padded to.
    pub(super) fn new(net: &FoldedNet, planes: usize, place: &Place) -> Result<Self, TchError> {
        let fused = place.device.is_cuda() && Conv::fused_is_right(place).unwrap_or(false);
        let conv = |folded: &FoldedConv, inputs| Conv::new(folded, inputs, place, fused);
        let mut blocks = Vec::with_capacity(net.blocks.len());
        for [first, second] in &net.blocks {
            blocks.push([conv(first, first.inputs)?, conv(second, second.inputs)?]);
        }
        let layer = |dense: &Dense| Layer::new(&dense.weights, &dense.bias, place.device);
        Ok(Self {
            stem: conv(&net.stem, planes)?,
            blocks,
            heads: Layer::new(&net.heads.weights, &net.heads.bias, place.device)?,
            policy: net.policy_channels as i64,
            value: net.value_channels as i64,
            policy_out: layer(&net.policy_out)?,
            policy_pass: layer(&net.policy_pass)?,
            value_hidden: layer(&net.value_hidden)?,
            value_out: layer(&net.value_out)?,
        })
    }

    /// Another owner of the same tensors.
    pub(super) fn share(&self) -> Self {
        Self {
            stem: self.stem.share(),
            blocks: self.blocks.iter().map(|block| block.each_ref().map(Conv::share)).collect(),
            heads: self.heads.share(),
            policy: self.policy,
            value: self.value,
            policy_out: self.policy_out.share(),
            policy_pass: self.policy_pass.share(),
            value_hidden: self.value_hidden.share(),
            value_out: self.value_out.share(),
        }
    }

    /// Judges `planes`, `[B, planes, H, W]` in channels-last order and in the tower's numbers.
    ///
    /// Answers `[B, H·W + 2]` in `f32`: logits of the points and of the pass, then the value.
    pub(super) fn forward(&self, planes: &Tensor) -> Result<Tensor, TchError> {
        let mut x = self.stem.relu(planes)?;
        for [first, second] in &self.blocks {
            x = second.add_relu(&first.relu(&x)?, &x)?;
        }
        let (batch, channels, height, width) = x.size4()?;
        let points = height * width;
        // Channels-last: the rows of the product are there already. From here on in f32.
        let rows = x.f_permute([0, 2, 3, 1])?.f_reshape([batch * points, channels])?;
        let features = self.heads.apply(&rows.f_to_kind(Kind::Float)?)?.f_relu_()?;
        let features = features.f_view([batch, points, self.policy + self.value])?;
        let policy = features.f_narrow(2, 0, self.policy)?;
        let value = features.f_narrow(2, self.policy, self.value)?;
        let logits = self.policy_out.apply(&policy)?.f_view([batch, points])?;
        let pass = self.policy_pass.apply(&pool(&policy)?)?;
        let hidden = self.value_hidden.apply(&pool(&value)?)?.f_relu_()?;
        let value = self.value_out.apply(&hidden)?.f_tanh_()?;
        Tensor::f_cat(&[logits, pass, value], 1)
    }
}

/// `[B, points, C]` to `[B, 2·C]`: means over the board, then maxima.
fn pool(x: &Tensor) -> Result<Tensor, TchError> {
    Tensor::f_cat(&[x.f_mean_dim(1, false, None::<Kind>)?, x.f_amax(1, false)?], 1)
}

/// A dense layer in `f32`.
#[derive(Debug)]
struct Layer {
    weight: Tensor,
    bias: Tensor,
}

impl Layer {
    /// `weights` is `[outputs, inputs]`.
    fn new(weights: &[f32], bias: &[f32], device: Device) -> Result<Self, TchError> {
        let weight = Tensor::f_from_slice(weights)?.f_view([bias.len() as i64, -1])?;
        let bias = Tensor::f_from_slice(bias)?;
        Ok(Self { weight: weight.f_to(device)?, bias: bias.f_to(device)? })
    }

    fn share(&self) -> Self {
        Self { weight: self.weight.shallow_clone(), bias: self.bias.shallow_clone() }
    }

    fn apply(&self, x: &Tensor) -> Result<Tensor, TchError> {
        x.f_linear(&self.weight, Some(&self.bias))
    }
}

/// A 3×3 convolution with the normalisation in it.
#[derive(Debug)]
struct Conv {
    /// `[C_out, C_in, 3, 3]`, in memory `[C_out, 3, 3, C_in]`.
    weight: Tensor,
    bias: Tensor,
    /// Whether cuDNN's convolution with bias, addition and ReLU in one kernel is used.
    fused: bool,
}

impl Conv {
    /// `inputs` is what the input's channels are padded to, with zeros.
    fn new(conv: &FoldedConv, inputs: usize, place: &Place, fused: bool) -> Result<Self, TchError> {
        let (outputs, side) = (conv.bias.len(), if conv.taps == 1 { 1 } else { 3 });
        let mut weights = vec![0.0f32; outputs * conv.taps * inputs];
        for (index, taps) in conv.weights.chunks_exact(conv.taps).enumerate() {
            let (output, input) = (index / conv.inputs, index % conv.inputs);
            for (tap, &weight) in taps.iter().enumerate() {
                weights[(output * conv.taps + tap) * inputs + input] = weight;
            }
        }
        let shape = [outputs as i64, side, side, inputs as i64];
        let weight = Tensor::f_from_slice(&weights)?.f_view(shape)?.f_permute([0, 3, 1, 2])?;
        let to = |tensor: &Tensor| tensor.f_to(place.device)?.f_to_kind(place.numbers);
        Ok(Self { weight: to(&weight)?, bias: to(&Tensor::f_from_slice(&conv.bias)?)?, fused })
    }

    fn share(&self) -> Self {
        let (weight, bias) = (self.weight.shallow_clone(), self.bias.shallow_clone());
        Self { weight, bias, fused: self.fused }
    }

    fn plain(&self, x: &Tensor) -> Result<Tensor, TchError> {
        x.f_conv2d(&self.weight, Some(&self.bias), [1, 1], [1, 1], [1, 1], 1)
    }

    /// `max(conv(x) + bias, 0)`.
    fn relu(&self, x: &Tensor) -> Result<Tensor, TchError> {
        if self.fused {
            let (one, bias) = ([1i64, 1], Some(&self.bias));
            return x.f_cudnn_convolution_relu(&self.weight, bias, one, one, one, 1);
        }
        self.plain(x)?.f_relu_()
    }

    /// `max(conv(x) + bias + skip, 0)`.
    fn add_relu(&self, x: &Tensor, skip: &Tensor) -> Result<Tensor, TchError> {
        if self.fused {
            let (one, bias) = ([1i64, 1], Some(&self.bias));
            return x.f_cudnn_convolution_add_relu(&self.weight, skip, 1.0, bias, one, one, one, 1);
        }
        self.plain(x)?.f_add_(skip)?.f_relu_()
    }

    /// Whether cuDNN's fused convolutions run there and say what the plain ones say. Asked for each
    /// network, for LibTorch falls back or refuses by device, version and kind of number.
    fn fused_is_right(place: &Place) -> Result<bool, TchError> {
        let numbers = |shape: [i64; 4]| {
            let count = shape.iter().product::<i64>();
            let ramp = Tensor::f_arange(count, (Kind::Float, place.device))?;
            ramp.f_sin()?.f_view(shape)?.f_permute([0, 3, 1, 2])?.f_to_kind(place.numbers)
        };
        let bias = Tensor::f_arange(32, (Kind::Float, place.device))?.f_cos()?;
        let bias = bias.f_to_kind(place.numbers)?;
        let fused = Self { weight: numbers([32, 3, 3, 32])?, bias, fused: true };
        let plain = Self { fused: false, ..fused.share() };
        let (x, skip) = (numbers([2, 5, 5, 32])?, numbers([2, 5, 5, 32])?);
        let mut right = true;
        for (ours, theirs) in [
            (fused.relu(&x)?, plain.relu(&x)?),
            (fused.add_relu(&x, &skip)?, plain.add_relu(&x, &skip)?),
        ] {
            let (ours, theirs) = (ours.f_to_kind(Kind::Float)?, theirs.f_to_kind(Kind::Float)?);
            let worst = ours.f_sub(&theirs)?.f_abs()?.f_max()?.f_double_value(&[])?;
            right &= worst <= FUSED_TOLERANCE * theirs.f_max()?.f_double_value(&[])?;
        }
        Ok(right)
    }
}
