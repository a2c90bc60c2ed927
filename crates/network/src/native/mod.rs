//! The network on plain CPUs: our own forward pass, without a tensor library.
//!
//! Self-play asks millions of small questions, and a tensor library spends most of such a
//! question on the way to its kernels. Here batch normalisation is folded into the convolutions
//! when the network is loaded, activations lie channels-last in zero-bordered grids, and one
//! direct-convolution kernel does bias, residual and ReLU while its sums are still in registers.
//! A few boards at a time go through the whole tower, so that they stay in the cache.
//!
//! An instance is single-threaded and owns its room: self-play gives each core one.

mod fold;
mod forward;
mod heads;
mod kernel;

use std::num::NonZeroUsize;

use tengen_features::{FeatureSet, encode_nhwc};
use tengen_inference::{EvalError, Evaluation, Leaf, LeafEvaluator, check_batch};
use tengen_rules::BoardSize;

use crate::{NetworkConfig, NetworkError, Weights};
use fold::FoldedNet;
use forward::Forward;
use kernel::Simd;

/// Evaluates leaves with our own forward pass, in `f32`, on one thread.
///
/// Any board size, also mixed in one call. The same instance gives the same answers for the same
/// leaves in any batch; machines with and without AVX2 and FMA may differ in the last digits.
#[derive(Clone, Debug)]
pub struct NativeEvaluator {
    forward: Forward,
    features: FeatureSet,
    max_batch: NonZeroUsize,
    /// One board's planes, `[H, W, planes]`.
    planes: Vec<f32>,
    /// One board's logits.
    logits: Vec<f32>,
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
        Self::with_simd(config, weights, max_batch, Simd::detect())
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
        Self::with_simd(config, weights, max_batch, Simd::Portable)
    }

    fn with_simd(
        config: &NetworkConfig,
        weights: &Weights,
        max_batch: NonZeroUsize,
        simd: Simd,
    ) -> Result<Self, NetworkError> {
        let problems = config.validate();
        if !problems.is_empty() {
            return Err(NetworkError::Config(problems));
        }
        Ok(Self {
            forward: Forward::new(FoldedNet::new(config, weights)?, simd),
            features: config.features()?,
            max_batch,
            planes: Vec::new(),
            logits: Vec::new(),
        })
    }

    /// Runs up to [`Forward::boards_together`] leaves of one size.
    fn evaluate_together(
        &mut self,
        size: BoardSize,
        leaves: &[Leaf<'_>],
        answers: &mut Vec<Evaluation>,
    ) -> Result<(), EvalError> {
        self.forward.fit(size.width(), size.height());
        self.planes.resize(self.features.planes() * size.area(), 0.0);
        self.logits.resize(size.actions(), 0.0);
        for (board, leaf) in leaves.iter().enumerate() {
            encode_nhwc(self.features, leaf.state, leaf.symmetry, &mut self.planes);
            self.forward.set_input(board, &self.planes);
        }
        self.forward.run(leaves.len());
        for (board, leaf) in leaves.iter().enumerate() {
            let value = self.forward.answer(board, &mut self.logits);
            answers.push(Evaluation::from_logits(leaf, &self.logits, value)?);
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
        let mut answers = Vec::with_capacity(leaves.len());
        for same_size in leaves.chunk_by(|a, b| a.state.size() == b.state.size()) {
            let size = same_size[0].state.size();
            let together = Forward::boards_together(size.width(), size.height());
            for leaves in same_size.chunks(together) {
                self.evaluate_together(size, leaves, &mut answers)?;
            }
        }
        Ok(answers)
    }
}

#[cfg(test)]
mod tests;
