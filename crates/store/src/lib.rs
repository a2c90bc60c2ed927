//! A run's memory: games, networks, matches and promotions, in one SQLite file or in one schema of a
//! PostgreSQL database.
//!
//! Self-play, the trainer and the gate meet only here, in one process or in several.
//! The promises they lean on:
//!
//! - **A game counts once.** Its [`GameId`] follows from run, worker and counter, so
//!   storing it again after a crash is success and changes nothing.
//! - **The cursor cannot skip.** [`Store::append_games`] hands out 1, 2, 3, … inside the
//!   inserting transaction; a reader that goes on after its last number sees every game
//!   once and in order ([`Store::games_in`]).
//! - **A verdict and its promotion are one.** [`Store::conclude`] writes both or neither,
//!   and only if the best network is still the one that was played against.
//! - **What is acknowledged is on the disk.** Every commit is synced; whatever instruction
//!   a process or a server dies at, the store holds whole transactions.
//! - **Imported games stay apart.** Games from files have tables and numbers of their own: no
//!   window, cursor or count of self-play can come upon one ([`Store::imported_games`]).
//! - **Nothing unchecked enters.** Every game is replayed under its own rules first, and
//!   carries a hash that is checked whenever it is read.
//!
//! A worker of a fleet sees a run through [`Upstream`] alone: it hands in games, which wait in an inbox
//! until a trusted process has replayed them ([`Store::settle_uploads`]), fetches networks and plays
//! blocks of matches. With a login of its own it does so through `WorkerClient` (feature `postgres`).
//!
//! Why SQLite, and who owns what: `docs/adr/0003-sqlite-ownership.md`. Why PostgreSQL, and how one text of
//! SQL serves both: `docs/adr/0007-postgresql.md`. The tables are in
//! `migrations/`, told of in `docs/file-formats.md`. The store knows no tensors: a network
//! is a file with a hash.
//!
//! ```
//! # fn main() -> Result<(), tengen_store::StoreError> {
//! # let folder = tempfile::tempdir().expect("a temporary folder");
//! use tengen_store::{NewRun, Store};
//! let mut store = Store::open(&folder.path().join("tengen.db"))?;
//! let run = store.init_run(&NewRun {
//!     name: "first".into(),
//!     config_text: String::new(),
//!     config_digest: "0".into(),
//!     seed: 1,
//! })?;
//! assert_eq!((run.last_seq, store.counts()?.games), (0, 0));
//! # Ok(())
//! # }
//! ```

mod blocks;
mod carry;
mod copies;
mod damaged;
mod db;
mod error;
mod fsck;
mod games;
mod id;
mod imports;
mod inbox;
mod journal;
mod leases;
mod matches;
mod networks;
mod open;
mod outbox;
mod promotion;
#[cfg(feature = "postgres")]
mod roles;
mod run;
mod schema;
#[cfg(feature = "test-server")]
pub mod testing;
mod upstream;
mod upstream_store;
mod weights;
mod withdrawn;
#[cfg(feature = "postgres")]
mod worker_client;
mod workers;

pub use blocks::{BlockRow, WaitingMatchGame};
pub use carry::Carried;
pub use damaged::DamageReport;
pub use db::Engine;
pub use error::StoreError;
pub use fsck::FsckReport;
pub use games::{Appended, Counts, NewGame, StoredGame};
pub use id::{GameId, GameIdError};
pub use imports::{FileHash, ImportBatch, ImportCounts, ImportGame, ImportProgress, ImportedGame};
pub use inbox::{Objection, QuarantinedGame, Settled, WaitingUpload};
pub use journal::{EventRow, MetricRow};
pub use leases::Lease;
pub use matches::{MatchGameRow, MatchRow, NewMatch};
pub use networks::{Elo, NetworkRow, NetworkStatus, NewNetwork};
pub use open::Store;
pub use outbox::{Outbox, OutboxCounts, OutboxGame};
pub use promotion::{Conclusion, PromotionRow, Rollback};
#[cfg(feature = "postgres")]
pub use roles::fleet_roles_sql;
pub use run::{NewRun, RunRow};
pub use schema::SCHEMA_VERSION;
pub use upstream::{
    BLOCK_PAIRS, Block, BlockGame, BlockLease, MAX_GAME_BYTES, MAX_UPLOAD_BYTES, MAX_UPLOADS,
    PROTOCOL, RunMode, RunState, SharedUpstream, Submitted, Upload, Upstream, UpstreamError,
    WorkerCounts, WorkerHello,
};
pub use weights::MAX_NETWORK_BYTES;
#[cfg(feature = "postgres")]
pub use worker_client::WorkerClient;
pub use workers::{WorkerRow, WorkerState};
