//! The burn module: shapes, names, training and inference statistics, gradients.

#![allow(clippy::unwrap_used, reason = "a test stops at its first surprise")]

use burn::tensor::{Device, Tensor, TensorData};
use tengen_network::{DeviceKind, Net, NetworkConfig, Weights, init_seeded};

fn small() -> NetworkConfig {
    NetworkConfig {
        blocks: 2,
        channels: 8,
        policy_channels: 3,
        value_channels: 2,
        value_hidden: 5,
        ..NetworkConfig::default()
    }
}

/// Planes without meaning, the same ones each time: `[batch, 17, height, width]`.
fn planes(batch: usize, height: usize, width: usize, device: &Device) -> Tensor<4> {
    let count = batch * 17 * height * width;
    let data: Vec<f32> = (0..count).map(|i| f32::from(i * 7 % 5 < 2)).collect();
    Tensor::from_data(TensorData::new(data, [batch, 17, height, width]), device)
}

fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data_as::<f32>().try_into_vec().unwrap()
}

#[test]
fn weights_go_through_the_module_and_back_unchanged() {
    for device in [DeviceKind::Cpu.device().unwrap(), DeviceKind::Cpu.training_device().unwrap()] {
        let weights = small().init_weights(11).unwrap();
        let net = Net::from_weights(&small(), &weights, &device).unwrap();
        assert_eq!(net.to_weights(), weights);
        assert_eq!(init_seeded(&small(), 11, &device).unwrap().to_weights(), weights);
    }
}

#[test]
fn one_network_answers_boards_of_every_shape_with_finite_numbers() {
    let device = DeviceKind::Cpu.device().unwrap();
    let net = init_seeded(&small(), 1, &device).unwrap();
    for (batch, height, width) in [(1, 2, 2), (3, 5, 7), (2, 9, 9), (1, 19, 19)] {
        let output = net.forward(planes(batch, height, width, &device));
        assert_eq!(output.policy_logits.dims(), [batch, height * width + 1]);
        assert_eq!(output.value.dims(), [batch]);
        assert!(numbers(output.policy_logits).iter().all(|l| l.is_finite()));
        assert!(numbers(output.value).iter().all(|v| v.abs() <= 1.0));
    }
}

#[test]
fn training_moves_the_running_statistics_and_answering_does_not() {
    let weights = small().init_weights(2).unwrap();
    for (device, moves) in [
        (DeviceKind::Cpu.device().unwrap(), false),
        (DeviceKind::Cpu.training_device().unwrap(), true),
    ] {
        let net = Net::from_weights(&small(), &weights, &device).unwrap();
        let _ = net.forward(planes(4, 5, 5, &device));
        let after = net.to_weights();
        for (name, tensor) in &weights.0 {
            let moved = after.0[name] != *tensor;
            assert_eq!(moved, moves && !NetworkConfig::is_trained(name), "{name}");
        }
    }
}

#[test]
fn in_inference_an_answer_does_not_depend_on_its_neighbours_in_the_batch() {
    let device = DeviceKind::Cpu.device().unwrap();
    let net = init_seeded(&small(), 4, &device).unwrap();
    let together = planes(3, 5, 5, &device);
    let alone = together.clone().narrow(0, 1, 1);
    let all = numbers(net.forward(together).policy_logits);
    let one = numbers(net.forward(alone).policy_logits);
    for (a, b) in all[26..52].iter().zip(&one) {
        assert!((a - b).abs() < 1e-5, "{a} {b}");
    }
}

/// A loss in which every output has its own weight.
fn loss(net: &Net, device: &Device) -> Tensor<1> {
    let output = net.forward(planes(3, 4, 4, device));
    let logits = output.policy_logits.reshape([51]);
    let ramp: Vec<f32> = (0..51).map(|i| (i as f32 * 0.37).sin()).collect();
    let ramp = Tensor::from_data(TensorData::new(ramp, [51]), device);
    (logits * ramp).sum() + (output.value - 0.5).powf_scalar(2.0).sum()
}

#[test]
fn gradients_come_by_name_and_agree_with_finite_differences() {
    let device = DeviceKind::Cpu.training_device().unwrap();
    let mut weights = small().init_weights(6).unwrap();
    // Away from zero, where rectifiers have no derivative to compare.
    for (name, tensor) in &mut weights.0 {
        if name.ends_with(".beta") {
            tensor.data.fill(1.5);
        }
    }
    let loss_of = |weights: &Weights| {
        let net = Net::from_weights(&small(), weights, &device).unwrap();
        f64::from(numbers(loss(&net, &device))[0])
    };
    let net = Net::from_weights(&small(), &weights, &device).unwrap();
    let gradients = net.gradients(&loss(&net, &device).backward());

    let trained = weights.0.keys().filter(|name| NetworkConfig::is_trained(name));
    assert!(trained.eq(gradients.0.keys()));
    for (name, at) in [
        ("policy.out.weight", 1),
        ("policy.pass.bias", 0),
        ("policy.pass.weight", 2),
        ("value.hidden.weight", 3),
        ("value.out.weight", 1),
        ("policy.bn.gamma", 2),
    ] {
        let step = 1e-2;
        let (mut up, mut down) = (weights.clone(), weights.clone());
        up.0.get_mut(name).unwrap().data[at] += step;
        down.0.get_mut(name).unwrap().data[at] -= step;
        let slope = (loss_of(&up) - loss_of(&down)) / (2.0 * f64::from(step));
        let gradient = f64::from(gradients.0[name].data[at]);
        let tolerance = 2e-2 * (1.0 + slope.abs());
        assert!((slope - gradient).abs() < tolerance, "{name}: {slope} against {gradient}");
    }
}
