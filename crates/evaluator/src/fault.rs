//! What a foreign program can do wrong.

use std::time::Duration;

use thiserror::Error;

/// Why a game with a GTP program has no result, or why the program cannot play at all.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProgramFault {
    /// It could not be started.
    #[error("cannot start {command:?}: {reason}")]
    Start {
        /// The command line.
        command: String,
        /// What the system said.
        reason: String,
    },
    /// It ended, or closed its output, in the middle of a conversation.
    #[error("{command:?} ended at {line:?}")]
    Crashed {
        /// The command line.
        command: String,
        /// The GTP line without an answer.
        line: String,
    },
    /// It did not answer in time and was ended.
    #[error("{command:?} did not answer {line:?} within {seconds} s", seconds = .limit.as_secs_f32())]
    Timeout {
        /// The command line.
        command: String,
        /// The GTP line without an answer.
        line: String,
        /// The limit.
        limit: Duration,
    },
    /// It answered with an error, or with something that is no answer.
    #[error("{command:?} answered {line:?} with {answer:?}")]
    Refused {
        /// The command line.
        command: String,
        /// The GTP line.
        line: String,
        /// Its answer.
        answer: String,
    },
    /// It would play another game than the one agreed on.
    #[error("{command:?} has {what} {found}, not {wanted}")]
    Setting {
        /// The command line.
        command: String,
        /// Board size, komi or rules.
        what: &'static str,
        /// The program's.
        found: String,
        /// The match's.
        wanted: String,
    },
    /// It played a move that the rules of the match forbid.
    #[error("{command:?} played {vertex} at move {number}: {reason}")]
    IllegalMove {
        /// The command line.
        command: String,
        /// The move.
        vertex: String,
        /// Its number in the game, from 1.
        number: usize,
        /// The rule it breaks.
        reason: String,
    },
    /// Both passed, and the program counts another winner than the referee.
    #[error("{command:?} scores the final board {found}, the referee {wanted}")]
    Disputed {
        /// The command line.
        command: String,
        /// The program's result.
        found: String,
        /// The referee's.
        wanted: String,
    },
}
