//! What is said, as JSON: one struct for each question and answer of [`tengen_store::Upstream`].
//!
//! Fields may be added in later releases; readers take no notice of those they don't know.

use serde::{Deserialize, Serialize};
use tengen_store::{
    Block, BlockLease, RunMode, RunState, Submitted, UpstreamError, WorkerCounts, WorkerHello,
};

/// `POST /v1/register`.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Hello {
    pub name: String,
    pub host: String,
    pub device: String,
    pub version: String,
    pub protocol: u32,
}

impl From<&WorkerHello> for Hello {
    fn from(hello: &WorkerHello) -> Self {
        let WorkerHello { name, host, device, version, protocol } = hello.clone();
        Self { name, host, device, version, protocol }
    }
}

impl From<Hello> for WorkerHello {
    fn from(hello: Hello) -> Self {
        let Hello { name, host, device, version, protocol } = hello;
        Self { name, host, device, version, protocol }
    }
}

/// `POST /v1/state`.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ask {
    pub worker: String,
    pub games: u64,
    pub evals: u64,
}

impl Ask {
    pub fn counts(&self) -> WorkerCounts {
        WorkerCounts { games: self.games, evals: self.evals }
    }
}

/// The answer to `register` and `state`.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct State {
    run_uid: String,
    config_text: String,
    config_digest: String,
    seed: u64,
    best: Option<String>,
    mode: String,
    ahead: bool,
}

impl From<RunState> for State {
    fn from(state: RunState) -> Self {
        let RunState { run_uid, config_text, config_digest, seed, best, mode, ahead } = state;
        Self { run_uid, config_text, config_digest, seed, best, mode: mode.to_string(), ahead }
    }
}

impl TryFrom<State> for RunState {
    type Error = UpstreamError;

    fn try_from(state: State) -> Result<Self, UpstreamError> {
        let State { run_uid, config_text, config_digest, seed, best, mode, ahead } = state;
        let mode: RunMode = mode.parse().map_err(UpstreamError::from)?;
        Ok(Self { run_uid, config_text, config_digest, seed, best, mode, ahead })
    }
}

/// The head of `POST /v1/submit`; the payloads follow.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Games {
    pub worker: String,
    pub games: Vec<Game>,
}

/// A game of it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Game {
    /// 32 hexadecimal digits.
    pub id: String,
    pub counter: u64,
    pub network: String,
    /// Length of its payload.
    pub bytes: usize,
    /// BLAKE3 of its payload, 64 hexadecimal digits.
    pub hash: String,
}

/// The answer to `submit`.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Kept {
    accepted: u64,
    already_there: u64,
    quarantined: u64,
}

impl From<Submitted> for Kept {
    fn from(told: Submitted) -> Self {
        let Submitted { accepted, already_there, quarantined } = told;
        Self { accepted, already_there, quarantined }
    }
}

impl From<Kept> for Submitted {
    fn from(kept: Kept) -> Self {
        let Kept { accepted, already_there, quarantined } = kept;
        Self { accepted, already_there, quarantined }
    }
}

/// `POST /v1/lease`.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Who {
    pub worker: String,
}

/// `POST /v1/damaged`.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Damaged {
    pub worker: String,
    pub network: String,
    pub why: String,
}

/// The answer to `damaged`.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Noted {}

/// `POST /v1/heartbeat`, and part of others.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Lease {
    match_id: i64,
    block: u32,
    worker: String,
    epoch: u64,
}

impl From<&BlockLease> for Lease {
    fn from(lease: &BlockLease) -> Self {
        let BlockLease { match_id, block, worker, epoch } = lease.clone();
        Self { match_id, block, worker, epoch }
    }
}

impl From<Lease> for BlockLease {
    fn from(lease: Lease) -> Self {
        let Lease { match_id, block, worker, epoch } = lease;
        Self { match_id, block, worker, epoch }
    }
}

/// The answer to `lease`.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Leased {
    pub block: Option<LeasedBlock>,
}

/// The block of it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LeasedBlock {
    lease: Lease,
    candidate: String,
    base: String,
    gate_config_json: String,
    first_pair: u32,
    end_pair: u32,
    done: Vec<(u32, u8)>,
    lease_seconds: u32,
}

impl From<Block> for LeasedBlock {
    fn from(block: Block) -> Self {
        let Block { lease, candidate, base, gate_config_json, pairs, done, lease_seconds } = block;
        Self {
            lease: Lease::from(&lease),
            candidate,
            base,
            gate_config_json,
            first_pair: pairs.start,
            end_pair: pairs.end,
            done,
            lease_seconds,
        }
    }
}

impl From<LeasedBlock> for Block {
    fn from(block: LeasedBlock) -> Self {
        Self {
            lease: block.lease.into(),
            candidate: block.candidate,
            base: block.base,
            gate_config_json: block.gate_config_json,
            pairs: block.first_pair..block.end_pair,
            done: block.done,
            lease_seconds: block.lease_seconds,
        }
    }
}

/// The head of `POST /v1/finish`; the payloads follow.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Slots {
    pub lease: Lease,
    pub games: Vec<Slot>,
}

/// A game of it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Slot {
    pub pair: u32,
    pub colour: u8,
    /// Length of its payload.
    pub bytes: usize,
    /// BLAKE3 of its payload, 64 hexadecimal digits.
    pub hash: String,
}

/// The answer to `heartbeat` and `finish`: whether the lease still holds.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Held {
    pub held: bool,
}

/// Every answer that is no success.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Failure {
    /// `refused`, `blocked`, `version`, `away`.
    pub error: String,
    /// For people.
    pub reason: String,
    /// Of `blocked`: the worker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// Of `version`: the run's protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theirs: Option<u32>,
    /// Of `version`: the program that speaks it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needed: Option<String>,
}

impl Failure {
    pub fn new(error: &str, reason: String) -> Self {
        Self { error: error.to_owned(), reason, worker: None, theirs: None, needed: None }
    }
}
