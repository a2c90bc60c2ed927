//! `tengen ablate`: the same budget with one switch off at a time, and what each is worth.
//!
//! Every variant is a run of its own from the same seed, in a folder below `--dir`; then each one's
//! best net meets the baseline's, both with the baseline's search, so that the nets alone are
//! compared. All of it goes on where it was cut: runs by their stores, matches game by game.

mod ledger;
mod table;
mod variants;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::Args;
use tengen_evaluator::{GateConfig, tally_all};

use crate::args::LoopArgs;
use crate::config::Config;
use crate::logging;
use crate::parts::gate::{MatchPlan, play, threads};
use crate::pipeline::{self, LOOP_WORKER, Parts};
use crate::players::{Player, find_network};
use crate::run_dir::RunDir;
use crate::stop::{Stop, processor_time};
use ledger::{Ledger, Spent};
use variants::{Variant, variants};

/// `tengen ablate`.
#[derive(Debug, Args)]
pub struct AblateArgs {
    /// The baseline: every switch as it is to be judged.
    #[arg(long)]
    pub config: PathBuf,
    /// Folder of the runs and the result; the same one goes on.
    #[arg(long)]
    pub dir: PathBuf,
    /// Budget of each run in games.
    #[arg(long, group = "budget")]
    pub games: Option<u64>,
    /// Budget of each run in optimiser steps.
    #[arg(long, group = "budget")]
    pub steps: Option<u64>,
    /// Budget of each run in minutes: the fair one where a switch changes what a game costs.
    #[arg(long, group = "budget")]
    pub minutes: Option<f64>,
    /// Budget of each run in minutes of one core's time: as fair, and on a busy machine too.
    #[arg(long, group = "budget")]
    pub core_minutes: Option<f64>,
    /// A switch to turn off; may be repeated. Without switches and variants: all that the config has on
    /// (`--list`).
    #[arg(long)]
    pub switch: Vec<String>,
    /// A variant of your own, `NAME:section.key=value,…`; may be repeated.
    #[arg(long)]
    pub variant: Vec<String>,
    /// Games of each match; an odd number is raised by one.
    #[arg(long, default_value_t = 200)]
    pub match_games: u32,
    /// Simulations a move in the matches; default: the gate's.
    #[arg(long)]
    pub visits: Option<u32>,
    /// Name the switches and what they do here, and end.
    #[arg(long)]
    pub list: bool,
    /// The result as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

impl AblateArgs {
    fn budget(&self) -> Result<String> {
        let positive = |minutes: f64| minutes > 0.0 && minutes.is_finite();
        match (self.games, self.steps, self.minutes, self.core_minutes) {
            (Some(games), None, None, None) if games > 0 => Ok(format!("{games} games")),
            (None, Some(steps), None, None) if steps > 0 => Ok(format!("{steps} steps")),
            (None, None, Some(minutes), None) if positive(minutes) => {
                Ok(format!("{minutes} minutes"))
            }
            (None, None, None, Some(minutes)) if positive(minutes) => {
                Ok(format!("{minutes} core minutes"))
            }
            _ => bail!(
                "give each run a budget above 0: --games, --steps, --minutes or --core-minutes"
            ),
        }
    }

    /// `stop`, and what is left of a run's budget of time.
    fn left(&self, spent: &Spent, stop: &Stop) -> Stop {
        let left = |minutes: f64, seconds: f64| {
            Duration::from_secs_f64((60.0 * minutes - seconds).clamp(0.0, 1e7))
        };
        match (self.minutes, self.core_minutes) {
            (Some(minutes), _) => stop.within(left(minutes, spent.seconds)),
            (None, Some(minutes)) => stop.within_processor_time(left(minutes, spent.core_seconds)),
            (None, None) => stop.clone(),
        }
    }
}

/// Runs what is missing, plays what is missing, prints what there is.
pub fn run(args: &AblateArgs) -> Result<()> {
    let base = Config::load(&args.config)?;
    let variants = variants(&base, &args.switch, &args.variant)?;
    if args.list {
        print!("{}", table::of_switches(&variants));
        return Ok(());
    }
    let budget = args.budget()?;
    let gate = GateConfig {
        pairs: args.match_games.div_ceil(2),
        visits: args.visits.unwrap_or(base.gate.visits),
        ..base.gate.clone()
    };
    let problems = gate.validate();
    if args.match_games == 0 || !problems.is_empty() {
        bail!("--match-games must be at least 1{}", problems.join("; "));
    }
    std::fs::create_dir_all(&args.dir)?;
    logging::init(Some(&args.dir))?;
    let stop = Stop::install(0.0)?;
    let mut ledger = Ledger::open(&args.dir, &budget, &variants, &gate)?;
    for variant in &variants {
        if stop.now() {
            break;
        }
        train(args, variant, &mut ledger, &stop)?;
    }
    for variant in &variants[1..] {
        if stop.now() {
            break;
        }
        compare(args, &variants[0], variant, &gate, &mut ledger, &stop)?;
    }
    let result = ledger.result()?;
    std::fs::write(args.dir.join("ablation.json"), format!("{result:#}\n"))?;
    let text = table::markdown(&result);
    std::fs::write(args.dir.join("ablation.md"), &text)?;
    if args.json {
        println!("{result}");
    } else {
        print!("{text}");
    }
    Ok(())
}

/// Lets a variant's run use up what is left of its budget.
fn train(args: &AblateArgs, variant: &Variant, ledger: &mut Ledger, stop: &Stop) -> Result<()> {
    if ledger.is_trained(&variant.name) {
        return Ok(());
    }
    let spent = ledger.spent(&variant.name);
    eprintln!("{}: {} after {:.0} s", variant.name, variant.change, spent.seconds);
    let dir = RunDir::new(args.dir.join(&variant.name));
    let job = LoopArgs {
        config: args.config.clone(),
        run: None,
        seed: None,
        until_games: args.games,
        until_steps: args.steps,
        until_minutes: None,
        accept_config_change: false,
        device: Vec::new(),
        precision: None,
    };
    let limit = args.left(&spent, stop);
    let (began, core_began) = (Instant::now(), processor_time());
    let ended = pipeline::run(&variant.config, &dir, &job, Parts::ALL, LOOP_WORKER, &limit);
    let core_seconds = processor_time().saturating_sub(core_began).as_secs_f64();
    ledger.add(&variant.name, Spent { seconds: began.elapsed().as_secs_f64(), core_seconds })?;
    ended?;
    if !stop.now() {
        ledger.trained(&variant.name, &dir)?;
    }
    Ok(())
}

/// Plays the games that a variant's match still lacks.
fn compare(
    args: &AblateArgs,
    base: &Variant,
    variant: &Variant,
    gate: &GateConfig,
    ledger: &mut Ledger,
    stop: &Stop,
) -> Result<()> {
    let mut slots = ledger.slots(&variant.name);
    if slots.len() >= 2 * gate.pairs as usize {
        return Ok(());
    }
    eprintln!("{}: match against the baseline", variant.name);
    let player = |name: &str| -> Result<Player> {
        let dir = RunDir::new(args.dir.join(name));
        let (store, _) = dir.open_existing()?;
        Player::of_run(&dir, &find_network(&store, "best")?, &base.config.device)
    };
    let start = base.config.rules.settings()?.initial_state();
    let plan = MatchPlan {
        seed: base.config.run.seed ^ 0xAB1A_7E00,
        threads: threads(base.config.selfplay.workers),
        ..MatchPlan::even(gate, &base.config.search, &start)
    };
    let done: Vec<(u32, u8)> = slots.iter().map(|&(pair, colour, _)| (pair, colour)).collect();
    play(&plan, &player(&variant.name)?, &player(&base.name)?, &done, stop, &mut |(
        pair,
        colour,
        points,
        _,
    )| {
        slots.push((pair, colour, points));
        ledger.keep(&variant.name, &slots)?;
        Ok(ControlFlow::Continue(()))
    })?;
    let tally = tally_all(&slots);
    eprintln!("{}: {}-{}-{}", variant.name, tally.wins, tally.losses, tally.draws);
    Ok(())
}
