//! Forward and backward pass of every convolution with its normalisation, over a whole batch.

use rayon::prelude::*;

use super::layer::{Layer, Role};
use super::norm::{Moments, Slopes};
use super::slot::Slot;
use crate::native::simd::Kernel;
use crate::{NetworkConfig, NetworkError, Weights};

/// Shares that a batch is cut into, at most: as many tasks as can run side by side.
///
/// The cut depends on the batch alone, and what the shares add up to is added in their order, so
/// that a batch gives the same bits on any number of threads.
const SLOTS: usize = 16;

/// The heads' features, or their gradients.
#[derive(Debug)]
pub(crate) struct Features {
    /// `[B, P, H, W]`.
    pub policy: Vec<f32>,
    /// `[B, V, H, W]`.
    pub value: Vec<f32>,
}

/// The network up to the heads' features: stem, blocks, and the heads' first convolutions.
#[derive(Debug)]
pub(super) struct Body {
    kernel: Kernel,
    layers: Vec<Layer>,
    channels: [usize; 2],
    slots: Vec<Slot>,
    /// `[B, H, W]` that the slots are made for.
    shape: [usize; 3],
}

impl Body {
    pub(super) fn new(config: &NetworkConfig, kernel: Kernel) -> Result<Self, NetworkError> {
        config.require_sound()?;
        let (c, block) = (config.channels, kernel.block());
        let planes = config.features()?.planes();
        let globals = config.globals()?;
        let mut stem = Layer::new(Role::Stem, planes, block, &[("stem.*", c)]);
        if globals > 0 {
            stem = stem.given("stem.globals", globals);
        }
        let mut layers = vec![stem];
        for i in 0..config.blocks {
            for (role, half) in [(Role::First, 1), (Role::Second, 2)] {
                let name = format!("blocks.{i}.*{half}");
                let layer = Layer::new(role, c, block, &[(&name, c)]);
                layers.push(match role == Role::First && config.pools(i) {
                    true => layer.telling(format!("blocks.{i}.pool"), config.pooled_channels()),
                    false => layer,
                });
            }
        }
        let channels = [config.policy_channels, config.value_channels];
        let heads = [("policy.*", channels[0]), ("value.*", channels[1])];
        layers.push(Layer::new(Role::Heads, c, block, &heads));
        Ok(Self { kernel, layers, channels, slots: Vec::new(), shape: [0; 3] })
    }

    /// Makes room for batches of this shape; nothing to do if it was the last one.
    fn fit(&mut self, shape: [usize; 3]) {
        if shape == self.shape {
            return;
        }
        let [batch, height, width] = shape;
        let each = batch.div_ceil(SLOTS).max(1);
        self.slots = (0..batch)
            .step_by(each)
            .map(|first| Slot::new(&self.layers, each.min(batch - first), height, width))
            .collect();
        self.shape = shape;
    }

    /// Runs `planes`, `[B, planes, H, W]`, and `globals`, `[B, globals]`, through the network of checked
    /// `weights`, each normalisation with the statistics of the batch.
    pub(super) fn forward(
        &mut self,
        weights: &Weights,
        planes: &[f32],
        globals: &[f32],
        shape: [usize; 3],
    ) -> Result<Features, NetworkError> {
        self.fit(shape);
        for layer in &mut self.layers {
            layer.load(weights)?;
        }
        let (kernel, inputs) = (self.kernel, self.layers[0].inputs);
        let wide = globals.len() / shape[0].max(1);
        let (mut rest, mut globals) = (planes, globals);
        for slot in &mut self.slots {
            let (own, others) = rest.split_at(slot.dense(inputs));
            slot.set_planes(own, inputs);
            rest = others;
            let (own, others) = globals.split_at(slot.boards() * wide);
            slot.set_globals(own);
            globals = others;
        }
        for index in 0..self.layers.len() {
            let layers = &self.layers;
            self.slots.par_iter_mut().for_each(|slot| slot.forward(kernel, layers, index));
            let mut moments = vec![Moments::default(); layers[index].stride];
            for slot in &self.slots {
                for (sum, moments) in moments.iter_mut().zip(&slot.moments) {
                    *sum = sum.join(*moments);
                }
            }
            self.layers[index].set_statistics(&moments);
        }
        let layers = &self.layers;
        self.slots.par_iter_mut().for_each(|slot| slot.finish_heads(kernel, layers));
        let [policy, value] = self.channels;
        let gather = |first: usize, channels: usize| {
            let mut all = vec![0.0; shape.iter().product::<usize>() * channels];
            let mut rest = &mut all[..];
            for slot in &self.slots {
                let (own, others) = rest.split_at_mut(slot.dense(channels));
                slot.features(layers, first, channels, own);
                rest = others;
            }
            all
        };
        Ok(Features { policy: gather(0, policy), value: gather(policy, value) })
    }

    /// The gradients of the last forward pass's weights, from those of its features.
    pub(super) fn backward(&mut self, slopes: &Features) -> Weights {
        let (kernel, layers) = (self.kernel, &mut self.layers);
        let [policy, value] = self.channels;
        let (mut of_policy, mut of_value) = (&slopes.policy[..], &slopes.value[..]);
        for slot in &mut self.slots {
            for (rest, first, channels) in
                [(&mut of_policy, 0, policy), (&mut of_value, policy, value)]
            {
                let (own, others) = rest.split_at(slot.dense(channels));
                slot.set_slopes(layers, own, first, channels);
                *rest = others;
            }
        }
        let count = self.shape.iter().product();
        let mut gradients = Weights::default();
        self.slots.par_iter_mut().for_each(|slot| slot.rectify_heads(kernel, layers));
        for index in (0..layers.len()).rev() {
            let mut sums = vec![Slopes::default(); layers[index].stride];
            for slot in &self.slots {
                for (sum, slopes) in sums.iter_mut().zip(&slot.slopes) {
                    sum.beta += slopes.beta;
                    sum.gamma += slopes.gamma;
                }
            }
            layers[index].set_slopes(&sums, count);
            self.slots.par_iter_mut().for_each(|slot| slot.backward(kernel, layers, index));
            let dw = sum_of(&self.slots, layers[index].gradient_length(), |slot| &slot.dw);
            layers[index].gradients(&dw, &sums, &mut gradients);
            let before = index.checked_sub(1).and_then(|before| layers[before].telling.as_ref());
            if let Some(telling) = before {
                let told = sum_of(&self.slots, telling.gradient_length(), |slot| &slot.told);
                telling.gradients(&told, &mut gradients);
            }
        }
        gradients
    }

    /// Moves the running statistics in `weights` by those of the last forward pass's batch.
    pub(super) fn move_statistics(&self, weights: &mut Weights) {
        for layer in &self.layers {
            layer.move_statistics(weights);
        }
    }
}

/// What the slots add to a gradient, added in their order.
fn sum_of(slots: &[Slot], length: usize, of: impl Fn(&Slot) -> &[f32] + Sync) -> Vec<f32> {
    const TOGETHER: usize = 4096;
    let mut all = vec![0.0; length];
    all.par_chunks_mut(TOGETHER).enumerate().for_each(|(chunk, sums)| {
        for slot in slots {
            let own = &of(slot)[chunk * TOGETHER..][..sums.len()];
            for (sum, own) in sums.iter_mut().zip(own) {
                *sum += own;
            }
        }
    });
    all
}
