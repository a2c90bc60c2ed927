//! Why a file is not a game of Go.

use thiserror::Error;

use crate::RecordError;

/// What was refused in an SGF file, and where.
#[derive(Debug, Error)]
pub enum SgfError {
    /// No `(;` anywhere.
    #[error("no game found: an SGF game begins with \"(;\"")]
    NoGame,
    /// The text breaks the grammar.
    #[error("line {line}: {what}")]
    Syntax {
        /// The line, counted from 1.
        line: usize,
        /// What was found, and what should have been there.
        what: String,
    },
    /// A game, but not of Go.
    #[error("not a game of Go: GM[{0}]")]
    NotGo(String),
    /// A property whose value makes no sense or is not supported.
    #[error("{property}[{value}]: {why}")]
    Value {
        /// The property.
        property: String,
        /// Its value as written.
        value: String,
        /// What is wrong with it.
        why: String,
    },
    /// Stones are set up in the middle of the game.
    #[error("stones are set up after move {0}, which a game record can't hold")]
    LateSetup(usize),
    /// The game is against the rules.
    #[error("move {number} ({mv}): {source}")]
    Illegal {
        /// The move, counted from 1 as in the file.
        number: usize,
        /// Colour and vertex.
        mv: String,
        /// What the rules said.
        source: RecordError,
    },
    /// The position before the first move is impossible.
    #[error(transparent)]
    Setup(#[from] RecordError),
}
