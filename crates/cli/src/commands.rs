//! One function a subcommand.

use std::process::ExitCode;

use anyhow::{Context, Result};
use serde_json::json;
use tengen_rules::{BoardSize, GameState, Komi, Rules, perft};
use tengen_selfplay::GameSettings;
use tengen_store::Rollback;

use crate::args::{
    Cli, Command, ConfigCommand, GateArgs, GateCommand, LoopArgs, NetCommand, OtherSuite,
    PerftArgs, PromoteArgs, RollbackArgs, RunArgs, StoreCommand, SuiteCommand,
};
use crate::config::Config;
use crate::pipeline::{self, LOOP_WORKER, Parts, check_worker};
use crate::players::{find_network, short};
use crate::run_dir::RunDir;
use crate::stop::Stop;
use crate::{
    ablate, bench, doctor, engines, fleet, gate_stats, ladder, logging, matches, net_files, report,
    scaling, sgf, status, store_move, suite, watch,
};

/// Does what the command line asks for.
pub fn run(cli: Cli) -> Result<ExitCode> {
    match cli.command {
        Command::Loop(args) => work(&args, Parts::ALL, LOOP_WORKER)?,
        Command::Selfplay(args) => {
            if let Some(store) = &args.store {
                fleet::worker::run(&args, store)?;
            } else {
                check_worker(&args.worker)?;
                let parts = Parts { generate: true, train: false, gate: false };
                work(
                    &args.job().context("give --config FILE or --store RUN")?,
                    parts,
                    &args.worker,
                )?;
            }
        }
        Command::Train(args) => {
            work(&args, Parts { generate: false, train: true, gate: false }, LOOP_WORKER)?;
        }
        Command::Gate(GateArgs { question: Some(GateCommand::Llr(args)), .. }) => {
            gate_stats::print_llr(&args)?;
        }
        Command::Gate(GateArgs { question: Some(GateCommand::Simulate(args)), .. }) => {
            gate_stats::print_simulation(&args)?;
        }
        Command::Gate(GateArgs { question: None, part }) => {
            let args = part.context("give --config FILE, or a question: llr, simulate")?;
            work(&args, Parts { generate: false, train: false, gate: true }, LOOP_WORKER)?;
        }
        Command::Janitor(args) => fleet::janitor::run(&args)?,
        Command::Serve(args) => fleet::serve::run(&args)?,
        Command::Fleet(what) => fleet::operations::run(&what)?,
        Command::Status(args) => status::print(&RunDir::new(args.run), args.json)?,
        Command::Watch(args) => watch::run(&args)?,
        Command::Ablate(args) => ablate::run(&args)?,
        Command::Report(args) => {
            let dir = RunDir::new(args.run);
            let (store, run) = dir.open_existing()?;
            drop(store);
            report::print(&dir, &dir.config(&run)?, &Stop::install(0.0)?)?;
        }
        Command::Promote(args) => promote(&args)?,
        Command::Rollback(args) => roll_back(&args)?,
        Command::Match(args) => return matches::run(&args),
        Command::Ladder(args) => ladder::run(&args)?,
        Command::Scaling(what) => scaling::run(&what)?,
        Command::Suite(SuiteCommand { other: Some(OtherSuite::SmallBoards(args)), .. }) => {
            suite::small_boards(&args)?;
        }
        Command::Suite(SuiteCommand { other: None, tactical }) => suite::tactical(&tactical)?,
        Command::Gtp(args) => engines::gtp(&args)?,
        Command::Analysis(args) => engines::analysis(&args)?,
        Command::Perft(args) => count_games(&args)?,
        Command::Store(StoreCommand::Fsck(args)) => return fsck(&args),
        Command::Store(StoreCommand::Stats(args)) => stats(&args)?,
        Command::Store(StoreCommand::Backup { run, to }) => {
            let (store, _) = RunDir::new(run).open_existing()?;
            store.backup(&to)?;
            println!("copied to {}", to.display());
        }
        Command::Store(StoreCommand::Move(args)) => store_move::run(&args)?,
        Command::Net(NetCommand::Describe { config, json }) => net_files::describe(&config, json)?,
        Command::Net(NetCommand::Export(args)) => net_files::export(&args)?,
        Command::Net(NetCommand::Import(args)) => net_files::import(&args)?,
        Command::Net(NetCommand::Verify { file }) => {
            let (_, weights, _) = tengen_network::load_network(&file)?;
            println!("{}: sound, {} tensors", file.display(), weights.0.len());
        }
        Command::Config(ConfigCommand::Check { file }) => {
            let config = Config::load(&file)?;
            println!("{}: sound, digest {}", file.display(), config.digest()?);
        }
        Command::Config(ConfigCommand::Show { file }) => {
            print!("{}", Config::load(&file)?.to_toml()?);
        }
        Command::Sgf(what) => return sgf::run(&what),
        Command::Bench(what) => bench::run(&what)?,
        Command::Doctor(args) => {
            let ok = doctor::run(&args)?;
            return Ok(if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn work(args: &LoopArgs, parts: Parts, worker: &str) -> Result<()> {
    let mut config = Config::load(&args.config)?;
    if let Some(seed) = args.seed {
        config.run.seed = seed;
    }
    config.device = args.devices().over(&config.device)?;
    let dir = RunDir::new(args.run.clone().unwrap_or_else(|| config.run.dir.clone()));
    dir.create()?;
    logging::init(Some(dir.path()))?;
    let stop = Stop::install(args.until_minutes.unwrap_or(config.run.until_minutes))?;
    pipeline::run(&config, &dir, args, parts, worker, &stop)?;
    if parts == Parts::ALL {
        report::print(&dir, &config, &stop.without_deadline())?;
        println!(
            "go on: tengen loop --config {} --run {}",
            args.config.display(),
            dir.path().display()
        );
    }
    Ok(())
}

fn promote(args: &PromoteArgs) -> Result<()> {
    let (mut store, _) = RunDir::new(&args.run).open_existing()?;
    let id = find_network(&store, &args.net)?;
    RunDir::new(&args.run).load(&id)?;
    store.promote_by_hand(&id, &user(), &args.why)?;
    println!("{} is the best network now", short(&id));
    Ok(())
}

fn roll_back(args: &RollbackArgs) -> Result<()> {
    let (mut store, _) = RunDir::new(&args.run).open_existing()?;
    let what = if args.games { Rollback::PointerAndGames } else { Rollback::Pointer };
    let fallen = store.best()?.map(|best| short(&best.id)).unwrap_or_default();
    let id = store.rollback(what, &user(), &args.why)?;
    println!("{} is the best network again", short(&id));
    if args.games {
        println!("games of {fallen} are trained on no more; they stay in the store");
    }
    Ok(())
}

/// Who is at the keyboard, for the record.
fn user() -> String {
    std::env::var("USER").unwrap_or_else(|_| "unknown".into())
}

/// The game that a match or an engine plays: what was asked for, else the run's, else a default.
pub fn settings(
    size: Option<usize>,
    komi: Option<f64>,
    rules: &str,
    run: Option<&Config>,
    default_size: usize,
) -> Result<GameSettings> {
    let mut settings = match run {
        Some(config) => config.rules.settings()?,
        None => GameSettings {
            size: BoardSize::square(default_size)?,
            rules: Rules::parse_any(rules)?,
            komi: Komi::from_points(7.5)?,
        },
    };
    if let Some(size) = size {
        settings.size = BoardSize::square(size)?;
    }
    if let Some(komi) = komi {
        settings.komi = Komi::from_points(komi)?;
    }
    Ok(settings)
}

fn count_games(args: &PerftArgs) -> Result<()> {
    let size = BoardSize::square(args.size)?;
    let rules = Rules::parse_any(&args.rules)?;
    let counts = perft(&GameState::new(size, rules, Komi::from_points(0.0)?), args.depth);
    if args.json {
        println!("{}", json!({ "size": args.size, "rules": rules.to_string(), "counts": counts }));
    } else {
        for (length, count) in counts.iter().enumerate() {
            println!("{length:>3} {count}");
        }
    }
    Ok(())
}

fn fsck(args: &RunArgs) -> Result<ExitCode> {
    let found = store_move::open_existing(&args.run)?.fsck()?;
    if args.json {
        println!(
            "{}",
            json!({ "ok": found.ok, "games": found.games, "positions": found.positions,
                    "problems": found.problems })
        );
    } else {
        for problem in &found.problems {
            println!("problem: {problem}");
        }
        let word = if found.ok { "sound" } else { "damaged" };
        println!("{word}: {} games, {} positions", found.games, found.positions);
    }
    Ok(if found.ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn stats(args: &RunArgs) -> Result<()> {
    let store = store_move::open_existing(&args.run)?;
    let counts = store.counts()?;
    let facts = json!({
        "games": counts.games, "positions": counts.positions, "last_seq": counts.last_seq,
        "networks": store.networks()?.len(), "matches": store.matches()?.len(),
        "digest": store.digest()?,
    });
    if args.json {
        println!("{facts}");
    } else {
        println!("{facts:#}");
    }
    Ok(())
}
