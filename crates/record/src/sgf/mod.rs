//! SGF, the file format people exchange games in (version 4, and what older programs wrote).
//!
//! Reading has three layers, each usable alone: [`parse_trees`] turns bytes into [`SgfTree`]s that
//! keep every property, [`SgfGame`] reads the main line of one as a game of Go, and
//! [`SgfGame::to_record`] replays it under the rules. [`SgfSummary`] has a game's facts for
//! printing, [`check_tree`] replays every variation. A collection is read game by game: a broken
//! one is an error in its place and does not hide its neighbours. Every error has a line and a
//! column.
//!
//! What is lenient and what is refused (`docs/sgf.md` has the whole list):
//! * text is decoded by its byte-order mark, each game's `CA` property, or by detection;
//! * junk between games is skipped, junk between properties is an error with its place;
//! * `tt` is a pass on boards up to 19×19, and a point on larger ones;
//! * a komi of 100 or more is a server's hundredths and is converted, with a note; one that is no
//!   number is not used, with a note;
//! * the handicap is the stones of `AB`; a different `HA` is only noted;
//! * two moves of one colour in a row mean a pass in between;
//! * boards over 25×25 are read as trees and summaries, not as games;
//! * stones set up after the first move are played through by [`SgfGame::position`] and
//!   [`check_tree`]; a game record can't hold them, so [`SgfGame::to_record`] refuses.

mod actions;
mod check;
mod error;
mod game;
mod import;
mod parse;
mod place;
mod position;
mod result;
mod root;
mod summary;
mod text;
mod tree;
mod value;
mod write;

pub use check::{TreeCheck, check_tree};
pub use error::SgfError;
pub use game::{Edit, Origin, SgfGame, parse_collection};
pub use parse::{for_each_tree, parse_trees};
pub use place::Place;
pub use position::Position;
pub use result::{Margin, SgfResult, Winner};
pub use summary::{EditFact, IllegalFact, MarginFact, SgfSummary, Sides, Texts};
pub use tree::{Property, SgfNode, SgfTree};
pub use write::to_sgf;
