//! The schema as numbered SQL files, each applied once and remembered by its hash.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use crate::StoreError;
use crate::open::NOW_US;

/// `TNGN`, in SQLite's header: tells a game store from anybody else's database.
pub(crate) const APPLICATION_ID: i32 = 0x544e_474e;

/// Version = index + 1. A released file never changes: later wishes are later files.
const MIGRATIONS: [(&str, &str); 4] = [
    ("run", include_str!("../migrations/0001_run.sql")),
    ("operations", include_str!("../migrations/0002_operations.sql")),
    ("imports", include_str!("../migrations/0003_imports.sql")),
    ("withdrawn", include_str!("../migrations/0004_withdrawn.sql")),
];

/// The newest schema version that this program reads and writes.
pub const SCHEMA_VERSION: u32 = MIGRATIONS.len() as u32;

/// Whose database this is, before anything is written to it.
pub(crate) fn check_owner(db: &Connection, path: &Path) -> Result<(), StoreError> {
    // One snapshot: another process may be creating the store between the two questions.
    let tx = db.unchecked_transaction()?;
    let application: i32 = tx.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    let tables: u32 = tx.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if application != APPLICATION_ID && (application != 0 || tables > 0) {
        return Err(StoreError::NotAStore { path: path.to_owned() });
    }
    refuse_newer(&tx, path).map(drop)
}

/// The file's schema version, if this program knows it.
fn refuse_newer(db: &Connection, path: &Path) -> Result<u32, StoreError> {
    let found: u32 = db.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if found > SCHEMA_VERSION {
        return Err(StoreError::NewerSchema {
            path: path.to_owned(),
            found,
            known: SCHEMA_VERSION,
        });
    }
    Ok(found)
}

/// Brings the schema up to date in one transaction; two processes that open a fresh
/// file at once take turns. Applied migrations must be the ones of this program.
pub(crate) fn migrate(db: &mut Connection, path: &Path) -> Result<(), StoreError> {
    if refuse_newer(db, path)? == SCHEMA_VERSION {
        return verify(db, SCHEMA_VERSION);
    }
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version = refuse_newer(&tx, path)?;
    tx.execute_batch(
        "CREATE TABLE IF NOT EXISTS migrations (
             version    INTEGER PRIMARY KEY,
             name       TEXT    NOT NULL,
             checksum   BLOB    NOT NULL,   -- BLAKE3 of the SQL file
             applied_us INTEGER NOT NULL
         ) STRICT",
    )?;
    verify(&tx, version)?;
    for (number, (name, sql)) in (1_u32..).zip(MIGRATIONS).skip(version as usize) {
        tx.execute_batch(sql)?;
        tx.execute(
            &format!("INSERT INTO migrations VALUES (?1, ?2, ?3, {NOW_US})"),
            params![number, name, blake3::hash(sql.as_bytes()).as_bytes()],
        )?;
    }
    tx.pragma_update(None, "application_id", APPLICATION_ID)?;
    tx.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    Ok(tx.commit()?)
}

/// The migrations `1..=version` in the file are byte for byte the ones compiled in.
fn verify(db: &Connection, version: u32) -> Result<(), StoreError> {
    for (number, (name, sql)) in (1_u32..=version).zip(MIGRATIONS) {
        let stored: Option<Vec<u8>> = db
            .query_row("SELECT checksum FROM migrations WHERE version = ?1", [number], |row| {
                row.get(0)
            })
            .optional()?;
        if stored.as_deref() != Some(blake3::hash(sql.as_bytes()).as_bytes().as_slice()) {
            return Err(StoreError::ForeignMigration { version: number, name: name.to_owned() });
        }
    }
    Ok(())
}
