//! A network as an ONNX model, for runtimes that are not ours.
//!
//! Input `planes`, `[N, planes, H, W]`, N, H and W free, and `globals`, `[N, globals]`, for feature sets
//! that have such. Outputs: `policy` `[N, H·W + 1]` (logits,
//! illegal moves not masked), `value` `[N]`, and with their heads `opponent_policy`, `soft_policy`
//! (logits alike), `ownership` `[N, H·W]`, `score` `[N]` and `score_stdev` `[N]` in points,
//! `short_term` `[N, 3]`. Everything is from the side of the player to move. Initializers have the
//! tensors' own names.

mod graph;
mod wire;

use crate::{NetworkConfig, NetworkError, Weights};
use graph::Graph;
use wire::{Attribute, Message, value};

/// Operators of this version of ONNX's default set.
const OPSET: i64 = 17;
/// The model format that came with it.
const IR_VERSION: i64 = 8;

/// The network of `config` with `weights` as an ONNX model's bytes; equal networks give equal bytes.
///
/// # Errors
/// What [`Weights::check`] refuses.
pub fn export_onnx(config: &NetworkConfig, weights: &Weights) -> Result<Vec<u8>, NetworkError> {
    weights.check(config)?;
    let mut graph = Graph::new(weights);
    let planes = config.features()?.planes();
    let x = graph.conv_norm("planes", "stem.conv", "stem.bn")?;
    let globals = config.globals()?;
    let mut x = match globals {
        0 => graph.relu(&x),
        _ => add_to_channels(&mut graph, &x, "globals", "stem.globals")?,
    };
    for block in 0..config.blocks {
        let name = |part: &str| format!("blocks.{block}.{part}");
        let inner = graph.conv_norm(&x, &name("conv1"), &name("bn1"))?;
        let inner = match config.pools(block) {
            true => {
                let parts = [config.pooled_channels(), config.channels - config.pooled_channels()];
                pool_and_tell(&mut graph, &inner, parts, &name("pool"))?
            }
            false => graph.relu(&inner),
        };
        let sum = graph.conv_norm(&inner, &name("conv2"), &name("bn2"))?;
        let sum = graph.apply("Add", &[&sum, &x], &[]);
        x = graph.relu(&sum);
    }
    policy_head(&mut graph, config, &x)?;
    value_head(&mut graph, config, &x)?;

    let actions = [Err("N"), Err("actions")];
    let mut outputs = vec![value("policy", &actions), value("value", &[Err("N")])];
    let mut add = |on: bool, name: &str, shape: &[Result<usize, &str>]| {
        outputs.extend(on.then(|| value(name, shape)));
    };
    add(config.opponent_policy, "opponent_policy", &actions);
    add(config.soft_policy, "soft_policy", &actions);
    add(config.ownership, "ownership", &[Err("N"), Err("points")]);
    add(config.score, "score", &[Err("N")]);
    add(config.score, "score_stdev", &[Err("N")]);
    add(config.short_term_values, "short_term", &[Err("N"), Ok(3)]);
    let mut inputs = vec![value("planes", &[Err("N"), Ok(planes), Err("H"), Err("W")])];
    inputs.extend((globals > 0).then(|| value("globals", &[Err("N"), Ok(globals)])));
    let graph = graph.finish(&inputs, &outputs);
    let opset = Message::default().text(1, "").int(2, OPSET);
    let feature_set = Message::default().text(1, "feature_set").text(2, &config.feature_set);
    let model = Message::default()
        .int(1, IR_VERSION)
        .text(2, "tengen")
        .text(3, env!("CARGO_PKG_VERSION"))
        .message(7, &graph)
        .message(8, &opset)
        .message(14, &feature_set);
    Ok(model.0)
}

/// See `pool_and_tell` in `net`.
fn pool_and_tell(
    graph: &mut Graph<'_>,
    x: &str,
    parts: [usize; 2],
    dense: &str,
) -> Result<String, NetworkError> {
    let [pooled, others] = graph.split(x, parts);
    let pooled = graph.relu(&pooled);
    let bias = graph.pool(&pooled, true);
    let others = add_to_channels(graph, &others, &bias, dense)?;
    Ok(graph.apply("Concat", &[&pooled, &others], &[Attribute::Int("axis", 1)]))
}

/// `max(x + dense(pooled), 0)`, the same at all points.
fn add_to_channels(
    graph: &mut Graph<'_>,
    x: &str,
    pooled: &str,
    dense: &str,
) -> Result<String, NetworkError> {
    let bias = graph.dense(pooled, dense)?;
    let axes = graph.integers(&[2, 3]);
    let bias = graph.apply("Unsqueeze", &[&bias, &axes], &[]);
    let sum = graph.apply("Add", &[x, &bias], &[]);
    Ok(graph.relu(&sum))
}

fn policy_head(graph: &mut Graph<'_>, config: &NetworkConfig, x: &str) -> Result<(), NetworkError> {
    let p = graph.conv_norm(x, "policy.conv", "policy.bn")?;
    let mut p = graph.relu(&p);
    if config.policy_pooling {
        let pooled = graph.pool(&p, true);
        p = add_to_channels(graph, &p, &pooled, "policy.pool")?;
    }
    let pooled = graph.pool(&p, false);
    for (on, points, pass, output) in [
        (true, "policy.out", "policy.pass", "policy"),
        (config.opponent_policy, "policy.opponent", "policy.opponent_pass", "opponent_policy"),
        (config.soft_policy, "policy.soft", "policy.soft_pass", "soft_policy"),
    ] {
        if on {
            let points = graph.point(&p, points)?;
            let pass = graph.dense(&pooled, pass)?;
            graph.apply_to(output, "Concat", &[&points, &pass], &[Attribute::Int("axis", 1)]);
        }
    }
    Ok(())
}

fn value_head(graph: &mut Graph<'_>, config: &NetworkConfig, x: &str) -> Result<(), NetworkError> {
    let v = graph.conv_norm(x, "value.conv", "value.bn")?;
    let v = graph.relu(&v);
    let pooled = graph.pool(&v, false);
    let hidden = graph.dense(&pooled, "value.hidden")?;
    let hidden = graph.relu(&hidden);
    let out = graph.dense(&hidden, "value.out")?;
    let out = graph.apply("Tanh", &[&out], &[]);
    let second = graph.integers(&[1]);
    graph.apply_to("value", "Squeeze", &[&out, &second], &[]);
    if config.ownership {
        let points = graph.point(&v, "value.ownership")?;
        graph.apply_to("ownership", "Tanh", &[&points], &[]);
    }
    if config.score {
        let both = graph.dense(&hidden, "value.score")?;
        let [mean, spread] = graph.split(&both, [1, 1]);
        let spread = graph.apply("Softplus", &[&spread], &[]);
        let unit = graph.number(crate::heads::SCORE_UNIT);
        for (from, output) in [(mean, "score"), (spread, "score_stdev")] {
            let points = graph.apply("Mul", &[&from, &unit], &[]);
            graph.apply_to(output, "Squeeze", &[&points, &second], &[]);
        }
    }
    if config.short_term_values {
        let out = graph.dense(&hidden, "value.short_term")?;
        graph.apply_to("short_term", "Tanh", &[&out], &[]);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{config, everything, random_weights};
    use burn::tensor::{Device, Tensor, TensorData};
    use tengen_features::FeatureSet;

    fn count(bytes: &[u8], text: &str) -> usize {
        bytes.windows(text.len()).filter(|window| *window == text.as_bytes()).count()
    }

    #[test]
    fn the_model_names_every_tensor_and_output_and_is_the_same_each_time() {
        let plain = config(2, 8);
        for (config, convolutions) in [(plain.clone(), 8), (everything(plain), 11)] {
            let weights = random_weights(&config, 1);
            let bytes = export_onnx(&config, &weights).unwrap();
            assert_eq!(bytes, export_onnx(&config, &weights).unwrap());
            for name in weights.0.keys() {
                assert!(count(&bytes, name) >= 2, "{name} is stored and used");
            }
            assert_eq!(count(&bytes, "\x22\x04Conv"), convolutions);
            assert_eq!(count(&bytes, "ownership") > 0, config.ownership);
        }
    }

    #[test]
    fn weights_of_another_network_are_refused() {
        let weights = random_weights(&config(1, 8), 1);
        assert!(export_onnx(&config(2, 8), &weights).is_err());
    }

    /// Models with burn's answers beside them, for `scripts/onnx_check.py`.
    #[test]
    #[ignore = "writes files for another program: make onnx-check"]
    fn onnx_models_for_another_runtime() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/onnx-check");
        std::fs::create_dir_all(folder).unwrap();
        let device = crate::DeviceKind::Cpu.device().unwrap();
        let go = NetworkConfig {
            feature_set: FeatureSet::Go.name().to_owned(),
            global_inputs: true,
            ..everything(config(2, 9))
        };
        for (name, config) in
            [("plain", config(2, 8)), ("everything", everything(config(3, 10))), ("go-1", go)]
        {
            let planes = config.features().unwrap().planes();
            let weights = random_weights(&config, 4);
            let net = crate::Net::from_weights(&config, &weights, &device).unwrap();
            let cases: Vec<_> =
                [[3, planes, 5, 4], [1, planes, 9, 9], [2, planes, 2, 2], [1, planes, 19, 19]]
                    .into_iter()
                    .map(|shape| answers(&net, shape, &device))
                    .collect();
            let model = export_onnx(&config, &weights).unwrap();
            std::fs::write(format!("{folder}/{name}.onnx"), model).unwrap();
            let text = serde_json::to_string(&cases).unwrap();
            std::fs::write(format!("{folder}/{name}.json"), text).unwrap();
        }
    }

    fn answers(net: &crate::Net, shape: [usize; 4], device: &Device) -> serde_json::Value {
        let count = shape.iter().product::<usize>();
        let planes: Vec<f32> = (0..count).map(|i| f32::from(u8::from(i * 7 % 5 < 2))).collect();
        let data = TensorData::new(planes.clone(), shape);
        let wide = if shape[1] == 17 { 0 } else { FeatureSet::Go.globals() };
        let globals: Vec<f32> = (0..shape[0] * wide).map(|i| (i as f32).sin()).collect();
        let given = (wide > 0).then(|| {
            let data = TensorData::new(globals.clone(), [shape[0], wide]);
            Tensor::<2>::from_data(data, device)
        });
        let said = net.forward(Tensor::<4>::from_data(data, device), given);
        let mut outputs = serde_json::Map::new();
        let mut put = |name: &str, data: TensorData| {
            let numbers: Vec<f32> = data.iter::<f32>().collect();
            outputs.insert(name.to_owned(), serde_json::json!(numbers));
        };
        put("policy", said.policy_logits.into_data());
        put("value", said.value.into_data());
        if let Some(score) = said.score {
            put("score", score.mean.into_data());
            put("score_stdev", score.stdev.into_data());
        }
        let ownership = said.ownership_logits.map(Tensor::tanh);
        for (name, table) in [
            ("opponent_policy", said.opponent_logits),
            ("soft_policy", said.soft_logits),
            ("ownership", ownership),
            ("short_term", said.short_term),
        ] {
            if let Some(table) = table {
                put(name, table.into_data());
            }
        }
        serde_json::json!({
            "shape": shape, "planes": planes, "globals": globals, "outputs": outputs
        })
    }
}
