//! Leaves judged by LibTorch.

use std::num::NonZeroUsize;

use tch::{Kind, TchError, Tensor};
use tengen_features::{FeatureSet, encode_globals, encode_nhwc};
use tengen_inference::{EvalError, Evaluation, Leaf, LeafEvaluator, check_batch};
use tengen_rules::BoardSize;

use super::net::{Net, OnBoard};
use super::{Place, first_line, use_threads};
use crate::burn_evaluator::turn_points_back;
use crate::layers::unpadded;
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
    /// A batch of inputs without a place on the board, `[B, globals]`.
    globals: Vec<f32>,
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
            globals: Vec::new(),
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

    /// Writes the planes of `leaves` into the staging room, padded to `height` and `width`.
    fn encode(&mut self, leaves: &[Leaf<'_>], [height, width]: [usize; 2]) {
        let (planes, board) = (self.features.planes(), height * width * self.stride);
        self.staged.clear();
        self.staged.resize(self.padded(leaves.len()) * board, 0);
        let wide = self.features.globals();
        self.globals.clear();
        self.globals.resize(self.padded(leaves.len()) * wide, 0.0);
        for (leaf, globals) in leaves.iter().zip(self.globals.chunks_exact_mut(wide.max(1))) {
            encode_globals(self.features, leaf.state, globals);
        }
        for (leaf, staged) in leaves.iter().zip(self.staged.chunks_exact_mut(board)) {
            let size = leaf.state.size();
            self.planes.resize(planes * size.area(), 0.0);
            encode_nhwc(self.features, leaf.state, leaf.symmetry, &mut self.planes);
            // Every plane is zeros and ones but those of the globals, which `submit` fills in: a quarter
            // of the bytes to copy.
            let lines = self.planes.chunks_exact(planes * size.width());
            for (to, from) in staged.chunks_exact_mut(width * self.stride).zip(lines) {
                let points = to.chunks_exact_mut(self.stride);
                for (to, from) in points.zip(from.chunks_exact(planes)) {
                    for (to, from) in to.iter_mut().zip(from) {
                        *to = *from as u8;
                    }
                }
            }
        }
    }

    /// Starts the pass on what is staged. On a GPU this returns while it is being computed: the bytes
    /// go over from page-locked memory, which LibTorch lends again only when the copy is done.
    fn submit(&self, leaves: &[Leaf<'_>], [height, width]: [usize; 2]) -> Result<Tensor, TchError> {
        let _no_graph = tch::no_grad_guard();
        let shape = [-1, height as i64, width as i64, self.stride as i64];
        let mut bytes = Tensor::f_from_slice(&self.staged)?.f_view(shape)?;
        if self.place.device.is_cuda() {
            bytes = bytes.f_pin_memory(self.place.device)?.f_to_device_(
                self.place.device,
                Kind::Uint8,
                true,
                false,
            )?;
        }
        let mut planes = bytes.f_to_kind(self.place.numbers)?.f_permute([0, 3, 1, 2])?;
        let globals = match self.features.globals() {
            0 => None,
            wide => {
                let globals = Tensor::f_from_slice(&self.globals)?.f_view([-1, wide as i64])?;
                Some(globals.f_to(self.place.device)?)
            }
        };
        let mut sizes: Vec<BoardSize> = leaves.iter().map(|leaf| leaf.state.size()).collect();
        // What fills the batch up is of any size.
        sizes.resize(self.padded(leaves.len()), sizes[0]);
        let boards = match sizes.iter().all(|size| *size == sizes[0]) {
            true => None,
            false => Some(OnBoard::new(&sizes, [height, width], &self.place)?),
        };
        if let Some(globals) = &globals {
            let wide = self.features.globals() as i64;
            let first = self.features.planes() as i64 - wide;
            let numbers = globals.f_to_kind(self.place.numbers)?.f_view([-1, wide, 1, 1])?;
            planes.f_narrow(1, first, wide)?.f_copy_(&numbers)?;
            if let Some(boards) = &boards {
                planes = boards.alone(&planes)?;
            }
        }
        self.net.forward(&planes, globals.as_ref(), boards.as_ref(), self.tells_ownership)
    }

    /// Waits for a batch's answers.
    fn collect(
        &mut self,
        leaves: &[Leaf<'_>],
        [height, width]: [usize; 2],
        computed: &Tensor,
        to: &mut Vec<Evaluation>,
    ) -> Result<(), EvalError> {
        self.answers.resize(computed.numel(), 0.0);
        let count = self.answers.len();
        computed.f_copy_data(&mut self.answers, count).map_err(|error| self.failed(&error))?;
        let area = height * width;
        let scores = usize::from(self.net.judges().0);
        let owners = if self.tells_ownership { area } else { 0 };
        let rows = self.answers.chunks_exact(area + 2 + scores + owners);
        for (leaf, row) in leaves.iter().zip(rows) {
            let size = leaf.state.size();
            let mut logits = unpadded(&row[..area], width, size);
            logits.push(row[area]);
            let rest = &row[area + 1..];
            let mut answer = Evaluation::from_logits(leaf, &logits, rest[0])?;
            answer.score = rest[1..].first().copied().filter(|_| scores > 0);
            answer.ownership = self
                .tells_ownership
                .then(|| turn_points_back(leaf, &unpadded(&rest[1 + scores..], width, size)));
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
            globals: Vec::new(),
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
        let mut before: Option<(&[Leaf<'_>], [usize; 2], Tensor)> = None;
        // A GPU takes boards of several sizes together, padded; a CPU would compute the padding too.
        let (for_gpu, most) = (self.for_gpu, self.batch.get());
        let runs = leaves.chunk_by(|a, b| for_gpu || a.state.size() == b.state.size());
        for batch in runs.flat_map(|run| run.chunks(most)) {
            let sizes = || batch.iter().map(|leaf| leaf.state.size());
            let height = sizes().map(|size| size.height()).max().unwrap_or(0);
            let shape = [height, sizes().map(|size| size.width()).max().unwrap_or(0)];
            // While the batch before is computed.
            self.encode(batch, shape);
            if let Some((leaves, shape, computed)) = before.take() {
                self.collect(leaves, shape, &computed, &mut answers)?;
            }
            let computed = self.submit(batch, shape).map_err(|error| self.failed(&error))?;
            before = Some((batch, shape, computed));
        }
        if let Some((leaves, shape, computed)) = before {
            self.collect(leaves, shape, &computed, &mut answers)?;
        }
        Ok(answers)
    }
}
