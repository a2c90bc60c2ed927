//! `tengen bench inference`: evaluations a second, beside what the machine could do at best.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tengen_inference::{Evaluation, Leaf, LeafEvaluator};
use tengen_network::{
    BurnEvaluator, DeviceConfig, DeviceKind, NativeEvaluator, Peaks, describe, libtorch_facts,
};
use tengen_rules::{BoardSize, GameState, Komi, Rules, Symmetry};

use crate::args::InferenceBenchArgs;
use crate::bench::median;

/// Turns that two paths measured beside each other take: a median of each is given.
const TURNS: u32 = 5;

/// Measures one path on the positions of one game.
pub fn run(args: &InferenceBenchArgs) -> Result<Value> {
    let (config, settings) = args.subject.read()?;
    let (network, size) = (config.network, settings.size);
    let capacity = NonZeroUsize::new(args.batch).context("--batch must be at least 1")?;
    if args.threads == 0 {
        bail!("--threads must be at least 1");
    }
    let devices = DeviceConfig { max_batch: args.batch, ..args.devices.over(&config.device)? };
    let weights = network.init_weights(config.run.seed)?;
    let native = NativeEvaluator::new(&network, &weights, capacity)?;
    let on_cpu = devices.inference.iter().all(|device| !device.is_libtorch());
    let evaluators: Vec<Box<dyn LeafEvaluator>> = match on_cpu {
        true => clones(&native, args.threads),
        false => (0..args.threads)
            .map(|thread| devices.evaluator(&network, &weights, thread))
            .collect::<Result<_, _>>()?,
    };
    let states = positions(size, args.batch)?;
    let leaves: Vec<Leaf<'_>> =
        states.iter().map(|s| Leaf { state: s, symmetry: Symmetry::IDENTITY }).collect();

    let limit = Duration::from_secs_f64(args.seconds.clamp(0.1, 600.0));
    let mut paths = vec![Path { evaluators, rates: Vec::new(), answers: Vec::new() }];
    if args.compare_native && !on_cpu {
        let evaluators = clones(&native, args.threads);
        paths.push(Path { evaluators, rates: Vec::new(), answers: Vec::new() });
    }
    let peaks = Peaks::measure();
    for _ in 0..TURNS {
        for path in &mut paths {
            path.measure(&leaves, limit / TURNS)?;
        }
    }
    let (rate, answers) = (paths[0].rate(), &paths[0].answers);
    let direct = describe(&network, size)?.flops_per_position as f64;
    let products = 2.0 * native.multiply_adds(size) as f64;
    let per_thread = rate / args.threads as f64;
    let mut facts = json!({
        "what": "inference",
        "backend": if on_cpu { "native" } else { "libtorch" },
        "devices": devices.inference,
        "precision": devices.precision,
        "width": size.width(),
        "height": size.height(),
        "blocks": network.blocks,
        "channels": network.channels,
        "batch": args.batch,
        "threads": args.threads,
        "evals_per_s": rate,
        "evals_per_s_per_thread": per_thread,
        "direct_gflop_per_s": rate * direct / 1e9,
        "peaks_of_one_thread": peaks,
        "peak_memory_mib": peak_memory_mib(),
        "checksum": checksum(answers),
    });
    if on_cpu {
        facts["kernel"] = json!(native.kernel());
        facts["tile"] = json!(format!("F({0}x{0},3x3)", native.tile(size)));
        facts["products_gflop_per_s"] = json!(rate * products / 1e9);
        facts["share_of_measured_peak"] = json!(per_thread * products / 1e9 / peaks.gflop_per_s);
    } else {
        facts["libtorch"] = json!(libtorch_facts());
    }
    if let Some(native) = paths.get(1) {
        facts["native"] = json!({
            "evals_per_s": native.rate(), "is_times_as_fast_as_native": rate / native.rate(),
            "apart": apart(answers, &native.answers),
        });
    }
    if args.compare_burn {
        let device = DeviceKind::Cpu.device()?;
        let burn = BurnEvaluator::new(&network, &weights, &device, capacity)?;
        facts["burn"] = compare(burn, &leaves, limit, rate, answers)?;
    }
    Ok(facts)
}

/// A clone of `native` for each thread.
fn clones(native: &NativeEvaluator, threads: usize) -> Vec<Box<dyn LeafEvaluator>> {
    (0..threads).map(|_| Box::new(native.clone()) as Box<dyn LeafEvaluator>).collect()
}

/// `count` positions of games in which every move is a fixed stride through the legal ones.
pub fn positions(size: BoardSize, count: usize) -> Result<Vec<GameState>> {
    let start = GameState::new(size, Rules::tromp_taylor(), Komi::from_points(7.5)?);
    let (mut states, mut state) = (Vec::with_capacity(count), start.clone());
    while states.len() < count {
        states.push(state.clone());
        let legal: Vec<usize> = state.legal_moves().iter().collect();
        state.play(size.move_at(legal[(states.len() * 7919) % legal.len()]))?;
        if state.is_over() {
            state = start.clone();
        }
    }
    Ok(states)
}

/// Evaluators of one kind, one a thread, and what they did.
struct Path {
    evaluators: Vec<Box<dyn LeafEvaluator>>,
    /// Evaluations a second of all threads together, turn by turn.
    rates: Vec<f64>,
    answers: Vec<Evaluation>,
}

impl Path {
    /// One turn: every thread evaluates `leaves` over and over until `limit` is up, once before that
    /// to warm up.
    fn measure(&mut self, leaves: &[Leaf<'_>], limit: Duration) -> Result<()> {
        let work = |own: &mut dyn LeafEvaluator| -> Result<(f64, Vec<Evaluation>)> {
            let answers = own.evaluate(leaves)?;
            let (began, mut done) = (Instant::now(), 0usize);
            while began.elapsed() < limit {
                done += own.evaluate(leaves)?.len();
            }
            Ok((done as f64 / began.elapsed().as_secs_f64(), answers))
        };
        let mut total = 0.0;
        std::thread::scope(|scope| {
            let running: Vec<_> =
                self.evaluators.iter_mut().map(|own| scope.spawn(|| work(&mut **own))).collect();
            for thread in running {
                let Ok(result) = thread.join() else { bail!("a thread of the bench panicked") };
                let (rate, answers) = result?;
                total += rate;
                self.answers = answers;
            }
            Ok(())
        })?;
        self.rates.push(total);
        Ok(())
    }

    /// The median of the turns.
    fn rate(&self) -> f64 {
        median(&mut self.rates.clone())
    }
}

/// How far `ours` are from the native pass's answers.
fn apart(ours: &[Evaluation], native: &[Evaluation]) -> Value {
    let (mut worst, mut divergence, mut value) = (0.0f32, 0.0f64, 0.0f64);
    for (a, b) in ours.iter().zip(native) {
        let error = (a.value.get() - b.value.get()).abs();
        worst = worst.max(error);
        value += f64::from(error);
        for (&p, &q) in b.policy.iter().zip(&a.policy) {
            worst = worst.max((p - q).abs());
            if p > 0.0 && q > 0.0 {
                divergence += f64::from(p) * (f64::from(p) / f64::from(q)).ln();
            }
        }
    }
    let count = ours.len().max(1) as f64;
    json!({ "worst_difference": worst, "mean_kl_of_policy_nats": divergence / count,
            "mean_error_of_value": value / count })
}

/// The same work through burn's forward pass, on as many threads as it takes.
fn compare(
    mut burn: BurnEvaluator,
    leaves: &[Leaf<'_>],
    limit: Duration,
    native_rate: f64,
    native: &[Evaluation],
) -> Result<Value> {
    let answers = burn.evaluate(leaves)?;
    let mut worst = 0.0f32;
    for (a, b) in native.iter().zip(&answers) {
        worst = worst.max((a.value.get() - b.value.get()).abs());
        for (x, y) in a.policy.iter().zip(&b.policy) {
            worst = worst.max((x - y).abs());
        }
    }
    let (began, mut done) = (Instant::now(), 0usize);
    while began.elapsed() < limit {
        done += burn.evaluate(leaves)?.len();
    }
    let rate = done as f64 / began.elapsed().as_secs_f64();
    Ok(json!({
        "backend": "flex", "evals_per_s": rate, "native_is_times_as_fast": native_rate / rate,
        "worst_difference": worst,
    }))
}

/// A hash of all answers, bit by bit: the same on every run of a build on a machine.
fn checksum(answers: &[Evaluation]) -> String {
    let mut hasher = blake3::Hasher::new();
    for answer in answers {
        hasher.update(&answer.value.get().to_le_bytes());
        answer.policy.iter().for_each(|p| {
            hasher.update(&p.to_le_bytes());
        });
    }
    hasher.finalize().to_hex().chars().take(16).collect()
}

/// The most memory that this process has held so far, where Linux tells it.
pub fn peak_memory_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse::<f64>().ok().map(|kib| kib / 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench_subject::SubjectArgs;
    use crate::devices::DeviceArgs;

    #[test]
    fn the_checksum_is_that_of_the_answers_and_of_nothing_else() {
        let args = |threads| InferenceBenchArgs {
            subject: SubjectArgs {
                config: None,
                size: Some(5),
                blocks: Some(1),
                channels: Some(8),
            },
            batch: 7,
            threads,
            seconds: 0.1,
            compare_burn: false,
            compare_native: false,
            devices: DeviceArgs::default(),
            json: true,
        };
        let (one, two) = (run(&args(1)).unwrap(), run(&args(2)).unwrap());
        assert_eq!(one["checksum"], two["checksum"]);
        assert!(one["evals_per_s"].as_f64().unwrap() > 0.0);
        assert!(one["share_of_measured_peak"].as_f64().unwrap() > 0.0);
        assert!(run(&InferenceBenchArgs { batch: 0, ..args(1) }).is_err());
    }
}
