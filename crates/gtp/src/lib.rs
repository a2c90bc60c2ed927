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
//! * scores are by area with every stone on the board alive, as in Tromp–Taylor and self-play: the
//!   engine plays on until dead stones are gone, so `final_status_list dead` is empty;
//! * White's bonus for handicap stones counts only for the handicap commands, as the rules say;
//! * the thinking time is the visits configured, cut short by the clock where one is set.
//!
//! Inside: a line (`line`), the game as GTP has it (`game`), the clock (`clock`), handicap points
//! (`handicap`), KataGo's way of writing rules (`kata_rules`), and the commands by subject.

mod analysis;
mod analyze;
mod clock;
mod commands;
mod engine;
mod error;
mod estimate;
mod files;
mod game;
mod handicap;
mod info;
mod inspect;
mod kata_rules;
mod line;
mod live;
mod moves;
mod params;
mod raw_nn;
mod report;
mod setup;
mod think;
mod time;
mod wanted;

pub use analysis::{AnalysisEngine, AnalysisOptions};
pub use engine::{Engine, EngineInfo};
pub use error::GtpError;
pub use info::Perspective;
