//! What can refuse, and what the reader of the message can do about it.

use std::path::PathBuf;

use rusqlite::ErrorCode;
use thiserror::Error;

use crate::GameId;

/// Every way the store says no.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file cannot be opened or created.
    #[error(
        "cannot open the game store {path}: {reason}; check that the folder exists and may be written to"
    )]
    Open {
        /// The file asked for.
        path: PathBuf,
        /// SQLite's words.
        reason: String,
    },
    /// The file is no SQLite database at all.
    #[error("{path} is not a database; give the tengen.db of a run, or move the file away")]
    NotADatabase {
        /// The file asked for.
        path: PathBuf,
    },
    /// A SQLite database of another program.
    #[error(
        "{path} is a SQLite database, but not a game store of Tengen; give the tengen.db of a run"
    )]
    NotAStore {
        /// The file asked for.
        path: PathBuf,
    },
    /// A SQLite database, but not a worker's outbox.
    #[error("{path} is a SQLite database, but not a worker's outbox; give another spool folder")]
    NotAnOutbox {
        /// The file asked for.
        path: PathBuf,
    },
    /// Games of another run wait to be sent.
    #[error(
        "{path} still holds {games} unsent games of run {found}, this is run {asked}; \
         let a worker of that run send them first, or give another spool folder"
    )]
    OtherRunsGames {
        /// The outbox.
        path: PathBuf,
        /// How many games wait.
        games: u64,
        /// Their run.
        found: String,
        /// The run asked for.
        asked: String,
    },
    /// Written by a later release.
    #[error(
        "{path} has schema version {found}, this program knows versions up to {known}; \
         use the release that wrote it, or a newer one"
    )]
    NewerSchema {
        /// The file asked for.
        path: PathBuf,
        /// Version in the file.
        found: u32,
        /// Newest version of this program.
        known: u32,
    },
    /// The file was migrated by SQL that differs from this program's.
    #[error(
        "schema migration {version} ({name}) in the store differs from this program's; \
         the store belongs to another build: use that build, or restore a backup"
    )]
    ForeignMigration {
        /// The migration's number.
        version: u32,
        /// The migration's name in this program.
        name: String,
    },
    /// The file system cannot do write-ahead logging.
    #[error(
        "{path} cannot use a write-ahead log (journal mode stays {mode:?}); \
         put the run on a local disk, not on a network share"
    )]
    NoWriteAheadLog {
        /// The file asked for.
        path: PathBuf,
        /// What SQLite uses instead.
        mode: String,
    },
    /// The file is damaged or cut short.
    #[error(
        "the game store is damaged ({reason}); stop every process of this run, keep a copy of \
         tengen.db with its -wal file, then restore a backup"
    )]
    Damaged {
        /// SQLite's words.
        reason: String,
    },
    /// No room left; the transaction was rolled back.
    #[error("the disk is full; nothing was half written: free some space and start again")]
    DiskFull,
    /// Another process holds the write lock for longer than the busy timeout.
    #[error(
        "another process has been writing to the game store for more than {seconds} s; \
         see whether a second process of this run hangs, then try again"
    )]
    Locked {
        /// How long this one waited.
        seconds: u64,
    },
    /// The file or its folder is read-only.
    #[error("the game store is read-only ({reason}); check the owner of the run's folder")]
    ReadOnly {
        /// SQLite's words.
        reason: String,
    },
    /// No run in this file yet.
    #[error("the game store holds no run yet; start one with `tengen loop --config FILE`")]
    NoRun,
    /// The run in this file was started from another seed.
    #[error(
        "the store holds run {name:?} with seed {found}, the configuration says {asked}; \
         set [run] seed = {found} to go on, or choose an empty folder"
    )]
    OtherSeed {
        /// The stored run's name.
        name: String,
        /// The stored run's seed.
        found: u64,
        /// The seed asked for.
        asked: u64,
    },
    /// A game that its own rules refuse; nothing of its batch was stored.
    #[error("game {game} is refused: {reason}")]
    RefusedGame {
        /// Which one.
        game: String,
        /// What validation said.
        reason: String,
    },
    /// A stored game that cannot be read back.
    #[error(
        "stored game {game} is damaged: {reason}; run `tengen store fsck`, then restore a backup"
    )]
    DamagedGame {
        /// Which one.
        game: String,
        /// What is wrong.
        reason: String,
    },
    /// Two games claim the same worker and counter.
    #[error(
        "game {counter} of worker {worker:?} is already stored as {stored}, not as {asked}; \
         give each process its own worker name"
    )]
    CounterTaken {
        /// The worker's name.
        worker: String,
        /// The game's number at that worker.
        counter: u64,
        /// The id in the store.
        stored: GameId,
        /// The id asked for.
        asked: GameId,
    },
    /// No such network.
    #[error("no network {0} in this run; `tengen status` lists them")]
    UnknownNetwork(String),
    /// A network's bytes that the store does not keep.
    #[error("the bytes of network {id} are refused: {reason}")]
    RefusedNetwork {
        /// The network.
        id: String,
        /// Why.
        reason: String,
    },
    /// No such worker.
    #[error("no worker {0:?} ever registered with this run")]
    UnknownWorker(String),
    /// No such match.
    #[error("no match {0} in this run")]
    UnknownMatch(i64),
    /// A candidate cannot play itself.
    #[error(
        "network {0} cannot be its own opponent: training changed nothing; check the learning rate"
    )]
    SelfMatch(String),
    /// The match has its verdict; it takes neither games nor another one.
    #[error("match {match_id} is already concluded: {verdict}")]
    AlreadyConcluded {
        /// The match.
        match_id: i64,
        /// Its verdict.
        verdict: String,
    },
    /// Promotion's compare-and-set failed; nothing was written.
    #[error(
        "match {match_id} was played against {expected}, but the best network is now {found}; \
         nothing was written: conclude it without promotion and play the candidate again"
    )]
    BestMoved {
        /// The match.
        match_id: i64,
        /// The match's base.
        expected: String,
        /// The best network now, or `none`.
        found: String,
    },
    /// The run already has a best network.
    #[error("the run already has a best network, {0}; use a match or `tengen promote` to move it")]
    BestExists(String),
    /// Nothing to go back to.
    #[error("there is no earlier best network to roll back to")]
    NoEarlierBest,
    /// A match result that contradicts its game or its slot.
    #[error("match {match_id}, pair {pair}, colour {colour}: {reason}")]
    RefusedMatchGame {
        /// The match.
        match_id: i64,
        /// The opening pair.
        pair: u32,
        /// 0 if the candidate is Black.
        colour: u8,
        /// What is wrong.
        reason: String,
    },
    /// Someone else owns the lease.
    #[error(
        "{name} is owned by {holder} for another {seconds:.0} s; stop that process, \
         or wait until its lease has run out"
    )]
    LeaseHeld {
        /// The lease's name.
        name: String,
        /// Who holds it.
        holder: String,
        /// Seconds until it expires unless it is renewed.
        seconds: f64,
    },
    /// This process lost its lease, so it may not write any more.
    #[error(
        "the lease {name} (epoch {epoch}) of {holder} was taken over by another process; \
         nothing was written: stop this one"
    )]
    LeaseLost {
        /// The lease's name.
        name: String,
        /// Who held it.
        holder: String,
        /// The fencing number that is stale.
        epoch: u64,
    },
    /// A column holds a word that this program does not know.
    #[error("unknown {what} {value:?} in the store; it was written by another release")]
    UnknownWord {
        /// The column.
        what: &'static str,
        /// Its value.
        value: String,
    },
    /// The target of a backup exists.
    #[error("{path} exists; choose another name for the backup")]
    BackupExists {
        /// The target.
        path: PathBuf,
    },
    /// A run cannot be carried into a store that holds one.
    #[error("{place} holds the run {run:?} already; carry the run into an empty place")]
    TargetInUse {
        /// The target.
        place: String,
        /// The run in it.
        run: String,
    },
    /// A file beside the store failed.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A server's URL that cannot be used.
    #[error("not a usable PostgreSQL URL: {reason}")]
    Url {
        /// What is wrong with it.
        reason: String,
    },
    /// A server that answers, but not to us.
    #[error(
        "{server} refuses the connection: {reason}; check user, password, database and certificate"
    )]
    Connect {
        /// The server's URL without user and password.
        server: String,
        /// Its words.
        reason: String,
    },
    /// A server that does not answer, or no longer. The only failure that passes by itself: whatever was
    /// asked may be asked again, and if it was a commit, it may have gone through.
    #[error("{server} is away: {reason}; nothing acknowledged is lost, try again later")]
    Unavailable {
        /// The server's URL without user and password.
        server: String,
        /// What happened.
        reason: String,
    },
    /// A server too old for the statements.
    #[error(
        "{place} runs PostgreSQL {found} (as server_version_num), but 140000 (version 14) is the oldest that is supported"
    )]
    OldServer {
        /// The server's URL without user and password.
        place: String,
        /// Its version.
        found: String,
    },
    /// A login without the right to do this.
    #[error(
        "this login may not do that ({reason}); use one with the role tengen_owner or tengen_trainer"
    )]
    Denied {
        /// The server's words.
        reason: String,
    },
    /// Something that only a file can do.
    #[error("{what} needs a store in a file; on a server, use {instead}")]
    FileOnly {
        /// What was asked for.
        what: &'static str,
        /// What to do in its place.
        instead: &'static str,
    },
    /// Anything else the engine reports.
    #[error("the game store refused a query: {0}")]
    Query(String),
    /// Anything else SQLite reports.
    #[error("the game store refused a query: {0}")]
    Sqlite(#[source] rusqlite::Error),
}

impl StoreError {
    /// Whether the same call may succeed later: after a server's restart, or once there is room on
    /// its disk.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::Locked { .. } | Self::DiskFull)
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        let reason = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Self::Locked { seconds: crate::db::sqlite::BUSY_TIMEOUT.as_secs() }
            }
            Some(ErrorCode::DiskFull) => Self::DiskFull,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged { reason },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::ReadOnly { reason },
            _ => Self::Sqlite(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::ffi;

    #[test]
    fn sqlite_codes_become_words_that_tell_what_to_do() {
        for (code, words) in [
            (ffi::SQLITE_BUSY, "second process"),
            (ffi::SQLITE_BUSY_SNAPSHOT, "second process"),
            (ffi::SQLITE_FULL, "free some space"),
            (ffi::SQLITE_CORRUPT, "restore a backup"),
            (ffi::SQLITE_READONLY, "owner of the run's folder"),
            (ffi::SQLITE_MISUSE, "refused a query"),
        ] {
            let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            let told = StoreError::from(error).to_string();
            assert!(told.contains(words), "{code}: {told}");
        }
    }
}
