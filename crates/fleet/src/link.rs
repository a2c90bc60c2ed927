//! The thread that talks to the run: how it stands, games up, networks down, leases alive.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use tengen_store::{
    Block, BlockGame, BlockLease, PROTOCOL, RunState, StoreError, Upstream, UpstreamError,
    WorkerHello,
};

use crate::desk::{BlockWork, Desk, Net};
use crate::host::Connect;
use crate::net_cache::NetCache;
use crate::shipper::{ShipError, Shipper};
use crate::supply::{OpenBlobs, Purpose, Supply, Trouble};
use crate::{Backoff, FleetError, Spool, WorkerConfig};

/// How fast a network comes at worst before a fleet's downloads are spread out: bytes a second.
const DOWNLOAD_RATE: u64 = 1_000_000;
/// The longest that a download is put off.
const LONGEST_DELAY: Duration = Duration::from_secs(30);
/// How long after a damaged or missing network the next try comes.
const RETRY_NETWORK: Duration = Duration::from_secs(30);
/// How often a leased block shows a sign of life; its lease lasts at least twice as long.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How often acknowledged games are looked through for old ones.
const TIDY: Duration = Duration::from_secs(30);

/// A network that cannot be had now; the log has said why.
struct Unusable;

/// One worker's side of the conversation.
pub(crate) struct Link<'a> {
    config: &'a WorkerConfig,
    spool: &'a Spool,
    desk: &'a Desk,
    hello: WorkerHello,
    connect: Connect,
    upstream: Option<Box<dyn Upstream>>,
    registered: bool,
    shipper: Option<Shipper>,
    supply: Supply,
    backoff: Backoff,
    /// No call before this: the last one failed.
    quiet_until: Instant,
    look_at: Instant,
    ship_at: Instant,
    tidy_at: Instant,
    beat_at: Instant,
    /// When to fetch the run's best network, which is not here.
    fetch: Option<(String, Instant)>,
    /// A block leased whose networks are on their way.
    pending: Option<Block>,
    /// The run will not talk to this worker any more.
    dead: bool,
}

impl<'a> Link<'a> {
    pub fn new(
        config: &'a WorkerConfig,
        spool: &'a Spool,
        desk: &'a Desk,
        connect: Connect,
        blobs: Option<OpenBlobs>,
    ) -> Self {
        let now = Instant::now();
        let name = spool.worker().to_owned();
        // Another seed for each worker, the same after a restart.
        let digest = blake3::hash(name.as_bytes());
        let seed = u64::from_le_bytes(digest.as_bytes()[..8].try_into().unwrap_or_default());
        Self {
            hello: WorkerHello {
                name,
                host: config.host.clone(),
                device: config.device.clone(),
                version: config.version.clone(),
                protocol: PROTOCOL,
            },
            supply: Supply::new(NetCache::new(spool), blobs),
            backoff: Backoff::new(seed),
            config,
            spool,
            desk,
            connect,
            upstream: None,
            registered: false,
            shipper: None,
            quiet_until: now,
            look_at: now,
            ship_at: now,
            tidy_at: now,
            beat_at: now,
            fetch: None,
            pending: None,
            dead: false,
        }
    }

    /// Talks until the player has ended and everything is shipped, or its time is up.
    pub fn run(mut self) {
        loop {
            let closing = self.desk.closing();
            let now = Instant::now();
            let empty = self.spool.waiting() == 0 && self.desk.view().played.is_none();
            if closing.is_some_and(|until| now >= until || empty || self.dead) {
                break;
            }
            if now >= self.quiet_until && !self.dead {
                match self.turn() {
                    Ok(()) => {}
                    Err(error) => self.failed(error),
                }
            }
            // Short, so that a full batch or the end is seen soon; a turn without work costs nothing.
            std::thread::sleep(self.config.turn);
        }
        self.say_goodbye();
    }

    /// Everything that is due.
    fn turn(&mut self) -> Result<(), FleetError> {
        if self.upstream.is_none() {
            self.upstream = Some((self.connect)()?);
        }
        if !self.registered {
            let hello = self.hello.clone();
            let run = self.upstream()?.register(&hello)?;
            self.registered = true;
            self.take(run)?;
            tracing::info!(worker = %self.hello.name, "registered with the run");
        }
        self.ship()?;
        self.look()?;
        self.backoff.reset();
        self.fetch()?;
        self.tend_block()
    }

    fn upstream(&mut self) -> Result<&mut dyn Upstream, FleetError> {
        match &mut self.upstream {
            Some(upstream) => Ok(&mut **upstream),
            None => Err(UpstreamError::Away("no connection".into()).into()),
        }
    }

    /// Reads how the run stands, when it is time.
    fn look(&mut self) -> Result<(), FleetError> {
        let now = Instant::now();
        if now < self.look_at {
            return Ok(());
        }
        let (name, counts) = (self.hello.name.clone(), self.desk.counts());
        let run = self.upstream()?.run_state(&name, counts)?;
        // Spread out, so that a fleet does not ask in step.
        let jitter = self.backoff.jitter(self.config.look_every);
        self.look_at = now + self.config.look_every + jitter;
        self.take(run)
    }

    /// Takes in how the run stands.
    fn take(&mut self, run: RunState) -> Result<(), FleetError> {
        if self.shipper.is_none() {
            self.spool.outbox().bind(&run.run_uid)?;
            self.shipper = Some(Shipper::new(&run.run_uid));
        }
        let view = self.desk.view();
        let have = view.net.as_ref().map(|net| net.hash.clone());
        let same = view.run.as_ref() == Some(&run);
        drop(view);
        match &run.best {
            Some(best) if Some(best) != have.as_ref() => {
                if self.fetch.as_ref().is_none_or(|(wanted, _)| wanted != best) {
                    let delay = self.delay();
                    self.fetch = Some((best.clone(), Instant::now() + delay));
                }
            }
            _ => self.fetch = None,
        }
        if !same {
            self.desk.change(|view| {
                if run.best.is_none() {
                    view.net = None;
                }
                view.run = Some(run);
            });
        }
        Ok(())
    }

    /// How long to put a download off: no more than it would take a slow line, and not at all
    /// while there is nothing to play with.
    fn delay(&mut self) -> Duration {
        if !self.config.spread_downloads {
            return Duration::ZERO;
        }
        let seconds = self.supply.size() / DOWNLOAD_RATE;
        self.backoff.jitter(Duration::from_secs(seconds).min(LONGEST_DELAY))
    }

    /// Fetches the run's best network, when it is time. A network that cannot be had leaves the one
    /// in use where it is.
    fn fetch(&mut self) -> Result<(), FleetError> {
        let Some((hash, at)) = self.fetch.clone() else { return Ok(()) };
        if Instant::now() < at {
            return Ok(());
        }
        match self.require(&hash, Purpose::Play)? {
            Ok(None) => {}
            Ok(Some(file)) => {
                self.fetch = None;
                tracing::info!(network = %hash, "fetched the run's best network");
                self.desk.change(|view| view.net = Some(Net { hash, file }));
            }
            Err(Unusable) => self.fetch = Some((hash, Instant::now() + RETRY_NETWORK)),
        }
        Ok(())
    }

    /// The file of a network, `None` while it is on its way; tells the run of one that came damaged.
    fn require(
        &mut self,
        hash: &str,
        purpose: Purpose,
    ) -> Result<Result<Option<PathBuf>, Unusable>, FleetError> {
        let Some(upstream) = &mut self.upstream else { return Ok(Ok(None)) };
        let answer = self.supply.require(hash, purpose, &mut **upstream);
        for (network, why) in self.supply.complaints() {
            match upstream.report_damaged(&self.hello.name, &network, &why) {
                Ok(()) => {}
                // Not worth more than a line: the worker plays on.
                Err(UpstreamError::Refused(refusal)) => {
                    tracing::warn!(%network, "the run takes no report of it: {refusal}");
                }
                Err(error) => return Err(error.into()),
            }
        }
        match answer {
            Ok(file) => Ok(Ok(file)),
            Err(Trouble::Run(error)) => Err(error.into()),
            Err(Trouble::Network(error)) => {
                tracing::warn!(network = %hash, "{error}; playing on with the network in use");
                Ok(Err(Unusable))
            }
        }
    }

    /// Ships full batches at once, less after a while.
    fn ship(&mut self) -> Result<(), FleetError> {
        let Some(shipper) = &mut self.shipper else { return Ok(()) };
        let Some(upstream) = &mut self.upstream else { return Ok(()) };
        let now = Instant::now();
        let full = self.spool.waiting() >= tengen_store::MAX_UPLOADS as u64;
        if full || now >= self.ship_at || self.desk.closing().is_some() {
            self.ship_at = now + self.config.ship_every;
            shipper.ship(self.spool, &mut **upstream).map_err(|error| match error {
                ShipError::Upstream(error) => FleetError::Upstream(error),
                ShipError::Outbox(error) => FleetError::Store(error),
            })?;
        }
        if now >= self.tidy_at {
            self.tidy_at = now + TIDY;
            shipper.forget_sent(self.spool, self.config.sent_log)?;
        }
        Ok(())
    }

    /// Hands in a block that is through, keeps one in play alive, asks for the next.
    fn tend_block(&mut self) -> Result<(), FleetError> {
        if !self.config.plays_matches {
            return Ok(());
        }
        let played = self.desk.view().played.clone();
        if let Some((lease, games)) = played {
            self.hand_in(&lease, &games)?;
            self.desk.view().played = None;
            self.beat_at = Instant::now();
        }
        let now = Instant::now();
        if self.desk.closing().is_some() {
            return Ok(());
        }
        self.offer()?;
        if now < self.beat_at {
            return Ok(());
        }
        let pending = self.pending.as_ref().map(|block| block.lease.clone());
        let leased = pending.or_else(|| self.desk.view().leased.clone());
        if let Some(lease) = leased {
            self.beat_at = now + HEARTBEAT;
            if !self.upstream()?.heartbeat(&lease)? {
                tracing::info!(
                    match_id = lease.match_id,
                    block = lease.block,
                    "a block's lease is gone"
                );
                self.pending = None;
                self.desk.change(|view| view.leased = None);
            }
            return Ok(());
        }
        self.beat_at = now + self.config.look_every;
        let name = self.hello.name.clone();
        if let Some(block) = self.upstream()?.lease_block(&name)? {
            self.beat_at = now + HEARTBEAT;
            self.pending = Some(block);
            self.offer()?;
        }
        Ok(())
    }

    fn hand_in(&mut self, lease: &BlockLease, games: &[BlockGame]) -> Result<(), FleetError> {
        match self.upstream()?.finish_block(lease, games) {
            Ok(true) => tracing::info!(
                match_id = lease.match_id,
                block = lease.block,
                games = games.len(),
                "handed in a block of a match"
            ),
            Ok(false) => tracing::info!(
                match_id = lease.match_id,
                block = lease.block,
                "a block came too late; somebody else has it"
            ),
            Err(UpstreamError::Refused(why)) => {
                tracing::warn!(match_id = lease.match_id, block = lease.block, %why, "a block was refused");
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Gives a leased block to the player once both of its networks are here; a block that cannot be
    /// played here goes back.
    fn offer(&mut self) -> Result<(), FleetError> {
        let Some(block) = self.pending.clone() else { return Ok(()) };
        let mut files = Vec::new();
        for hash in [&block.candidate, &block.base] {
            match self.require(hash, Purpose::Match)? {
                Ok(Some(file)) => files.push(file),
                Ok(None) => return Ok(()),
                Err(Unusable) => {
                    self.pending = None;
                    // A lease that nobody plays on would hold the match up until it runs out.
                    self.upstream()?.finish_block(&block.lease, &[])?;
                    self.beat_at = Instant::now() + RETRY_NETWORK;
                    return Ok(());
                }
            }
        }
        let [candidate, base] = <[_; 2]>::try_from(files).unwrap_or_default();
        self.pending = None;
        self.desk.change(|view| {
            view.leased = Some(block.lease.clone());
            view.offer = Some(BlockWork { block, candidate, base });
        });
        Ok(())
    }

    fn failed(&mut self, error: FleetError) {
        match error {
            FleetError::Upstream(UpstreamError::Away(why)) => {
                self.upstream = None;
                // Whoever answers next may be a run restored from a backup, to which this worker is a
                // stranger, and which would refuse its games one by one.
                self.registered = false;
                if let Some(shipper) = &mut self.shipper {
                    shipper.doubt();
                }
                let wait = self.backoff.wait();
                tracing::info!(seconds = wait.as_secs_f64(), "the run is out of reach: {why}");
                self.quiet_until = Instant::now() + wait;
            }
            // A run restored from a backup knows nobody: one more greeting, then it is meant.
            FleetError::Upstream(UpstreamError::Refused(why)) if self.registered => {
                tracing::warn!("the run refuses: {why}; registering again");
                self.registered = false;
                self.quiet_until = Instant::now() + self.backoff.wait();
            }
            // The spool's disk is full: what is there is safe, and room may come.
            FleetError::Store(StoreError::DiskFull) => {
                self.quiet_until = Instant::now() + self.backoff.wait();
            }
            error => {
                self.dead = true;
                self.desk.change(|view| view.fatal = Some(error));
            }
        }
    }

    /// Totals once more, so that the run knows what came of this worker.
    fn say_goodbye(&mut self) {
        let (name, counts) = (self.hello.name.clone(), self.desk.counts());
        if let Some(upstream) = self.upstream.as_mut().filter(|_| self.registered) {
            // Whether it is heard changes nothing.
            let _ = upstream.run_state(&name, counts);
        }
    }
}
