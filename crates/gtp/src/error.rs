//! What an engine answers behind the question mark.

use tengen_analysis::AnalysisError;
use tengen_inference::EvalError;
use tengen_rules::VertexError;
use thiserror::Error;

/// A refused command. The texts are the draft's where it fixes them.
#[derive(Debug, Error)]
pub enum GtpError {
    /// No such command.
    #[error("unknown command")]
    UnknownCommand,
    /// Arguments missing, too many or not of their type.
    #[error("syntax error")]
    Syntax,
    /// Not a colour.
    #[error("invalid color {0:?}")]
    Color(String),
    /// Not a point of the board.
    #[error("invalid vertex: {0}")]
    Vertex(#[from] VertexError),
    /// A board this engine can't play on.
    #[error("unacceptable size")]
    Size,
    /// A komi no game can have.
    #[error("unacceptable komi: {0}")]
    Komi(String),
    /// Against the rules; the position is unchanged.
    #[error("illegal move")]
    IllegalMove,
    /// No move to take back.
    #[error("cannot undo")]
    Undo,
    /// Handicap stones on a board with stones.
    #[error("board not empty")]
    BoardNotEmpty,
    /// More or fewer handicap stones than the board has places for.
    #[error("invalid number of stones")]
    StoneCount,
    /// Handicap stones that repeat, pass, or fill the board.
    #[error("bad vertex list")]
    VertexList,
    /// A file that can't be read or is no game.
    #[error("cannot load file")]
    Load,
    /// A file's game that the rules refuse, with the move.
    #[error("cannot load file: {0}")]
    LoadGame(String),
    /// A file that can't be written.
    #[error("cannot save file: {0}")]
    Save(String),
    /// Rules that score in a way not available.
    #[error("cannot score")]
    Score,
    /// A chain's liberties asked for at an empty point.
    #[error("vertex must not be empty")]
    NoStone,
    /// The last move asked for before the first.
    #[error("no previous move known")]
    NoMove,
    /// A setting that is unknown, or a value it can't have.
    #[error("unknown or invalid parameter: {0}")]
    Param(String),
    /// Understood, but not to be had here; says what.
    #[error("not available: {0}")]
    Unavailable(&'static str),
    /// An evaluator that answers nothing.
    #[error("the evaluator gave no answer")]
    NoAnswer,
    /// Rules unknown or unavailable.
    #[error("unacceptable rules: {0}")]
    Rules(String),
    /// The evaluator failed; the position is unchanged.
    #[error("cannot evaluate: {0}")]
    Evaluate(#[from] EvalError),
    /// The threads of the search failed; the position is unchanged.
    #[error("cannot search: {0}")]
    Search(#[from] AnalysisError),
}
