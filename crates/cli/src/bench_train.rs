//! Speed of training steps on random games.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::bench_inference::peak_memory_mib;
use crate::config::Config;

/// Trains the config's first network for `steps` steps on random games, in a folder that is gone
/// afterwards. The signature depends on config, steps and kind of processor alone.
pub fn measure(config: &Config, steps: u64) -> Result<Value> {
    let settings = config.rules.settings()?;
    let folder = std::env::temp_dir().join(format!("tengen-bench-train-{}", std::process::id()));
    let (network, start) = (&config.network, settings.initial_state());
    let found =
        tengen_trainer::bench(network, &config.trainer, &start, config.run.seed, steps, &folder);
    if folder.exists() {
        std::fs::remove_dir_all(&folder)
            .with_context(|| format!("{} could not be removed", folder.display()))?;
    }
    let found = found?;
    let flops = tengen_network::describe(network, settings.size)?.flops_per_position as f64;
    Ok(json!({
        "what": "train", "batch": config.trainer.batch_size, "steps": found.steps,
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
