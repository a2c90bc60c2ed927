//! A fleet: workers on many machines that play for one run, which may be far away.
//!
//! A worker asks five things of its run, all through [`tengen_store::Upstream`]: how it stands, to
//! take games, for a network, for a block of a match, and to keep that block alive. Everything else it
//! does alone:
//!
//! - **No finished game is lost, none counts twice.** It is synced into the [`Spool`] before anybody
//!   hears of it, leaves only once the run has acknowledged it, and has the same id after any crash
//!   ([`Shipper`]).
//! - **An outage costs nothing but time.** Play goes on with the network at hand; games wait in the
//!   spool, and only when that is full does play pause.
//! - **A network is what its hash says**, or it is not used ([`NetCache`]).
//!
//! | part | owns |
//! |---|---|
//! | `worker`, `table`, `blocks` | the thread that plays: games of self-play, blocks of matches |
//! | `link`, `shipper`, `backoff` | the thread that talks to the run |
//! | `desk` | what the two tell each other |
//! | `spool`, `net_cache` | what lies on the worker's disk |
//! | `supply` | networks on their way there: from a place of blobs (`tengen-blob`), or the run |
//! | `host` | what the program around a worker knows and the fleet does not: configs and tensors |
//! | `check`, `searches`, `janitor` | what a game from elsewhere must show before it counts |
//! | `hand_out`, `complaints` | networks for workers, and what is done about one that came damaged |
//! | `recheck` | searches of some games made again |
//! | `matchmaker` | matches offered, settled and decided |
//! | `idle` | where time goes that is not played |
//!
//! No SQL (the outbox is `tengen-store`'s), no tensors, no config files. How to run a fleet:
//! `docs/fleet.md`.

mod backoff;
mod blocks;
mod check;
mod complaints;
mod desk;
mod error;
mod hand_out;
mod host;
mod idle;
mod janitor;
mod link;
mod matchmaker;
mod net_cache;
mod recheck;
mod searches;
mod shipper;
mod spool;
mod supply;
mod table;
mod worker;

pub use backoff::Backoff;
pub use blocks::play_block;
pub use check::{Checker, MAX_UNPACKED_BYTES, Unsound};
pub use complaints::Complaints;
pub use error::FleetError;
pub use hand_out::HandOut;
pub use host::{Connect, Host, Plan};
pub use idle::Idle;
pub use janitor::{Janitor, Look, Looking, PlanOf, Swept};
pub use matchmaker::{MatchEnd, MatchRound, attend_match};
pub use net_cache::NetCache;
pub use recheck::{Recheck, recheck};
pub use shipper::{ShipError, Shipped, Shipper};
pub use spool::Spool;
pub use supply::OpenBlobs;
pub use table::worker_seed;
pub use tengen_blob::{BlobError, BlobSource, BlobStore, FolderBlobs, verify};
pub use worker::{WorkReport, WorkerConfig, work};
