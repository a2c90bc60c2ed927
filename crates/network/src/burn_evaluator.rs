//! Leaves judged by burn's forward pass.

use std::num::NonZeroUsize;

use burn::tensor::{Device, Tensor, TensorData};
use tengen_features::{FeatureSet, encode, encode_globals};
use tengen_inference::{EvalError, Evaluation, Leaf, LeafEvaluator, check_batch};
use tengen_rules::BoardSize;

use crate::layers::unpadded;
use crate::{Net, NetworkConfig, NetworkError, Weights};

/// A [`Net`] with its running statistics behind the seam: the reference for every faster
/// evaluator, and the one that runs wherever burn does.
#[derive(Debug)]
pub struct BurnEvaluator {
    net: Net,
    features: FeatureSet,
    /// Inputs without a place on the board that it reads.
    globals: usize,
    device: Device,
    max_batch: NonZeroUsize,
}

impl BurnEvaluator {
    /// An evaluator for `weights` on `device`, without gradients even where the device would
    /// keep them.
    ///
    /// # Errors
    /// What [`Net::from_weights`] refuses.
    pub fn new(
        config: &NetworkConfig,
        weights: &Weights,
        device: &Device,
        max_batch: NonZeroUsize,
    ) -> Result<Self, NetworkError> {
        let device = device.clone().without_autodiff();
        Ok(Self {
            net: Net::from_weights(config, weights, &device)?,
            features: config.features()?,
            globals: config.globals()?,
            device,
            max_batch,
        })
    }

    /// The evaluations of `leaves` in order, in one pass: where sizes differ, boards are padded to the
    /// largest.
    fn evaluate_together(&self, leaves: &[Leaf<'_>]) -> Result<Vec<Evaluation>, EvalError> {
        let sizes: Vec<BoardSize> = leaves.iter().map(|leaf| leaf.state.size()).collect();
        let height = sizes.iter().map(|size| size.height()).max().unwrap_or(0);
        let width = sizes.iter().map(|size| size.width()).max().unwrap_or(0);
        let (count, area) = (self.features.planes(), height * width);
        let (mut planes, mut board) = (vec![0.0; leaves.len() * count * area], Vec::new());
        for (leaf, out) in leaves.iter().zip(planes.chunks_exact_mut(count * area)) {
            let size = leaf.state.size();
            board.resize(count * size.area(), 0.0);
            encode(self.features, leaf.state, leaf.symmetry, &mut board);
            let lines = board.chunks_exact(size.width()).enumerate();
            for (line, from) in lines {
                let (plane, row) = (line / size.height(), line % size.height());
                out[plane * area + row * width..][..size.width()].copy_from_slice(from);
            }
        }
        let shape = [leaves.len(), count, height, width];
        let input = Tensor::<4>::from_data(TensorData::new(planes, shape), &self.device);
        let wide = self.globals;
        let globals = (wide > 0).then(|| {
            let mut globals = vec![0.0; leaves.len() * wide];
            for (leaf, out) in leaves.iter().zip(globals.chunks_exact_mut(wide)) {
                encode_globals(self.features, leaf.state, out);
            }
            Tensor::from_data(TensorData::new(globals, [leaves.len(), wide]), &self.device)
        });
        let output = match sizes.iter().all(|size| *size == sizes[0]) {
            true => self.net.forward(input, globals),
            false => self.net.forward_padded(input, globals, &sizes),
        };
        let logits = read(output.policy_logits)?;
        let values = read(output.value)?;
        let scores = output.score.map(|score| read(score.mean)).transpose()?;
        let ownership = output.ownership_logits.map(|logits| read(logits.tanh())).transpose()?;
        let rows = logits.chunks_exact(area + 1).zip(values).zip(leaves).enumerate();
        rows.map(|(row, ((logits, value), leaf))| {
            let size = leaf.state.size();
            let mut own = unpadded(logits, width, size);
            own.push(logits[area]);
            let mut answer = Evaluation::from_logits(leaf, &own, value)?;
            answer.score = scores.as_ref().map(|scores| scores[row]);
            answer.ownership = ownership.as_ref().map(|all| {
                turn_points_back(leaf, &unpadded(&all[row * area..][..area], width, size))
            });
            Ok(answer)
        })
        .collect()
    }
}

/// Numbers for the points of the board as turned by the leaf's symmetry, in the board's own
/// orientation.
pub(crate) fn turn_points_back(leaf: &Leaf<'_>, turned: &[f32]) -> Vec<f32> {
    let size = leaf.state.size();
    (0..size.area()).map(|point| turned[leaf.symmetry.apply_action(size, point)]).collect()
}

fn read<const D: usize>(tensor: Tensor<D>) -> Result<Vec<f32>, EvalError> {
    let data = tensor
        .try_into_data_as::<f32>()
        .map_err(|error| EvalError::Backend(format!("reading the answer: {error:?}")))?;
    Ok(data.try_into_vec::<f32>().expect("the data was asked for as f32"))
}

impl LeafEvaluator for BurnEvaluator {
    fn max_batch(&self) -> NonZeroUsize {
        self.max_batch
    }

    fn evaluate(&mut self, leaves: &[Leaf<'_>]) -> Result<Vec<Evaluation>, EvalError> {
        check_batch(leaves, self.max_batch)?;
        if leaves.is_empty() { Ok(Vec::new()) } else { self.evaluate_together(leaves) }
    }
}
