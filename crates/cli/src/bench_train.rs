//! `tengen bench train`: speed of training steps on random games.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tengen_network::DeviceKind;
use tengen_selfplay::GameSettings;

use crate::args::TrainBenchArgs;
use crate::bench_inference::peak_memory_mib;
use crate::config::Config;

/// Trains the first network for some steps on the device asked for, and on the native pass beside
/// it if that is asked for too.
pub fn run(args: &TrainBenchArgs) -> Result<Value> {
    let (mut config, settings) = args.subject.read()?;
    config.trainer.batch_size = args.batch.unwrap_or(config.trainer.batch_size);
    let device = args.devices.over(&config.device)?.training;
    let mut facts = measure(&config, &settings, device, args.steps)?;
    if args.compare_native {
        let native = measure(&config, &settings, DeviceKind::Cpu, args.steps)?;
        let rate = |facts: &Value| facts["median_samples_per_s"].as_f64().unwrap_or(f64::NAN);
        facts["times_as_fast_as_native"] = json!(rate(&facts) / rate(&native));
        facts["native"] = native;
    }
    Ok(facts)
}

/// Some steps on random games, in a folder that is gone afterwards. On `cpu` the signature depends on
/// config, steps and kind of processor alone.
fn measure(
    config: &Config,
    settings: &GameSettings,
    device: DeviceKind,
    steps: u64,
) -> Result<Value> {
    let folder = std::env::temp_dir().join(format!("tengen-bench-train-{}", std::process::id()));
    let (network, start, seed) = (&config.network, settings.initial_state(), config.run.seed);
    let found =
        tengen_trainer::bench(network, &config.trainer, device, &start, seed, steps, &folder);
    if folder.exists() {
        std::fs::remove_dir_all(&folder)
            .with_context(|| format!("{} could not be removed", folder.display()))?;
    }
    let found = found?;
    let flops = tengen_network::describe(network, settings.size)?.flops_per_position as f64;
    Ok(json!({
        "what": "train", "device": device,
        "width": settings.size.width(), "height": settings.size.height(),
        "blocks": network.blocks, "channels": network.channels,
        "batch": config.trainer.batch_size, "steps": found.steps,
        "threads": std::thread::available_parallelism().map_or(1, |n| n.get()),
        "samples_per_s": found.samples_per_s,
        "median_samples_per_s": found.median_samples_per_s,
        // Forward once, backward to inputs and to weights.
        "gflop_per_s": found.median_samples_per_s * 3.0 * flops / 1e9,
        "waiting_share": found.waiting_share,
        "peak_memory_mib": peak_memory_mib(),
        "loss": found.loss,
        "signature": found.signature,
    }))
}
