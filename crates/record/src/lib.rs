//! A game as data.
//!
//! A [`GameRecord`] is everything a finished game leaves behind: the rules it was played under, the
//! stones it began with, each move with what the search thought of it, the result, and where it
//! came from (seed, players, configuration). Planes are never stored: features are computed anew
//! from a replay, so a feature set can change and old games still train.
//!
//! * [`GameRecord::replay`] walks the positions, each before its move.
//! * [`GameRecord::validate`] is the gate for anything that comes from elsewhere: it replays every
//!   move under the rules, checks every number and recomputes the score. A [`SoundRecord`] has
//!   passed it.
//! * [`encode`] and [`decode`] are the stored form: versioned, checksummed, compressed.
//! * [`sgf`] reads and writes the files people exchange.

mod codec;
mod error;
mod record;
mod replay;
pub mod sgf;
mod validate;

pub use codec::{FORMAT_VERSION, MAX_INFLATED_BYTES, decode, encode};
pub use error::{CodecError, RecordError};
pub use record::{EndReason, GameRecord, SearchRecord, Turn};
pub use replay::Replay;
pub use validate::{MAX_TEXT_BYTES, MAX_TURNS, SoundRecord};
