//! The run that a store belongs to, and its configurations.

use crate::db::{Database, params};
use crate::upstream::RunMode;
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
    /// The newest game that the trainer has taken in; 0 before the first.
    pub trained_seq: u64,
    /// How many games self-play may run ahead of the trainer; `None`: any number.
    pub ahead_limit: Option<u64>,
    /// The network that plays.
    pub best: Option<String>,
    /// Whether the run wants games from workers.
    pub mode: RunMode,
    /// When it was started, microseconds since 1970.
    pub created_us: i64,
}

/// The run of `db`, inside or outside a transaction.
pub(crate) fn read(db: &dyn Database) -> Result<Option<RunRow>, StoreError> {
    let sql = "SELECT uid, name, text, config_digest, seed, last_seq, trained_seq,
                      ahead_limit, best, created_us, mode
               FROM runs JOIN configs ON digest = config_digest";
    db.maybe(sql, &[], |row| {
        Ok(RunRow {
            uid: row.get(0)?,
            name: row.get(1)?,
            config_text: row.get(2)?,
            config_digest: row.get(3)?,
            seed: row.get::<i64>(4)?.cast_unsigned(),
            last_seq: row.get(5)?,
            trained_seq: row.get(6)?,
            ahead_limit: row.get(7)?,
            best: row.get(8)?,
            created_us: row.get(9)?,
            mode: row.get::<String>(10)?.parse()?,
        })
    })
}

/// The run of `db`, which must be there.
pub(crate) fn require(db: &dyn Database) -> Result<RunRow, StoreError> {
    read(db)?.ok_or(StoreError::NoRun)
}

fn keep_config(db: &dyn Database, text: &str, digest: &str) -> Result<(), StoreError> {
    db.execute(
        "INSERT INTO configs VALUES (?1, ?2, now_us()) ON CONFLICT DO NOTHING",
        params![digest, text],
    )?;
    Ok(())
}

impl RunRow {
    /// Should self-play wait for the trainer?
    #[must_use]
    pub fn is_too_far_ahead(&self) -> bool {
        let ahead = self.last_seq.saturating_sub(self.trained_seq);
        self.ahead_limit.is_some_and(|limit| ahead >= limit)
    }
}

impl Store {
    /// Starts the run, or returns the one that is there untouched; its configuration may
    /// then differ from `new` (see [`Store::update_config`]).
    ///
    /// # Errors
    /// [`StoreError::OtherSeed`] when the stored run has another seed.
    pub fn init_run(&mut self, new: &NewRun) -> Result<RunRow, StoreError> {
        let tx = self.write()?;
        if let Some(run) = read(&*tx)? {
            if run.seed != new.seed {
                let (name, found) = (run.name, run.seed);
                return Err(StoreError::OtherSeed { name, found, asked: new.seed });
            }
            return Ok(run);
        }
        keep_config(&*tx, &new.config_text, &new.config_digest)?;
        tx.execute(
            "INSERT INTO runs (run_id, uid, name, config_digest, seed, created_us)
             VALUES (1, random_uid(), ?1, ?2, ?3, now_us())",
            params![new.name, new.config_digest, new.seed.cast_signed()],
        )?;
        let run = require(&*tx)?;
        tx.commit()?;
        Ok(run)
    }

    /// The run, if one was started.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn run(&self) -> Result<Option<RunRow>, StoreError> {
        read(&*self.db)
    }

    /// Gives the run another effective configuration; earlier ones stay readable by
    /// their digest ([`Store::config`]).
    ///
    /// # Errors
    /// [`StoreError::NoRun`] before [`Store::init_run`].
    pub fn update_config(&mut self, text: &str, digest: &str) -> Result<(), StoreError> {
        let tx = self.write()?;
        require(&*tx)?;
        keep_config(&*tx, text, digest)?;
        tx.execute("UPDATE runs SET config_digest = ?1", params![digest])?;
        tx.commit()
    }

    /// Tells everybody that the trainer has taken in the games up to `seq`; never goes back.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`].
    pub fn set_trained(&mut self, seq: u64) -> Result<(), StoreError> {
        let tx = self.fenced_write()?;
        tx.execute("UPDATE runs SET trained_seq = ?1 WHERE trained_seq < ?1", params![seq])?;
        tx.commit()
    }

    /// Sets how many games self-play may run ahead of the trainer; `None`: any number.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn set_ahead_limit(&mut self, games: Option<u64>) -> Result<(), StoreError> {
        self.db.execute("UPDATE runs SET ahead_limit = ?1", params![games])?;
        Ok(())
    }

    /// Should self-play wait for the trainer? See [`Store::set_trained`].
    ///
    /// # Errors
    /// [`StoreError::NoRun`].
    pub fn is_too_far_ahead(&self) -> Result<bool, StoreError> {
        Ok(require(&*self.db)?.is_too_far_ahead())
    }

    /// The configuration with `digest`, if the run ever had it.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn config(&self, digest: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT text FROM configs WHERE digest = ?1";
        self.db.maybe(sql, params![digest], |row| row.get(0))
    }
}
