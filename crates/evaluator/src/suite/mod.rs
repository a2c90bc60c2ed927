//! Positions whose answers are known, to hold a network against.

mod board;
mod ladder;
mod problem;
mod solver;

pub use board::{SMALL_BOARDS, SmallBoard, play_out};
pub use ladder::ladder_moves;
pub use problem::{PROBLEMS, Problem, ProblemKind};
pub use solver::{SolverError, winning_moves};
