//! The folded network as LibTorch tensors, and its forward pass.

use tch::{Device, Kind, TchError, Tensor};
use tengen_rules::BoardSize;

use super::Place;
use crate::heads::SCORE_UNIT;
use crate::layers::{board_mask, size_factor};
use crate::native::fold::{Dense, FoldedConv, FoldedNet};

/// Largest relative difference that cuDNN's fused convolution may have from the plain one before
/// it is not used: what rounding to 8 bits of mantissa explains.
const FUSED_TOLERANCE: f64 = 0.05;

/// A network on its device.
#[derive(Debug)]
pub(super) struct Net {
    stem: Conv,
    /// From the inputs without a place on the board to a bias for each of the stem's channels.
    globals: Option<Layer>,
    blocks: Vec<[Conv; 2]>,
    /// What each block's pooled channels tell the others, where it pools.
    pools: Vec<Option<Layer>>,
    /// Both heads' 1×1 convolutions, policy first: `[P + V, C]`.
    heads: Layer,
    policy: i64,
    value: i64,
    policy_pool: Option<Layer>,
    policy_out: Layer,
    policy_pass: Layer,
    value_hidden: Layer,
    value_out: Layer,
    value_score: Option<Layer>,
    value_ownership: Option<Layer>,
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
        let maybe = |dense: &Option<Dense>| dense.as_ref().map(layer).transpose();
        Ok(Self {
            stem: conv(&net.stem, planes)?,
            globals: maybe(&net.globals)?,
            blocks,
            pools: net.pools.iter().map(maybe).collect::<Result<_, _>>()?,
            heads: Layer::new(&net.heads.weights, &net.heads.bias, place.device)?,
            policy: net.policy_channels as i64,
            value: net.value_channels as i64,
            policy_pool: maybe(&net.policy_pool)?,
            policy_out: layer(&net.policy_out)?,
            policy_pass: layer(&net.policy_pass)?,
            value_hidden: layer(&net.value_hidden)?,
            value_out: layer(&net.value_out)?,
            value_score: maybe(&net.value_score)?,
            value_ownership: maybe(&net.value_ownership)?,
        })
    }

    /// Another owner of the same tensors.
    pub(super) fn share(&self) -> Self {
        let maybe = |layer: &Option<Layer>| layer.as_ref().map(Layer::share);
        Self {
            pools: self.pools.iter().map(maybe).collect(),
            globals: maybe(&self.globals),
            policy_pool: maybe(&self.policy_pool),
            value_score: maybe(&self.value_score),
            value_ownership: maybe(&self.value_ownership),
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

    /// Whether it judges the score, and ownership.
    pub(super) fn judges(&self) -> (bool, bool) {
        (self.value_score.is_some(), self.value_ownership.is_some())
    }

    /// Judges `planes`, `[B, planes, H, W]` in channels-last order and in the tower's numbers, and
    /// `globals`, `[B, globals]` in `f32`, where its feature set has such. Where sizes differ, `boards` says
    /// what is board.
    ///
    /// Answers rows in `f32`: logits of the points and of the pass, the value, the score in points if there
    /// is that head, and the points' ownership if there is that head and it is asked for.
    pub(super) fn forward(
        &self,
        planes: &Tensor,
        globals: Option<&Tensor>,
        boards: Option<&OnBoard>,
        ownership: bool,
    ) -> Result<Tensor, TchError> {
        let mut x = match (&self.globals, globals) {
            (Some(told), Some(globals)) => tell(&self.stem.plain(planes)?, &told.apply(globals)?)?,
            _ => self.stem.relu(planes)?,
        };
        on_board(&mut x, boards)?;
        for ([first, second], pool) in self.blocks.iter().zip(&self.pools) {
            let mut inner = match pool {
                None => first.relu(&x)?,
                Some(told) => pool_and_tell(&first.plain(&x)?, &told.weight, &told.bias, boards)?,
            };
            on_board(&mut inner, boards)?;
            x = second.add_relu(&inner, &x)?;
            on_board(&mut x, boards)?;
        }
        let (batch, channels, height, width) = x.size4()?;
        let points = height * width;
        // Channels-last: the rows of the product are there already. From here on in f32.
        let rows = x.f_permute([0, 2, 3, 1])?.f_reshape([batch * points, channels])?;
        let features = self.heads.apply(&rows.f_to_kind(Kind::Float)?)?.f_relu_()?;
        let mut features = features.f_view([batch, points, self.policy + self.value])?;
        let flat = boards.map(OnBoard::flat).transpose()?;
        if let Some(mask) = &flat {
            features = features.f_mul_(mask)?;
        }
        let mut policy = features.f_narrow(2, 0, self.policy)?;
        if let Some(told) = &self.policy_pool {
            let bias = told.apply(&pool_with_size(&policy, 1, points, boards)?)?;
            policy = policy.f_add(&bias.f_unsqueeze(1)?)?.f_relu_()?;
            if let Some(mask) = &flat {
                policy = policy.f_mul_(mask)?;
            }
        }
        let value = features.f_narrow(2, self.policy, self.value)?;
        let logits = self.policy_out.apply(&policy)?.f_view([batch, points])?;
        let pass = self.policy_pass.apply(&pool(&policy, boards)?)?;
        let hidden = self.value_hidden.apply(&pool(&value, boards)?)?.f_relu_()?;
        let mut row = vec![logits, pass, self.value_out.apply(&hidden)?.f_tanh_()?];
        if let Some(head) = &self.value_score {
            row.push(head.apply(&hidden)?.f_narrow(1, 0, 1)?.f_mul_scalar(f64::from(SCORE_UNIT))?);
        }
        if let Some(head) = self.value_ownership.as_ref().filter(|_| ownership) {
            row.push(head.apply(&value)?.f_tanh_()?.f_view([batch, points])?);
        }
        Tensor::f_cat(&row, 1)
    }
}

/// Rectifies `x`, `[B, C, H, W]`, adding to the last channels before what `weight` and `bias` make of
/// the pooling of those before them; see `pool_and_tell` in the crate's `net`.
pub(super) fn pool_and_tell(
    x: &Tensor,
    weight: &Tensor,
    bias: &Tensor,
    boards: Option<&OnBoard>,
) -> Result<Tensor, TchError> {
    let (_, channels, height, width) = x.size4()?;
    let told = bias.size1()?;
    let mut pooled = x.f_narrow(1, 0, channels - told)?.f_relu()?;
    on_board(&mut pooled, boards)?;
    let flat = pooled.f_flatten(2, 3)?.f_to_kind(Kind::Float)?;
    let bias = pool_with_size(&flat, 2, height * width, boards)?.f_linear(weight, Some(bias))?;
    let others = tell(&x.f_narrow(1, channels - told, told)?, &bias)?;
    Tensor::f_cat(&[pooled, others], 1)
}

/// `x`, `[B, C, H, W]`, with the `bias`, `[B, C]`, of each board, rectified.
pub(super) fn tell(x: &Tensor, bias: &Tensor) -> Result<Tensor, TchError> {
    let (batch, channels) = bias.size2()?;
    let bias = bias.f_view([batch, channels, 1, 1])?.f_to_kind(x.kind())?;
    x.f_add(&bias)?.f_relu()
}

/// `[B, …]` with the board's `points` on axis `axis` to `[B, 3·C]`: means over the board, means by size,
/// maxima.
fn pool_with_size(
    x: &Tensor,
    axis: i64,
    points: i64,
    boards: Option<&OnBoard>,
) -> Result<Tensor, TchError> {
    let mean = mean(x, axis, boards)?;
    let sized = match boards {
        Some(boards) => mean.f_mul(&boards.factors)?,
        None => mean.f_mul_scalar(f64::from(size_factor(points as usize)))?,
    };
    Tensor::f_cat(&[mean, sized, x.f_amax(axis, false)?], 1)
}

/// Means over the boards, which lie on `axis`; beyond their edges `x` is 0.
fn mean(x: &Tensor, axis: i64, boards: Option<&OnBoard>) -> Result<Tensor, TchError> {
    match boards {
        Some(boards) => x.f_sum_dim_intlist(axis, false, None::<Kind>)?.f_mul(&boards.shares),
        None => x.f_mean_dim(axis, false, None::<Kind>),
    }
}

/// `x` with zeros beyond the edges of padded boards.
fn on_board(x: &mut Tensor, boards: Option<&OnBoard>) -> Result<(), TchError> {
    if let Some(boards) = boards {
        *x = boards.alone(x)?;
    }
    Ok(())
}

/// What is board in a batch of boards that are padded to one size, each in the top-left corner.
#[derive(Debug)]
pub(super) struct OnBoard {
    /// `[B, 1, H, W]` in the tower's numbers, 1 on the board.
    mask: Tensor,
    /// `[B, 1]`: one over the points of the board.
    shares: Tensor,
    /// `[B, 1]`: see [`size_factor`].
    factors: Tensor,
}

impl OnBoard {
    pub(super) fn new(
        sizes: &[BoardSize],
        [height, width]: [usize; 2],
        place: &Place,
    ) -> Result<Self, TchError> {
        let put = |data: &[f32], shape: &[i64]| {
            Tensor::f_from_slice(data)?.f_view(shape)?.f_to(place.device)
        };
        let column = |of: fn(usize) -> f32| {
            let data: Vec<f32> = sizes.iter().map(|size| of(size.area())).collect();
            put(&data, &[-1, 1])
        };
        let mask = put(&board_mask(sizes, [height, width]), &[-1, 1, height as i64, width as i64])?;
        Ok(Self {
            mask: mask.f_to_kind(place.numbers)?,
            shares: column(|area| 1.0 / area as f32)?,
            factors: column(size_factor)?,
        })
    }

    /// `x` with zeros beyond the boards' edges.
    pub(super) fn alone(&self, x: &Tensor) -> Result<Tensor, TchError> {
        x.f_mul(&self.mask)
    }

    /// The mask as `[B, H·W, 1]` in `f32`.
    fn flat(&self) -> Result<Tensor, TchError> {
        self.mask.f_flatten(2, 3)?.f_transpose(1, 2)?.f_to_kind(Kind::Float)
    }
}

/// `[B, points, C]` to `[B, 2·C]`: means over the board, then maxima.
fn pool(x: &Tensor, boards: Option<&OnBoard>) -> Result<Tensor, TchError> {
    Tensor::f_cat(&[mean(x, 1, boards)?, x.f_amax(1, false)?], 1)
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
