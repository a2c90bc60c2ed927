//! The schema as numbered SQL files, each applied once and remembered by its hash.

use std::path::PathBuf;

use crate::StoreError;
use crate::db::{Database, Engine, Purpose, dialect, params, sqlite};

/// For which engines a migration does something.
#[derive(Clone, Copy, PartialEq)]
enum For {
    Both,
    #[cfg_attr(not(feature = "postgres"), allow(dead_code))]
    Postgres,
}

/// Version = index + 1. A released file never changes: later wishes are later files.
const MIGRATIONS: [(&str, For, &str); 10] = [
    ("run", For::Both, include_str!("../migrations/0001_run.sql")),
    ("operations", For::Both, include_str!("../migrations/0002_operations.sql")),
    ("imports", For::Both, include_str!("../migrations/0003_imports.sql")),
    ("withdrawn", For::Both, include_str!("../migrations/0004_withdrawn.sql")),
    ("fleet", For::Both, include_str!("../migrations/0005_fleet.sql")),
    ("functions", For::Postgres, include_str!("../migrations/0006_functions.sql")),
    ("parties", For::Postgres, include_str!("../migrations/0007_parties.sql")),
    ("damaged", For::Both, include_str!("../migrations/0008_damaged.sql")),
    ("report", For::Postgres, include_str!("../migrations/0009_report.sql")),
    ("limits", For::Postgres, include_str!("../migrations/0010_limits.sql")),
];

/// The newest schema version that this program reads and writes.
pub const SCHEMA_VERSION: u32 = MIGRATIONS.len() as u32;

/// The list of what was applied, in every store.
const LIST: &str = "CREATE TABLE IF NOT EXISTS migrations (
    version    INTEGER PRIMARY KEY CHECK (version > 0),
    name       TEXT    NOT NULL,
    checksum   BLOB    NOT NULL,   -- BLAKE3 of the SQL file
    applied_us INTEGER NOT NULL
) STRICT;";

/// PostgreSQL's one lock for writers; a table of its own, so that no vacuum ever waits for it.
const WRITE_LOCK: &str = "CREATE TABLE IF NOT EXISTS write_lock ();";

/// Brings the schema up to date in one transaction; two processes that open a fresh store at once
/// take turns. Applied migrations must be the ones of this program.
pub(crate) fn migrate(db: &dyn Database) -> Result<(), StoreError> {
    if known_version(db)? == SCHEMA_VERSION {
        return verify(db, SCHEMA_VERSION);
    }
    let engine = db.engine();
    let tx = db.transaction(Purpose::Migrate)?;
    tx.batch(&dialect::schema(engine, LIST))?;
    if engine == Engine::Postgres {
        tx.batch(WRITE_LOCK)?;
    }
    let version = known_version(&*tx)?;
    verify(&*tx, version)?;
    for (number, (name, whom, sql)) in (1_u32..).zip(MIGRATIONS).skip(version as usize) {
        if whom == For::Both {
            tx.batch(&dialect::schema(engine, sql))?;
        } else if engine == Engine::Postgres {
            tx.batch(sql)?;
        }
        tx.execute(
            "INSERT INTO migrations (version, name, checksum, applied_us)
             VALUES (?1, ?2, ?3, now_us())",
            params![number, name, *blake3::hash(sql.as_bytes()).as_bytes()],
        )?;
    }
    if engine == Engine::Sqlite {
        tx.batch(&sqlite::mark(SCHEMA_VERSION))?;
    }
    tx.commit()
}

/// The store's schema version, if this program knows it; 0 before the first migration.
fn known_version(db: &dyn Database) -> Result<u32, StoreError> {
    let found: u32 = match db.engine() {
        Engine::Sqlite => {
            db.get("SELECT CAST(user_version AS BIGINT) FROM pragma_user_version", &[])?
        }
        Engine::Postgres => {
            let sql = "SELECT to_regclass('migrations') IS NOT NULL";
            if !db.get::<bool>(sql, &[])? {
                return Ok(0);
            }
            db.get("SELECT coalesce(max(version), 0) FROM migrations", &[])?
        }
    };
    if found > SCHEMA_VERSION {
        let path = PathBuf::from(db.place());
        return Err(StoreError::NewerSchema { path, found, known: SCHEMA_VERSION });
    }
    Ok(found)
}

/// The migrations `1..=version` in the store are byte for byte the ones compiled in.
fn verify(db: &dyn Database, version: u32) -> Result<(), StoreError> {
    let sql = "SELECT checksum FROM migrations ORDER BY version";
    let stored = db.rows(sql, &[], |row| row.get::<Vec<u8>>(0))?;
    for (number, (name, _, sql)) in (1_u32..=version).zip(MIGRATIONS) {
        let hash = stored.get(number as usize - 1).map(Vec::as_slice);
        if hash != Some(blake3::hash(sql.as_bytes()).as_bytes().as_slice()) {
            return Err(StoreError::ForeignMigration { version: number, name: name.to_owned() });
        }
    }
    Ok(())
}
