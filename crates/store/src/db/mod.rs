//! The seam between the store's statements and the engine that runs them.
//!
//! The statements are one text for both engines, written with `?1` for parameters and the words
//! that [`dialect`] explains; nothing outside this folder knows which engine answers.

pub(crate) mod dialect;
#[cfg(feature = "postgres")]
pub(crate) mod postgres;
#[cfg(feature = "postgres")]
mod server;
pub(crate) mod sqlite;
mod value;

use std::fmt::Debug;
use std::ops::Deref;

pub use dialect::Engine;
pub(crate) use value::{FromValue, Param, Row, Rows, ToParam, Value, params};

use crate::StoreError;

/// What a transaction is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// One snapshot for many questions; nobody waits for it.
    Read,
    /// The run's one writer: what it reads stays true until it commits.
    Write,
    /// As a writer, but before there are tables.
    Migrate,
}

/// One connection. Methods take `&self` so that statements can be nested in readers; a connection
/// belongs to one thread at a time (`Send`, not `Sync`).
pub(crate) trait Database: Debug + Send {
    /// Which engine this is.
    fn engine(&self) -> Engine;

    /// Where it is, for messages; without a password.
    fn place(&self) -> &str;

    /// Runs one statement and returns the rows it changed.
    fn execute(&self, sql: &str, params: &[Param<'_>]) -> Result<u64, StoreError>;

    /// Runs one statement and returns its rows.
    fn query(&self, sql: &str, params: &[Param<'_>]) -> Result<Rows, StoreError>;

    /// Runs several statements, in the engine's own words.
    fn batch(&self, sql: &str) -> Result<(), StoreError>;

    /// Begins a transaction; there is at most one at a time.
    fn begin(&self, purpose: Purpose) -> Result<(), StoreError>;

    /// Makes it last: when this returns, it is on the disk.
    fn commit(&self) -> Result<(), StoreError>;

    /// Forgets it. Failures are swallowed: an engine that is gone has forgotten it, too.
    fn rollback(&self);
}

impl dyn Database + '_ {
    /// Every row, read by `read`.
    pub(crate) fn rows<T>(
        &self,
        sql: &str,
        params: &[Param<'_>],
        read: impl FnMut(&mut Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        self.query(sql, params)?.read(read)
    }

    /// The first row, if there is one.
    pub(crate) fn maybe<T>(
        &self,
        sql: &str,
        params: &[Param<'_>],
        read: impl FnMut(&mut Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        self.query(sql, params)?.first(read)
    }

    /// The one row of a statement that always has one.
    pub(crate) fn row<T>(
        &self,
        sql: &str,
        params: &[Param<'_>],
        read: impl FnMut(&mut Row<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.maybe(sql, params, read)?
            .ok_or_else(|| StoreError::Query(format!("no row where one must be: {sql}")))
    }

    /// The one value of a statement that always has one.
    pub(crate) fn get<T: FromValue>(
        &self,
        sql: &str,
        params: &[Param<'_>],
    ) -> Result<T, StoreError> {
        self.row(sql, params, |row| row.get(0))
    }

    /// Begins a transaction that is forgotten unless it is committed.
    pub(crate) fn transaction(&self, purpose: Purpose) -> Result<Transaction<'_>, StoreError> {
        self.begin(purpose)?;
        Ok(Transaction { db: self, open: true })
    }
}

/// An open transaction; dropped without [`commit`](Self::commit), it leaves nothing.
pub(crate) struct Transaction<'a> {
    db: &'a dyn Database,
    open: bool,
}

impl Transaction<'_> {
    /// Makes it last.
    pub(crate) fn commit(mut self) -> Result<(), StoreError> {
        self.db.commit()?;
        self.open = false;
        Ok(())
    }
}

impl<'a> Deref for Transaction<'a> {
    type Target = dyn Database + 'a;

    fn deref(&self) -> &Self::Target {
        self.db
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if self.open {
            self.db.rollback();
        }
    }
}
