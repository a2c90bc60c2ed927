//! `tengen bench selfplay`: what self-play makes of an evaluator, beside that evaluator alone.
//!
//! The two take turns in slices of the same run, and are compared by the processor time they use
//! where the system tells it: a machine shared with others then makes no difference.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::Args;
use serde_json::{Value, json};
use tengen_inference::{CachedEvaluator, Leaf, LeafEvaluator};
use tengen_record::encode;
use tengen_rules::Symmetry;
use tengen_search::SearchConfig;
use tengen_selfplay::{
    GameSettings, PoolStats, SelfPlayConfig, SelfPlayPool, game_seed, play_game,
};

use crate::bench::median;
use crate::bench_inference::{peak_memory_mib, positions};
use crate::bench_subject::SubjectArgs;
use crate::config::Config;
use crate::devices::DeviceArgs;

/// `tengen bench selfplay`.
#[derive(Clone, Debug, Args)]
pub struct SelfPlayBenchArgs {
    /// What is measured.
    #[command(flatten)]
    pub subject: SubjectArgs,
    /// Another number of worker threads than the config's.
    #[arg(long)]
    pub workers: Option<usize>,
    /// Another number of games a worker than the config's.
    #[arg(long)]
    pub games: Option<usize>,
    /// Pairs of slices: the evaluator alone, then self-play.
    #[arg(long, default_value_t = 7)]
    pub rounds: usize,
    /// Seconds a slice.
    #[arg(long, default_value_t = 2.0)]
    pub seconds: f64,
    /// Where the network is computed; workers take the devices in turn.
    #[command(flatten)]
    pub devices: DeviceArgs,
    /// Facts as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

/// Measures both in turns.
pub fn run(args: &SelfPlayBenchArgs) -> Result<Value> {
    if args.rounds == 0 {
        bail!("--rounds must be at least 1");
    }
    let (mut config, settings) = args.subject.read()?;
    config.selfplay.workers = args.workers.unwrap_or(config.selfplay.workers);
    config.selfplay.games_in_flight = args.games.unwrap_or(config.selfplay.games_in_flight);
    let problems = [config.network.validate(), config.selfplay.validate()].concat();
    if !problems.is_empty() {
        bail!("{}", problems.join("; "));
    }
    let weights = config.network.init_weights(config.run.seed)?;
    let devices = args.devices.over(&config.device)?;
    let evaluator = |worker: usize| devices.evaluator(&config.network, &weights, worker);
    let slice = Duration::from_secs_f64(args.seconds.clamp(0.1, 600.0));

    let mut pool =
        SelfPlayPool::new(&settings, &config.selfplay, &config.search, 0, config.run.seed);
    let workers = pool.workers();
    let mut evaluators = (0..workers)
        .map(|worker| {
            let own = evaluator(worker)?;
            Ok(match config.selfplay.cache_positions {
                0 => own,
                positions => Box::new(CachedEvaluator::new(own, positions)) as _,
            })
        })
        .collect::<Result<Vec<Box<dyn LeafEvaluator>>>>()?;
    let mut alone = (0..workers).map(evaluator).collect::<Result<Vec<_>, _>>()?;
    let batch = config.selfplay.games_in_flight * config.selfplay.leaves_per_step;
    let states = positions(settings.size, batch.min(devices.max_batch))?;
    let valid: Vec<Symmetry> =
        Symmetry::all().into_iter().filter(|s| s.valid_for(settings.size)).collect();
    let leaves: Vec<Leaf<'_>> = (states.iter().enumerate())
        .map(|(i, state)| Leaf { state, symmetry: valid[i % valid.len()] })
        .collect();

    let mut lengths = Vec::new();
    let mut play = |lengths: &mut Vec<usize>| -> Result<PoolStats> {
        let began = Instant::now();
        let over = || began.elapsed() >= slice;
        let mut finished = |_, game: tengen_record::GameRecord| lengths.push(game.turns.len());
        Ok(pool.run(&mut evaluators, "bench", usize::MAX, &over, &mut finished)?)
    };
    play(&mut lengths)?; // games get under way, caches and memory warm up
    let mut total = PoolStats::default();
    let (mut bare_rates, mut by_clock, mut by_core) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..args.rounds {
        let bare = Slice::of(|| by_themselves(&mut alone, &leaves, slice))?;
        let mut stats = PoolStats::default();
        let pool = Slice::of(|| {
            stats = play(&mut lengths)?;
            Ok(stats.evaluations - stats.cached)
        })?;
        by_clock.push(pool.rate() / bare.rate());
        by_core
            .extend(pool.rate_on_core().zip(bare.rate_on_core()).map(|(pool, bare)| pool / bare));
        bare_rates.push(bare.rate());
        total += stats;
    }
    let share_by_clock = median(&mut by_clock);
    let share = if by_core.is_empty() { share_by_clock } else { median(&mut by_core) };
    let (short_games, checksum) = signature(&mut *alone[0], &config, &settings)?;
    // Too few games end within a bench to count them: how long they get is seen sooner.
    let seen = if lengths.len() >= 10 { &lengths } else { &short_games };
    let mean_length = seen.iter().sum::<usize>() as f64 / seen.len() as f64;
    let moves_per_s = total.moves as f64 / total.seconds;
    Ok(json!({
        "what": "selfplay",
        "devices": devices.inference,
        "precision": devices.precision,
        "width": settings.size.width(),
        "height": settings.size.height(),
        "blocks": config.network.blocks,
        "channels": config.network.channels,
        "workers": workers,
        "games_in_flight": config.selfplay.games_in_flight,
        "evals_per_s": total.evaluations_per_second(),
        "real_evals_per_s": total.real_evaluations_per_second(),
        "bare_evals_per_s": median(&mut bare_rates),
        "share_of_bare": share,
        "share_of_bare_by_round": if by_core.is_empty() { &by_clock } else { &by_core },
        "share_of_bare_by_clock": share_by_clock,
        "hit_rate": total.hit_rate(),
        "mean_batch": total.mean_batch(),
        "batch_fill": total.batch_fill(),
        "evaluating_share": total.evaluating_share(),
        "tree_share": total.tree_share(),
        "waiting_share": total.waiting_share(),
        "moves_per_s": moves_per_s,
        "game_length": mean_length,
        "games_per_hour": 3600.0 * moves_per_s / mean_length,
        "seconds": total.seconds,
        "peak_memory_mib": peak_memory_mib(),
        "checksum": checksum,
    }))
}

/// Evaluations of a slice and what they took.
struct Slice {
    evaluations: u64,
    seconds: f64,
    /// Processor time of the whole process.
    core_seconds: Option<f64>,
}

impl Slice {
    fn of(work: impl FnOnce() -> Result<u64>) -> Result<Slice> {
        let (began, core_began) = (Instant::now(), processor_seconds());
        let evaluations = work()?;
        Ok(Slice {
            evaluations,
            seconds: began.elapsed().as_secs_f64(),
            core_seconds: processor_seconds().zip(core_began).map(|(now, then)| now - then),
        })
    }

    fn rate(&self) -> f64 {
        self.evaluations as f64 / self.seconds.max(1e-9)
    }

    fn rate_on_core(&self) -> Option<f64> {
        self.core_seconds.filter(|&s| s > 0.0).map(|seconds| self.evaluations as f64 / seconds)
    }
}

/// Processor time of this process so far, all threads together, where Linux tells it: in its
/// hundredths of a second.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name, in brackets, may hold blanks; user and system time are fields 14 and 15.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / 100.0)
}

/// Evaluators without games: each thread asks its own for the same leaves until the time is up.
fn by_themselves(
    evaluators: &mut [Box<dyn LeafEvaluator>],
    leaves: &[Leaf<'_>],
    limit: Duration,
) -> Result<u64> {
    let began = Instant::now();
    let work = |own: &mut dyn LeafEvaluator| -> Result<u64> {
        let mut done = 0;
        while began.elapsed() < limit {
            done += own.evaluate(leaves)?.len() as u64;
        }
        Ok(done)
    };
    std::thread::scope(|scope| {
        let running: Vec<_> =
            evaluators.iter_mut().map(|own| scope.spawn(|| work(&mut **own))).collect();
        let mut total = 0;
        for thread in running {
            let Ok(done) = thread.join() else { bail!("a thread of the bench panicked") };
            total += done?;
        }
        Ok(total)
    })
}

/// A few short games of the first seeds, whatever the time and the threads: their lengths, and a
/// hash that only a change of what is played moves.
fn signature(
    evaluator: &mut dyn LeafEvaluator,
    config: &Config,
    settings: &GameSettings,
) -> Result<(Vec<usize>, String)> {
    let selfplay = SelfPlayConfig {
        cheap_visits: config.selfplay.cheap_visits.min(4),
        ..config.selfplay.clone()
    };
    let search = SearchConfig { visits: config.search.visits.min(12), ..config.search.clone() };
    let (mut hasher, mut lengths) = (blake3::Hasher::new(), Vec::new());
    for counter in 0..2 {
        let seed = game_seed(config.run.seed, counter);
        let players = [String::new(), String::new()];
        let game = play_game(evaluator, &selfplay, &search, settings, seed, players)?;
        hasher.update(&encode(&game));
        lengths.push(game.turns.len());
    }
    Ok((lengths, hasher.finalize().to_hex()[..16].to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_the_games_and_of_nothing_else() {
        let args = |workers| SelfPlayBenchArgs {
            subject: SubjectArgs {
                config: None,
                size: Some(4),
                blocks: Some(1),
                channels: Some(8),
            },
            workers: Some(workers),
            games: Some(2),
            rounds: 1,
            seconds: 0.3,
            devices: DeviceArgs::default(),
            json: true,
        };
        let (one, two) = (run(&args(1)).unwrap(), run(&args(2)).unwrap());
        assert_eq!(one["checksum"], two["checksum"]);
        for key in ["evals_per_s", "share_of_bare", "games_per_hour"] {
            assert!(one[key].as_f64().unwrap() > 0.0, "{key}");
        }
        let shares = ["evaluating_share", "tree_share", "waiting_share"];
        let sum: f64 = shares.iter().map(|key| two[*key].as_f64().unwrap()).sum();
        assert!((0.9..1.1).contains(&sum), "{two}");
        assert!(run(&SelfPlayBenchArgs { rounds: 0, ..args(1) }).is_err());
    }
}
