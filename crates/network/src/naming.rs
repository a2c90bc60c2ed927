//! Which layer holds which named tensor, and the way back from a module to host weights.

use burn::module::{Param, RunningState};
use burn::nn::BatchNorm;
use burn::tensor::{Gradients, Tensor};

use crate::layers::{Dense, PointOut};
use crate::net::Net;
use crate::{HostTensor, Weights};

/// A place in the module that holds one named tensor.
enum Slot<'a> {
    One(&'a Param<Tensor<1>>),
    Two(&'a Param<Tensor<2>>),
    Four(&'a Param<Tensor<4>>),
    Running(&'a RunningState<Tensor<1>>),
}

impl Net {
    /// Every tensor, copied to the host; running statistics as the last forward pass left them.
    ///
    /// # Panics
    /// When the device cannot be read any more.
    #[must_use]
    pub fn to_weights(&self) -> Weights {
        let slots = self.slots().into_iter();
        Weights(slots.map(|(name, slot)| (name, slot.value())).collect())
    }

    /// The gradient of every trained tensor, by its name and in its layout; zeros where the loss
    /// did not depend on it. `grads` is what `backward` returned for a loss of this very module.
    ///
    /// # Panics
    /// When the device cannot be read any more.
    #[must_use]
    pub fn gradients(&self, grads: &Gradients) -> Weights {
        let slots = self.slots().into_iter();
        let found = slots.filter_map(|(name, slot)| Some((name, slot.gradient(grads)?)));
        Weights(found.collect())
    }

    /// The running statistics, as the last forward pass left them.
    pub(crate) fn statistics(&self) -> Weights {
        let running = self.slots().into_iter().filter(|(_, slot)| matches!(slot, Slot::Running(_)));
        Weights(running.map(|(name, slot)| (name, slot.value())).collect())
    }

    /// The same for the tensors after the heads' first convolutions alone.
    pub(crate) fn top_gradients(&self, grads: &Gradients) -> Weights {
        let slots = self.top_slots().into_iter();
        let found = slots.filter_map(|(name, slot)| Some((name, slot.gradient(grads)?)));
        Weights(found.collect())
    }

    fn slots(&self) -> Vec<(String, Slot<'_>)> {
        let mut slots = Vec::new();
        slots.push(("stem.conv.weight".into(), Slot::Four(&self.stem.conv.weight)));
        push_norm(&mut slots, "stem.bn", &self.stem.bn);
        if let Some(globals) = &self.stem.globals {
            push_dense(&mut slots, "stem.globals", globals);
        }
        for (i, block) in self.blocks.iter().enumerate() {
            let halves = [(&block.conv1, &block.bn1), (&block.conv2, &block.bn2)];
            for (half, (conv, norm)) in (1..).zip(halves) {
                let name = format!("blocks.{i}.conv{half}.weight");
                slots.push((name, Slot::Four(&conv.weight)));
                push_norm(&mut slots, &format!("blocks.{i}.bn{half}"), norm);
            }
            if let Some(pool) = &block.pool {
                push_dense(&mut slots, &format!("blocks.{i}.pool"), pool);
            }
        }
        let (policy, value) = (&self.policy, &self.value);
        push_norm(&mut slots, "policy.bn", &policy.bn);
        push_norm(&mut slots, "value.bn", &value.bn);
        slots.push(("policy.conv.weight".into(), Slot::Four(&policy.conv.weight)));
        slots.push(("value.conv.weight".into(), Slot::Four(&value.conv.weight)));
        slots.extend(self.top_slots());
        slots
    }

    fn top_slots(&self) -> Vec<(String, Slot<'_>)> {
        let (policy, value, mut slots) = (&self.policy, &self.value, Vec::new());
        let actions = [
            ("policy.out", "policy.pass", Some(&policy.out)),
            ("policy.opponent", "policy.opponent_pass", policy.opponent.as_ref()),
            ("policy.soft", "policy.soft_pass", policy.soft.as_ref()),
        ];
        for (points, pass, head) in actions {
            if let Some(head) = head {
                push_point(&mut slots, points, &head.points);
                push_dense(&mut slots, pass, &head.pass);
            }
        }
        if let Some(head) = &value.ownership {
            push_point(&mut slots, "value.ownership", head);
        }
        let dense = [
            ("policy.pool", policy.pool.as_ref()),
            ("value.hidden", Some(&value.hidden)),
            ("value.out", Some(&value.out)),
            ("value.score", value.score.as_ref()),
            ("value.short_term", value.short_term.as_ref()),
        ];
        for (name, dense) in dense {
            if let Some(dense) = dense {
                push_dense(&mut slots, name, dense);
            }
        }
        slots
    }
}

fn push_dense<'a>(slots: &mut Vec<(String, Slot<'a>)>, name: &str, dense: &'a Dense) {
    slots.push((format!("{name}.weight"), Slot::Two(&dense.weight)));
    slots.push((format!("{name}.bias"), Slot::One(&dense.bias)));
}

fn push_point<'a>(slots: &mut Vec<(String, Slot<'a>)>, name: &str, point: &'a PointOut) {
    slots.push((format!("{name}.weight"), Slot::Four(&point.weight)));
    slots.push((format!("{name}.bias"), Slot::One(&point.bias)));
}

fn push_norm<'a>(slots: &mut Vec<(String, Slot<'a>)>, name: &str, norm: &'a BatchNorm) {
    slots.push((format!("{name}.gamma"), Slot::One(&norm.gamma)));
    slots.push((format!("{name}.beta"), Slot::One(&norm.beta)));
    slots.push((format!("{name}.mean"), Slot::Running(&norm.running_mean)));
    slots.push((format!("{name}.var"), Slot::Running(&norm.running_var)));
}

impl Slot<'_> {
    fn value(&self) -> HostTensor {
        match self {
            Slot::One(param) => to_host(param.val()),
            Slot::Two(param) => to_host(param.val()),
            Slot::Four(param) => to_host(param.val()),
            Slot::Running(state) => to_host(state.value_sync()),
        }
    }

    fn gradient(&self, grads: &Gradients) -> Option<HostTensor> {
        match self {
            Slot::One(param) => Some(gradient_of(&param.val(), grads)),
            Slot::Two(param) => Some(gradient_of(&param.val(), grads)),
            Slot::Four(param) => Some(gradient_of(&param.val(), grads)),
            Slot::Running(_) => None,
        }
    }
}

fn gradient_of<const D: usize>(tensor: &Tensor<D>, grads: &Gradients) -> HostTensor {
    match tensor.grad(grads) {
        Some(gradient) => to_host(gradient),
        None => HostTensor::full(&tensor.dims(), 0.0),
    }
}

fn to_host<const D: usize>(tensor: Tensor<D>) -> HostTensor {
    let shape = tensor.dims().to_vec();
    let data = tensor.into_data_as::<f32>();
    let data = data.try_into_vec::<f32>().expect("the data was asked for as f32");
    HostTensor { shape, data }
}
