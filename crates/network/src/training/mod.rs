//! A training step on plain CPUs: our own forward and backward pass, joined to burn's.
//!
//! What takes a training step's time are convolutions with their batch normalisations; they are
//! computed here, and the rest of the heads and the loss by burn (`docs/adr/0005`). The seam is the
//! heads' features, what the heads' first convolutions say after their ReLU: burn is handed them as
//! leaves of its graph, and its gradients of these leaves are taken back through the body.
//!
//! ```text
//! planes ─▶ Body::forward ─▶ features ─▶ burn: pooling, dense layers, loss
//!                                                         │ backward
//! gradients ◀─ Body::backward ◀─ slopes of the features ◀─┘
//! ```
//!
//! [`Net::forward`](crate::Net::forward) computes the same through burn alone and is what the tests
//! hold this to.

mod body;
mod grid;
mod kernels;
mod layer;
mod loops;
mod norm;
mod slot;

use burn::tensor::{Device, Gradients, Tensor, TensorData};

use crate::native::simd::Kernel;
use crate::{Net, NetOutput, NetworkConfig, NetworkError, Weights};
use body::{Body, Features};

/// A network that is being trained on the CPU, with the room that its passes need.
///
/// Normalises with the statistics of the batch. A batch gives the same bits on any number of
/// threads; machines with other vectors may differ in the last digits.
#[derive(Debug)]
pub struct TrainingNet {
    config: NetworkConfig,
    device: Device,
    body: Body,
}

/// What a forward pass left in burn's hands.
#[derive(Debug)]
pub struct Traced {
    /// What the network says, on an autodiff device: `backward` of a loss of these is what
    /// [`TrainingNet::gradients`] wants.
    pub output: NetOutput,
    net: Net,
    policy: Tensor<4>,
    value: Tensor<4>,
}

impl TrainingNet {
    /// Training of networks of `config`; burn's part runs on `device`, which keeps gradients.
    ///
    /// # Errors
    /// When the config is refused.
    pub fn new(config: &NetworkConfig, device: &Device) -> Result<Self, NetworkError> {
        let body = Body::new(config, Kernel::detect())?;
        Ok(Self { config: config.clone(), device: device.clone(), body })
    }

    /// Judges `planes`, `[B, planes, H, W]` with `shape` `[B, H, W]`, by the network of `weights`.
    ///
    /// # Errors
    /// What [`Weights::check`] refuses, and planes of another length.
    pub fn forward(
        &mut self,
        weights: &Weights,
        planes: &[f32],
        shape: [usize; 3],
    ) -> Result<Traced, NetworkError> {
        let net = Net::from_weights(&self.config, weights, &self.device)?;
        let [batch, height, width] = shape;
        let expected = vec![batch, self.config.features()?.planes(), height, width];
        if planes.len() != expected.iter().product::<usize>() || planes.is_empty() {
            let found = vec![planes.len()];
            return Err(NetworkError::WrongShape { name: "planes".to_owned(), expected, found });
        }
        let Features { policy, value } = self.body.forward(weights, planes, shape)?;
        let leaf = |data: Vec<f32>, channels: usize| {
            let data = TensorData::new(data, [batch, channels, height, width]);
            Tensor::<4>::from_data(data, &self.device).require_grad()
        };
        let policy = leaf(policy, self.config.policy_channels);
        let value = leaf(value, self.config.value_channels);
        let output = NetOutput {
            policy_logits: net.policy.answer(policy.clone()),
            value: net.value.answer(value.clone()),
        };
        Ok(Traced { output, net, policy, value })
    }

    /// The gradient of every trained tensor, by its name and in its layout. `traced` is the last
    /// forward pass, `grads` what `backward` returned for a loss of its output.
    ///
    /// # Panics
    /// When the device cannot be read any more.
    #[must_use]
    pub fn gradients(&mut self, traced: &Traced, grads: &Gradients) -> Weights {
        let slopes = |leaf: &Tensor<4>| match leaf.grad(grads) {
            Some(slopes) => slopes
                .into_data_as::<f32>()
                .try_into_vec::<f32>()
                .expect("the data was asked for as f32"),
            None => vec![0.0; leaf.dims().iter().product()],
        };
        let features = Features { policy: slopes(&traced.policy), value: slopes(&traced.value) };
        let mut gradients = traced.net.top_gradients(grads);
        gradients.0.extend(self.body.backward(&features).0);
        gradients
    }

    /// Moves the running statistics in `weights` by those of the last forward pass's batch.
    pub fn move_statistics(&self, weights: &mut Weights) {
        self.body.move_statistics(weights);
    }
}

#[cfg(test)]
mod tests;
