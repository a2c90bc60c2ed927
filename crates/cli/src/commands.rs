//! One function a subcommand.

use std::io::{BufReader, stdin, stdout};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use serde_json::json;
use tengen_evaluator::{GateConfig, tally_all};
use tengen_gtp::{Engine, EngineInfo};
use tengen_rules::{BoardSize, GameState, Komi, Outcome, Rules, perft};
use tengen_search::SearchConfig;
use tengen_selfplay::GameSettings;

use crate::args::{
    Cli, Command, ConfigCommand, GtpArgs, LoopArgs, MatchArgs, NetCommand, PerftArgs, PromoteArgs,
    RollbackArgs, RunArgs, SgfCommand, StoreCommand,
};
use crate::config::Config;
use crate::parts::gate::{MatchPlan, play, threads};
use crate::pipeline::{self, LOOP_WORKER, Parts, check_worker};
use crate::players::{Player, find_network, short};
use crate::run_dir::RunDir;
use crate::stop::Stop;
use crate::{bench, doctor, logging, report, status};

/// Does what the command line asks for.
pub fn run(cli: Cli) -> Result<ExitCode> {
    match cli.command {
        Command::Loop(args) => work(&args, Parts::ALL, LOOP_WORKER)?,
        Command::Selfplay(args) => {
            check_worker(&args.worker)?;
            let parts = Parts { generate: true, train: false, gate: false };
            work(&args.job, parts, &args.worker)?;
        }
        Command::Train(args) => {
            work(&args, Parts { generate: false, train: true, gate: false }, LOOP_WORKER)?;
        }
        Command::Gate(args) => {
            work(&args, Parts { generate: false, train: false, gate: true }, LOOP_WORKER)?;
        }
        Command::Status(args) => status::print(&RunDir::new(args.run), args.json)?,
        Command::Report(args) => {
            let dir = RunDir::new(args.run);
            let (store, run) = dir.open_existing()?;
            drop(store);
            report::print(&dir, &dir.config(&run)?, &Stop::install(0.0)?)?;
        }
        Command::Promote(args) => promote(&args)?,
        Command::Rollback(args) => roll_back(&args)?,
        Command::Match(args) => match_players(&args)?,
        Command::Gtp(args) => gtp(&args)?,
        Command::Perft(args) => count_games(&args)?,
        Command::Store(StoreCommand::Fsck(args)) => return fsck(&args),
        Command::Store(StoreCommand::Stats(args)) => stats(&args)?,
        Command::Store(StoreCommand::Backup { run, to }) => {
            let (store, _) = RunDir::new(run).open_existing()?;
            store.backup(&to)?;
            println!("copied to {}", to.display());
        }
        Command::Net(NetCommand::Describe { config, json }) => describe(&config, json)?,
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
        Command::Sgf(SgfCommand::Export { run, games, to }) => {
            export(&RunDir::new(run), games, &to)?
        }
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
    let id = store.rollback(&user(), &args.why)?;
    println!("{} is the best network again", short(&id));
    Ok(())
}

/// Who is at the keyboard, for the record.
fn user() -> String {
    std::env::var("USER").unwrap_or_else(|_| "unknown".into())
}

/// The game that a match or an engine plays: what was asked for, else the run's, else a default.
fn settings(
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
            rules: Rules::by_name(rules)?,
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

fn match_players(args: &MatchArgs) -> Result<()> {
    if args.games == 0 || args.visits == 0 {
        bail!("--games and --visits must be at least 1");
    }
    logging::init(None)?;
    let stop = Stop::install(0.0)?;
    let (a, config_a) = Player::parse(&args.a)?;
    let (b, config_b) = Player::parse(&args.b)?;
    let run = config_a.or(config_b);
    let settings = settings(args.size, args.komi, "tromp-taylor", run.as_ref(), 9)?;
    let base = run.unwrap_or_default();
    let mut gate =
        GateConfig { pairs: args.games.div_ceil(2), visits: args.visits, ..base.gate.clone() };
    if let Some(moves) = args.opening_moves {
        gate.opening_moves = moves;
    }
    let plan = MatchPlan {
        gate: &gate,
        search: &base.search,
        settings: &settings,
        seed: args.seed,
        threads: threads(args.threads),
        digest: "",
    };
    let (mut slots, mut records) = (Vec::new(), Vec::new());
    play(&plan, &a, &b, &[], &stop, &mut |(pair, colour, points, record)| {
        slots.push((pair, colour, points));
        records.push((pair, colour, record));
        if slots.len().is_multiple_of(20) {
            eprintln!("{} of {} games", slots.len(), 2 * gate.pairs);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let tally = tally_all(&slots);
    let no_results =
        records.iter().filter(|(_, _, record)| record.outcome == Outcome::NoResult).count() as u32;
    if let Some(folder) = &args.sgf {
        std::fs::create_dir_all(folder)?;
        for (pair, colour, record) in &records {
            let path = folder.join(format!("pair-{pair:03}-{colour}.sgf"));
            report::write_sgf(&path, record)?;
        }
    }
    if args.json {
        let (elo, low, high) =
            tengen_evaluator::elo_with_interval(tally.wins, tally.losses, tally.draws);
        println!(
            "{}",
            json!({
                "a": a.name(), "b": b.name(), "wins": tally.wins, "losses": tally.losses,
                "draws": tally.draws - no_results, "no_results": no_results,
                "elo": elo, "elo_low": low, "elo_high": high,
            })
        );
    } else {
        println!("{} against {}: {}", a.name(), b.name(), report::in_words(&tally, args.visits));
    }
    Ok(())
}

fn gtp(args: &GtpArgs) -> Result<()> {
    let (player, run) = Player::parse(&args.net)?;
    let settings = settings(args.size, args.komi, &args.rules, run.as_ref(), 19)?;
    let search =
        SearchConfig { visits: args.visits, ..run.map(|config| config.search).unwrap_or_default() };
    let info = EngineInfo {
        version: format!("{} {}", env!("CARGO_PKG_VERSION"), player.name()),
        size: settings.size,
        rules: settings.rules,
        komi: settings.komi,
        ..EngineInfo::default()
    };
    let mut engine = Engine::new(player.evaluator()?, search, info);
    engine.run(BufReader::new(stdin().lock()), stdout().lock())?;
    Ok(())
}

fn count_games(args: &PerftArgs) -> Result<()> {
    let size = BoardSize::square(args.size)?;
    let rules = Rules::by_name(&args.rules)?;
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
    let (store, _) = RunDir::new(&args.run).open_existing()?;
    let found = store.fsck()?;
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
    let (store, _) = RunDir::new(&args.run).open_existing()?;
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

fn describe(file: &Path, as_json: bool) -> Result<()> {
    let config = Config::load(file)?;
    let size = config.rules.settings()?.size;
    let facts = tengen_network::describe(&config.network, size)?;
    if as_json {
        println!("{}", serde_json::to_string(&facts)?);
    } else {
        println!("{}", serde_json::to_string_pretty(&facts)?);
    }
    Ok(())
}

fn export(dir: &RunDir, games: u64, to: &Path) -> Result<()> {
    let (store, _) = dir.open_existing()?;
    let last = store.counts()?.last_seq;
    std::fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
    let found = store.games_in(last.saturating_sub(games), last)?;
    for game in &found {
        let path = to.join(format!("game-{:07}.sgf", game.seq));
        report::write_sgf(&path, &game.record)?;
    }
    println!("{} games in {}", found.len(), to.display());
    Ok(())
}
