//! A worker's outbox: finished games on its own disk until the run has them.
//!
//! One small SQLite file beside the worker, of another kind than a run's store: a store refuses to
//! open it and it refuses a store. It makes three promises:
//!
//! - **A finished game is on the disk before anybody hears of it.** [`Outbox::push`] is synced, and
//!   moves the worker's counter in the same transaction, so a number is never given to two games.
//! - **Names stay.** The worker's random name and the counter are in the file, so the
//!   [`GameId`](crate::GameId) of a game is the same after any crash.
//! - **A game leaves only after it was acknowledged**, and then stays a while in the *sent-log*: a
//!   server that comes back without its newest games (a replica took over) gets them again.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{
    Connection, ErrorCode, OptionalExtension, Row, Transaction, TransactionBehavior, params,
};

use crate::StoreError;

/// The file has one owner, so whoever else looks at it is soon through.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// Microseconds since 1970 by this machine's clock: how long ago a game was acknowledged, no more.
const NOW_US: &str = "CAST(unixepoch('subsec') * 1000000 AS INTEGER)";

/// Bytes of the write-ahead log above which the next game waits until they stand in the file itself: so much
/// room, and that of a game, lets the file take in its log on a disk that is full.
const LOG_BYTES: u64 = 256 * 1024;

/// `TNGO`, in SQLite's header.
const APPLICATION_ID: i32 = 0x544e_474f;
/// The only layout so far.
const LAYOUT: u32 = 1;

const TABLES: &str = "
CREATE TABLE worker (
    id           INTEGER PRIMARY KEY CHECK (id = 1),
    uid          TEXT    NOT NULL,              -- label-16 random hex digits: its name for ever
    run_uid      TEXT,                          -- the run that the games belong to, once known
    next_counter INTEGER NOT NULL CHECK (next_counter >= 0),
    asking       INTEGER NOT NULL DEFAULT 0     -- the run is being asked for its newest game
) STRICT;
CREATE TABLE games (
    counter INTEGER PRIMARY KEY CHECK (counter >= 0),
    network TEXT    NOT NULL,                   -- who played: a network id or \"uniform\"
    payload BLOB    NOT NULL,                   -- the game blob of docs/file-formats.md
    sent_us INTEGER,                            -- when it was acknowledged; NULL: still waiting
    refused TEXT                                -- why the run will not have it; then it waits no more
) STRICT;
CREATE INDEX games_sent ON games (sent_us) WHERE sent_us IS NOT NULL;
";

/// A finished game on its way to the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxGame {
    /// Its number at this worker.
    pub counter: u64,
    /// Who played: a network id, or `uniform`.
    pub network: String,
    /// The game as [`tengen_record::encode`]d bytes.
    pub payload: Vec<u8>,
}

/// What an outbox holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutboxCounts {
    /// Games not acknowledged yet.
    pub waiting: u64,
    /// Their payloads together.
    pub waiting_bytes: u64,
    /// Games in the sent-log.
    pub sent: u64,
    /// Games that the run refused; kept for whoever looks why.
    pub refused: u64,
}

/// A worker's spool file. One process at a time: the caller holds a lock on the folder.
#[derive(Debug)]
pub struct Outbox {
    db: Connection,
    path: PathBuf,
    /// The write-ahead log.
    log: PathBuf,
    uid: String,
}

impl Outbox {
    /// Opens the outbox at `path`; a new one gives the worker its name, `label` and 16 random hex
    /// digits. An old one keeps its name whatever the label, as its games are named after it.
    ///
    /// # Errors
    /// Refuses what is no outbox, a later layout, a damaged file and a disk that cannot do
    /// write-ahead logging; changes none of them.
    pub fn open(path: &Path, label: &str) -> Result<Self, StoreError> {
        let told = |error: rusqlite::Error| refusal(path, error);
        let mut db = Connection::open(path).map_err(told)?;
        db.busy_timeout(BUSY_TIMEOUT).map_err(told)?;
        db.query_row("PRAGMA schema_version", [], |_| Ok(())).map_err(told)?;
        check_owner(&db, path)?;
        let mode: String = db.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
        if mode != "wal" {
            return Err(StoreError::NoWriteAheadLog { path: path.to_owned(), mode });
        }
        // FULL: a finished game reaches the disk before anybody hears of it.
        db.pragma_update(None, "synchronous", "FULL")?;
        let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if tx.query_row("PRAGMA user_version", [], |row| row.get::<_, u32>(0))? == 0 {
            tx.execute_batch(TABLES)?;
            tx.execute(
                "INSERT INTO worker (id, uid, next_counter)
                 VALUES (1, ?1 || '-' || lower(hex(randomblob(8))), 0)",
                [label],
            )?;
            tx.pragma_update(None, "application_id", APPLICATION_ID)?;
            tx.pragma_update(None, "user_version", LAYOUT)?;
        }
        let uid = tx.query_row("SELECT uid FROM worker", [], |row| row.get(0))?;
        tx.commit()?;
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        Ok(Self { db, path: path.to_owned(), log: log.into(), uid })
    }

    /// The worker's name for ever, part of every game id.
    #[must_use]
    pub fn worker(&self) -> &str {
        &self.uid
    }

    /// Says which run the games belong to. An outbox may change its run once nothing waits.
    ///
    /// # Errors
    /// [`StoreError::OtherRunsGames`] while games of another run wait.
    pub fn bind(&mut self, run_uid: &str) -> Result<(), StoreError> {
        let tx = write(&mut self.db)?;
        let bound: Option<String> =
            tx.query_row("SELECT run_uid FROM worker", [], |row| row.get(0))?;
        if bound.as_deref() == Some(run_uid) {
            return Ok(());
        }
        if let Some(found) = bound {
            let games = counts(&tx)?.waiting;
            if games > 0 {
                let (path, asked) = (self.path.clone(), run_uid.to_owned());
                return Err(StoreError::OtherRunsGames { path, games, found, asked });
            }
            // What is left was sent to the other run or refused by it.
            tx.execute("DELETE FROM games", [])?;
        }
        tx.execute("UPDATE worker SET run_uid = ?1", [run_uid])?;
        Ok(tx.commit()?)
    }

    /// The number of the worker's next game: above that of every game ever pushed.
    ///
    /// # Errors
    /// Only the file's own.
    pub fn next_counter(&self) -> Result<u64, StoreError> {
        Ok(self.db.query_row("SELECT next_counter FROM worker", [], |row| row.get(0))?)
    }

    /// Puts finished games in, all or none; on return they survive a power cut. A number that is
    /// there already keeps its game.
    ///
    /// # Errors
    /// [`StoreError::DiskFull`], after which nothing was written.
    pub fn push(&mut self, games: &[OutboxGame]) -> Result<(), StoreError> {
        if self.log.metadata().is_ok_and(|log| log.len() > LOG_BYTES) {
            self.empty_log()?;
        }
        let tx = write(&mut self.db)?;
        for game in games {
            tx.prepare_cached(
                "INSERT INTO games (counter, network, payload) VALUES (?1, ?2, ?3)
                 ON CONFLICT DO NOTHING",
            )?
            .execute(params![game.counter, game.network, game.payload])?;
            tx.prepare_cached("UPDATE worker SET next_counter = max(next_counter, ?1 + 1)")?
                .execute([game.counter])?;
        }
        Ok(tx.commit()?)
    }

    /// The oldest waiting games: up to `games` of them, and up to `bytes` of payload, but at least
    /// one where any waits.
    ///
    /// # Errors
    /// Only the file's own.
    pub fn batch(&self, games: usize, bytes: usize) -> Result<Vec<OutboxGame>, StoreError> {
        let mut query = self.db.prepare_cached(
            "SELECT counter, network, payload FROM games
             WHERE sent_us IS NULL AND refused IS NULL ORDER BY counter LIMIT ?1",
        )?;
        let mut rows = query.query([i64::try_from(games).unwrap_or(i64::MAX)])?;
        let (mut batch, mut held) = (Vec::new(), 0);
        while let Some(row) = rows.next()? {
            let game = columns(row)?;
            held += game.payload.len();
            if held > bytes && !batch.is_empty() {
                break;
            }
            batch.push(game);
        }
        Ok(batch)
    }

    /// The run has these games: they go from waiting to the sent-log.
    ///
    /// # Errors
    /// Only the file's own.
    pub fn acknowledge(&mut self, counters: &[u64]) -> Result<(), StoreError> {
        let tx = write(&mut self.db)?;
        for counter in counters {
            tx.prepare_cached(&format!("UPDATE games SET sent_us = {NOW_US} WHERE counter = ?1"))?
                .execute([counter])?;
        }
        Ok(tx.commit()?)
    }

    /// The run will not have this game: it waits no more, and stays for whoever looks why.
    ///
    /// # Errors
    /// Only the file's own.
    pub fn set_aside(&mut self, counter: u64, why: &str) -> Result<(), StoreError> {
        let sql = "UPDATE games SET refused = ?2 WHERE counter = ?1";
        self.db.execute(sql, params![counter, why])?;
        Ok(())
    }

    /// The game acknowledged last, if the sent-log holds one. As a server that lost commits lost its
    /// newest, all older ones are there if this one is.
    ///
    /// # Errors
    /// Only the file's own.
    pub fn newest_sent(&self) -> Result<Option<OutboxGame>, StoreError> {
        let sql = "SELECT counter, network, payload FROM games WHERE sent_us IS NOT NULL
                   ORDER BY sent_us DESC, counter DESC LIMIT 1";
        Ok(self.db.query_row(sql, [], columns).optional()?)
    }

    /// Writes down that the run is asked for [`newest_sent`](Self::newest_sent), and returns whether
    /// an earlier asking never came to its [`end`](Self::asked). Its answer may be lost, and with the
    /// question the newest game alone may have come back to the run: then everything must be
    /// [sent again](Self::send_again).
    ///
    /// # Errors
    /// Only the file's own.
    pub fn ask(&mut self) -> Result<bool, StoreError> {
        let tx = write(&mut self.db)?;
        let unended = tx.query_row("SELECT asking FROM worker", [], |row| row.get(0))?;
        tx.execute("UPDATE worker SET asking = 1", [])?;
        tx.commit()?;
        Ok(unended)
    }

    /// The run has its newest game.
    ///
    /// # Errors
    /// Only the file's own.
    pub fn asked(&mut self) -> Result<(), StoreError> {
        self.db.execute("UPDATE worker SET asking = 0", [])?;
        Ok(())
    }

    /// Lets everything in the sent-log wait again, which ends an [asking](Self::ask), and returns how
    /// many games that are.
    ///
    /// # Errors
    /// Only the file's own.
    pub fn send_again(&mut self) -> Result<u64, StoreError> {
        let tx = write(&mut self.db)?;
        let games = tx.execute("UPDATE games SET sent_us = NULL WHERE sent_us IS NOT NULL", [])?;
        tx.execute("UPDATE worker SET asking = 0", [])?;
        tx.commit()?;
        Ok(games as u64)
    }

    /// Deletes what was acknowledged longer than `age` ago, and returns how many games that were.
    ///
    /// # Errors
    /// Only the file's own.
    pub fn forget_sent(&mut self, age: Duration) -> Result<u64, StoreError> {
        let age = i64::try_from(age.as_micros()).unwrap_or(i64::MAX);
        let sql = format!("DELETE FROM games WHERE sent_us <= {NOW_US} - ?1");
        Ok(self.db.execute(&sql, [age])? as u64)
    }

    /// Moves what stands in the write-ahead log into the file and gives the log's room back to the disk.
    ///
    /// # Errors
    /// Only the file's own.
    pub fn empty_log(&mut self) -> Result<(), StoreError> {
        Ok(self.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?)
    }

    /// What the outbox holds.
    ///
    /// # Errors
    /// Only the file's own.
    pub fn counts(&self) -> Result<OutboxCounts, StoreError> {
        counts(&self.db)
    }

    /// Lets the file grow to no more than `pages` pages (or to its present size, if that is more);
    /// then [`push`](Self::push) fails with [`StoreError::DiskFull`]. For this connection only.
    ///
    /// # Errors
    /// Only the file's own.
    pub fn limit_pages(&mut self, pages: u32) -> Result<(), StoreError> {
        Ok(self.db.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))?)
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

/// Whose file this is, before anything is written to it.
fn check_owner(db: &Connection, path: &Path) -> Result<(), StoreError> {
    let number = |sql: &str| db.query_row(sql, [], |row| row.get::<_, i32>(0));
    let application = number("PRAGMA application_id")?;
    let tables = number("SELECT count(*) FROM sqlite_schema")?;
    let found: u32 = db.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if application != APPLICATION_ID && (application != 0 || tables > 0) {
        return Err(StoreError::NotAnOutbox { path: path.to_owned() });
    }
    if found > LAYOUT {
        let (path, known) = (path.to_owned(), LAYOUT);
        return Err(StoreError::NewerSchema { path, found, known });
    }
    Ok(())
}

fn write(db: &mut Connection) -> Result<Transaction<'_>, StoreError> {
    Ok(db.transaction_with_behavior(TransactionBehavior::Immediate)?)
}

fn columns(row: &Row<'_>) -> rusqlite::Result<OutboxGame> {
    Ok(OutboxGame { counter: row.get(0)?, network: row.get(1)?, payload: row.get(2)? })
}

fn counts(db: &Connection) -> Result<OutboxCounts, StoreError> {
    let sql = "SELECT count(*) FILTER (WHERE sent_us IS NULL AND refused IS NULL),
                      coalesce(sum(length(payload)) FILTER (WHERE sent_us IS NULL AND refused IS NULL), 0),
                      count(*) FILTER (WHERE sent_us IS NOT NULL),
                      count(*) FILTER (WHERE refused IS NOT NULL)
               FROM games";
    Ok(db.query_row(sql, [], |row| {
        Ok(OutboxCounts {
            waiting: row.get(0)?,
            waiting_bytes: row.get(1)?,
            sent: row.get(2)?,
            refused: row.get(3)?,
        })
    })?)
}
