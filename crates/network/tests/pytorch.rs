//! Our networks beside PyTorch's: `scripts/pytorch_reference.py` wrote what it made of them.

#![allow(clippy::unwrap_used, reason = "a test stops at its first surprise")]

use std::collections::BTreeMap;

use burn::tensor::{Tensor, TensorData};
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use tengen_features::FeatureSet;
use tengen_network::{DeviceKind, Net, NetOutput, NetworkConfig, TrainingNet, import_pytorch};

const FIXTURES: [(&str, &[u8]); 3] = [
    ("plain", include_bytes!("data/torch-plain.safetensors")),
    ("pooling", include_bytes!("data/torch-pooling.safetensors")),
    ("everything", include_bytes!("data/torch-everything.safetensors")),
];

/// The tensors of a fixture under one prefix.
fn part(file: &SafeTensors<'_>, prefix: &str) -> BTreeMap<String, Vec<f32>> {
    let own = file.iter().filter_map(|(name, view)| Some((name.strip_prefix(prefix)?, view)));
    own.filter(|(_, view)| view.dtype() == Dtype::F32)
        .map(|(name, view)| {
            let (quads, _) = view.data().as_chunks::<4>();
            (name.to_owned(), quads.iter().map(|quad| f32::from_le_bytes(*quad)).collect())
        })
        .collect()
}

/// The module's `state_dict` as a file of its own.
fn state_dict(file: &SafeTensors<'_>) -> Vec<u8> {
    let own = file.iter().filter_map(|(name, view)| {
        let view = TensorView::new(view.dtype(), view.shape().to_vec(), view.data()).unwrap();
        Some((name.strip_prefix("state.")?.to_owned(), view))
    });
    serialize(own.collect::<Vec<_>>(), None).unwrap()
}

/// What PyTorch calls our tensor.
fn their_name(name: &str) -> String {
    let (layer, part) = name.rsplit_once('.').unwrap();
    let part = match part {
        "gamma" => "weight",
        "beta" => "bias",
        "mean" => "running_mean",
        "var" => "running_var",
        other => other,
    };
    format!("{layer}.{part}")
}

fn tables(output: &NetOutput) -> Vec<(&'static str, Tensor<2>)> {
    let score = output.score.as_ref();
    let all = [
        ("opponent", output.opponent_logits.clone()),
        ("ownership", output.ownership_logits.clone()),
        ("policy", Some(output.policy_logits.clone())),
        ("score_mean", score.map(|score| score.mean.clone().unsqueeze())),
        ("score_stdev", score.map(|score| score.stdev.clone().unsqueeze())),
        ("short_term", output.short_term.clone()),
        ("soft", output.soft_logits.clone()),
        ("value", Some(output.value.clone().unsqueeze())),
    ];
    all.into_iter().filter_map(|(name, table)| Some((name, table?))).collect()
}

/// Each output by its own ramp of sines, in units of twenty points for the score.
fn loss(output: &NetOutput) -> Tensor<1> {
    let terms = tables(output).into_iter().map(|(name, x)| {
        let ramp: Vec<f32> = (0..x.dims().iter().product::<usize>())
            .map(|i| (0.37 * i as f32).sin() / if name.starts_with("score") { 20.0 } else { 1.0 })
            .collect();
        let ramp = Tensor::<2>::from_data(TensorData::new(ramp, x.dims()), &x.device());
        (x * ramp).sum()
    });
    terms.reduce(|a, b| a + b).unwrap()
}

fn close(found: &[f32], expected: &[f32], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let scale = expected.iter().fold(1.0f32, |a, b| a.max(b.abs()));
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= 1e-4 * scale, "{what}: {a}, PyTorch's {b}");
    }
}

fn check_outputs(output: &NetOutput, expected: &BTreeMap<String, Vec<f32>>, what: &str) {
    let found = tables(output);
    assert_eq!(found.len(), expected.len(), "{what}");
    for (name, table) in found {
        let numbers = table.into_data_as::<f32>().try_into_vec::<f32>().unwrap();
        close(&numbers, &expected[name], &format!("{what}: {name}"));
    }
}

#[test]
fn outputs_gradients_and_statistics_agree_for_every_kind_of_block_and_head() {
    for (name, bytes) in FIXTURES {
        let file = SafeTensors::deserialize(bytes).unwrap();
        let set = if name == "everything" { FeatureSet::Go } else { FeatureSet::Agz };
        let (config, weights) = import_pytorch(&state_dict(&file), set).unwrap();
        assert_eq!(config.pooling_blocks, if name == "plain" { vec![] } else { vec![1] });
        assert_eq!(config.ownership, name == "everything");
        let mut inputs = part(&file, "input.");
        let planes = inputs.remove("planes").unwrap();
        let globals = inputs.remove("globals").unwrap_or_default();

        let device = DeviceKind::Cpu.device().unwrap();
        let net = Net::from_weights(&config, &weights, &device).unwrap();
        let data = TensorData::new(planes.clone(), [5, set.planes(), 4, 3]);
        let given = (set.globals() > 0).then(|| {
            Tensor::<2>::from_data(TensorData::new(globals.clone(), [5, set.globals()]), &device)
        });
        let answer = net.forward(Tensor::<4>::from_data(data, &device), given);
        check_outputs(&answer, &part(&file, "answer."), &format!("{name}, answering"));

        let through_burn = TrainingNet::through_burn(&config, DeviceKind::Cpu).unwrap();
        let ours = TrainingNet::new(&config, DeviceKind::Cpu).unwrap();
        for (pass, mut training) in [("burn", through_burn), ("ours", ours)] {
            let what = format!("{name}, {pass}");
            let traced = training.forward(&weights, &planes, &globals, [5, 4, 3]).unwrap();
            check_outputs(&traced.output, &part(&file, "output."), &what);
            let grads = loss(&traced.output).backward();
            let gradients = training.gradients(&traced, &grads).unwrap();
            let expected = part(&file, "grad.");
            assert_eq!(gradients.0.len(), expected.len());
            for (name, tensor) in &gradients.0 {
                close(&tensor.data, &expected[&their_name(name)], &format!("{what}: {name}"));
            }
            let mut after = weights.clone();
            training.move_statistics(&traced, &mut after).unwrap();
            let expected = part(&file, "after.");
            let moved = after.0.iter().filter(|(name, _)| !NetworkConfig::is_trained(name));
            for (name, tensor) in moved {
                close(&tensor.data, &expected[&their_name(name)], &format!("{what}: {name}"));
            }
        }
    }
}
