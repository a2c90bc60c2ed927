//! `tengen janitor`: what workers hand in becomes part of the run; networks go out; matches are
//! offered and decided.

use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use serde_json::json;
use tengen_fleet::{
    Complaints, FleetError, HandOut, Janitor, Looking, MatchEnd, Plan, Recheck, Swept,
    attend_match, recheck,
};
use tengen_network::{DeviceConfig, load_network};
use tengen_record::GameRecord;
use tengen_store::{Lease, RunState, Store, StoreError};

use crate::config::Config;
use crate::fleet::place::{Place, blob_place};
use crate::fleet::worker::plan_of;
use crate::fleet::{exposition, metrics};
use crate::logging;
use crate::players::short;
use crate::ratings;
use crate::stop::Stop;

/// How long to wait while the inbox is empty.
const IDLE: Duration = Duration::from_millis(500);
/// How often networks and matches are looked after.
const ROUND: Duration = Duration::from_secs(2);
/// How long the lease on matches lasts without a sign of life.
const LEASE: Duration = Duration::from_secs(60);
/// The lease of the process that decides matches.
const MATCHMAKER: &str = "matchmaker";
/// Positions of a game whose searches are made again, at most.
const LOOKED_AT: usize = 8;

/// `tengen janitor`.
#[derive(Debug, Args)]
pub struct JanitorArgs {
    /// The run: `postgres://…`, the run's folder, or `env:NAME` for a variable with either.
    #[arg(long)]
    pub store: String,
    /// Folder of network files to hand out to workers. Default: the run's own, where it is a folder.
    #[arg(long)]
    pub networks: Option<PathBuf>,
    /// Share of the games whose searches are made again with their network; needs the network's file.
    #[arg(long, default_value_t = 0.01)]
    pub recheck: f64,
    /// Where to hand networks out besides the run's own store, and those over 16 MB at all: `folder:PATH`,
    /// `s3://BUCKET/PREFIX` (with the feature `s3`), or `env:NAME`. The place must be this run's own; what
    /// nobody has wanted there for 24 hours is deleted.
    #[arg(long)]
    pub blobs: Option<String>,
    /// Leave matches to another process, such as `tengen gate --config`.
    #[arg(long)]
    pub no_matches: bool,
    /// Answer Prometheus's GET /metrics at this address, such as 127.0.0.1:9465; in the clear, to whoever asks.
    #[arg(long)]
    pub metrics: Option<SocketAddr>,
    /// One round over what is there, then end.
    #[arg(long)]
    pub once: bool,
    /// Stop after so many minutes; 0 = never.
    #[arg(long, default_value_t = 0.0)]
    pub until_minutes: f64,
    /// What was done, as JSON on standard output at the end.
    #[arg(long)]
    pub json: bool,
}

/// Cares for the run until told to stop.
pub fn run(args: &JanitorArgs) -> Result<()> {
    logging::init_service(None)?;
    let place = Place::parse(&args.store)?;
    let stop = Stop::install(args.until_minutes)?;
    let (store, _) = place.open()?;
    let networks = args.networks.clone().or_else(|| place.networks());
    let figures = place.clone();
    let figures = move || exposition::text(&figures.open()?.0);
    let _metrics = args.metrics.map(|address| metrics::start(address, figures)).transpose()?;
    let blobs = args.blobs.as_deref().map(blob_place).transpose()?;
    let blobs = blobs.map(|place| place.open()).transpose()?;
    let mut care = Care {
        store,
        hand_out: HandOut::new(networks.clone(), blobs),
        complaints: Complaints::default(),
        networks,
        janitor: Janitor::default(),
        share: args.recheck,
        salt: RandomState::new().hash_one(std::process::id()),
        matches: !args.no_matches,
        lease: None,
        swept: Swept::default(),
        concluded: 0,
    };
    care.work(args.once, &stop)?;
    if let Some(lease) = care.lease.take() {
        care.store.release(&lease)?;
    }
    let Care { swept, concluded, .. } = care;
    if args.json {
        println!("{}", json!({ "games": swept, "matches_concluded": concluded }));
    } else {
        println!(
            "{} games accepted, {} there before, {} put aside; {} looked at again, {} of them \
             doubtful; {concluded} matches concluded",
            swept.accepted, swept.already_there, swept.quarantined, swept.looked_at, swept.doubtful
        );
    }
    Ok(())
}

struct Care {
    store: Store,
    networks: Option<PathBuf>,
    hand_out: HandOut,
    complaints: Complaints,
    janitor: Janitor,
    /// Share of the games that are looked at again, and what chooses them: no worker can know.
    share: f64,
    salt: u64,
    matches: bool,
    lease: Option<Lease>,
    swept: Swept,
    concluded: u64,
}

impl Care {
    fn work(&mut self, once: bool, stop: &Stop) -> Result<()> {
        let mut round_at = Instant::now();
        while !stop.now() {
            match self.turn(&mut round_at) {
                Ok(0) if once => break,
                Ok(0) => std::thread::sleep(IDLE),
                Ok(_) => {}
                Err(error) => match store_error(&error) {
                    Some(StoreError::LeaseLost { .. }) => {
                        tracing::warn!("another process decides matches now");
                        self.lease = None;
                    }
                    Some(lost) if lost.is_temporary() => {
                        tracing::warn!("the store is out of reach: {lost}");
                        std::thread::sleep(ROUND);
                    }
                    _ => return Err(error),
                },
            }
        }
        Ok(())
    }

    /// Cares for networks and matches when it is time, and settles a batch of games; returns how many games.
    fn turn(&mut self, round_at: &mut Instant) -> Result<u64> {
        // First, so that a place that is not this run's is refused before anything is done.
        if Instant::now() >= *round_at {
            *round_at = Instant::now() + ROUND;
            self.round()?;
        }
        let mut look = |network: &str, plan: &Plan, record: &GameRecord| {
            look_again(self.networks.as_deref()?, network, plan, record)
        };
        let mut looking = Looking { share: self.share, salt: self.salt, look: &mut look };
        let swept = self.janitor.sweep(&mut self.store, &plan, Some(&mut looking))?;
        self.swept += swept;
        if swept.quarantined > 0 {
            tracing::warn!(games = swept.quarantined, "unsound games were put aside");
        }
        Ok(swept.total())
    }

    /// Networks and matches.
    fn round(&mut self) -> Result<()> {
        self.hand_out.round(&mut self.store)?;
        self.complaints.attend(&mut self.store, &mut self.hand_out)?;
        if self.matches && self.owns_matches()? {
            self.attend()?;
        }
        Ok(())
    }

    /// Takes or keeps the lease on matches; false while another process has it.
    fn owns_matches(&mut self) -> Result<bool> {
        if let Some(lease) = &self.lease
            && self.store.heartbeat(lease, LEASE)?
        {
            return Ok(true);
        }
        let holder = format!("janitor-{}", std::process::id());
        self.lease = self.store.acquire(MATCHMAKER, &holder, LEASE)?;
        self.store.fence_with(self.lease.clone());
        Ok(self.lease.is_some())
    }

    fn attend(&mut self) -> Result<()> {
        if let Some(open) = self.store.open_matches()?.first()
            && (self.hand_out.is_waiting(&open.candidate) || self.hand_out.is_waiting(&open.base))
        {
            // Offered now, it would be given up by workers that cannot have its networks.
            return Ok(());
        }
        let Some(round) = attend_match(&mut self.store)? else { return Ok(()) };
        let Some(end) = round.end else { return Ok(()) };
        self.concluded += 1;
        let t = round.tally;
        let end = match end {
            MatchEnd::Promoted => "promoted".to_owned(),
            MatchEnd::Rejected => "rejected".to_owned(),
            MatchEnd::Void(why) => format!("void, {why}"),
        };
        let name = short(&round.candidate);
        tracing::info!(
            "match {}: {name} scored {}-{}-{}: {end}",
            round.match_id,
            t.wins,
            t.losses,
            t.draws
        );
        ratings::update(&mut self.store)
    }
}

fn plan(run: &RunState) -> Result<Plan, String> {
    Config::parse(&run.config_text)
        .and_then(plan_of)
        .map_err(|error| format!("the run's configuration: {error:#}"))
}

/// Searches of up to eight positions once more; nothing where the network's file is not here.
fn look_again(folder: &Path, network: &str, plan: &Plan, record: &GameRecord) -> Option<Recheck> {
    let (config, weights, _) = load_network(&folder.join(format!("{network}.safetensors"))).ok()?;
    let mut evaluator = DeviceConfig::default().evaluator(&config, &weights, 0).ok()?;
    recheck(record, plan, &mut *evaluator, LOOKED_AT).ok().filter(|seen| seen.positions > 0)
}

/// What the store said, whoever passed it on.
fn store_error(error: &anyhow::Error) -> Option<&StoreError> {
    match error.downcast_ref::<FleetError>() {
        Some(FleetError::Store(error)) => Some(error),
        _ => error.downcast_ref::<StoreError>(),
    }
}
