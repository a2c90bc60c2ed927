//! How much anybody may ask for, and how long they may take over it.

use std::time::Duration;

use tengen_store::{MAX_UPLOAD_BYTES, MAX_UPLOADS};

/// Bytes that describe one game of a batch, at most: its numbers, its network's name, its hash.
const GAME_HEAD: usize = 512;

/// Bytes of a body, at most: as much as a call may carry, and what describes it.
pub(crate) const MAX_BODY: usize = MAX_UPLOAD_BYTES + MAX_UPLOADS * GAME_HEAD + 4096;

/// Bytes of a call without games, at most.
pub(crate) const MAX_SMALL_BODY: usize = 16 * 1024;

/// Bytes of an answer that is not a network, at most.
pub(crate) const MAX_ANSWER: usize = 4 * 1024 * 1024;

/// Bytes of a network, at most; a client must stop reading somewhere.
pub(crate) const MAX_NETWORK_ANSWER: usize = 512 * 1024 * 1024;

/// What a server allows.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Connections at once. Default 512.
    pub connections: usize,
    /// Connections at once from one address; `None` behind a proxy, where all come from one. Default 64.
    pub connections_of_one: Option<usize>,
    /// Calls at once; more are told to come later. Default 128.
    pub calls: usize,
    /// Bytes of bodies in memory at once; more are told to come later. Default 128 MB.
    pub body_bytes: usize,
    /// Bytes a second that the holders of one token may hand in, over time. Default 4 MB.
    pub rate: f64,
    /// Bytes that they may hand in at once after a pause; no less than one full batch. Default 64 MB.
    pub burst: f64,
    /// For TLS to be agreed on. Default 10 s.
    pub handshake: Duration,
    /// For the head of a request, from the end of the one before. Default 20 s.
    pub head: Duration,
    /// For the whole body of a request. Default 60 s.
    pub body: Duration,
    /// For the next bytes of an answer to be taken. Default 20 s.
    pub stall: Duration,
    /// For the run to answer a call. Default 30 s.
    pub run: Duration,
    /// When told to stop: for calls that are being answered. Default 10 s.
    pub stop: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 512,
            connections_of_one: Some(64),
            calls: 128,
            body_bytes: 128 << 20,
            rate: 4e6,
            burst: 64e6,
            handshake: Duration::from_secs(10),
            head: Duration::from_secs(20),
            body: Duration::from_secs(60),
            stall: Duration::from_secs(20),
            run: Duration::from_secs(30),
            stop: Duration::from_secs(10),
        }
    }
}
