//! Why a file is not a game of Go.

use thiserror::Error;

use super::place::Place;
use crate::RecordError;

/// What was refused in an SGF file, and where.
#[derive(Debug, Error)]
pub enum SgfError {
    /// No `(;` anywhere.
    #[error("no game found: an SGF game begins with \"(;\"")]
    NoGame,
    /// The text breaks the grammar.
    #[error("{at}: {what}")]
    Syntax {
        /// Where the trouble is.
        at: Place,
        /// What was found, and what should have been there.
        what: String,
    },
    /// A game, but not of Go.
    #[error("{at}: not a game of Go: GM[{game}]")]
    NotGo {
        /// Where `GM` stands.
        at: Place,
        /// Its value.
        game: String,
    },
    /// A property whose value makes no sense or is not supported.
    #[error("{at}: {property}[{value}]: {why}")]
    Value {
        /// Where the property stands.
        at: Place,
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
    /// It is more than a game record can hold.
    #[error("{0}")]
    Record(RecordError),
    /// A move is against the rules.
    #[error("{at}: move {number} ({mv}) in node {node}: {source}")]
    Illegal {
        /// Where the move stands.
        at: Place,
        /// The node, counted from 0 in the file's order.
        node: usize,
        /// The move, counted from 1 along its variation.
        number: usize,
        /// Colour and vertex.
        mv: String,
        /// What the rules said.
        source: RecordError,
    },
    /// The stones set up make no position.
    #[error("{at}: node {node}: {source}")]
    Setup {
        /// Where the node's first property stands.
        at: Place,
        /// The node, counted from 0 in the file's order.
        node: usize,
        /// What is wrong.
        source: RecordError,
    },
}

impl SgfError {
    /// Where the trouble stands in the file; its start where the whole game is meant.
    pub fn place(&self) -> Place {
        match self {
            SgfError::NoGame | SgfError::LateSetup(_) | SgfError::Record(_) => Place::START,
            SgfError::Syntax { at, .. }
            | SgfError::NotGo { at, .. }
            | SgfError::Value { at, .. }
            | SgfError::Illegal { at, .. }
            | SgfError::Setup { at, .. } => *at,
        }
    }

    /// The node in question, counted from 0 in the file's order, where a node is.
    pub fn node(&self) -> Option<usize> {
        match self {
            SgfError::Illegal { node, .. } | SgfError::Setup { node, .. } => Some(*node),
            _ => None,
        }
    }

    /// The move in question, counted from 1 along its variation, as colour and vertex.
    pub fn illegal_move(&self) -> Option<(usize, &str)> {
        match self {
            SgfError::Illegal { number, mv, .. } => Some((*number, mv)),
            _ => None,
        }
    }

    /// The message without the place that [`place`](Self::place) gives.
    pub fn message(&self) -> String {
        let text = self.to_string();
        let prefix = format!("{}: ", self.place());
        text.strip_prefix(&prefix).unwrap_or(&text).to_owned()
    }
}
