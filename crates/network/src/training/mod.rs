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
//! On `cpu` the body is ours, on LibTorch's devices LibTorch's (`docs/adr/0006`).
//! [`Net::forward`](crate::Net::forward) computes the same through burn alone and is what the tests
//! hold both to.

mod body;
mod grid;
mod kernels;
mod layer;
mod loops;
mod norm;
mod slot;
mod telling;

use burn::tensor::{Device, Gradients, Tensor, TensorData};

use crate::native::simd::Kernel;
use crate::{DeviceKind, Net, NetOutput, NetworkConfig, NetworkError, Weights};
use body::Body;
pub(crate) use body::Features;

/// A network that is being trained, with the room that its passes need.
///
/// Normalises with the statistics of the batch. On `cpu` a batch gives the same bits on any number
/// of threads; machines with other vectors, and other devices, may differ in the last digits.
#[derive(Debug)]
pub struct TrainingNet {
    config: NetworkConfig,
    /// Where burn computes its part.
    device: Device,
    backbone: Backbone,
}

/// Who computes stem, blocks and the heads' first convolutions.
#[derive(Debug)]
enum Backbone {
    Native(Body),
    #[cfg(feature = "libtorch")]
    Libtorch(crate::libtorch::LibtorchBody),
    /// burn, as it computes the rest.
    Burn,
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
        if let DeviceKind::Burn(_) = kind {
            return Self::through_burn(config, kind);
        }
        kind.require()?;
        let backbone = match kind {
            #[cfg(feature = "libtorch")]
            DeviceKind::LibtorchCpu | DeviceKind::Cuda(_) => {
                Backbone::Libtorch(crate::libtorch::LibtorchBody::new(config, kind))
            }
            _ => Backbone::Native(Body::new(config, Kernel::detect())?),
        };
        // Past the features there is little to compute: burn does it on the processor.
        let device = DeviceKind::Cpu.training_device()?;
        Ok(Self { config: config.clone(), device, backbone })
    }

    /// Training through burn alone, on burn's device of `kind`: the checked twin of the others, and
    /// slower than they are.
    ///
    /// # Errors
    /// When the config is refused or burn has no such device.
    pub fn through_burn(config: &NetworkConfig, kind: DeviceKind) -> Result<Self, NetworkError> {
        config.require_sound()?;
        let (device, backbone) = (kind.training_device()?, Backbone::Burn);
        Ok(Self { config: config.clone(), device, backbone })
    }

    /// Judges `planes`, `[B, planes, H, W]` with `shape` `[B, H, W]`, and `globals`, `[B, globals]` of the
    /// feature set, by the network of `weights`, whether it reads the latter or not.
    ///
    /// # Errors
    /// What [`Weights::check`] refuses, and planes or globals of another length.
    pub fn forward(
        &mut self,
        weights: &Weights,
        planes: &[f32],
        globals: &[f32],
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
        let wide = self.config.features()?.globals();
        if globals.len() != batch * wide {
            return Err(NetworkError::WrongShape {
                name: "globals".to_owned(),
                expected: vec![batch, wide],
                found: vec![globals.len()],
            });
        }
        let (wide, globals) = match self.config.globals()? {
            0 => (0, &[][..]),
            wide => (wide, globals),
        };
        let Features { policy, value } = match &mut self.backbone {
            Backbone::Native(body) => body.forward(weights, planes, globals, shape)?,
            #[cfg(feature = "libtorch")]
            Backbone::Libtorch(body) => body.forward(weights, planes, globals, shape)?,
            Backbone::Burn => {
                let planes = channels_last(planes, expected, &self.device);
                let globals = (wide > 0).then(|| {
                    let data = TensorData::new(globals.to_vec(), [batch, wide]);
                    Tensor::from_data(data, &self.device)
                });
                let output = net.forward(planes, globals);
                return Ok(Traced { output, net, features: None });
            }
        };
        let leaf = |data: Vec<f32>, channels: usize| {
            let data = TensorData::new(data, [batch, channels, height, width]);
            Tensor::<4>::from_data(data, &self.device).require_grad()
        };
        let policy = leaf(policy, self.config.policy_channels);
        let value = leaf(value, self.config.value_channels);
        let output = net.answer(policy.clone(), value.clone());
        Ok(Traced { output, net, features: Some([policy, value]) })
    }

    /// The gradient of every trained tensor, by its name and in its layout. `traced` is the last
    /// forward pass, `grads` what `backward` returned for a loss of its output.
    ///
    /// # Errors
    /// When the device fails.
    ///
    /// # Panics
    /// When burn's device cannot be read any more.
    pub fn gradients(
        &mut self,
        traced: &Traced,
        grads: &Gradients,
    ) -> Result<Weights, NetworkError> {
        let Some([policy, value]) = &traced.features else {
            return Ok(traced.net.gradients(grads));
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
        gradients.0.extend(match &mut self.backbone {
            Backbone::Native(body) => body.backward(&features).0,
            #[cfg(feature = "libtorch")]
            Backbone::Libtorch(body) => body.backward(&features)?.0,
            Backbone::Burn => return Ok(traced.net.gradients(grads)),
        });
        Ok(gradients)
    }

    /// Moves the running statistics in `weights` by those of the batch of `traced`, the last forward
    /// pass.
    ///
    /// # Errors
    /// When the device fails.
    ///
    /// # Panics
    /// When burn's device cannot be read any more.
    pub fn move_statistics(
        &self,
        traced: &Traced,
        weights: &mut Weights,
    ) -> Result<(), NetworkError> {
        match &self.backbone {
            Backbone::Native(body) => body.move_statistics(weights),
            #[cfg(feature = "libtorch")]
            Backbone::Libtorch(body) => body.move_statistics(weights)?,
            // burn moved its own as it went forward.
            Backbone::Burn => weights.0.extend(traced.net.statistics().0),
        }
        Ok(())
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
