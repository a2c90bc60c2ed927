//! What changes in the course of a run.

use std::sync::Arc;

use crate::StartPosition;

/// What the run has come to by now, as far as new games depend on it. Games in flight keep the
/// conditions that they began under.
#[derive(Debug, Clone, Default)]
pub struct Conditions {
    /// Games of the run so far, for the growth of visits.
    pub games: u64,
    /// The search value at or below which a side resigns; `None`: nobody does.
    pub resign_below: Option<f32>,
    /// Positions to begin from.
    pub starts: Arc<[StartPosition]>,
    /// Games to fork.
    pub forks: Arc<[StartPosition]>,
}
