//! The worker: plays for a run that may be far away, and loses no finished game.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use tengen_inference::LeafEvaluator;
use tengen_record::encode;
use tengen_store::{OutboxGame, RunMode, RunState, StoreError};

use crate::blocks::play_block;
use crate::desk::{BlockWork, Desk, Net};
use crate::host::{Connect, Host};
use crate::idle::{Idle, IdleClock};
use crate::link::Link;
use crate::supply::OpenBlobs;
use crate::table::{Table, UNIFORM};
use crate::{FleetError, Spool};

/// Games between two looks at what new games should be played under.
const SLICE: usize = 64;
/// How long an idle worker waits before it looks again.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
/// How often a worker tells the log what it has done.
const TELL_EVERY: Duration = Duration::from_secs(60);

/// What a worker is told at its start.
#[derive(Clone)]
pub struct WorkerConfig {
    /// Folder for finished games and networks; one process each.
    pub spool: PathBuf,
    /// Begins the name of a new worker.
    pub label: String,
    /// Bytes of unsent games above which play pauses. Default 2 GB.
    pub spool_bytes: u64,
    /// The machine's name, for the run's list of workers.
    pub host: String,
    /// What evaluates, for the same list.
    pub device: String,
    /// The program's version, for the same list.
    pub version: String,
    /// How often to ask how the run stands, at least; at most twice that. Default 2 s.
    pub look_every: Duration,
    /// How often to ship fewer than 256 games. Default 1 s.
    pub ship_every: Duration,
    /// How long an acknowledged game is kept, in case the run loses it. Default 10 minutes.
    pub sent_log: Duration,
    /// When told to stop: how long games in flight may go on. Default 10 s.
    pub drain: Duration,
    /// And then: how long to go on shipping. Default 8 s.
    pub rest: Duration,
    /// Whether downloads of networks are put off at random, as befits a fleet. Default true.
    pub spread_downloads: bool,
    /// Whether to play blocks of matches when the run has some. Default true.
    pub plays_matches: bool,
    /// How often the thread that talks to the run looks for something to do. Default 50 ms.
    pub turn: Duration,
    /// Where networks are looked for before the run is asked. Default: nowhere.
    pub blobs: Option<OpenBlobs>,
}

impl WorkerConfig {
    /// The defaults, in the spool folder `spool`.
    #[must_use]
    pub fn new(spool: impl Into<PathBuf>, label: &str) -> Self {
        Self {
            spool: spool.into(),
            label: label.to_owned(),
            spool_bytes: 2_000_000_000,
            host: String::new(),
            device: String::new(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            look_every: Duration::from_secs(2),
            ship_every: Duration::from_secs(1),
            sent_log: Duration::from_secs(600),
            drain: Duration::from_secs(10),
            rest: Duration::from_secs(8),
            spread_downloads: true,
            plays_matches: true,
            turn: Duration::from_millis(50),
            blobs: None,
        }
    }
}

/// What came of a worker.
#[derive(Clone, Debug, Serialize)]
pub struct WorkReport {
    /// Its name.
    pub worker: String,
    /// Games finished.
    pub games: u64,
    /// Positions evaluated.
    pub evals: u64,
    /// How long it was there.
    pub seconds: f64,
    /// Games still in the spool: the next worker on it sends them.
    pub waiting: u64,
    /// Seconds without play, by reason.
    pub idle: Vec<(Idle, f64)>,
}

/// Works until `should_stop` (asked often), the run drains, or something ends it; then finishes or
/// drops the games in flight and ships what is finished, within `drain` and `rest`.
///
/// # Errors
/// [`FleetError::SpoolInUse`] at once; what the run refuses for good; an evaluator that fails.
/// Finished games are in the spool whatever happens.
pub fn work(
    config: &WorkerConfig,
    host: &dyn Host,
    connect: Connect,
    should_stop: &(dyn Fn() -> bool + Sync),
) -> Result<WorkReport, FleetError> {
    let spool = Spool::open(&config.spool, &config.label, config.spool_bytes)?;
    let desk = Desk::default();
    let begun = Instant::now();
    thread::scope(|scope| {
        let link =
            scope.spawn(|| Link::new(config, &spool, &desk, connect, config.blobs.clone()).run());
        // On every way out of here, a panic included: the scope waits for the other thread.
        let _close = CloseOnDrop(&desk, config.rest);
        let gone = || link.is_finished();
        let mut player = Player {
            config,
            host,
            spool: &spool,
            desk: &desk,
            should_stop,
            link_gone: &gone,
            table: None,
            refused_network: String::new(),
            unsaved: RefCell::new(Vec::new()),
            idle: IdleClock::default(),
            tell_at: begun + TELL_EVERY,
        };
        let outcome = player.run();
        player.idle.set(None);
        let idle = player.idle.lost();
        desk.close(config.rest);
        link.join().map_err(|_| FleetError::Panicked)?;
        outcome?;
        let counts = desk.counts();
        Ok(WorkReport {
            worker: spool.worker().to_owned(),
            games: counts.games,
            evals: counts.evals,
            seconds: begun.elapsed().as_secs_f64(),
            waiting: spool.waiting(),
            idle,
        })
    })
}

struct CloseOnDrop<'a>(&'a Desk, Duration);

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        self.0.close(self.1);
    }
}

/// The thread that plays.
struct Player<'a> {
    config: &'a WorkerConfig,
    host: &'a dyn Host,
    spool: &'a Spool,
    desk: &'a Desk,
    should_stop: &'a (dyn Fn() -> bool + Sync),
    link_gone: &'a dyn Fn() -> bool,
    table: Option<Table>,
    /// A network that this machine cannot load; the one before plays on.
    refused_network: String,
    /// Finished games that the disk had no room for.
    unsaved: RefCell<Vec<OutboxGame>>,
    idle: IdleClock,
    tell_at: Instant,
}

impl Player<'_> {
    fn run(&mut self) -> Result<(), FleetError> {
        loop {
            let mut view = self.desk.take_news();
            if let Some(fatal) = view.fatal.take() {
                return Err(fatal);
            }
            let (run, net, offer) = (view.run.clone(), view.net.clone(), view.offer.take());
            drop(view);
            self.save()?;
            self.tell();
            let drains = run.as_ref().is_some_and(|run| run.mode == RunMode::Draining);
            if (self.should_stop)() || drains {
                let finished = self.finish();
                self.save_the_rest()?;
                return finished;
            }
            if (self.link_gone)() {
                return Err(FleetError::Panicked);
            }
            if let (Some(run), Some(work)) = (&run, offer) {
                self.idle.set(None);
                self.play_block(run, work)?;
                continue;
            }
            match (run, self.reason_to_wait(&net)) {
                (Some(run), None) => {
                    self.idle.set(None);
                    self.play_slice(&run, net.as_ref())?;
                }
                (_, reason) => {
                    self.idle.set(reason);
                    self.desk.wait(LOOK_AGAIN);
                }
            }
        }
    }

    /// Why not to play, if so.
    fn reason_to_wait(&self, net: &Option<Net>) -> Option<Idle> {
        let view = self.desk.view();
        let Some(run) = &view.run else { return Some(Idle::NoRun) };
        if !self.unsaved.borrow().is_empty() {
            Some(Idle::DiskFull)
        } else if self.spool.is_full() {
            Some(Idle::SpoolFull)
        } else if run.mode == RunMode::Paused {
            Some(Idle::Paused)
        } else if run.ahead {
            Some(Idle::Ahead)
        } else if run.best.is_some() && net.is_none() {
            Some(Idle::NoNetwork)
        } else {
            None
        }
    }

    /// Plays for a while with what the run says now.
    fn play_slice(&mut self, run: &RunState, net: Option<&Net>) -> Result<(), FleetError> {
        self.lay_table(run)?;
        let Some(table) = &mut self.table else { return Ok(()) };
        let hash = net.map_or(UNIFORM, |net| &net.hash);
        if table.network() != hash && self.refused_network != hash {
            let taken = table.take_network(hash, net.map(|net| net.file.as_path()), self.host);
            if let Err(error) = taken {
                if table.network().is_empty() {
                    return Err(error);
                }
                tracing::warn!(network = %hash, "{error}; playing on with the network in use");
                hash.clone_into(&mut self.refused_network);
            }
        }
        let (desk, spool, stop, tell_at) = (self.desk, self.spool, self.should_stop, self.tell_at);
        let pause = || stop() || desk.has_news() || spool.is_full() || Instant::now() >= tell_at;
        self.play(SLICE, &pause, &mut |_| {})
    }

    /// A table for the run's configuration; games in flight under another one are dropped.
    fn lay_table(&mut self, run: &RunState) -> Result<(), FleetError> {
        if self.table.as_ref().is_none_or(|table| table.digest() != run.config_digest) {
            let plan = self.host.plan(run).map_err(FleetError::Host)?;
            let first = self.spool.outbox().next_counter()?;
            self.table = Some(Table::new(run, plan, self.spool.worker(), first)?);
        }
        Ok(())
    }

    /// Plays and keeps every game that finishes.
    fn play(
        &mut self,
        games: usize,
        should_stop: &dyn Fn() -> bool,
        on_game: &mut dyn FnMut(u64),
    ) -> Result<(), FleetError> {
        let Some(table) = &mut self.table else { return Ok(()) };
        let network = table.network().to_owned();
        let failure = Cell::new(None);
        let failed = Cell::new(false);
        let (desk, spool, unsaved) = (self.desk, self.spool, &self.unsaved);
        let stats =
            table.play(games, &|| failed.get() || should_stop(), &mut |counter, record| {
                let game =
                    OutboxGame { counter, network: network.clone(), payload: encode(record) };
                desk.add_games(1);
                if let Err(error) = spool.push(&game) {
                    // The game stays here, and the next call waits for room.
                    unsaved.borrow_mut().push(game);
                    failed.set(true);
                    if !matches!(error, StoreError::DiskFull) {
                        failure.set(Some(error));
                    }
                }
                on_game(counter);
            })?;
        desk.add_evals(stats.evaluations - stats.cached);
        failure.take().map_or(Ok(()), |error| Err(error.into()))
    }

    /// Tries again to keep games that the disk had no room for.
    fn save(&mut self) -> Result<(), FleetError> {
        let unsaved = self.unsaved.get_mut();
        while let Some(game) = unsaved.last() {
            match self.spool.push(game) {
                Ok(()) => drop(unsaved.pop()),
                Err(StoreError::DiskFull) => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Before the end: games that the disk still has no room for, with the room that was held back.
    fn save_the_rest(&mut self) -> Result<(), FleetError> {
        let unsaved = self.unsaved.get_mut();
        while let Some(game) = unsaved.last() {
            if let Err(error) = self.spool.push_last(game) {
                tracing::error!(games = unsaved.len(), "finished games are lost: {error}");
                return Err(error.into());
            }
            unsaved.pop();
        }
        Ok(())
    }

    /// Lets the games in flight come to their ends, for a while.
    fn finish(&mut self) -> Result<(), FleetError> {
        let Some(table) = &self.table else { return Ok(()) };
        let until = Instant::now() + self.config.drain;
        let (in_flight, next) = table.in_flight();
        if in_flight == 0 || !self.unsaved.borrow().is_empty() {
            return Ok(());
        }
        tracing::info!(games = in_flight, "finishing the games in flight, where that is soon");
        // Seats that fall free are taken by new games, which nobody waits for.
        let left = Cell::new(in_flight);
        let spool = self.spool;
        let over = || left.get() == 0 || Instant::now() >= until || spool.is_full();
        self.play(usize::MAX, &over, &mut |counter| {
            if counter < next {
                left.set(left.get() - 1);
            }
        })
    }

    /// Plays a block of a match and puts its games on the desk.
    fn play_block(&mut self, run: &RunState, work: BlockWork) -> Result<(), FleetError> {
        let lease = &work.block.lease;
        let plan = match &self.table {
            Some(table) if table.digest() == run.config_digest => table.plan().clone(),
            _ => self.host.plan(run).map_err(FleetError::Host)?,
        };
        let pairs = work.block.pairs.len().max(1);
        let count = plan.selfplay.worker_count().min(pairs);
        let evaluators = self.match_evaluators(&work, count)?;
        let (desk, stop) = (self.desk, self.should_stop);
        let lost = || desk.view().leased.as_ref() != Some(lease);
        tracing::info!(
            match_id = lease.match_id,
            block = lease.block,
            "playing a block of a match"
        );
        let games = play_block(&work.block, run, &plan, evaluators, &|| stop() || lost())?;
        let mut view = self.desk.view();
        if view.leased.take().as_ref() == Some(lease) {
            view.played = Some((lease.clone(), games));
        }
        Ok(())
    }

    fn match_evaluators(
        &self,
        work: &BlockWork,
        count: usize,
    ) -> Result<Vec<[Box<dyn LeafEvaluator>; 2]>, FleetError> {
        let load = |file| self.host.evaluators(file, count).map_err(FleetError::Host);
        let (candidates, bases) = (load(&work.candidate)?, load(&work.base)?);
        Ok(candidates.into_iter().zip(bases).map(|(candidate, base)| [candidate, base]).collect())
    }

    /// Once a minute, what has been done.
    fn tell(&mut self) {
        if Instant::now() < self.tell_at {
            return;
        }
        self.tell_at = Instant::now() + TELL_EVERY;
        let counts = self.desk.counts();
        let lost: Vec<String> = self
            .idle
            .lost()
            .iter()
            .map(|(idle, seconds)| format!("{} {seconds:.0} s", idle.name()))
            .collect();
        tracing::info!(
            games = counts.games,
            evals = counts.evals,
            waiting = self.spool.waiting(),
            idle = lost.join(", "),
            "at work"
        );
    }
}
