//! When a search is to end by itself.

use std::time::Duration;

/// The limits of a search; it ends at the first that is met.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// Simulations since the tree got its root: exactly so many are made.
    pub visits: Option<u32>,
    /// Time from the start.
    pub time: Option<Duration>,
}

impl Limits {
    /// None: the search goes on until it is stopped.
    pub fn none() -> Limits {
        Limits::default()
    }

    /// So many simulations.
    pub fn visits(visits: u32) -> Limits {
        Limits { visits: Some(visits), time: None }
    }

    /// So much time.
    pub fn time(time: Duration) -> Limits {
        Limits { visits: None, time: Some(time) }
    }
}
