//! Matches between networks, the gate's verdict on them, and ratings.
//!
//! A match is a list of *pairs*: both games of a pair begin with the same opening, and the candidate
//! plays Black in one and White in the other, so neither colours nor openings favour anyone.
//! [`MatchRunner`] plays the slots of a match, many games side by side; results come back as they
//! finish. [`tally_prefix`] reads only the complete pairs at the front of the list, so that quick
//! games do not vote before slow ones, and [`decide`] is a pure function of that tally.
//!
//! | part | owns |
//! |---|---|
//! | `config` | the `[gate]` section |
//! | `tally`, `gate` | counting and the verdict |
//! | `sprt`, `elo`, `ratings` | the statistics: likelihood ratios, Elo with intervals, Bradley–Terry |
//! | `opening`, `game`, `runner` | playing: openings, one game's state machine, the batched loop |

mod config;
mod elo;
mod game;
mod gate;
mod linear;
mod opening;
mod ratings;
mod runner;
mod sprt;
mod tally;

pub use config::{GateConfig, GateMode};
pub use elo::{MAX_ELO, elo_of_score, elo_with_interval, likelihood_of_superiority, score_of_elo};
pub use gate::{Verdict, decide};
pub use ratings::{Pairing, Rating, ratings};
pub use runner::{MatchReport, MatchRunner, Slot};
pub use sprt::{llr_bayeselo, llr_logistic, sprt_bounds};
pub use tally::{SlotResult, Tally, tally_all, tally_prefix};
