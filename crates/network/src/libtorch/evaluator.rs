//! Leaves judged by LibTorch.

use std::num::NonZeroUsize;

use tch::{Kind, TchError, Tensor};
use tengen_features::{FeatureSet, encode_nhwc};
use tengen_inference::{EvalError, Evaluation, Leaf, LeafEvaluator, check_batch};
use tengen_rules::BoardSize;

use super::net::Net;
use super::{Place, first_line, use_threads};
use crate::burn_evaluator::turn_points_back;
use crate::native::fold::FoldedNet;
use crate::{DeviceKind, NetworkConfig, NetworkError, Precision, Weights};

/// Batch sizes that a GPU sees, at most, for one board size: a batch is filled up to the next of
/// them, so that cuDNN's plans are made once.
const SHAPES: usize = 8;
/// Batches of one call that overlap on a GPU: while one is computed the next is encoded.
const IN_FLIGHT: usize = 2;

/// Evaluates leaves through LibTorch, on its own thread of a CPU or on a CUDA device.
///
/// Any board size, also mixed in one call. On a GPU answers may differ in the last digits with the
/// size of the batch. Several evaluators on one GPU, each with its thread, keep it busy; a clone
/// shares the weights.
#[derive(Debug)]
pub struct LibtorchEvaluator {
    net: Net,
    place: Place,
    features: FeatureSet,
    /// Positions computed together at most.
    batch: NonZeroUsize,
    /// Whether batches are made as a GPU wants them.
    for_gpu: bool,
    /// What a point's planes are padded to.
    stride: usize,
    /// One board's planes, `[H, W, planes]`.
    planes: Vec<f32>,
    /// A batch of them in bytes, `[B, H, W, stride]`.
    staged: Vec<u8>,
    /// A batch of answers, as [`Net::forward`] gives them.
    answers: Vec<f32>,
    /// Whether ownership was asked for and there is such a head.
    tells_ownership: bool,
}

impl LibtorchEvaluator {
    /// An evaluator of the network `config` with `weights` on `device`, computing its tower in
    /// `precision` and up to `batch` positions together.
    ///
    /// # Errors
    /// When the config or the weights are refused, when this machine lacks the device, and when
    /// LibTorch fails.
    pub fn new(
        config: &NetworkConfig,
        weights: &Weights,
        device: DeviceKind,
        precision: Precision,
        batch: NonZeroUsize,
    ) -> Result<Self, NetworkError> {
        Self::made_for(device.is_cuda(), config, weights, device, precision, batch)
    }

    /// The same, with batches made as a GPU wants them, or not: filled up to few sizes, channels by
    /// eights, and two in a call.
    pub(super) fn made_for(
        for_gpu: bool,
        config: &NetworkConfig,
        weights: &Weights,
        device: DeviceKind,
        precision: Precision,
        batch: NonZeroUsize,
    ) -> Result<Self, NetworkError> {
        device.require()?;
        let problems = config.validate();
        if !problems.is_empty() {
            return Err(NetworkError::Config(problems));
        }
        let features = config.features()?;
        let place = Place::new(device, precision);
        // Tensor cores take channels by eights.
        let stride = match for_gpu {
            true => features.planes().next_multiple_of(8),
            false => features.planes(),
        };
        if device.is_cuda() {
            tch::Cuda::cudnn_set_benchmark(true);
        }
        let _no_graph = tch::no_grad_guard();
        let net = Net::new(&FoldedNet::new(config, weights)?, stride, &place)
            .map_err(|error| place.error(&error))?;
        let (planes, staged, answers) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self {
            net,
            place,
            features,
            batch,
            for_gpu,
            stride,
            planes,
            staged,
            answers,
            tells_ownership: false,
        })
    }

    /// The same evaluator, which also tells the ownership of the points, if its network has that head.
    #[must_use]
    pub fn telling_ownership(mut self) -> Self {
        self.tells_ownership = self.net.judges().1;
        self
    }

    /// What a batch of `boards` is filled up to.
    fn padded(&self, boards: usize) -> usize {
        if !self.for_gpu {
            // Every position costs its time there.
            return boards;
        }
        let step = self.batch.get().div_ceil(SHAPES);
        boards.next_multiple_of(step).min(self.batch.get().max(boards))
    }

    /// Writes the planes of `leaves`, all of `size`, into the staging room.
    fn encode(&mut self, size: BoardSize, leaves: &[Leaf<'_>]) {
        let (planes, board) = (self.features.planes(), size.area() * self.stride);
        self.planes.resize(planes * size.area(), 0.0);
        self.staged.clear();
        self.staged.resize(self.padded(leaves.len()) * board, 0);
        for (leaf, staged) in leaves.iter().zip(self.staged.chunks_exact_mut(board)) {
            encode_nhwc(self.features, leaf.state, leaf.symmetry, &mut self.planes);
            // agz-1 is stones and colours: zeros and ones, a quarter of the bytes to copy.
            debug_assert!(self.planes.iter().all(|x| *x == 0.0 || *x == 1.0));
            let points = staged.chunks_exact_mut(self.stride);
            for (to, from) in points.zip(self.planes.chunks_exact(planes)) {
                for (to, from) in to.iter_mut().zip(from) {
                    *to = *from as u8;
                }
            }
        }
    }

    /// Starts the pass on what is staged. On a GPU this returns while it is being computed: the bytes
    /// go over from page-locked memory, which LibTorch lends again only when the copy is done.
    fn submit(&self, size: BoardSize) -> Result<Tensor, TchError> {
        let _no_graph = tch::no_grad_guard();
        let shape = [-1, size.height() as i64, size.width() as i64, self.stride as i64];
        let mut bytes = Tensor::f_from_slice(&self.staged)?.f_view(shape)?;
        if self.place.device.is_cuda() {
            bytes = bytes.f_pin_memory(self.place.device)?.f_to_device_(
                self.place.device,
                Kind::Uint8,
                true,
                false,
            )?;
        }
        let planes = bytes.f_to_kind(self.place.numbers)?.f_permute([0, 3, 1, 2])?;
        self.net.forward(&planes, self.tells_ownership)
    }

    /// Waits for a batch's answers.
    fn collect(
        &mut self,
        size: BoardSize,
        leaves: &[Leaf<'_>],
        computed: &Tensor,
        to: &mut Vec<Evaluation>,
    ) -> Result<(), EvalError> {
        self.answers.resize(computed.numel(), 0.0);
        let count = self.answers.len();
        computed.f_copy_data(&mut self.answers, count).map_err(|error| self.failed(&error))?;
        let scores = usize::from(self.net.judges().0);
        let owners = if self.tells_ownership { size.area() } else { 0 };
        let rows = self.answers.chunks_exact(size.actions() + 1 + scores + owners);
        for (leaf, row) in leaves.iter().zip(rows) {
            let (logits, rest) = row.split_at(size.actions());
            let mut answer = Evaluation::from_logits(leaf, logits, rest[0])?;
            answer.score = rest[1..].first().copied().filter(|_| scores > 0);
            answer.ownership =
                self.tells_ownership.then(|| turn_points_back(leaf, &rest[1 + scores..]));
            to.push(answer);
        }
        Ok(())
    }

    fn failed(&self, error: &TchError) -> EvalError {
        EvalError::Backend(format!("{}: {}", self.place.kind, first_line(error)))
    }
}

impl Clone for LibtorchEvaluator {
    fn clone(&self) -> Self {
        Self {
            net: self.net.share(),
            planes: Vec::new(),
            staged: Vec::new(),
            answers: Vec::new(),
            ..*self
        }
    }
}

impl LeafEvaluator for LibtorchEvaluator {
    fn max_batch(&self) -> NonZeroUsize {
        match self.for_gpu {
            true => self.batch.saturating_mul(NonZeroUsize::MIN.saturating_add(IN_FLIGHT - 1)),
            false => self.batch,
        }
    }

    fn evaluate(&mut self, leaves: &[Leaf<'_>]) -> Result<Vec<Evaluation>, EvalError> {
        check_batch(leaves, self.max_batch())?;
        if !self.place.device.is_cuda() {
            use_threads(1);
        }
        let mut answers = Vec::with_capacity(leaves.len());
        let mut before: Option<(BoardSize, &[Leaf<'_>], Tensor)> = None;
        for same_size in leaves.chunk_by(|a, b| a.state.size() == b.state.size()) {
            let size = same_size[0].state.size();
            for batch in same_size.chunks(self.batch.get()) {
                // While the batch before is computed.
                self.encode(size, batch);
                if let Some((size, leaves, computed)) = before.take() {
                    self.collect(size, leaves, &computed, &mut answers)?;
                }
                let computed = self.submit(size).map_err(|error| self.failed(&error))?;
                before = Some((size, batch, computed));
            }
        }
        if let Some((size, leaves, computed)) = before {
            self.collect(size, leaves, &computed, &mut answers)?;
        }
        Ok(answers)
    }
}
