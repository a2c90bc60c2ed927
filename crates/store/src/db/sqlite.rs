//! SQLite: one file, one connection, set up so that a committed game survives a power cut.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, ToSql, params_from_iter};

use super::{Database, Engine, Param, Purpose, Rows, Value, dialect};
use crate::StoreError;

/// How long a statement waits for another process's transaction.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// `TNGN`, in SQLite's header: tells a game store from anybody else's database.
const APPLICATION_ID: i32 = 0x544e_474e;

/// Statements that stay prepared: all that a run uses.
const PREPARED: usize = 128;

/// An open file.
#[derive(Debug)]
pub(crate) struct Sqlite {
    db: Connection,
    place: String,
}

impl Sqlite {
    /// Opens the file, creating it where needed; refuses what is no store of ours and leaves it alone.
    pub(crate) fn open(path: &Path, newest: u32) -> Result<Self, StoreError> {
        let told = |error: rusqlite::Error| refusal(path, error);
        let db = Connection::open(path).map_err(told)?;
        db.busy_timeout(BUSY_TIMEOUT).map_err(told)?;
        db.set_prepared_statement_cache_capacity(PREPARED);
        // The first read: here SQLite meets garbage and files cut short.
        db.query_row("PRAGMA schema_version", [], |_| Ok(())).map_err(told)?;
        check_owner(&db, path, newest)?;
        let mode = write_ahead(&db)?;
        if mode != "wal" {
            return Err(StoreError::NoWriteAheadLog { path: path.to_owned(), mode });
        }
        // FULL: a commit reaches the disk before it is acknowledged.
        db.pragma_update(None, "synchronous", "FULL")?;
        db.pragma_update(None, "foreign_keys", true)?;
        Ok(Self { db, place: path.to_string_lossy().into_owned() })
    }
}

impl Database for Sqlite {
    fn engine(&self) -> Engine {
        Engine::Sqlite
    }

    fn place(&self) -> &str {
        &self.place
    }

    fn execute(&self, sql: &str, params: &[Param<'_>]) -> Result<u64, StoreError> {
        let mut statement = self.db.prepare_cached(&dialect::statement(Engine::Sqlite, sql))?;
        Ok(statement.execute(params_from_iter(params))? as u64)
    }

    fn query(&self, sql: &str, params: &[Param<'_>]) -> Result<Rows, StoreError> {
        let mut statement = self.db.prepare_cached(&dialect::statement(Engine::Sqlite, sql))?;
        let width = statement.column_count();
        let mut found = statement.query(params_from_iter(params))?;
        let mut rows = Rows::new(width);
        while let Some(row) = found.next()? {
            for column in 0..width {
                rows.push(match row.get_ref(column)? {
                    ValueRef::Null => Value::Null,
                    ValueRef::Integer(int) => Value::Int(int),
                    ValueRef::Real(real) => Value::Real(real),
                    ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
                    ValueRef::Blob(blob) => Value::Blob(blob.to_vec()),
                });
            }
        }
        Ok(rows)
    }

    fn batch(&self, sql: &str) -> Result<(), StoreError> {
        Ok(self.db.execute_batch(sql)?)
    }

    fn begin(&self, purpose: Purpose) -> Result<(), StoreError> {
        // IMMEDIATE: it owns the write lock from its first statement, so a transaction that reads
        // first and writes later cannot fail halfway.
        let sql = match purpose {
            Purpose::Read => "BEGIN DEFERRED",
            Purpose::Write | Purpose::Migrate => "BEGIN IMMEDIATE",
        };
        self.execute(sql, &[]).map(drop)
    }

    fn commit(&self) -> Result<(), StoreError> {
        self.execute("COMMIT", &[]).map(drop)
    }

    fn rollback(&self) {
        // SQLite may have rolled back by itself, on a full disk for example.
        if !self.db.is_autocommit() {
            let _ = self.execute("ROLLBACK", &[]);
        }
    }
}

impl ToSql for Param<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Self::Null => ValueRef::Null,
            Self::Int(int) => ValueRef::Integer(int),
            Self::Count(count) => ValueRef::Integer(
                i64::try_from(count)
                    .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?,
            ),
            Self::Real(real) => ValueRef::Real(real),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Blob(blob) => ValueRef::Blob(blob),
        }))
    }
}

/// Whose database this is, before anything is written to it.
fn check_owner(db: &Connection, path: &Path, newest: u32) -> Result<(), StoreError> {
    // One snapshot: another process may be creating the store between the questions.
    let tx = db.unchecked_transaction()?;
    let application: i32 = tx.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    let tables: u32 = tx.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if application != APPLICATION_ID && (application != 0 || tables > 0) {
        return Err(StoreError::NotAStore { path: path.to_owned() });
    }
    let found: u32 = tx.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if found > newest {
        return Err(StoreError::NewerSchema { path: path.to_owned(), found, known: newest });
    }
    Ok(())
}

/// The statements that make a file known as a store of schema `version`.
pub(crate) fn mark(version: u32) -> String {
    format!("PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {version};")
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
    let path = PathBuf::from(path);
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => StoreError::NotADatabase { path },
        Some(ErrorCode::CannotOpen) => StoreError::Open { path, reason: error.to_string() },
        _ => error.into(),
    }
}
