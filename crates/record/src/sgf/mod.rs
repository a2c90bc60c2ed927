//! SGF, the file format people exchange games in (version 4, and what older programs wrote).
//!
//! Reading has three layers, each usable alone: [`parse_trees`] turns bytes into [`SgfTree`]s that
//! keep every property, [`SgfGame`] reads the main line of one as a game of Go, and
//! [`SgfGame::to_record`] replays it under the rules. A collection is read game by game: a broken
//! one is an error in its place and does not hide its neighbours.
//!
//! What is lenient and what is refused:
//! * text is decoded by its byte-order mark, its `CA` property, or by detection;
//! * junk between games is skipped, junk between properties is an error with its line;
//! * `tt` is a pass on boards up to 19×19, and a point on larger ones;
//! * a komi of 100 or more is a server's hundredths and is converted, with a note;
//! * the handicap is the stones of `AB`; a different `HA` is only noted;
//! * two moves of one colour in a row mean a pass in between;
//! * stones set up after the first move can't be a game record and are refused there.

mod error;
mod game;
mod import;
mod text;
mod tree;
mod write;

pub use error::SgfError;
pub use game::{SgfGame, parse_collection};
pub use tree::{Property, SgfNode, SgfTree, parse_trees};
pub use write::to_sgf;
