//! `tengen gtp` and `tengen analysis`: engines on standard input and output.

use std::io::{BufReader, stdin, stdout};

use anyhow::{Context, Result, bail};
use clap::Args;
use tengen_gtp::{AnalysisEngine, AnalysisOptions, Engine, EngineInfo, Perspective};
use tengen_search::SearchConfig;

use crate::commands::settings;
use crate::config::Config;
use crate::devices::DeviceArgs;
use crate::players::Player;

/// `tengen gtp`.
#[derive(Debug, Args)]
pub struct GtpArgs {
    /// A network file, a run's folder (its best net), RUN:ID, RUN:first, `uniform` or `rollouts`.
    #[arg(long, default_value = "uniform")]
    pub net: String,
    /// Simulations a move.
    #[arg(long, default_value_t = 200)]
    pub visits: u32,
    /// Board side at the start; default: that of the run named, else 19.
    #[arg(long)]
    pub size: Option<usize>,
    /// Komi at the start; default: that of the run named, else 7.5.
    #[arg(long)]
    pub komi: Option<f64>,
    /// Rules at the start.
    #[arg(long, default_value = "tromp-taylor")]
    pub rules: String,
    /// Think on the opponent's time.
    #[arg(long)]
    pub ponder: bool,
    /// Resign when the win rate stays below this for three turns; default: never.
    #[arg(long)]
    pub resign_below: Option<f32>,
    /// Random games behind each move's score in analysis, where the network has no heads for score
    /// and ownership; 0 leaves both out.
    #[arg(long, default_value_t = 16)]
    pub score_games: u32,
    /// Seed of every draw.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Threads that search together, each with its own evaluations; from two on the moves may differ
    /// from run to run. With several devices thread i has the i-th, beginning anew at the end.
    #[arg(long, default_value_t = 1)]
    pub threads: usize,
    /// Where the network is computed.
    #[command(flatten)]
    pub devices: DeviceArgs,
}

/// `tengen analysis`.
#[derive(Debug, Args)]
pub struct AnalysisArgs {
    /// A network file, a run's folder (its best net), RUN:ID, RUN:first, `uniform` or `rollouts`.
    #[arg(long, default_value = "uniform")]
    pub net: String,
    /// Visits of a position where a query names none.
    #[arg(long, default_value_t = 500)]
    pub visits: u32,
    /// Positions searched side by side.
    #[arg(long, default_value_t = 16)]
    pub parallel: usize,
    /// Evaluations remembered, for all queries together.
    #[arg(long, default_value_t = 100_000)]
    pub cache: usize,
    /// For whom values are reported: black, white or sidetomove.
    #[arg(long, default_value = "black")]
    pub report_for: String,
    /// Random games behind each move's score, where the network has no heads for score and
    /// ownership; 0 leaves both out.
    #[arg(long, default_value_t = 16)]
    pub score_games: u32,
    /// Stop at the end of the input instead of finishing what was asked.
    #[arg(long)]
    pub quit_without_waiting: bool,
    /// Seed of every draw.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Threads that evaluate the network; their batches grow with them. With several devices thread i
    /// has the i-th, beginning anew at the end.
    #[arg(long, default_value_t = 1)]
    pub threads: usize,
    /// Where the network is computed.
    #[command(flatten)]
    pub devices: DeviceArgs,
}

/// How a position is searched.
fn search(visits: u32, threads: usize, run: Option<Config>) -> Result<SearchConfig> {
    if visits == 0 {
        bail!("--visits must be at least 1");
    }
    if !(1..=1024).contains(&threads) {
        bail!("--threads {threads}: must be from 1 to 1024");
    }
    // At play a pass is a move like any other, handicap stones or not.
    let own = run.map(|config| config.search).unwrap_or_default();
    Ok(SearchConfig { visits, pass_from_ply: 0, ..own })
}

/// Answers GTP until `quit` or the end of the input.
pub fn gtp(args: &GtpArgs) -> Result<()> {
    let (player, run) = Player::parse(&args.net, &args.devices.alone()?)?;
    let settings = settings(args.size, args.komi, &args.rules, run.as_ref(), 19)?;
    let info = EngineInfo {
        version: format!("{} {}", env!("CARGO_PKG_VERSION"), player.name()),
        size: settings.size,
        rules: settings.rules,
        komi: settings.komi,
        ponder: args.ponder,
        resign_below: args.resign_below,
        score_games: args.score_games,
        seed: args.seed,
        ..EngineInfo::default()
    };
    let search = search(args.visits, args.threads, run)?;
    let mut engine = Engine::new(player.analyst_on(1)?, search, info);
    if args.threads > 1 {
        let evaluators = (0..args.threads).map(|thread| player.evaluator_of(thread));
        engine = engine.with_threads(evaluators.collect::<Result<_>>()?)?;
    }
    engine.run(BufReader::new(stdin()), stdout().lock())?;
    Ok(())
}

/// Answers KataGo's analysis queries until the end of the input.
pub fn analysis(args: &AnalysisArgs) -> Result<()> {
    let (player, run) = Player::parse(&args.net, &args.devices.alone()?)?;
    let perspective = Perspective::parse(&args.report_for)
        .with_context(|| format!("--report-for {}: black, white or sidetomove", args.report_for))?;
    let options = AnalysisOptions {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        model: player.name().to_owned(),
        perspective,
        parallel: args.parallel,
        cache: args.cache,
        score_games: args.score_games,
        quit_without_waiting: args.quit_without_waiting,
        seed: args.seed,
    };
    let mut search = search(args.visits, args.threads, run)?;
    // One position's leaves, too, fill the threads.
    search.leaves_per_batch = search.leaves_per_batch.saturating_mul(args.threads as u32);
    let mut engine = AnalysisEngine::new(player.analyst_on(args.threads)?, search, options);
    engine.run(BufReader::new(stdin()), stdout().lock())?;
    Ok(())
}
