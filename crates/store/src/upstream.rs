//! What a worker of a fleet may ask of the run it works for, and nothing else.
//!
//! [`Upstream`] is the whole conversation: say who you are, see how the run stands, hand in games,
//! fetch a network, play a block of a match. Each call is one short transaction and safe to repeat,
//! so a worker that lost the answer asks again. What is handed in is *kept*, not believed: it lies
//! in an inbox until a trusted process has replayed it.
//!
//! No call remembers the one before; a reconnect needs no greeting.

use std::ops::Range;

use thiserror::Error;

use crate::GameId;

/// Version of this conversation. A worker with another one is turned away when it registers.
pub const PROTOCOL: u32 = 1;

/// Bytes of one uploaded game, at most. A game of 19×19 with 722 moves, each a target of 400 visits, has 69 KB.
pub const MAX_GAME_BYTES: usize = 256 * 1024;

/// Bytes of the games of one [`Upstream::submit`] together, at most.
pub const MAX_UPLOAD_BYTES: usize = 16 * 1024 * 1024;

/// Games of one [`Upstream::submit`], at most.
pub const MAX_UPLOADS: usize = 256;

/// Opening pairs of a match that are leased together; a pair is two games.
pub const BLOCK_PAIRS: u32 = 8;

/// Who works, on what, with which program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerHello {
    /// Unique in the run and the same after a restart: it is part of every game's id.
    pub name: String,
    /// The machine's name.
    pub host: String,
    /// What evaluates, such as `cpu` or `cuda:0`.
    pub device: String,
    /// The program's version.
    pub version: String,
    /// Its [`PROTOCOL`].
    pub protocol: u32,
}

/// What a worker has done since it registered: totals, not differences, so a report that is sent
/// twice or lost does no harm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerCounts {
    /// Games finished.
    pub games: u64,
    /// Positions evaluated by a network.
    pub evals: u64,
}

/// Whether a run wants games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RunMode {
    /// Play.
    #[default]
    Running,
    /// Finish what is begun, hand it in, begin nothing; ask again later.
    Paused,
    /// Finish what is begun, hand it in and exit.
    Draining,
}

/// How a run stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunState {
    /// The run's uid, which goes into [`GameId::derive`].
    pub run_uid: String,
    /// The effective configuration, TOML.
    pub config_text: String,
    /// Its digest, which must stand in every game.
    pub config_digest: String,
    /// Where every random stream of the run starts.
    pub seed: u64,
    /// The network that plays: BLAKE3 of its file's bytes, hex. `None`: play with the uniform
    /// evaluator.
    pub best: Option<String>,
    /// Whether the run wants games.
    pub mode: RunMode,
    /// Whether self-play is as far ahead of the trainer as it may be: begin no self-play game until
    /// this is false again. Blocks of matches are welcome all the same.
    pub ahead: bool,
}

/// A finished self-play game on its way to the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    /// [`GameId::derive`]d from the run's uid, `worker` and `counter`.
    pub id: GameId,
    /// Which worker played it; the one that registered.
    pub worker: String,
    /// The game's number at that worker, never used twice.
    pub counter: u64,
    /// Who played: a network's hash, or `uniform`.
    pub network: String,
    /// The game blob of `docs/file-formats.md`; [`MAX_GAME_BYTES`] at most.
    pub payload: Vec<u8>,
    /// BLAKE3 of `payload`.
    pub payload_hash: [u8; 32],
}

/// What became of handed-in games. Each is in exactly one of the counts and need not be sent again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Submitted {
    /// New, and on the run's disk now.
    pub accepted: u64,
    /// Handed in before with the same bytes: success.
    pub already_there: u64,
    /// Handed in before with *other* bytes: the first stays, this one was put aside.
    pub quarantined: u64,
}

/// Proof that a block is leased: `epoch` grows each time it changes hands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockLease {
    /// The match.
    pub match_id: i64,
    /// The block's number in it, from 0.
    pub block: u32,
    /// The worker it is leased to.
    pub worker: String,
    /// The fencing number.
    pub epoch: u64,
}

/// Pairs of a match to be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Show this with the results.
    pub lease: BlockLease,
    /// The network on trial, by hash.
    pub candidate: String,
    /// The network to beat, by hash.
    pub base: String,
    /// The gate's configuration, JSON.
    pub gate_config_json: String,
    /// Opening pairs of the block; their openings follow from the run's seed, the match and the
    /// pair's number, so whoever plays a pair plays the same one.
    pub pairs: Range<u32>,
    /// Slots `(pair, colour)` that have a game already.
    pub done: Vec<(u32, u8)>,
    /// Seconds that the lease lasts without a heartbeat.
    pub lease_seconds: u32,
}

/// A finished game of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockGame {
    /// The opening pair.
    pub pair: u32,
    /// 0 if the candidate is Black, 1 if it is White.
    pub colour: u8,
    /// The game blob; [`MAX_GAME_BYTES`] at most. Who won is read from it.
    pub payload: Vec<u8>,
    /// BLAKE3 of `payload`.
    pub payload_hash: [u8; 32],
}

/// Why a call came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum UpstreamError {
    /// Nobody answers, or the answer was lost: keep everything and ask again later.
    #[error("the run is out of reach: {0}")]
    Away(String),
    /// The request itself is wrong; asking again changes nothing.
    #[error("the run refuses: {0}")]
    Refused(String),
    /// The run wants nothing from this worker any more.
    #[error(
        "worker {0:?} is blocked: too many of its games were unsound; see the run's events for the reasons"
    )]
    Blocked(String),
    /// The run speaks another version of the conversation.
    #[error(
        "the run speaks protocol {theirs} (program version {needed}), this program {ours}; install that version"
    )]
    Version {
        /// This program's [`PROTOCOL`].
        ours: u32,
        /// The run's.
        theirs: u32,
        /// The program version that speaks it.
        needed: String,
    },
}

impl UpstreamError {
    /// Whether the same call may succeed later.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        matches!(self, Self::Away(_))
    }
}

/// Letters of a party's name, at most.
const MAX_PARTY: usize = 64;

/// A connection to the run that several parties use in turn, each for workers of its own: what stands
/// between a run and machines that may not reach it themselves.
pub trait SharedUpstream: Upstream {
    /// From now on calls are made for `party`: 1 to 64 of `A-Z a-z 0-9 . _ -`. A worker's name belongs to
    /// the party that registered it first, and neither to another one nor to a login that speaks for itself.
    ///
    /// # Errors
    /// [`UpstreamError::Refused`] for a name with other letters.
    fn speak_for(&mut self, party: &str) -> Result<(), UpstreamError>;
}

/// Refuses a party's name that could not stand in a log, or in a statement, as it is.
pub(crate) fn check_party(party: &str) -> Result<(), UpstreamError> {
    let sound = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    if (1..=MAX_PARTY).contains(&party.len()) && party.bytes().all(sound) {
        return Ok(());
    }
    let shown: String = party.chars().take(MAX_PARTY).collect();
    Err(UpstreamError::Refused(format!("party {shown:?}: use 1 to 64 of A-Z a-z 0-9 . _ -")))
}

/// The run, as a worker sees it. Every call may be repeated without harm.
pub trait Upstream: Send {
    /// Makes the worker known and returns how the run stands; again after every restart.
    ///
    /// # Errors
    /// [`UpstreamError::Version`], [`UpstreamError::Blocked`], or the name is another login's.
    fn register(&mut self, hello: &WorkerHello) -> Result<RunState, UpstreamError>;

    /// How the run stands; also a sign of life. Ask every few seconds.
    ///
    /// # Errors
    /// [`UpstreamError::Blocked`]; [`UpstreamError::Refused`] for a worker that never registered.
    fn run_state(&mut self, worker: &str, counts: WorkerCounts) -> Result<RunState, UpstreamError>;

    /// Hands in up to [`MAX_UPLOADS`] games in one transaction; when this returns, they are on
    /// the run's disk.
    ///
    /// # Errors
    /// [`UpstreamError::Refused`] for a call over the limits or games of another worker: then none is kept.
    fn submit(&mut self, uploads: &[Upload]) -> Result<Submitted, UpstreamError>;

    /// The bytes of the network file with this hash. *The caller verifies them.*
    ///
    /// # Errors
    /// [`UpstreamError::Refused`] when the run does not keep this network's bytes.
    fn network(&mut self, hash: &str) -> Result<Vec<u8>, UpstreamError>;

    /// Tells the run that a network came damaged, from the run or from wherever it hands networks out.
    ///
    /// # Errors
    /// [`UpstreamError::Refused`] for a network that is not the run's, or from a run of a release before this
    /// call; else as [`Upstream::run_state`].
    fn report_damaged(
        &mut self,
        worker: &str,
        network: &str,
        why: &str,
    ) -> Result<(), UpstreamError>;

    /// Leases a block of an open match, oldest match first; `None` while there is nothing to play.
    ///
    /// # Errors
    /// As [`Upstream::run_state`].
    fn lease_block(&mut self, worker: &str) -> Result<Option<Block>, UpstreamError>;

    /// Extends a block's lease; `false` when it has gone to somebody else or the match has its
    /// verdict: stop playing the block.
    ///
    /// # Errors
    /// As [`Upstream::run_state`].
    fn heartbeat(&mut self, lease: &BlockLease) -> Result<bool, UpstreamError>;

    /// Hands in games of a block and gives the lease back: a slot played twice counts once, and the slots
    /// that are missing are leased to somebody again. `false` when the lease was stale: nothing is kept.
    ///
    /// # Errors
    /// [`UpstreamError::Refused`] for slots outside the block or games over the limit.
    fn finish_block(
        &mut self,
        lease: &BlockLease,
        games: &[BlockGame],
    ) -> Result<bool, UpstreamError>;
}
