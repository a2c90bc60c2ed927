//! Opening a store: a file on this machine, or a schema on a PostgreSQL server.

use std::path::Path;

use crate::db::sqlite::Sqlite;
use crate::db::{Database, Engine, Purpose, Transaction};
use crate::leases::{self, Lease};
use crate::{SCHEMA_VERSION, StoreError, schema};

/// A run's data, in one SQLite file or in one schema of a PostgreSQL database. `Send`, not `Sync`:
/// each thread or process opens its own, and the engine orders their transactions.
#[derive(Debug)]
pub struct Store {
    pub(crate) db: Box<dyn Database>,
    fence: Option<Lease>,
    /// For whom worker's calls are made: a login of the run's list of workers; empty: for all.
    pub(crate) speaker: String,
}

impl Store {
    /// Opens the store in the file at `path`, creating or migrating it where needed.
    ///
    /// # Errors
    /// Refuses what is no database, another program's database, a newer schema, a file
    /// cut short and a disk that cannot do write-ahead logging; changes none of them.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::with(Box::new(Sqlite::open(path, SCHEMA_VERSION)?))
    }

    /// Opens the store on the PostgreSQL server of
    /// `postgres://USER:PASSWORD@HOST:PORT/DATABASE?schema=RUN`, creating or migrating the schema
    /// where needed; one schema holds one run, and without a name it is `tengen`. Other machines must
    /// prove who they are (`sslmode=verify-full`, `sslrootcert=FILE`) unless `sslmode=disable` is given.
    ///
    /// # Errors
    /// [`StoreError::Url`], [`StoreError::Connect`] for a login that is refused,
    /// [`StoreError::Unavailable`] when nobody answers, [`StoreError::NotAStore`] for a schema with
    /// somebody else's tables, [`StoreError::OldServer`] before PostgreSQL 14, and what
    /// [`Store::open`] says of schemas.
    #[cfg(feature = "postgres")]
    pub fn connect(url: &str) -> Result<Self, StoreError> {
        let db = crate::db::postgres::Postgres::connect(url)?;
        crate::roles::prepare_schema(&db)?;
        Self::with(Box::new(db))
    }

    /// `Store::connect` (feature `postgres`) for `postgres://…`, [`Store::open`] for everything else.
    ///
    /// # Errors
    /// As these; [`StoreError::Url`] when this program was built without PostgreSQL.
    pub fn open_any(place: &str) -> Result<Self, StoreError> {
        if !is_url(place) {
            return Self::open(Path::new(place));
        }
        #[cfg(feature = "postgres")]
        return Self::connect(place);
        #[cfg(not(feature = "postgres"))]
        Err(StoreError::Url {
            reason: "this program was built without PostgreSQL (feature `postgres`)".to_owned(),
        })
    }

    fn with(db: Box<dyn Database>) -> Result<Self, StoreError> {
        schema::migrate(&*db)?;
        Ok(Self { db, fence: None, speaker: String::new() })
    }

    /// Where the data is: the file, or the server's URL without user and password.
    #[must_use]
    pub fn place(&self) -> &str {
        self.db.place()
    }

    /// Which engine keeps the data.
    #[must_use]
    pub fn engine(&self) -> Engine {
        self.db.engine()
    }

    /// From now on every write of networks, matches and promotions first shows `lease`
    /// and fails with [`StoreError::LeaseLost`] once somebody else has taken it over.
    pub fn fence_with(&mut self, lease: Option<Lease>) {
        self.fence = lease;
    }

    /// Lets a file grow to no more than `pages` pages (or to its present size, if that is
    /// more); then writes fail with [`StoreError::DiskFull`]. For this connection only.
    ///
    /// # Errors
    /// [`StoreError::FileOnly`] on a server.
    pub fn limit_pages(&mut self, pages: u32) -> Result<(), StoreError> {
        self.file_only("a limit of pages", "a quota of the file system")?;
        self.db.query(&format!("PRAGMA max_page_count = {pages}"), &[]).map(drop)
    }

    /// Refuses on a server what only a file can do.
    pub(crate) fn file_only(
        &self,
        what: &'static str,
        instead: &'static str,
    ) -> Result<(), StoreError> {
        match self.db.engine() {
            Engine::Sqlite => Ok(()),
            Engine::Postgres => Err(StoreError::FileOnly { what, instead }),
        }
    }

    /// A write transaction: this process is the run's one writer until its end, so what it
    /// reads is what it changes. Dropped without a commit, it leaves nothing.
    pub(crate) fn write(&mut self) -> Result<Transaction<'_>, StoreError> {
        self.db.transaction(Purpose::Write)
    }

    /// A write transaction that only the owner of the fencing lease gets.
    pub(crate) fn fenced_write(&mut self) -> Result<Transaction<'_>, StoreError> {
        let tx = self.db.transaction(Purpose::Write)?;
        if let Some(lease) = &self.fence {
            leases::check(&*tx, lease)?;
        }
        Ok(tx)
    }

    /// Many questions to one state of the store.
    pub(crate) fn snapshot(&self) -> Result<Transaction<'_>, StoreError> {
        self.db.transaction(Purpose::Read)
    }
}

/// Whether `place` names a server rather than a file.
pub(crate) fn is_url(place: &str) -> bool {
    place.starts_with("postgres://") || place.starts_with("postgresql://")
}
