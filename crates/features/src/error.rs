//! Why a game cannot become samples.

/// What this crate refuses, with the values that made it refuse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FeatureError {
    /// The record cannot be replayed up to the position asked for.
    #[error("cannot replay the game up to turn {turn}: {reason}")]
    Replay {
        /// Index of the turn, from 0.
        turn: usize,
        /// What the rules or the record said.
        reason: String,
    },
    /// The record has fewer training targets than asked for.
    #[error("no target {index}: the game holds {targets} target positions")]
    NoSuchTarget {
        /// Index among the targets, from 0.
        index: usize,
        /// How many targets the record holds.
        targets: usize,
    },
    /// A stored search policy sums to nothing or points off the board.
    #[error("turn {turn}: search policy {problem}")]
    Policy {
        /// Index of the turn, from 0.
        turn: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// The symmetry would turn a rectangle into another shape.
    #[error("symmetry {symmetry} does not map a {width}×{height} board onto itself")]
    Symmetry {
        /// Index of the symmetry, 0 to 7.
        symmetry: usize,
        /// Columns of the board.
        width: usize,
        /// Rows of the board.
        height: usize,
    },
}
