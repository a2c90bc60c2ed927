//! Talking to people and programs by the Go Text Protocol, version 2 (draft 2).
//!
//! An [`Engine`] answers one line at a time ([`Engine::handle`]) or a whole stream
//! ([`Engine::run`]). It plays with any [`LeafEvaluator`](tengen_inference::LeafEvaluator) and the
//! search of this house; it knows no network.
//!
//! Where the draft leaves a choice:
//! * error texts are the draft's own where it has them (`illegal move`, `cannot undo`, …);
//! * one colour may move twice in a row: the other passes in between, which never ends the game;
//! * `play` goes on after two passes; `genmove` then answers `pass`;
//! * under area rules without friendly passes (Tromp–Taylor) every stone on the board is alive, as in
//!   self-play; under other rules those are dead that are enclosed by pass-alive chains or that
//!   random games clearly give to the opponent;
//! * White's bonus for handicap stones counts only for the handicap commands, as the rules say;
//! * the thinking time is the visits configured, cut short by the clock where one is set.
//!
//! [`AnalysisEngine`] speaks KataGo's JSON analysis protocol: many positions at once.
//!
//! Inside: a line (`line`), who listens while a command works (`live`), the table (`commands`), the
//! game as GTP has it (`game`), the clock (`clock`, `time`), thinking (`think`, `searcher`), what a search says
//! (`info`, `estimate`, `analyze`), rules as text (`kata_rules`), and the commands by subject.

mod analysis;
mod analyze;
mod clock;
mod commands;
mod engine;
mod error;
mod estimate;
mod files;
mod game;
mod info;
mod inspect;
mod kata_rules;
mod line;
mod live;
mod moves;
mod params;
mod raw_nn;
mod report;
mod searcher;
mod setup;
mod think;
mod time;
mod wanted;

pub use analysis::{AnalysisEngine, AnalysisOptions};
pub use engine::{Engine, EngineInfo};
pub use error::GtpError;
pub use info::Perspective;
