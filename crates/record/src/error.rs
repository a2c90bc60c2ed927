//! What this crate refuses, named for what refused it.

use tengen_rules::{IllegalMove, SetupError};
use thiserror::Error;

/// Why a record is not a game that could have been played as it says.
#[derive(Debug, Error)]
pub enum RecordError {
    /// The stones before the first move make no position.
    #[error("setup: {0}")]
    Setup(#[from] SetupError),
    /// A turn's move is against the rules of the record.
    #[error("turn {turn}: {source}")]
    Illegal {
        /// The turn, counted from 0.
        turn: usize,
        /// What the rules said.
        source: IllegalMove,
    },
    /// A search's numbers can't be right.
    #[error("turn {turn}: {what}")]
    Search {
        /// The turn, counted from 0.
        turn: usize,
        /// What is wrong, with the value.
        what: String,
    },
    /// A part is larger than any honest game needs.
    #[error("{what}: {got} is more than the limit of {limit}")]
    TooLarge {
        /// Which part.
        what: &'static str,
        /// Its size.
        got: usize,
        /// The most that is accepted.
        limit: usize,
    },
    /// The stated end or result is not what the moves lead to.
    #[error("result: the record says {stated} by {end}, {finding}")]
    Result {
        /// The result stated, in SGF's words.
        stated: String,
        /// The end stated.
        end: &'static str,
        /// What the replay found instead.
        finding: String,
    },
}

/// Why bytes are not an encoded record.
#[derive(Debug, Error)]
pub enum CodecError {
    /// Shorter than the header.
    #[error("a game record of {got} bytes is shorter than its header of {header}")]
    Truncated {
        /// Bytes given.
        got: usize,
        /// Bytes in a header.
        header: usize,
    },
    /// The first bytes are not a record's.
    #[error("not a game record: it begins with {0:02x?}")]
    Magic([u8; 4]),
    /// Written by a version this one can't read.
    #[error("game record format {got} is unknown; this build reads up to {known}")]
    Version {
        /// The version stated.
        got: u8,
        /// The newest version known.
        known: u8,
    },
    /// The checksum does not fit the bytes.
    #[error("damaged game record: checksum {got:08x}, expected {expected:08x}")]
    Checksum {
        /// Computed from the bytes.
        got: u32,
        /// Stated in the header.
        expected: u32,
    },
    /// It would inflate beyond the cap, or says so.
    #[error("game record claims {got} bytes, more than the limit of {limit}")]
    TooLarge {
        /// Bytes claimed.
        got: usize,
        /// The most that is accepted.
        limit: usize,
    },
    /// The checksum fits but the content does not decode.
    #[error("malformed game record: {0}")]
    Malformed(String),
}
