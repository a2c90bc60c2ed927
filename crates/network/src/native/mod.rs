//! The network on plain CPUs: our own forward pass, without a tensor library.
//!
//! Self-play asks millions of small questions, and a tensor library spends most of such a
//! question on the way to its kernels. Here batch normalisation is folded into the convolutions
//! when the network is loaded, and each 3×3 convolution is Winograd's: boards are cut into tiles
//! ([`geometry`]), transformed, multiplied point by point, and transformed back with bias, residual and
//! ReLU on the way out ([`simd`]). A few boards at a time go through the whole tower
//! ([`forward`]), so that what one step writes is near when the next reads it.
//!
//! An instance is single-threaded and owns its room; clones share the weights. Figures and their
//! derivation: `docs/performance.md`.

mod buffer;
mod check;
pub(crate) mod fold;
mod forward;
mod geometry;
mod heads;
mod packed;
mod peaks;
mod pooling;
mod shared;
pub(crate) mod simd;

use std::num::NonZeroUsize;
use std::sync::Arc;

use tengen_features::{FeatureSet, encode_globals, encode_nhwc};
use tengen_inference::{EvalError, Evaluation, Leaf, LeafEvaluator, check_batch, evaluate_by_size};
use tengen_rules::BoardSize;

use crate::burn_evaluator::turn_points_back;
use crate::{NetworkConfig, NetworkError, Weights};
use fold::FoldedNet;
use forward::Forward;
use heads::HeadsAnswer;
use shared::SharedNet;
use simd::Kernel;

pub use check::{KernelCheck, check_kernels};
pub use peaks::Peaks;

/// Evaluates leaves with our own forward pass, in `f32`, on one thread.
///
/// Any board size, also mixed in one call. The answer for a leaf is the same to the bit in any
/// batch; machines of different instruction sets may differ in the last digits.
///
/// A clone shares the weights and has room of its own: make one evaluator, and clone it for each
/// further thread.
#[derive(Clone, Debug)]
pub struct NativeEvaluator {
    forward: Forward,
    features: FeatureSet,
    max_batch: NonZeroUsize,
    /// One board's planes, `[H, W, planes]`.
    planes: Vec<f32>,
    /// Its inputs without a place on the board.
    globals: Vec<f32>,
    /// One board's logits.
    logits: Vec<f32>,
    /// Whether ownership was asked for and there is such a head.
    tells_ownership: bool,
    /// One board's ownership.
    ownership: Vec<f32>,
}

impl NativeEvaluator {
    /// An evaluator of the network `config` with `weights`, taking up to `max_batch` leaves a
    /// call.
    ///
    /// # Errors
    /// When the config is refused or the weights are not its.
    pub fn new(
        config: &NetworkConfig,
        weights: &Weights,
        max_batch: NonZeroUsize,
    ) -> Result<Self, NetworkError> {
        Self::with_kernel(config, weights, max_batch, Kernel::detect())
    }

    /// The same on plain Rust alone, as it runs on machines without AVX2 and FMA.
    ///
    /// # Errors
    /// As [`NativeEvaluator::new`].
    pub fn portable(
        config: &NetworkConfig,
        weights: &Weights,
        max_batch: NonZeroUsize,
    ) -> Result<Self, NetworkError> {
        Self::with_kernel(config, weights, max_batch, Kernel::Portable)
    }

    fn with_kernel(
        config: &NetworkConfig,
        weights: &Weights,
        max_batch: NonZeroUsize,
        kernel: Kernel,
    ) -> Result<Self, NetworkError> {
        let problems = config.validate();
        if !problems.is_empty() {
            return Err(NetworkError::Config(problems));
        }
        Ok(Self {
            forward: Forward::new(Arc::new(SharedNet::new(
                FoldedNet::new(config, weights)?,
                kernel,
            ))),
            features: config.features()?,
            max_batch,
            planes: Vec::new(),
            globals: Vec::new(),
            logits: Vec::new(),
            tells_ownership: false,
            ownership: Vec::new(),
        })
    }

    /// Multiply-adds of the matrix products that one position of a board of `size` takes here, heads
    /// included: what a machine's peak is to be held against. Winograd's own additions are not in
    /// it, and a direct convolution would need several times as many.
    #[must_use]
    pub fn multiply_adds(&self, size: BoardSize) -> u64 {
        self.forward.multiply_adds(size.width(), size.height())
    }

    /// Outputs along a side of the tiles that boards of `size` are cut into: m of F(m×m, 3×3).
    #[must_use]
    pub fn tile(&self, size: BoardSize) -> usize {
        self.forward.tile_size(size.width(), size.height()).outputs()
    }

    /// The name of the instruction set that it runs on.
    #[must_use]
    pub fn kernel(&self) -> &'static str {
        self.forward.kernel().name()
    }

    /// The same evaluator, which also tells the ownership of the points, if its network has that head.
    #[must_use]
    pub fn telling_ownership(mut self) -> Self {
        self.tells_ownership = self.forward.has_ownership();
        self
    }

    /// Runs leaves of one size, as many as go through the tower together.
    fn evaluate_together(
        &mut self,
        size: BoardSize,
        leaves: &[Leaf<'_>],
        answers: &mut Vec<Evaluation>,
    ) -> Result<(), EvalError> {
        self.planes.resize(self.features.planes() * size.area(), 0.0);
        if self.forward.reads_globals() {
            self.globals.resize(self.features.globals(), 0.0);
        }
        self.logits.resize(size.actions(), 0.0);
        for (board, leaf) in leaves.iter().enumerate() {
            encode_nhwc(self.features, leaf.state, leaf.symmetry, &mut self.planes);
            if self.forward.reads_globals() {
                encode_globals(self.features, leaf.state, &mut self.globals);
            }
            self.forward.set_input(board, &self.planes, &self.globals);
        }
        self.forward.run(leaves.len());
        for (board, leaf) in leaves.iter().enumerate() {
            let room = self.tells_ownership.then_some(&mut self.ownership);
            let HeadsAnswer { value, score } = self.forward.answer(board, &mut self.logits, room);
            let mut answer = Evaluation::from_logits(leaf, &self.logits, value)?;
            answer.score = score;
            if self.tells_ownership {
                answer.ownership = Some(turn_points_back(leaf, &self.ownership));
            }
            answers.push(answer);
        }
        Ok(())
    }
}

impl LeafEvaluator for NativeEvaluator {
    fn max_batch(&self) -> NonZeroUsize {
        self.max_batch
    }

    fn evaluate(&mut self, leaves: &[Leaf<'_>]) -> Result<Vec<Evaluation>, EvalError> {
        check_batch(leaves, self.max_batch)?;
        evaluate_by_size(leaves, |size, same_size, answers| {
            let together = self.forward.fit(size.width(), size.height());
            // Shares as even as can be: a last one of few boards would waste the kernels.
            let shares = same_size.len().div_ceil(together);
            same_size
                .chunks(same_size.len().div_ceil(shares))
                .try_for_each(|leaves| self.evaluate_together(size, leaves, answers))
        })
    }
}

#[cfg(test)]
mod tests;
