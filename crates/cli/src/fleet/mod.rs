//! Commands of a fleet: workers, and what cares for what they hand in. How to run one:
//! `docs/fleet.md`.

mod exposition;
pub mod janitor;
pub mod metrics;
pub mod operations;
pub mod place;
pub mod reach;
pub mod serve;
pub mod worker;
