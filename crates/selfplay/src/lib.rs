//! Self-play: a network plays itself and leaves games behind.
//!
//! Three layers, each a plain use of the one before:
//!
//! 1. [`GameSlot`] is one game as a state machine. It asks for leaves, takes their answers, moves
//!    when its search is spent, and ends as a `GameRecord`. It never waits.
//! 2. [`play_game`] drives one slot to its end: the pure definition of a self-play game. The same
//!    seed and the same evaluations give the same game, bit for bit.
//! 3. [`SelfPlayPool`] drives many slots on each of several threads, one evaluator a thread. At
//!    every step each game gives its leaves to one batch, so a batch is as large as the games in
//!    flight and no game waits for a thread of its own.
//!
//! Game number `k` of a run is seeded by [`game_seed`]`(run_seed, k)` and draws from its own stream
//! alone, so a game does not depend on what plays beside it, on the number of workers or on where
//! a run was interrupted: the pool's game `k` **is** `play_game` of that seed. What does change in
//! the course of a run ([`Conditions`]: how far visits have grown, the resignation threshold, games
//! to fork) is set between calls, and a game keeps what it began under.
//!
//! The switches, and what each is for, stand in `docs/selfplay.md`.
//!
//! No files, no store, no tensors: records are handed to the caller.

pub mod batch;
mod checks;
mod conditions;
mod config;
mod game;
mod one_sided;
mod opening;
mod play;
mod pool;
mod resign;
mod seed;
mod settings;
mod slot;
mod spectator;
mod start;
mod stats;
mod surprise;
mod worker;

pub use conditions::Conditions;
pub use config::SelfPlayConfig;
pub use game::GameDefinition;
pub use play::{play_game, play_under};
pub use pool::SelfPlayPool;
pub use resign::{ResignReport, ResignStudy};
pub use seed::game_seed;
pub use settings::{BoardSpec, GameSettings, OtherGame, RulesConfig, SettingsError};
pub use slot::GameSlot;
pub use spectator::Spectator;
pub use start::{StartError, StartPosition};
pub use stats::PoolStats;
