//! Opening a store: one connection, set up so that a committed game survives a power cut.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior};

use crate::leases::{self, Lease};
use crate::{StoreError, schema};

/// How long a statement waits for another process's transaction.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Microseconds since 1970 by the database's clock, as SQL: one clock for everybody
/// who shares the store.
pub(crate) const NOW_US: &str = "CAST(unixepoch('subsec') * 1000000 AS INTEGER)";

/// A run's data in one SQLite file. `Send`, not `Sync`: each thread or process opens
/// its own, and SQLite orders their transactions.
#[derive(Debug)]
pub struct Store {
    pub(crate) db: Connection,
    pub(crate) path: PathBuf,
    fence: Option<Lease>,
}

impl Store {
    /// Opens the store at `path`, creating or migrating it where needed.
    ///
    /// # Errors
    /// Refuses what is no database, another program's database, a newer schema, a file
    /// cut short and a disk that cannot do write-ahead logging; changes none of them.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let told = |error: rusqlite::Error| refusal(path, error);
        let mut db = Connection::open(path).map_err(told)?;
        db.busy_timeout(BUSY_TIMEOUT).map_err(told)?;
        // The first read: here SQLite meets garbage and files cut short.
        db.query_row("PRAGMA schema_version", [], |_| Ok(())).map_err(told)?;
        schema::check_owner(&db, path)?;
        let mode = write_ahead(&db)?;
        if mode != "wal" {
            return Err(StoreError::NoWriteAheadLog { path: path.to_owned(), mode });
        }
        // FULL: a commit reaches the disk before it is acknowledged.
        db.pragma_update(None, "synchronous", "FULL")?;
        db.pragma_update(None, "foreign_keys", true)?;
        schema::migrate(&mut db, path)?;
        Ok(Self { db, path: path.to_owned(), fence: None })
    }

    /// The file this store was opened from.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// From now on every write of networks, matches and promotions first shows `lease`
    /// and fails with [`StoreError::LeaseLost`] once somebody else has taken it over.
    pub fn fence_with(&mut self, lease: Option<Lease>) {
        self.fence = lease;
    }

    /// Lets the file grow to no more than `pages` pages (or to its present size, if that is
    /// more); then writes fail with [`StoreError::DiskFull`]. For this connection only.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn limit_pages(&mut self, pages: u32) -> Result<(), StoreError> {
        Ok(self.db.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))?)
    }

    /// A write transaction: it owns the write lock from its first statement, so what it
    /// reads is what it changes. Dropped without a commit, it leaves nothing.
    pub(crate) fn write(&mut self) -> Result<Transaction<'_>, StoreError> {
        Ok(self.db.transaction_with_behavior(TransactionBehavior::Immediate)?)
    }

    /// A write transaction that only the owner of the fencing lease gets.
    pub(crate) fn fenced_write(&mut self) -> Result<Transaction<'_>, StoreError> {
        let tx = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if let Some(lease) = &self.fence {
            leases::check(&tx, lease)?;
        }
        Ok(tx)
    }
}

/// Asks for a write-ahead log and returns the journal mode that the file now has. SQLite does
/// not wait here for another process that is creating the file, so this does.
fn write_ahead(db: &Connection) -> Result<String, StoreError> {
    let begun = Instant::now();
    loop {
        match db.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0)) {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && begun.elapsed() < BUSY_TIMEOUT =>
            {
                std::thread::sleep(Duration::from_millis(5));
            }
            answer => return Ok(answer?),
        }
    }
}

/// What a failure of the very first statements says about the file itself.
fn refusal(path: &Path, error: rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => StoreError::NotADatabase { path: path.to_owned() },
        Some(ErrorCode::CannotOpen) => {
            StoreError::Open { path: path.to_owned(), reason: error.to_string() }
        }
        _ => error.into(),
    }
}
