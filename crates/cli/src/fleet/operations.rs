//! `tengen fleet`: the roles of a server, who works, and whether the run wants games.

use std::collections::BTreeMap;

use anyhow::Result;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;
#[cfg(feature = "postgres")]
use tengen_store::fleet_roles_sql;
use tengen_store::{RunMode, Store, WorkerState};

use crate::fleet::exposition;
use crate::fleet::place::Place;
use crate::players::short;

/// How many games tell whether the fleet plays with the best network.
const NEWEST: u64 = 200;

/// `tengen fleet`.
#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    /// The SQL that makes a server's roles and gives them their rights; nothing is changed.
    #[cfg(feature = "postgres")]
    Init {
        /// The run's schema.
        #[arg(long, default_value = "tengen")]
        schema: String,
    },
    /// Who works, what waits, how the run stands.
    Status(StatusArgs),
    /// Tell every worker whether the run wants games.
    Mode {
        /// running, paused (games in flight wait) or draining (workers finish and exit).
        mode: Mode,
        /// The run: `postgres://…`, the run's folder, or `env:NAME` for a variable with either.
        #[arg(long)]
        store: String,
    },
    /// Trust a worker more or less, whatever its games were.
    Trust {
        /// The worker's whole name.
        worker: String,
        /// ok also forgets its unsound games.
        state: Trust,
        /// The run: `postgres://…`, the run's folder, or `env:NAME` for a variable with either.
        #[arg(long)]
        store: String,
    },
}

/// `tengen fleet status`.
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// The run: `postgres://…`, the run's folder, or `env:NAME` for a variable with either.
    #[arg(long)]
    pub store: String,
    /// Facts as JSON on standard output.
    #[arg(long)]
    pub json: bool,
    /// Figures in Prometheus's text format on standard output.
    #[arg(long, conflicts_with = "json")]
    pub prometheus: bool,
}

/// What a run asks of its workers.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Mode {
    /// Play.
    Running,
    /// Wait.
    Paused,
    /// Finish and exit.
    Draining,
}

/// How far a worker is trusted.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Trust {
    /// As any other.
    Ok,
    /// Nothing is taken from it.
    Blocked,
}

/// Does what is asked.
pub fn run(command: &FleetCommand) -> Result<()> {
    match command {
        #[cfg(feature = "postgres")]
        FleetCommand::Init { schema } => {
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            if schema.is_empty() || !schema.chars().all(plain) {
                anyhow::bail!("--schema {schema:?}: use a-z, 0-9 and _");
            }
            print!("{}", fleet_roles_sql(schema));
            Ok(())
        }
        FleetCommand::Status(args) => status(args),
        FleetCommand::Mode { mode, store } => {
            let (mut store, _) = Place::parse(store)?.open()?;
            let mode = match mode {
                Mode::Running => RunMode::Running,
                Mode::Paused => RunMode::Paused,
                Mode::Draining => RunMode::Draining,
            };
            store.set_run_mode(mode)?;
            println!("the run is {mode}");
            Ok(())
        }
        FleetCommand::Trust { worker, state, store } => {
            let (mut store, _) = Place::parse(store)?.open()?;
            let state = match state {
                Trust::Ok => WorkerState::Ok,
                Trust::Blocked => WorkerState::Blocked,
            };
            store.set_worker_state(worker, state)?;
            println!("{worker} is {state}");
            Ok(())
        }
    }
}

fn status(args: &StatusArgs) -> Result<()> {
    let (store, run) = Place::parse(&args.store)?.open()?;
    if args.prometheus {
        print!("{}", exposition::text(&store)?);
        return Ok(());
    }
    let (counts, waiting) = (store.counts()?, store.waiting_uploads()?);
    let workers = store.workers()?;
    if args.json {
        println!("{}", facts(&store)?);
        return Ok(());
    }
    println!(
        "{}: {}, {} games, {waiting} in the inbox, {} past the trainer{}",
        run.name,
        run.mode,
        counts.games,
        counts.last_seq.saturating_sub(run.trained_seq),
        run.ahead_limit.map_or(String::new(), |limit| format!(" of {limit} allowed"))
    );
    if let (Some(best), Some(age)) = (&run.best, store.best_age_seconds()?) {
        let players = store.players_of_newest(NEWEST)?;
        let all: u64 = players.iter().map(|(_, games)| games).sum();
        let its = players.iter().find(|(name, _)| name == best).map_or(0, |(_, games)| *games);
        let name = short(best);
        let age = age / 60.0;
        println!("best: {name} for {age:.0} min; it played {its} of the newest {all} games");
    }
    let damaged = store.damage_reports()?;
    if !damaged.is_empty() {
        println!("{} reports of damaged networks wait for the janitor", damaged.len());
    }
    for open in store.open_matches()? {
        let blocks = store.blocks(open.id)?;
        let of = |state: &str| blocks.iter().filter(|block| block.state == state).count();
        println!(
            "match {}: {} blocks, {} done, {} leased, {} failed",
            open.id,
            blocks.len(),
            of("done"),
            of("leased"),
            of("failed")
        );
    }
    for worker in &workers {
        println!(
            "{:<40} {:<8} {:<10} {:>9} games {:>4} unsound, heard of {:.0} s ago",
            worker.name,
            worker.state.to_string(),
            worker.device,
            worker.counts.games,
            worker.refused,
            worker.silent_seconds
        );
    }
    Ok(())
}

/// The same as JSON.
fn facts(store: &Store) -> Result<serde_json::Value> {
    let run = store.run()?;
    let counts = store.counts()?;
    let workers: Vec<_> = store
        .workers()?
        .into_iter()
        .map(|worker| {
            json!({
                "name": worker.name, "host": worker.host, "device": worker.device,
                "version": worker.version, "state": worker.state.to_string(),
                "games": worker.counts.games, "evals": worker.counts.evals,
                "unsound": worker.refused, "silent_seconds": worker.silent_seconds,
            })
        })
        .collect();
    Ok(json!({
        "run": run.as_ref().map(|run| &run.name),
        "mode": run.as_ref().map(|run| run.mode.to_string()),
        "best": run.as_ref().and_then(|run| run.best.clone()),
        "best_age_seconds": store.best_age_seconds()?,
        "newest_games_by_network": store.players_of_newest(NEWEST)?.into_iter().collect::<BTreeMap<_, _>>(),
        "damage_reports": store.damage_reports()?.len(),
        "games": counts.games, "last_seq": counts.last_seq,
        "trained_seq": run.as_ref().map(|run| run.trained_seq),
        "ahead_limit": run.as_ref().and_then(|run| run.ahead_limit),
        "inbox": store.waiting_uploads()?,
        "open_matches": store.open_matches()?.len(),
        "workers": workers,
    }))
}
