//! Leaves judged by burn's forward pass.

use std::num::NonZeroUsize;

use burn::tensor::{Device, Tensor, TensorData};
use tengen_features::{FeatureSet, encode};
use tengen_inference::{EvalError, Evaluation, Leaf, LeafEvaluator, check_batch};
use tengen_rules::BoardSize;

use crate::{Net, NetworkConfig, NetworkError, Weights};

/// A [`Net`] with its running statistics behind the seam: the reference for every faster
/// evaluator, and the one that runs wherever burn does.
#[derive(Debug)]
pub struct BurnEvaluator {
    net: Net,
    features: FeatureSet,
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
            device,
            max_batch,
        })
    }

    /// The evaluations of `leaves`, all of one `size`, in order.
    fn evaluate_size(
        &self,
        size: BoardSize,
        leaves: &[Leaf<'_>],
    ) -> Result<Vec<Evaluation>, EvalError> {
        let per_leaf = self.features.planes() * size.area();
        let mut planes = vec![0.0; leaves.len() * per_leaf];
        for (leaf, out) in leaves.iter().zip(planes.chunks_exact_mut(per_leaf)) {
            encode(self.features, leaf.state, leaf.symmetry, out);
        }
        let shape = [leaves.len(), self.features.planes(), size.height(), size.width()];
        let input = Tensor::<4>::from_data(TensorData::new(planes, shape), &self.device);
        let output = self.net.forward(input);
        let logits = read(output.policy_logits)?;
        let values = read(output.value)?;
        let scores = output.score.map(|score| read(score.mean)).transpose()?;
        let ownership = output.ownership_logits.map(|logits| read(logits.tanh())).transpose()?;
        let rows = logits.chunks_exact(size.actions()).zip(values).zip(leaves).enumerate();
        rows.map(|(row, ((logits, value), leaf))| {
            let mut answer = Evaluation::from_logits(leaf, logits, value)?;
            answer.score = scores.as_ref().map(|scores| scores[row]);
            answer.ownership = ownership
                .as_ref()
                .map(|all| turn_points_back(leaf, &all[row * size.area()..][..size.area()]));
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
        // One forward pass takes one board size, so neighbours of a size go together.
        let runs = leaves.chunk_by(|a, b| a.state.size() == b.state.size());
        let mut answers = Vec::with_capacity(leaves.len());
        for run in runs {
            answers.extend(self.evaluate_size(run[0].state.size(), run)?);
        }
        Ok(answers)
    }
}
