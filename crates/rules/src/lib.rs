//! The game of Go: the one definition of legality, of "over" and of the score.
//!
//! A [`GameState`] is a position with its history. [`GameState::check`] owns legality and
//! [`GameState::play`] is the only way to move; both give the same answer. Scores are whole
//! half points ([`Komi`], [`Outcome`]); the only float is [`Value`], made by
//! [`Outcome::value_for`] and always seen by the player to move.
//!
//! ```
//! use tengen_rules::{BoardSize, GameState, Komi, Rules};
//! let size = BoardSize::square(9)?;
//! let mut game = GameState::new(size, Rules::tromp_taylor(), Komi::from_half_points(15)?);
//! game.play(size.parse_vertex("E5")?)?;
//! assert_eq!(game.legal_moves().count(), 80 + 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A finished position is counted under any rules by [`score_position`]; [`propose_dead`] and
//! [`toggle_dead`] say which stones are dead, [`Playouts`] plays random games to the end. What each
//! rule set means, and where sources differ, stands in `docs/rules.md`.
//!
//! Inside, from the ground up: points and sizes (`size`), chains with pseudo-liberties (`board`),
//! the last eight boards as bitboards (`history`), the game (`state`, `legality`, `ending`,
//! `setup`), its hashes (`situation`), rules as text (`rule_names`, `rule_text`, `kata_rules`),
//! counting (`area`, `seki`, `score`), Benson's pass-alive chains (`pass_alive`, `dead`, `settled`), ladders (`ladder`) and the
//! eight symmetries (`symmetry`).

mod area;
mod board;
mod color;
mod dead;
mod ending;
mod geometry;
mod handicap;
mod history;
mod kata_rules;
mod komi;
mod ladder;
mod legality;
mod mask;
mod outcome;
mod pass_alive;
mod perft;
mod playout;
mod rule_names;
mod rule_set;
mod rule_text;
mod score;
mod seki;
mod settled;
mod setup;
mod situation;
mod size;
mod state;
mod symmetry;
mod text;
mod value;
mod vertex;
mod zobrist;

pub use color::Color;
pub use dead::{propose_dead, propose_dead_with, toggle_dead};
pub use handicap::{
    HandicapError, check_handicap, fixed_handicap, fixed_handicap_limit, free_handicap,
};
pub use history::HISTORY;
pub use komi::{Komi, KomiError};
pub use ladder::LadderReader;
pub use legality::IllegalMove;
pub use mask::LegalMask;
pub use outcome::Outcome;
pub use pass_alive::{mark_pass_alive, pass_alive};
pub use perft::perft;
pub use playout::{Playout, Playouts};
pub use rule_set::{HandicapBonus, KoRule, Rules, RulesError, Scoring, Tax};
pub use score::{ScoreSheet, score_position};
pub use setup::SetupError;
pub use size::{BoardSize, Move, Point, SizeError};
pub use state::GameState;
pub use symmetry::Symmetry;
pub use value::Value;
pub use vertex::VertexError;
