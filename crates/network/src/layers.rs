//! The layers a network is made of, each built from named host tensors.

use burn::module::{Module, Param, RunningState};
use burn::nn::{BatchNorm, BatchNormConfig};
use burn::tensor::module::{conv2d, linear};
use burn::tensor::ops::ConvOptions;
use burn::tensor::{Device, Tensor, TensorData};

use tengen_rules::BoardSize;

use crate::{HostTensor, NORM_EPSILON, NetworkError, Weights};

/// How far one training batch moves the running statistics.
pub(crate) const NORM_MOMENTUM: f64 = 0.1;

/// A square convolution that keeps the board's size; no bias, stride 1.
#[derive(Module, Debug)]
pub(crate) struct Conv {
    /// `[C_out, C_in, k, k]`, k odd.
    pub(crate) weight: Param<Tensor<4>>,
}

impl Conv {
    pub(crate) fn load(from: &Source<'_>, name: &str) -> Result<Self, NetworkError> {
        let weight = from.param(&format!("{name}.weight"))?;
        Ok(Self { weight })
    }

    /// `[B, C_in, H, W]` to `[B, C_out, H, W]`, zeros around the board.
    pub(crate) fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let weight = self.weight.val();
        let border = weight.dims()[2] / 2;
        let options = ConvOptions::new([1, 1], [border, border], [1, 1], 1);
        conv2d(x, weight, None, options)
    }
}

/// A 1×1 convolution to one plane that ends a head: the only kind with a bias, for no normalisation
/// follows.
#[derive(Module, Debug)]
pub(crate) struct PointOut {
    /// `[1, P, 1, 1]`.
    pub(crate) weight: Param<Tensor<4>>,
    /// `[1]`.
    pub(crate) bias: Param<Tensor<1>>,
}

impl PointOut {
    pub(crate) fn load(from: &Source<'_>, name: &str) -> Result<Self, NetworkError> {
        Ok(Self {
            weight: from.param(&format!("{name}.weight"))?,
            bias: from.param(&format!("{name}.bias"))?,
        })
    }

    /// `[B, P, H, W]` to `[B, 1, H, W]`.
    pub(crate) fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let options = ConvOptions::new([1, 1], [0, 0], [1, 1], 1);
        conv2d(x, self.weight.val(), Some(self.bias.val()), options)
    }
}

/// A dense layer in PyTorch's layout.
#[derive(Module, Debug)]
pub(crate) struct Dense {
    /// `[out, in]`.
    pub(crate) weight: Param<Tensor<2>>,
    /// `[out]`.
    pub(crate) bias: Param<Tensor<1>>,
}

impl Dense {
    pub(crate) fn load(from: &Source<'_>, name: &str) -> Result<Self, NetworkError> {
        Ok(Self {
            weight: from.param(&format!("{name}.weight"))?,
            bias: from.param(&format!("{name}.bias"))?,
        })
    }

    /// `[B, in]` to `[B, out]`.
    pub(crate) fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        linear(x, self.weight.val().transpose(), Some(self.bias.val()))
    }
}

/// Batch normalisation over `[B, C, H, W]` from its four named tensors.
pub(crate) fn load_norm(from: &Source<'_>, name: &str) -> Result<BatchNorm, NetworkError> {
    let part = |part: &str| format!("{name}.{part}");
    let gamma: Param<Tensor<1>> = from.param(&part("gamma"))?;
    let mut norm = BatchNormConfig::new(gamma.dims()[0])
        .with_epsilon(f64::from(NORM_EPSILON))
        .with_momentum(NORM_MOMENTUM)
        .init(from.device);
    norm.gamma = gamma;
    norm.beta = from.param(&part("beta"))?;
    norm.running_mean = RunningState::new(from.tensor(&part("mean"))?);
    norm.running_var = RunningState::new(from.tensor(&part("var"))?);
    Ok(norm)
}

/// What is known of a plane without its places: `[B, C, H, W]` to `[B, 2·C]`, the means over the
/// board, then the maxima. This is what makes the heads independent of the board's size.
pub(crate) fn pool(x: Tensor<4>, boards: Option<&OnBoard>) -> Tensor<2> {
    let (mean, max) = mean_and_max(x, boards);
    Tensor::cat(vec![mean, max], 1)
}

/// As [`pool`], with what the board's size makes of the mean between mean and maximum:
/// `[B, C, H, W]` to `[B, 3·C]`.
pub(crate) fn pool_with_size(x: Tensor<4>, boards: Option<&OnBoard>) -> Tensor<2> {
    let [_, _, height, width] = x.dims();
    let (mean, max) = mean_and_max(x, boards);
    let sized = match boards {
        Some(boards) => mean.clone() * boards.factors.clone(),
        None => mean.clone().mul_scalar(size_factor(height * width)),
    };
    Tensor::cat(vec![mean, sized, max], 1)
}

/// Over the board, `[B, C]` each. Beyond a padded board's edge `x` is 0, and nowhere below.
fn mean_and_max(x: Tensor<4>, boards: Option<&OnBoard>) -> (Tensor<2>, Tensor<2>) {
    let [batch, channels, height, width] = x.dims();
    let flat = x.reshape([batch, channels, height * width]);
    let max = flat.clone().max_dim(2).reshape([batch, channels]);
    let mean = match boards {
        Some(boards) => flat.sum_dim(2).reshape([batch, channels]) * boards.shares.clone(),
        None => flat.mean_dim(2).reshape([batch, channels]),
    };
    (mean, max)
}

/// `x` with zeros beyond the edges of padded boards.
pub(crate) fn on_board(x: Tensor<4>, boards: Option<&OnBoard>) -> Tensor<4> {
    match boards {
        Some(boards) => x * boards.mask.clone(),
        None => x,
    }
}

/// What is board in a batch of boards that are padded to one size, each in the top-left corner.
#[derive(Clone, Debug)]
pub(crate) struct OnBoard {
    /// `[B, 1, H, W]`, 1 on the board.
    mask: Tensor<4>,
    /// `[B, 1]`: one over the points of the board.
    shares: Tensor<2>,
    /// `[B, 1]`: [`size_factor`].
    factors: Tensor<2>,
}

impl OnBoard {
    /// Of boards of these `sizes` padded to `height` and `width`.
    pub(crate) fn new(sizes: &[BoardSize], [height, width]: [usize; 2], device: &Device) -> Self {
        let batch = sizes.len();
        let column = |of: fn(usize) -> f32| {
            let data = sizes.iter().map(|size| of(size.area())).collect::<Vec<f32>>();
            Tensor::from_data(TensorData::new(data, [batch, 1]), device)
        };
        let mask = TensorData::new(board_mask(sizes, [height, width]), [batch, 1, height, width]);
        Self {
            mask: Tensor::from_data(mask, device),
            shares: column(|area| 1.0 / area as f32),
            factors: column(size_factor),
        }
    }
}

/// `[B, H, W]`: 1 on boards of these `sizes`, each in the top-left corner, else 0.
pub(crate) fn board_mask(sizes: &[BoardSize], [height, width]: [usize; 2]) -> Vec<f32> {
    let points = |size: &BoardSize| {
        let (w, h) = (size.width(), size.height());
        (0..height).flat_map(move |y| (0..width).map(move |x| f32::from(x < w && y < h)))
    };
    sizes.iter().flat_map(points).collect()
}

/// A row of numbers for the points of a board that is padded to `width`, without the padding.
pub(crate) fn unpadded(row: &[f32], width: usize, size: BoardSize) -> Vec<f32> {
    let lines = row.chunks(width).take(size.height());
    lines.flat_map(|line| &line[..size.width()]).copied().collect()
}

/// KataGo's `(b − 14) / 10` for a board of `area` points, b² of them (Wu 2019, 3.3).
pub(crate) fn size_factor(area: usize) -> f32 {
    ((area as f32).sqrt() - 14.0) * 0.1
}

/// Where layers come from: checked weights and the device to put them on.
pub(crate) struct Source<'a> {
    pub(crate) weights: &'a Weights,
    pub(crate) device: &'a Device,
}

impl Source<'_> {
    pub(crate) fn tensor<const D: usize>(&self, name: &str) -> Result<Tensor<D>, NetworkError> {
        let HostTensor { shape, data } = self.weights.get(name)?;
        let data = TensorData::new(data.clone(), shape.clone());
        Ok(Tensor::from_data(data, self.device))
    }

    pub(crate) fn param<const D: usize>(
        &self,
        name: &str,
    ) -> Result<Param<Tensor<D>>, NetworkError> {
        self.tensor(name).map(Param::from_tensor)
    }
}
