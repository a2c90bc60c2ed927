//! The workers of a fleet: who they are, when they were last heard of, and how far they are trusted.

use std::fmt;
use std::str::FromStr;

use crate::db::{Database, params};
use crate::upstream::{PROTOCOL, RunMode, RunState, UpstreamError, WorkerCounts, WorkerHello};
use crate::{Store, StoreError, journal, run};

/// Unsound games after which a worker is under suspicion.
const SUSPECT_AT: u64 = 3;

/// Unsound games after which nothing of a worker is taken any more.
const BLOCKED_AT: u64 = 10;

/// How far a worker is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WorkerState {
    /// Nothing is known against it.
    Ok,
    /// Some of its games were unsound; the others count.
    Suspect,
    /// Nothing is taken from it any more.
    Blocked,
}

impl WorkerState {
    const ALL: [(Self, &str); 3] =
        [(Self::Ok, "ok"), (Self::Suspect, "suspect"), (Self::Blocked, "blocked")];
}

impl fmt::Display for WorkerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::ALL[*self as usize].1)
    }
}

impl FromStr for WorkerState {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        let found = Self::ALL.iter().find(|(_, word)| *word == text);
        let unknown = || StoreError::UnknownWord { what: "worker state", value: text.to_owned() };
        found.map(|(state, _)| *state).ok_or_else(unknown)
    }
}

impl RunMode {
    const ALL: [(Self, &str); 3] =
        [(Self::Running, "running"), (Self::Paused, "paused"), (Self::Draining, "draining")];
}

impl fmt::Display for RunMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::ALL[*self as usize].1)
    }
}

impl FromStr for RunMode {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        let found = Self::ALL.iter().find(|(_, word)| *word == text);
        let unknown = || StoreError::UnknownWord { what: "run mode", value: text.to_owned() };
        found.map(|(mode, _)| *mode).ok_or_else(unknown)
    }
}

/// A worker as stored.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkerRow {
    /// Its name, unique in the run.
    pub name: String,
    /// Its machine.
    pub host: String,
    /// What it evaluates on.
    pub device: String,
    /// Its program's version.
    pub version: String,
    /// How far it is trusted.
    pub state: WorkerState,
    /// What it has done since it registered, as it says.
    pub counts: WorkerCounts,
    /// Games of it that turned out unsound.
    pub refused: u64,
    /// When it registered last, microseconds since 1970.
    pub registered_us: i64,
    /// When it was last heard of, microseconds since 1970.
    pub last_seen_us: i64,
    /// Seconds since then, by the database's clock.
    pub silent_seconds: f64,
}

impl Store {
    /// Every worker that ever registered, in order of their names.
    ///
    /// # Errors
    /// [`StoreError::UnknownWord`] when another release wrote a state.
    pub fn workers(&self) -> Result<Vec<WorkerRow>, StoreError> {
        let sql = "SELECT name, host, device, version, state, games, evals, refused, registered_us,
                       last_seen_us, now_us() - last_seen_us FROM workers ORDER BY name";
        self.db.rows(sql, &[], |row| {
            Ok(WorkerRow {
                name: row.get(0)?,
                host: row.get(1)?,
                device: row.get(2)?,
                version: row.get(3)?,
                state: row.get::<String>(4)?.parse()?,
                counts: WorkerCounts { games: row.get(5)?, evals: row.get(6)? },
                refused: row.get(7)?,
                registered_us: row.get(8)?,
                last_seen_us: row.get(9)?,
                silent_seconds: row.get::<i64>(10)?.max(0) as f64 / 1e6,
            })
        })
    }

    /// Trusts a worker more or less, whatever its games were; `ok` also forgets those.
    ///
    /// # Errors
    /// [`StoreError::UnknownWorker`].
    pub fn set_worker_state(&mut self, name: &str, state: WorkerState) -> Result<(), StoreError> {
        let sql = "UPDATE workers SET state = ?2,
                       refused = CASE WHEN ?2 = 'ok' THEN 0 ELSE refused END WHERE name = ?1";
        match self.db.execute(sql, params![name, state.to_string()])? {
            1 => Ok(()),
            _ => Err(StoreError::UnknownWorker(name.to_owned())),
        }
    }

    /// Tells every worker whether the run wants games.
    ///
    /// # Errors
    /// [`StoreError::NoRun`].
    pub fn set_run_mode(&mut self, mode: RunMode) -> Result<(), StoreError> {
        match self.db.execute("UPDATE runs SET mode = ?1", params![mode.to_string()])? {
            1 => Ok(()),
            _ => Err(StoreError::NoRun),
        }
    }
}

/// Makes a worker known to belong to `login`; empty: to all who may write here. Its counts begin anew: they
/// are since it registered.
pub(crate) fn register(
    db: &dyn Database,
    hello: &WorkerHello,
    login: &str,
) -> Result<(), UpstreamError> {
    if hello.protocol != PROTOCOL {
        return Err(UpstreamError::Version {
            ours: hello.protocol,
            theirs: PROTOCOL,
            needed: env!("CARGO_PKG_VERSION").to_owned(),
        });
    }
    if !is_sound_name(&hello.name) {
        return Err(UpstreamError::Refused(format!(
            "worker name {:?}: use 1 to 64 of A-Z a-z 0-9 . _ : -",
            hello.name
        )));
    }
    let sql =
        "INSERT INTO workers (name, login, host, device, version, protocol, state, games, evals,
                   refused, registered_us, last_seen_us)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'ok', 0, 0, 0, now_us(), now_us())
               ON CONFLICT (name) DO UPDATE SET host = excluded.host, device = excluded.device,
                   version = excluded.version, protocol = excluded.protocol, games = 0, evals = 0,
                   registered_us = excluded.registered_us, last_seen_us = excluded.last_seen_us
               WHERE ?2 IN ('', workers.login)";
    let WorkerHello { name, host, device, version, protocol } = hello;
    db.execute(sql, params![name, login, host, device, version, protocol])?;
    admit(db, name, login)
}

/// A name that can stand in logs, file names and metrics as it is.
fn is_sound_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._:-".contains(&b))
}

/// Refuses workers that never registered, belong to somebody else than `login` (empty: may speak for all),
/// or are blocked.
pub(crate) fn admit(db: &dyn Database, worker: &str, login: &str) -> Result<(), UpstreamError> {
    let sql = "SELECT state, login FROM workers WHERE name = ?1";
    let found: Option<(String, String)> =
        db.maybe(sql, params![worker], |row| Ok((row.get(0)?, row.get(1)?)))?;
    match found {
        None => {
            let shown: String = worker.chars().take(64).collect();
            Err(UpstreamError::Refused(format!("worker {shown:?} has not registered")))
        }
        Some((_, its)) if !login.is_empty() && its != login => {
            Err(UpstreamError::Refused("this worker's name belongs to another login".to_owned()))
        }
        Some((state, _)) if state == "blocked" => Err(UpstreamError::Blocked(worker.to_owned())),
        Some(_) => Ok(()),
    }
}

/// Notes a sign of life.
pub(crate) fn seen(
    db: &dyn Database,
    worker: &str,
    counts: WorkerCounts,
) -> Result<(), StoreError> {
    let sql = "UPDATE workers SET games = ?2, evals = ?3, last_seen_us = now_us() WHERE name = ?1";
    db.execute(sql, params![worker, counts.games, counts.evals]).map(drop)
}

/// Counts unsound games against a worker; enough of them and it is trusted less.
pub(crate) fn count_refused(db: &dyn Database, worker: &str, games: u64) -> Result<(), StoreError> {
    if games == 0 {
        return Ok(());
    }
    let sql = "UPDATE workers SET refused = refused + ?2 WHERE name = ?1 RETURNING refused, state";
    let found: Option<(u64, String)> =
        db.maybe(sql, params![worker, games], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let Some((refused, state)) = found else { return Ok(()) };
    let due = match refused {
        BLOCKED_AT.. => "blocked",
        SUSPECT_AT.. => "suspect",
        _ => "ok",
    };
    // Whoever is blocked by hand stays so.
    if due == "ok" || due == state || state == "blocked" {
        return Ok(());
    }
    db.execute("UPDATE workers SET state = ?2 WHERE name = ?1", params![worker, due])?;
    // The name is plain: it was checked when the worker registered.
    let detail = format!(r#"{{"worker":"{worker}","refused":{refused}}}"#);
    journal::note(db, &format!("worker-{due}"), &detail)
}

/// How the run stands, for a worker. Games in the inbox count as played: without a process that
/// settles them, workers stop at the limit all the same.
pub(crate) fn run_state(db: &dyn Database) -> Result<RunState, StoreError> {
    let run = run::require(db)?;
    let waiting: u64 = match run.ahead_limit {
        None => 0,
        Some(limit) => {
            let sql = "SELECT count(*) FROM (SELECT 1 FROM uploads LIMIT ?1) AS waiting";
            db.get(sql, params![limit])?
        }
    };
    let ahead = (run.last_seq + waiting).saturating_sub(run.trained_seq);
    Ok(RunState {
        ahead: run.ahead_limit.is_some_and(|limit| ahead >= limit),
        run_uid: run.uid,
        config_text: run.config_text,
        config_digest: run.config_digest,
        seed: run.seed,
        best: run.best,
        mode: run.mode,
    })
}
