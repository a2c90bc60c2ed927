//! The body of a training step on LibTorch: stem, blocks and the heads' first convolutions, forward
//! and backward, by LibTorch's own gradients.
//!
//! The same seam as the native body's (`training`, `docs/adr/0005`): features go out to the host,
//! their slopes come back.

use tch::{Kind, TchError, Tensor};

use super::net::{pool_and_tell, tell};
use super::{Place, use_threads};
use crate::layers::NORM_MOMENTUM;
use crate::training::Features;
use crate::{
    DeviceKind, HostTensor, NORM_EPSILON, NetworkConfig, NetworkError, Precision, Weights,
};

/// The body of a network of one config on one device.
#[derive(Debug)]
pub(crate) struct LibtorchBody {
    place: Place,
    /// The blocks, true for those that pool.
    blocks: Vec<bool>,
    last: Option<Pass>,
}

/// What a forward pass leaves for the backward pass.
#[derive(Debug)]
struct Pass {
    /// The trained tensors by name.
    trained: Vec<(String, Tensor)>,
    /// The batch's mean and variance of each normalisation, by its name.
    moments: Vec<(String, [Tensor; 2])>,
    /// The heads' features, policy first.
    features: [Tensor; 2],
}

impl LibtorchBody {
    pub(crate) fn new(config: &NetworkConfig, device: DeviceKind) -> Self {
        // Gradients of 8 bits would want a loss that is scaled, and larger batches than ours.
        let place = Place::new(device, Precision::F32);
        let blocks = (0..config.blocks).map(|i| config.pools(i)).collect();
        Self { place, blocks, last: None }
    }

    /// Runs `planes`, `[B, planes, H, W]`, and `globals`, `[B, globals]`, through the network of checked
    /// `weights`, each normalisation with the statistics of the batch.
    pub(crate) fn forward(
        &mut self,
        weights: &Weights,
        planes: &[f32],
        globals: &[f32],
        shape: [usize; 3],
    ) -> Result<Features, NetworkError> {
        self.take_all_cores();
        self.last = None;
        let [batch, height, width] = shape.map(|n| n as i64);
        let input = || -> Result<Tensor, TchError> {
            let planes = Tensor::f_from_slice(planes)?.f_view([batch, -1, height * width])?;
            // Channels-last from here to the features.
            let rows = planes.f_to(self.place.device)?.f_transpose(1, 2)?.f_contiguous()?;
            rows.f_view([batch, height, width, -1])?.f_permute([0, 3, 1, 2])
        };
        let input = input().map_err(|error| self.place.error(&error))?;
        let given = || -> Result<Option<Tensor>, TchError> {
            if globals.is_empty() {
                return Ok(None);
            }
            let globals = Tensor::f_from_slice(globals)?.f_view([batch, -1])?;
            Ok(Some(globals.f_to(self.place.device)?))
        };
        let globals = given().map_err(|error| self.place.error(&error))?;
        let mut pass = Forward { place: self.place, weights, trained: vec![], moments: vec![] };
        let features = pass.run(input, globals, &self.blocks)?;
        let [policy, value] = &features;
        let found = Features { policy: self.host(policy)?, value: self.host(value)? };
        self.last = Some(Pass { trained: pass.trained, moments: pass.moments, features });
        Ok(found)
    }

    /// The gradients of the last forward pass's weights, from those of its features.
    pub(crate) fn backward(&self, slopes: &Features) -> Result<Weights, NetworkError> {
        self.take_all_cores();
        let Some(pass) = &self.last else { return Ok(Weights::default()) };
        let gradients = || -> Result<Vec<Tensor>, TchError> {
            let part = |features: &Tensor, slopes: &[f32]| {
                let slopes = Tensor::f_from_slice(slopes)?.f_view_as(features)?;
                features.f_mul(&slopes.f_to(self.place.device)?)?.f_sum(Kind::Float)
            };
            let [policy, value] = &pass.features;
            let total = part(policy, &slopes.policy)?.f_add(&part(value, &slopes.value)?)?;
            let inputs: Vec<&Tensor> = pass.trained.iter().map(|(_, tensor)| tensor).collect();
            Tensor::f_run_backward(&[total], &inputs, false, false)
        };
        let gradients = gradients().map_err(|error| self.place.error(&error))?;
        let mut found = Weights::default();
        for ((name, _), gradient) in pass.trained.iter().zip(&gradients) {
            let shape = gradient.size().iter().map(|&n| n as usize).collect();
            let data = self.host(gradient)?;
            found.0.insert(name.clone(), HostTensor { shape, data });
        }
        Ok(found)
    }

    /// Moves the running statistics in `weights` by those of the last forward pass's batch.
    pub(crate) fn move_statistics(&self, weights: &mut Weights) -> Result<(), NetworkError> {
        let moments = self.last.iter().flat_map(|pass| &pass.moments);
        for (norm, [mean, variance]) in moments {
            for (what, batch) in [("mean", mean), ("var", variance)] {
                let batch = self.host(batch)?;
                let running = weights.0.get_mut(&format!("{norm}.{what}"));
                let running = running.into_iter().flat_map(|tensor| &mut tensor.data);
                for (running, batch) in running.zip(batch) {
                    let moved = NORM_MOMENTUM as f32;
                    *running = *running * (1.0 - moved) + batch * moved;
                }
            }
        }
        Ok(())
    }

    /// A tensor's numbers, row-major.
    fn host(&self, tensor: &Tensor) -> Result<Vec<f32>, NetworkError> {
        let mut data = vec![0.0; tensor.numel()];
        let copied =
            tensor.f_detach().and_then(|plain| plain.f_copy_data(&mut data, tensor.numel()));
        copied.map_err(|error| self.place.error(&error))?;
        Ok(data)
    }

    /// A step is one thread's work otherwise.
    fn take_all_cores(&self) {
        if self.place.kind == DeviceKind::LibtorchCpu {
            use_threads(std::thread::available_parallelism().map_or(1, usize::from));
        }
    }
}

/// What happens between a normalisation and the next layer.
#[derive(Clone, Copy)]
enum Before<'a> {
    Relu,
    AddAndRelu(&'a Tensor),
    /// The dense layer of this name tells the last channels of the first.
    Telling(&'a str),
    /// The dense layer of the globals tells all channels these.
    Given(&'a Tensor),
}

/// One forward pass on its way.
struct Forward<'a> {
    place: Place,
    weights: &'a Weights,
    trained: Vec<(String, Tensor)>,
    moments: Vec<(String, [Tensor; 2])>,
}

impl Forward<'_> {
    fn run(
        &mut self,
        input: Tensor,
        globals: Option<Tensor>,
        blocks: &[bool],
    ) -> Result<[Tensor; 2], NetworkError> {
        let before = globals.as_ref().map_or(Before::Relu, Before::Given);
        let mut x = self.layer(&input, "stem.conv", "stem.bn", before)?;
        for (i, &pools) in blocks.iter().enumerate() {
            let name = |part: &str, half: u8| format!("blocks.{i}.{part}{half}");
            let pool = format!("blocks.{i}.pool");
            let before = if pools { Before::Telling(&pool) } else { Before::Relu };
            let inner = self.layer(&x, &name("conv", 1), &name("bn", 1), before)?;
            x = self.layer(&inner, &name("conv", 2), &name("bn", 2), Before::AddAndRelu(&x))?;
        }
        let mut head = |name: &str| {
            self.layer(&x, &format!("{name}.conv"), &format!("{name}.bn"), Before::Relu)
        };
        Ok([head("policy")?, head("value")?])
    }

    /// `norm(conv(x))`, and what comes `before` it goes on.
    fn layer(
        &mut self,
        x: &Tensor,
        conv: &str,
        norm: &str,
        before: Before<'_>,
    ) -> Result<Tensor, NetworkError> {
        let weight = self.trained(&format!("{conv}.weight"))?;
        let gamma = self.trained(&format!("{norm}.gamma"))?;
        let beta = self.trained(&format!("{norm}.beta"))?;
        let dense = match before {
            Before::Telling(pool) => Some(pool),
            Before::Given(_) => Some("stem.globals"),
            _ => None,
        };
        let told = match dense {
            Some(dense) => {
                let [weight, bias] = ["weight", "bias"].map(|part| format!("{dense}.{part}"));
                Some([self.trained(&weight)?, self.trained(&bias)?])
            }
            None => None,
        };
        let place = self.place;
        let compute = || -> Result<(Tensor, [Tensor; 2]), TchError> {
            let border = weight.size4()?.2 / 2;
            let z = x.f_conv2d(&weight, None::<&Tensor>, [1, 1], [border, border], [1, 1], 1)?;
            let count = z.numel() as f64 / gamma.numel() as f64;
            // With a momentum of one the running statistics become the batch's.
            let start = gamma.f_detach()?.f_zeros_like()?;
            let moments = [start.copy(), start];
            let [mean, variance] = &moments;
            let y = z.f_batch_norm(
                Some(&gamma),
                Some(&beta),
                Some(mean),
                Some(variance),
                true,
                1.0,
                f64::from(NORM_EPSILON),
                place.device.is_cuda(),
            )?;
            // LibTorch keeps the unbiased variance, burn and the native pass the batch's own.
            let [mean, variance] = moments;
            let variance = variance.f_mul_scalar((count - 1.0) / count)?;
            let y = match (before, &told) {
                (Before::Given(globals), Some([weight, bias])) => {
                    tell(&y, &globals.f_linear(weight, Some(bias))?)?
                }
                (_, Some([weight, bias])) => pool_and_tell(&y, weight, bias, None)?,
                (Before::AddAndRelu(skip), _) => y.f_add(skip)?.f_relu()?,
                _ => y.f_relu()?,
            };
            Ok((y, [mean, variance]))
        };
        let (y, moments) = compute().map_err(|error| place.error(&error))?;
        self.moments.push((norm.to_owned(), moments));
        Ok(y)
    }

    /// A tensor of the weights that keeps its gradient.
    fn trained(&mut self, name: &str) -> Result<Tensor, NetworkError> {
        let HostTensor { shape, data } = self.weights.get(name)?;
        let shape: Vec<i64> = shape.iter().map(|&n| n as i64).collect();
        let put = || -> Result<Tensor, TchError> {
            let tensor = Tensor::f_from_slice(data)?.f_view(shape.as_slice())?;
            Ok(tensor.f_to(self.place.device)?.set_requires_grad(true))
        };
        let tensor = put().map_err(|error| self.place.error(&error))?;
        self.trained.push((name.to_owned(), tensor.shallow_clone()));
        Ok(tensor)
    }
}
