//! The run that a store belongs to, and its configurations.

use rusqlite::{Connection, OptionalExtension, params};

use crate::open::NOW_US;
use crate::{Store, StoreError};

/// A run to be started.
#[derive(Clone, Debug)]
pub struct NewRun {
    /// What people call it.
    pub name: String,
    /// The effective configuration, TOML.
    pub config_text: String,
    /// Its digest, which stands in every game.
    pub config_digest: String,
    /// Where every random stream of the run starts.
    pub seed: u64,
}

/// The run as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRow {
    /// Random, 32 hex digits: what makes this run's game ids its own.
    pub uid: String,
    /// What people call it.
    pub name: String,
    /// The effective configuration, TOML.
    pub config_text: String,
    /// Its digest.
    pub config_digest: String,
    /// Where every random stream of the run starts.
    pub seed: u64,
    /// Sequence number of the newest game; 0 before the first.
    pub last_seq: u64,
    /// The network that plays.
    pub best: Option<String>,
    /// When it was started, microseconds since 1970.
    pub created_us: i64,
}

/// The run of `db`, inside or outside a transaction.
pub(crate) fn read(db: &Connection) -> Result<Option<RunRow>, StoreError> {
    let sql = "SELECT uid, name, text, config_digest, seed, last_seq, best, created_us
               FROM runs JOIN configs ON digest = config_digest";
    let row = db.query_row(sql, [], |row| {
        Ok(RunRow {
            uid: row.get(0)?,
            name: row.get(1)?,
            config_text: row.get(2)?,
            config_digest: row.get(3)?,
            seed: row.get::<_, i64>(4)?.cast_unsigned(),
            last_seq: row.get(5)?,
            best: row.get(6)?,
            created_us: row.get(7)?,
        })
    });
    Ok(row.optional()?)
}

/// The run of `db`, which must be there.
pub(crate) fn require(db: &Connection) -> Result<RunRow, StoreError> {
    read(db)?.ok_or(StoreError::NoRun)
}

fn keep_config(db: &Connection, text: &str, digest: &str) -> Result<(), StoreError> {
    db.execute(
        &format!("INSERT INTO configs VALUES (?1, ?2, {NOW_US}) ON CONFLICT DO NOTHING"),
        [digest, text],
    )?;
    Ok(())
}

impl Store {
    /// Starts the run, or returns the one that is there untouched; its configuration may
    /// then differ from `new` (see [`Store::update_config`]).
    ///
    /// # Errors
    /// [`StoreError::OtherSeed`] when the stored run has another seed.
    pub fn init_run(&mut self, new: &NewRun) -> Result<RunRow, StoreError> {
        let tx = self.write()?;
        if let Some(run) = read(&tx)? {
            if run.seed != new.seed {
                let (name, found) = (run.name, run.seed);
                return Err(StoreError::OtherSeed { name, found, asked: new.seed });
            }
            return Ok(run);
        }
        keep_config(&tx, &new.config_text, &new.config_digest)?;
        tx.execute(
            &format!(
                "INSERT INTO runs (run_id, uid, name, config_digest, seed, created_us)
                 VALUES (1, lower(hex(randomblob(16))), ?1, ?2, ?3, {NOW_US})"
            ),
            params![new.name, new.config_digest, new.seed.cast_signed()],
        )?;
        let run = require(&tx)?;
        tx.commit()?;
        Ok(run)
    }

    /// The run, if one was started.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn run(&self) -> Result<Option<RunRow>, StoreError> {
        read(&self.db)
    }

    /// Gives the run another effective configuration; earlier ones stay readable by
    /// their digest ([`Store::config`]).
    ///
    /// # Errors
    /// [`StoreError::NoRun`] before [`Store::init_run`].
    pub fn update_config(&mut self, text: &str, digest: &str) -> Result<(), StoreError> {
        let tx = self.write()?;
        require(&tx)?;
        keep_config(&tx, text, digest)?;
        tx.execute("UPDATE runs SET config_digest = ?1", [digest])?;
        Ok(tx.commit()?)
    }

    /// The configuration with `digest`, if the run ever had it.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn config(&self, digest: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT text FROM configs WHERE digest = ?1";
        Ok(self.db.query_row(sql, [digest], |row| row.get(0)).optional()?)
    }
}
