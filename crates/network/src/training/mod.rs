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
//! [`Net::forward`](crate::Net::forward) computes the same through burn alone. It is what the tests hold
//! this to, and what trains on every device but the plain CPU.

mod body;
mod grid;
mod kernels;
mod layer;
mod loops;
mod norm;
mod slot;

use burn::tensor::{Device, Gradients, Tensor, TensorData};

use crate::native::simd::Kernel;
use crate::{DeviceKind, Net, NetOutput, NetworkConfig, NetworkError, Weights};
use body::{Body, Features};

/// A network that is being trained, with the room that its passes need.
///
/// Normalises with the statistics of the batch. On `cpu` a batch gives the same bits on any number
/// of threads; machines with other vectors, and other devices, may differ in the last digits.
#[derive(Debug)]
pub struct TrainingNet {
    config: NetworkConfig,
    kind: DeviceKind,
    device: Device,
    /// Our own pass, where it is the faster one: on `cpu`.
    body: Option<Body>,
}

/// What a forward pass left in burn's hands.
#[derive(Debug)]
pub struct Traced {
    /// What the network says, on an autodiff device: `backward` of a loss of these is what
    /// [`TrainingNet::gradients`] wants.
    pub output: NetOutput,
    net: Net,
    /// The heads' features where our own body made them, policy first.
    features: Option<[Tensor<4>; 2]>,
}

impl TrainingNet {
    /// Training of networks of `config` on `kind`.
    ///
    /// # Errors
    /// When the config is refused or the device is missing.
    pub fn new(config: &NetworkConfig, kind: DeviceKind) -> Result<Self, NetworkError> {
        config.require_sound()?;
        let device = kind.training_device()?;
        let body = match kind {
            DeviceKind::Cpu => Some(Body::new(config, Kernel::detect())?),
            _ => None,
        };
        Ok(Self { config: config.clone(), kind, device, body })
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
        let expected = [batch, self.config.features()?.planes(), height, width];
        if planes.len() != expected.iter().product::<usize>() || planes.is_empty() {
            let found = vec![planes.len()];
            return Err(NetworkError::WrongShape {
                name: "planes".to_owned(),
                expected: expected.to_vec(),
                found,
            });
        }
        let Some(body) = &mut self.body else {
            self.kind.take_all_cores();
            let planes = channels_last(planes, expected, &self.device);
            let output = net.forward(planes);
            return Ok(Traced { output, net, features: None });
        };
        let Features { policy, value } = body.forward(weights, planes, shape)?;
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
        Ok(Traced { output, net, features: Some([policy, value]) })
    }

    /// The gradient of every trained tensor, by its name and in its layout. `traced` is the last
    /// forward pass, `grads` what `backward` returned for a loss of its output.
    ///
    /// # Panics
    /// When the device cannot be read any more.
    #[must_use]
    pub fn gradients(&mut self, traced: &Traced, grads: &Gradients) -> Weights {
        let (Some(body), Some([policy, value])) = (&mut self.body, &traced.features) else {
            return traced.net.gradients(grads);
        };
        let slopes = |leaf: &Tensor<4>| match leaf.grad(grads) {
            Some(slopes) => slopes
                .into_data_as::<f32>()
                .try_into_vec::<f32>()
                .expect("the data was asked for as f32"),
            None => vec![0.0; leaf.dims().iter().product()],
        };
        let features = Features { policy: slopes(policy), value: slopes(value) };
        let mut gradients = traced.net.top_gradients(grads);
        gradients.0.extend(body.backward(&features).0);
        gradients
    }

    /// Moves the running statistics in `weights` by those of the batch of `traced`, the last forward
    /// pass.
    ///
    /// # Panics
    /// When the device cannot be read any more.
    pub fn move_statistics(&self, traced: &Traced, weights: &mut Weights) {
        match &self.body {
            Some(body) => body.move_statistics(weights),
            // burn moved its own as it went forward.
            None => weights.0.extend(traced.net.statistics().0),
        }
    }
}

/// `[B, planes, H, W]` whose memory runs over the planes first: LibTorch then goes through the whole
/// network in that order, which is its fastest.
fn channels_last(planes: &[f32], shape: [usize; 4], device: &Device) -> Tensor<4> {
    let [batch, channels, height, width] = shape;
    let area = height * width;
    let mut turned = vec![0.0; planes.len()];
    for (to, from) in
        turned.chunks_exact_mut(channels * area).zip(planes.chunks_exact(channels * area))
    {
        for (point, to) in to.chunks_exact_mut(channels).enumerate() {
            for (channel, to) in to.iter_mut().enumerate() {
                *to = from[channel * area + point];
            }
        }
    }
    let data = TensorData::new(turned, [batch, height, width, channels]);
    Tensor::<4>::from_data(data, device).permute([0, 3, 1, 2])
}

#[cfg(test)]
mod tests;
