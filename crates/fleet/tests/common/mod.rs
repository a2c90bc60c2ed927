//! A run that lives in memory and misbehaves on demand, shared by the tests.
#![allow(dead_code, missing_docs, clippy::unwrap_used)]

pub mod forge;
pub mod laws;
pub mod scene;

pub use laws::plan;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tengen_fleet::{Connect, Host, Plan, WorkerConfig};
use tengen_inference::{LeafEvaluator, UniformEvaluator};
use tengen_store::{
    Block, BlockGame, BlockLease, GameId, MAX_UPLOADS, PROTOCOL, RunState, Submitted, Upload,
    Upstream, UpstreamError, WorkerCounts, WorkerHello,
};

/// What goes wrong with one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nobody answers; nothing happens.
    Away,
    /// It happens, and the answer is lost.
    ReplyLost,
}

/// The run itself; every connection shares it.
#[derive(Debug)]
pub struct ModelRun {
    pub state: RunState,
    pub games: BTreeMap<GameId, Upload>,
    pub quarantined: u64,
    pub networks: HashMap<String, Vec<u8>>,
    pub workers: BTreeMap<String, WorkerCounts>,
    pub protocol: u32,
    /// Taken from the front, one a call.
    pub faults: VecDeque<Option<Fault>>,
    /// Counters that the run will not have.
    pub hates: Vec<u64>,
    pub batches: Vec<usize>,
    pub blocks: VecDeque<Block>,
    pub block_games: Vec<(BlockLease, Vec<BlockGame>)>,
    pub heartbeats: u64,
    pub lease_lost: bool,
    /// Games of workers that never registered are refused.
    pub knows_its_workers: bool,
    /// Who found which network damaged.
    pub damaged: Vec<(String, String)>,
}

impl Default for ModelRun {
    fn default() -> Self {
        Self {
            state: laws::run(),
            games: BTreeMap::new(),
            quarantined: 0,
            networks: HashMap::new(),
            workers: BTreeMap::new(),
            protocol: PROTOCOL,
            faults: VecDeque::new(),
            hates: Vec::new(),
            batches: Vec::new(),
            blocks: VecDeque::new(),
            block_games: Vec::new(),
            heartbeats: 0,
            lease_lost: false,
            knows_its_workers: false,
            damaged: Vec::new(),
        }
    }
}

impl ModelRun {
    /// Puts a network in and makes it the best.
    pub fn promote(&mut self, bytes: &[u8]) -> String {
        let hash = blake3::hash(bytes).to_hex().to_string();
        self.networks.insert(hash.clone(), bytes.to_vec());
        self.state.best = Some(hash.clone());
        hash
    }
}

#[derive(Clone, Debug, Default)]
pub struct Model(pub Arc<Mutex<ModelRun>>);

impl Model {
    pub fn run<T>(&self, with: impl FnOnce(&mut ModelRun) -> T) -> T {
        with(&mut self.0.lock().unwrap())
    }

    pub fn connect(&self) -> Connect {
        let model = self.clone();
        Box::new(move || Ok(Box::new(model.clone()) as Box<dyn Upstream>))
    }

    /// Makes a call, or lets it fail as the next fault says.
    fn call<T>(
        &self,
        act: impl FnOnce(&mut ModelRun) -> Result<T, UpstreamError>,
    ) -> Result<T, UpstreamError> {
        let mut run = self.0.lock().unwrap();
        let away = |why: &str| Err(UpstreamError::Away(why.into()));
        match run.faults.pop_front().flatten() {
            None => act(&mut run),
            Some(Fault::Away) => away("no answer"),
            Some(Fault::ReplyLost) => act(&mut run).and_then(|_| away("the answer was lost")),
        }
    }

    /// Waits until `done`, half a minute at most.
    pub fn wait_until(&self, what: &str, done: impl Fn(&ModelRun) -> bool) {
        let begun = std::time::Instant::now();
        while !done(&self.0.lock().unwrap()) {
            assert!(begun.elapsed() < Duration::from_secs(30), "waiting for {what}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Upstream for Model {
    fn register(&mut self, hello: &WorkerHello) -> Result<RunState, UpstreamError> {
        self.call(|run| {
            if hello.protocol != run.protocol {
                let (ours, theirs) = (hello.protocol, run.protocol);
                return Err(UpstreamError::Version { ours, theirs, needed: "9.9".into() });
            }
            run.workers.insert(hello.name.clone(), WorkerCounts::default());
            Ok(run.state.clone())
        })
    }

    fn run_state(&mut self, worker: &str, counts: WorkerCounts) -> Result<RunState, UpstreamError> {
        self.call(|run| match run.workers.get_mut(worker) {
            None => Err(UpstreamError::Refused("who are you?".into())),
            Some(known) => {
                *known = counts;
                Ok(run.state.clone())
            }
        })
    }

    fn submit(&mut self, uploads: &[Upload]) -> Result<Submitted, UpstreamError> {
        assert!(uploads.len() <= MAX_UPLOADS);
        self.call(|run| {
            if uploads.iter().any(|upload| run.hates.contains(&upload.counter)) {
                return Err(UpstreamError::Refused("not that one".into()));
            }
            if run.knows_its_workers && !run.workers.contains_key(&uploads[0].worker) {
                return Err(UpstreamError::Refused("who are you?".into()));
            }
            run.batches.push(uploads.len());
            let mut submitted = Submitted::default();
            for upload in uploads {
                assert_eq!(upload.payload_hash, *blake3::hash(&upload.payload).as_bytes());
                match run.games.get(&upload.id) {
                    None => {
                        run.games.insert(upload.id, upload.clone());
                        submitted.accepted += 1;
                    }
                    Some(known) if known.payload == upload.payload => submitted.already_there += 1,
                    Some(_) => {
                        submitted.quarantined += 1;
                        run.quarantined += 1;
                    }
                }
            }
            Ok(submitted)
        })
    }

    fn network(&mut self, hash: &str) -> Result<Vec<u8>, UpstreamError> {
        self.call(|run| {
            run.networks.get(hash).cloned().ok_or(UpstreamError::Refused("no such network".into()))
        })
    }

    fn report_damaged(
        &mut self,
        worker: &str,
        network: &str,
        _why: &str,
    ) -> Result<(), UpstreamError> {
        self.call(|run| {
            run.damaged.push((worker.to_owned(), network.to_owned()));
            Ok(())
        })
    }

    fn lease_block(&mut self, worker: &str) -> Result<Option<Block>, UpstreamError> {
        self.call(|run| {
            let mut block = run.blocks.pop_front();
            if let Some(block) = &mut block {
                block.lease.worker = worker.to_owned();
            }
            Ok(block)
        })
    }

    fn heartbeat(&mut self, _lease: &BlockLease) -> Result<bool, UpstreamError> {
        self.call(|run| {
            run.heartbeats += 1;
            Ok(!run.lease_lost)
        })
    }

    fn finish_block(
        &mut self,
        lease: &BlockLease,
        games: &[BlockGame],
    ) -> Result<bool, UpstreamError> {
        self.call(|run| {
            run.block_games.push((lease.clone(), games.to_vec()));
            Ok(true)
        })
    }
}

/// Plays with the uniform evaluator whatever the network's file says, but looks at it.
#[derive(Debug, Default)]
pub struct TestHost {
    /// Every file asked for, with what it held.
    pub loaded: Mutex<Vec<Vec<u8>>>,
}

impl Host for TestHost {
    fn plan(&self, _run: &RunState) -> Result<Plan, String> {
        Ok(plan())
    }

    fn evaluators(
        &self,
        network: &Path,
        count: usize,
    ) -> Result<Vec<Box<dyn LeafEvaluator>>, String> {
        let bytes = std::fs::read(network).map_err(|error| error.to_string())?;
        if bytes == b"unknown format" {
            return Err("a network of another release".into());
        }
        self.loaded.lock().unwrap().push(bytes);
        Ok((0..count).map(|_| Box::new(UniformEvaluator) as _).collect())
    }
}

/// Short times.
pub fn config(spool: &Path) -> WorkerConfig {
    WorkerConfig {
        look_every: Duration::from_millis(20),
        ship_every: Duration::from_millis(20),
        turn: Duration::from_millis(2),
        drain: Duration::from_millis(200),
        rest: Duration::from_secs(5),
        spread_downloads: false,
        ..WorkerConfig::new(spool, "box")
    }
}
