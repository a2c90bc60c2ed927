//! The burn module: shapes, names, training and inference statistics, gradients.

#![allow(clippy::unwrap_used, reason = "a test stops at its first surprise")]

use burn::tensor::{Device, Tensor, TensorData};
use tengen_network::{DeviceKind, Net, NetworkConfig, Weights, init_seeded};
use tengen_rules::BoardSize;

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
        let output = net.forward(planes(batch, height, width, &device), None);
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
        let _ = net.forward(planes(4, 5, 5, &device), None);
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
    let all = numbers(net.forward(together, None).policy_logits);
    let one = numbers(net.forward(alone, None).policy_logits);
    for (a, b) in all[26..52].iter().zip(&one) {
        assert!((a - b).abs() < 1e-5, "{a} {b}");
    }
}

#[test]
fn boards_of_several_sizes_padded_to_one_are_judged_as_each_alone() {
    let device = DeviceKind::Cpu.device().unwrap();
    let config = NetworkConfig {
        pooling_blocks: vec![1],
        policy_pooling: true,
        ownership: true,
        score: true,
        ..small()
    };
    let mut weights = config.init_weights(4).unwrap();
    for (name, tensor) in &mut weights.0 {
        // Off-board points would be seen at once.
        if name.ends_with(".beta") || name.ends_with(".bias") {
            tensor.data.fill(0.7);
        }
    }
    let net = Net::from_weights(&config, &weights, &device).unwrap();
    let sizes = [(9, 9), (5, 5), (7, 4), (2, 9)].map(|(w, h)| BoardSize::new(w, h).unwrap());
    let boards = sizes.map(|size| planes(1, size.height(), size.width(), &device));
    let padded = boards.clone().map(|board| {
        let [_, _, height, width] = board.dims();
        Tensor::zeros([1, 17, 9, 9], &device)
            .slice_assign([0..1, 0..17, 0..height, 0..width], board)
    });
    let together = net.forward_padded(Tensor::cat(padded.to_vec(), 0), None, &sizes);
    let logits = numbers(together.policy_logits);
    let (values, score) = (numbers(together.value), numbers(together.score.unwrap().mean));
    let owners = numbers(together.ownership_logits.unwrap());
    for (at, (board, size)) in boards.into_iter().zip(sizes).enumerate() {
        let alone = net.forward(board, None);
        let near = |a: f32, b: f32| assert!((a - b).abs() < 1e-5 * b.abs().max(1.0), "{a} {b}");
        let (policy, owner) =
            (numbers(alone.policy_logits), numbers(alone.ownership_logits.unwrap()));
        for point in 0..size.area() {
            let padded = point / size.width() * 9 + point % size.width();
            near(logits[at * 82 + padded], policy[point]);
            near(owners[at * 81 + padded], owner[point]);
        }
        near(logits[at * 82 + 81], policy[size.area()]);
        near(values[at], numbers(alone.value)[0]);
        near(score[at], numbers(alone.score.unwrap().mean)[0]);
    }
}

/// A loss in which every output has its own weight.
fn loss(net: &Net, device: &Device) -> Tensor<1> {
    let output = net.forward(planes(3, 4, 4, device), None);
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
