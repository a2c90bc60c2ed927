//! Positions become planes, games become training samples.
//!
//! A network never sees a [`GameState`](tengen_rules::GameState): it sees what [`encode`] writes,
//! and this crate is the only owner of that translation. Games are stored, planes never, so a
//! feature set may change and old games still train.
//!
//! * [`FeatureSet`] names a layout of inputs and has the table of what each means. `agz-1` is
//!   AlphaGo Zero's (Silver et al. 2017,
//!   "Neural network architecture"): eight boards of own stones, eight of the opponent's, and one
//!   plane for the colour to move.
//! * [`encode`] and [`encode_nhwc`] write the planes of one position under one of the board's
//!   symmetries.
//! * [`Sample`] is one row of a training batch: planes, π, legal mask, z, weight, and the labels
//!   that a game's end and its later searches give ([`GameLabels`]): ownership, score, the
//!   opponent's policy, short-term values. What has a place on the board always moves under the
//!   *same* symmetry, because one function makes all of it.
//!
//! Perspective: own stones are the player to move's, and so is the value.

mod encode;
mod error;
mod go;
mod labels;
mod point_map;
mod sample;
mod set;
mod table;

pub use encode::{encode, encode_globals, encode_nhwc};
pub use error::FeatureError;
pub use labels::{GameLabels, SHORT_TERM_HORIZONS};
pub use point_map::PointMap;
pub use sample::{Sample, sample_at, samples_of};
pub use set::FeatureSet;
pub use table::Input;
