//! Matches between networks, the gate's verdict on them, and ratings.
//!
//! A match is a list of *pairs*: both games of a pair begin with the same opening, and the candidate
//! plays Black in one and White in the other, so neither colours nor openings favour anyone.
//! [`MatchRunner`] plays the slots of a match, many games side by side; results come back as they
//! finish. [`tally_games`] reads only the complete pairs at the front of the list, so that quick
//! games do not vote before slow ones, and [`decide`] is a pure function of that tally.
//! [`simulate_gate`] measures what a gate's settings cost and let through.
//!
//! | part | owns |
//! |---|---|
//! | `config` | the `[gate]` section |
//! | `advice` | what to look at when a gate lets nothing through |
//! | `tally`, `gate` | counting and the verdict |
//! | `sprt`, `likelihood`, `elo` | likelihood ratios of three models, Elo with intervals |
//! | `simulate` | error rates of a gate by simulation |
//! | `ratings`, `linear` | Bradley–Terry over many players |
//! | `opening`, `book` | openings drawn from policies, or read from a file |
//! | `game`, `runner` | matches of networks: one game's state machine, the batched loop |
//! | `program`, `fault`, `duel` | games with GTP programs, under a referee of our own |
//! | `suite` | small boards and tactical positions with known answers, and their solver |
//! | `sanity` | what a network must show before it plays at all |

mod advice;
mod book;
mod config;
mod duel;
mod elo;
mod fault;
mod game;
mod gate;
mod likelihood;
mod linear;
mod opening;
mod program;
mod ratings;
mod runner;
mod sanity;
mod simulate;
mod sprt;
mod suite;
mod tally;
mod words;

pub use advice::{REJECTIONS_WORTH_A_WORD, advice};
pub use book::{BookError, parse_openings};
pub use config::{GateConfig, GateMode};
pub use duel::{Duel, DuelPlan, Seat, duel};
pub use elo::{
    MAX_ELO, elo_of_pairs, elo_of_score, elo_with_interval, likelihood_of_superiority, score_of_elo,
};
pub use fault::ProgramFault;
pub use gate::{Verdict, decide};
pub use opening::{draw_openings, match_seed};
pub use program::{Program, Reply};
pub use ratings::{Fit, Pairing, Rating, Results, fit, ratings};
pub use runner::{MatchReport, MatchRunner, Slot};
pub use sanity::{SanityError, SanityReport, check_sanity};
pub use simulate::{GateRates, simulate_gate};
pub use sprt::{Counts, SprtModel, llr, sprt_bounds};
pub use suite::{
    PROBLEMS, Problem, ProblemKind, SMALL_BOARDS, SmallBoard, SolverError, ladder_moves, play_out,
    winning_moves,
};
pub use tally::{
    GameResult, PlayedGame, SlotResult, Tally, moves_digest, tally_all, tally_every, tally_games,
    tally_prefix,
};
