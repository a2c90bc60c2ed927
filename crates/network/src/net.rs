//! The residual network as a burn module.

use burn::module::Module;
use burn::nn::BatchNorm;
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};

use tengen_rules::BoardSize;

use crate::heads::{self, NetOutput, PolicyHead, ValueHead};
use crate::layers::{Conv, Dense, OnBoard, Source, load_norm, on_board, pool_with_size};
use crate::{NetworkConfig, NetworkError, Weights};

/// A residual tower with a policy and a value head (Silver et al. 2017, Methods, "Neural network
/// architecture"), the heads pooled so that one network plays every board size.
///
/// The device decides how it normalises: on an autodiff device with the statistics of the
/// batch, which also move the running ones; on a plain device with the running ones.
#[derive(Module, Debug)]
pub struct Net {
    pub(crate) stem: Stem,
    pub(crate) blocks: Vec<Block>,
    pub(crate) policy: PolicyHead,
    pub(crate) value: ValueHead,
}

impl Net {
    /// The network of `config` with `weights`, on `device`. On an autodiff device every trained
    /// tensor keeps its gradient.
    ///
    /// # Errors
    /// What [`Weights::check`] refuses.
    pub fn from_weights(
        config: &NetworkConfig,
        weights: &Weights,
        device: &Device,
    ) -> Result<Self, NetworkError> {
        weights.check(config)?;
        let from = Source { weights, device };
        let blocks = (0..config.blocks)
            .map(|i| Block::load(&from, &format!("blocks.{i}"), config.pools(i)))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            stem: Stem::load(&from, config.global_inputs)?,
            blocks,
            policy: PolicyHead::load(&from, config)?,
            value: ValueHead::load(&from, config)?,
        })
    }

    /// Judges a batch of positions of one board size.
    ///
    /// # Shapes
    /// - `planes`: `[B, planes, H, W]`
    /// - `globals`: `[B, globals]`; `None` for feature sets without
    /// - answer: see [`NetOutput`]
    #[must_use]
    pub fn forward(&self, planes: Tensor<4>, globals: Option<Tensor<2>>) -> NetOutput {
        self.pass(planes, globals, None)
    }

    /// Judges a batch of boards of several `sizes`, one a board, each in the top-left corner of
    /// `planes` with zeros beyond its edges. What it says of each is what [`forward`](Self::forward) would
    /// say of it alone; what it says of points beyond its edges means nothing. For answering:
    /// the statistics of a batch would count these points.
    ///
    /// # Panics
    /// When there are not as many sizes as boards.
    #[must_use]
    pub fn forward_padded(
        &self,
        planes: Tensor<4>,
        globals: Option<Tensor<2>>,
        sizes: &[BoardSize],
    ) -> NetOutput {
        let [batch, _, height, width] = planes.dims();
        assert_eq!(batch, sizes.len(), "a size for each board");
        let boards = OnBoard::new(sizes, [height, width], &planes.device());
        self.pass(planes, globals, Some(&boards))
    }

    fn pass(
        &self,
        planes: Tensor<4>,
        globals: Option<Tensor<2>>,
        boards: Option<&OnBoard>,
    ) -> NetOutput {
        let stem = on_board(self.stem.forward(planes, globals), boards);
        let tower = self.blocks.iter().fold(stem, |x, block| block.forward(x, boards));
        let policy = on_board(self.policy.features(tower.clone()), boards);
        let value = on_board(self.value.features(tower), boards);
        heads::answer((&self.policy, &self.value), policy, value, boards)
    }

    /// What follows the heads' features, `[B, P, H, W]` and `[B, V, H, W]`.
    pub(crate) fn answer(&self, policy: Tensor<4>, value: Tensor<4>) -> NetOutput {
        heads::answer((&self.policy, &self.value), policy, value, None)
    }
}

#[derive(Module, Debug)]
pub(crate) struct Stem {
    pub(crate) conv: Conv,
    pub(crate) bn: BatchNorm,
    /// From the inputs without a place on the board to a bias for each channel, where there are such.
    pub(crate) globals: Option<Dense>,
}

impl Stem {
    fn load(from: &Source<'_>, globals: bool) -> Result<Self, NetworkError> {
        Ok(Self {
            conv: Conv::load(from, "stem.conv")?,
            bn: load_norm(from, "stem.bn")?,
            globals: globals.then(|| Dense::load(from, "stem.globals")).transpose()?,
        })
    }

    /// `[B, planes, H, W]` and `[B, globals]` to `[B, C, H, W]`. KataGo adds the globals' bias before the
    /// normalisation, we after it, as in blocks that pool.
    fn forward(&self, planes: Tensor<4>, globals: Option<Tensor<2>>) -> Tensor<4> {
        let x = self.bn.forward(self.conv.forward(planes));
        relu(match (&self.globals, globals) {
            (Some(dense), Some(globals)) => {
                x + dense.forward(globals).unsqueeze_dim::<3>(2).unsqueeze_dim::<4>(3)
            }
            _ => x,
        })
    }
}

#[derive(Module, Debug)]
pub(crate) struct Block {
    pub(crate) conv1: Conv,
    pub(crate) bn1: BatchNorm,
    /// From what the first channels say of the whole board to a bias for each of the others.
    pub(crate) pool: Option<Dense>,
    pub(crate) conv2: Conv,
    pub(crate) bn2: BatchNorm,
}

impl Block {
    fn load(from: &Source<'_>, name: &str, pools: bool) -> Result<Self, NetworkError> {
        Ok(Self {
            pool: pools.then(|| Dense::load(from, &format!("{name}.pool"))).transpose()?,
            conv1: Conv::load(from, &format!("{name}.conv1"))?,
            bn1: load_norm(from, &format!("{name}.bn1"))?,
            conv2: Conv::load(from, &format!("{name}.conv2"))?,
            bn2: load_norm(from, &format!("{name}.bn2"))?,
        })
    }

    /// `[B, C, H, W]` to the same.
    fn forward(&self, x: Tensor<4>, boards: Option<&OnBoard>) -> Tensor<4> {
        let inner = self.bn1.forward(self.conv1.forward(x.clone()));
        let inner = match &self.pool {
            Some(bias) => pool_and_tell(inner, bias, boards),
            None => relu(inner),
        };
        let inner = on_board(inner, boards);
        on_board(relu(self.bn2.forward(self.conv2.forward(inner)) + x), boards)
    }
}

/// Global pooling (Wu 2019, 3.3): the first channels, rectified and pooled over the board, add a bias
/// to each of the others, which are then rectified. `[B, C, H, W]` to the same.
///
/// Two departures from the paper: the bias is added after the normalisation, not before it, so
/// that a normalisation stays one with its convolution, and the pooled channels go on into the
/// block's second convolution beside the others.
fn pool_and_tell(x: Tensor<4>, bias: &Dense, boards: Option<&OnBoard>) -> Tensor<4> {
    let channels = x.dims()[1];
    let told = bias.bias.val().dims()[0];
    let pooled = on_board(relu(x.clone().narrow(1, 0, channels - told)), boards);
    let bias = bias.forward(pool_with_size(pooled.clone(), boards));
    let bias = bias.unsqueeze_dim::<3>(2).unsqueeze_dim::<4>(3);
    let others = relu(x.narrow(1, channels - told, told) + bias);
    Tensor::cat(vec![pooled, others], 1)
}
