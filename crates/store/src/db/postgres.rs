//! PostgreSQL: one connection to one schema, renewed when the server went away.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use ::postgres::error::SqlState;
use ::postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use ::postgres::{Client, Error, Row, Statement};
use bytes::BytesMut;

use super::server::{Server, told};
use super::{Database, Engine, Param, Purpose, Rows, Value, dialect};
use crate::StoreError;

/// Pauses between attempts to connect; after the last one the server counts as away.
const BACK_OFF: [Duration; 4] = [
    Duration::from_millis(100),
    Duration::from_millis(300),
    Duration::from_millis(600),
    Duration::from_millis(1000),
];

/// How long a statement waits for another one's lock, in seconds.
const LOCK_SECONDS: u64 = 10;

/// The oldest server that the statements are tested on, as `server_version_num` counts.
const OLDEST_SERVER: i64 = 140_000;

/// Opens a bracket against every other writer of the run; readers never wait for it.
const BEGIN_WRITE: &str = "BEGIN; LOCK TABLE write_lock IN EXCLUSIVE MODE";

type BoxError = Box<dyn std::error::Error + Sync + Send>;

/// A connection to a run's schema.
pub(crate) struct Postgres {
    server: Server,
    link: RefCell<Link>,
    /// For whom a worker's functions act, beside the login; empty: for the login alone.
    party: RefCell<String>,
}

#[derive(Default)]
struct Link {
    client: Option<Client>,
    prepared: HashMap<String, Statement>,
    in_transaction: bool,
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Postgres").field("place", &self.server.place).finish_non_exhaustive()
    }
}

impl Postgres {
    /// Connects to the server of `url`, trying a few times.
    pub(crate) fn connect(url: &str) -> Result<Self, StoreError> {
        let db = Self {
            server: Server::parse(url)?,
            link: RefCell::default(),
            party: RefCell::default(),
        };
        let version: String = (&db as &dyn Database)
            .get("SELECT CAST(current_setting('server_version_num') AS TEXT)", &[])?;
        if version.parse::<i64>().is_ok_and(|version| version < OLDEST_SERVER) {
            let (place, found) = (db.server.place.clone(), version);
            return Err(StoreError::OldServer { place, found });
        }
        Ok(db)
    }

    /// The run's schema.
    pub(crate) fn schema(&self) -> &str {
        &self.server.schema
    }

    /// From now on, and on every connection that replaces this one, a worker's functions act for `party`
    /// of the login. The name is plain: it was checked.
    pub(crate) fn speak_for(&self, party: &str) -> Result<(), StoreError> {
        if *self.party.borrow() == party {
            return Ok(());
        }
        party.clone_into(&mut self.party.borrow_mut());
        let told = self.ask(true, |client, _| client.batch_execute(&self.introduction()));
        if told.is_err() {
            // Whoever this connection speaks for now, the next one speaks for `party`.
            self.link.borrow_mut().client = None;
        }
        told
    }

    fn introduction(&self) -> String {
        format!("SET tengen.party TO '{}'", self.party.borrow())
    }

    /// Does something with the connection. A connection found dead is renewed first, and once more
    /// if it dies in something that changes nothing.
    pub(crate) fn ask<T>(
        &self,
        repeatable: bool,
        mut what: impl FnMut(&mut Client, &mut HashMap<String, Statement>) -> Result<T, Error>,
    ) -> Result<T, StoreError> {
        let mut link = self.link.borrow_mut();
        let mut again = repeatable && !link.in_transaction;
        loop {
            if link.client.as_ref().is_none_or(Client::is_closed) {
                link.client = None;
                if link.in_transaction {
                    return Err(self.away("the connection was lost within a transaction"));
                }
                link.prepared.clear();
                link.client = Some(self.dial()?);
            }
            let Link { client, prepared, .. } = &mut *link;
            let client = client.as_mut().expect("it was connected just now");
            match what(client, prepared) {
                Ok(answer) => return Ok(answer),
                Err(error) if is_lost(&error) => {
                    link.client = None;
                    if !again {
                        return Err(self.away(&told(&error)));
                    }
                    again = false;
                }
                Err(error) => return Err(refusal(&error)),
            }
        }
    }

    fn away(&self, reason: &str) -> StoreError {
        StoreError::Unavailable { server: self.server.place.clone(), reason: reason.to_owned() }
    }

    /// A fresh connection that finds the run's tables by their names and never waits for ever.
    fn dial(&self) -> Result<Client, StoreError> {
        let mut pauses = BACK_OFF.iter();
        loop {
            let connected = self.server.connect().and_then(|mut client| {
                client.batch_execute(&self.greeting())?;
                Ok(client)
            });
            match connected {
                Ok(client) => return Ok(client),
                Err(error) if is_lost(&error) => match pauses.next() {
                    Some(pause) => std::thread::sleep(*pause),
                    None => return Err(self.away(&told(&error))),
                },
                Err(error) => {
                    let (server, reason) = (self.server.place.clone(), told(&error));
                    return Err(StoreError::Connect { server, reason });
                }
            }
        }
    }

    fn greeting(&self) -> String {
        format!(
            "SET search_path TO {}, pg_temp;
             SET client_min_messages TO warning;
             SET lock_timeout TO '{LOCK_SECONDS}s';
             SET statement_timeout TO '60s';
             SET idle_in_transaction_session_timeout TO '30s';
             {};
             SELECT set_config('synchronous_commit', 'on', false)
                 WHERE current_setting('synchronous_commit') = 'off'",
            self.server.schema,
            self.introduction()
        )
    }

    pub(crate) fn run<T>(
        &self,
        sql: &str,
        mut what: impl FnMut(&mut Client, &Statement) -> Result<T, Error>,
    ) -> Result<T, StoreError> {
        self.ask(sql.starts_with("SELECT"), |client, prepared| {
            if let Some(statement) = prepared.get(sql) {
                return what(client, statement);
            }
            let statement = client.prepare(&dialect::statement(Engine::Postgres, sql))?;
            let answer = what(client, &statement);
            prepared.insert(sql.to_owned(), statement);
            answer
        })
    }
}

impl Database for Postgres {
    fn engine(&self) -> Engine {
        Engine::Postgres
    }

    fn place(&self) -> &str {
        &self.server.place
    }

    fn execute(&self, sql: &str, params: &[Param<'_>]) -> Result<u64, StoreError> {
        let params: Vec<_> = params.iter().map(|param| param as &(dyn ToSql + Sync)).collect();
        self.run(sql, |client, statement| client.execute(statement, &params))
    }

    fn query(&self, sql: &str, params: &[Param<'_>]) -> Result<Rows, StoreError> {
        let params: Vec<_> = params.iter().map(|param| param as &(dyn ToSql + Sync)).collect();
        let found = self.run(sql, |client, statement| client.query(statement, &params))?;
        let width = found.first().map_or(0, Row::len);
        let mut rows = Rows::new(width);
        for row in &found {
            for column in 0..width {
                rows.push(cell(row, column)?);
            }
        }
        Ok(rows)
    }

    fn batch(&self, sql: &str) -> Result<(), StoreError> {
        self.ask(false, |client, _| client.batch_execute(sql))
    }

    fn begin(&self, purpose: Purpose) -> Result<(), StoreError> {
        let migrate = format!(
            "BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('tengen {}', 0))",
            self.server.schema
        );
        let sql = match purpose {
            Purpose::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            Purpose::Write => BEGIN_WRITE,
            Purpose::Migrate => &migrate,
        };
        let begun = self.ask(true, |client, _| client.batch_execute(sql));
        self.link.borrow_mut().in_transaction = begun.is_ok();
        if begun.is_err() {
            // BEGIN went through and the lock did not.
            self.rollback();
        }
        begun
    }

    fn commit(&self) -> Result<(), StoreError> {
        let committed = self.ask(false, |client, _| client.batch_execute("COMMIT"));
        self.link.borrow_mut().in_transaction = false;
        committed
    }

    fn rollback(&self) {
        let mut link = self.link.borrow_mut();
        link.in_transaction = false;
        if let Some(client) = &mut link.client
            && client.batch_execute("ROLLBACK").is_err()
        {
            link.client = None;
        }
    }
}

/// Whether the server, not the statement, is to blame, so that the same may work later.
fn is_lost(error: &Error) -> bool {
    let Some(db) = error.as_db_error() else {
        let mut cause = std::error::Error::source(error);
        while let Some(inner) = cause {
            if inner.is::<std::io::Error>() {
                return !is_tls_refusal(inner);
            }
            cause = inner.source();
        }
        return error.is_closed();
    };
    let code = db.code();
    // No connection, no memory or other means, an operator's or a time limit's doing, a failing system:
    // whatever was asked is not to blame.
    let of_the_server = ["08", "53", "57", "58"].iter().any(|class| code.code().starts_with(class));
    (of_the_server && *code != SqlState::DISK_FULL)
        || [SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT, SqlState::READ_ONLY_SQL_TRANSACTION]
            .contains(code)
}

/// A certificate that is not trusted today will not be trusted in a second.
fn is_tls_refusal(error: &(dyn std::error::Error + 'static)) -> bool {
    error
        .downcast_ref::<std::io::Error>()
        .and_then(std::io::Error::get_ref)
        .is_some_and(|inner| inner.is::<rustls::Error>())
}

/// What the server says no to, in the store's words.
fn refusal(error: &Error) -> StoreError {
    let reason = told(error);
    match error.code() {
        Some(code) if *code == SqlState::DISK_FULL => StoreError::DiskFull,
        Some(code)
            if [SqlState::LOCK_NOT_AVAILABLE, SqlState::T_R_DEADLOCK_DETECTED].contains(code) =>
        {
            StoreError::Locked { seconds: LOCK_SECONDS }
        }
        Some(code) if [SqlState::DATA_CORRUPTED, SqlState::INDEX_CORRUPTED].contains(code) => {
            StoreError::Damaged { reason }
        }
        Some(code) if *code == SqlState::INSUFFICIENT_PRIVILEGE => StoreError::Denied { reason },
        _ => StoreError::Query(reason),
    }
}

fn cell(row: &Row, column: usize) -> Result<Value, StoreError> {
    let kind = row.columns()[column].type_();
    let read = match *kind {
        Type::INT8 => row.try_get(column).map(|v: Option<i64>| v.map(Value::Int)),
        Type::INT4 => row.try_get(column).map(|v: Option<i32>| v.map(|v| Value::Int(v.into()))),
        Type::BOOL => row.try_get(column).map(|v: Option<bool>| v.map(|v| Value::Int(v.into()))),
        Type::FLOAT8 => row.try_get(column).map(|v: Option<f64>| v.map(Value::Real)),
        Type::TEXT | Type::VARCHAR | Type::NAME => {
            row.try_get(column).map(|v: Option<String>| v.map(Value::Text))
        }
        Type::BYTEA => row.try_get(column).map(|v: Option<Vec<u8>>| v.map(Value::Blob)),
        _ => return Err(StoreError::Query(format!("a column of type {kind} was not expected"))),
    };
    let value = read.map_err(|error| StoreError::Query(told(&error)))?;
    Ok(value.unwrap_or_default())
}

impl ToSql for Param<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, BoxError> {
        match *self {
            Self::Null => Ok(IsNull::Yes),
            Self::Count(count) => Self::Int(i64::try_from(count)?).to_sql(kind, out),
            Self::Int(int) => match *kind {
                Type::INT8 => int.to_sql(kind, out),
                Type::INT4 => i32::try_from(int)?.to_sql(kind, out),
                Type::BOOL => (int != 0).to_sql(kind, out),
                Type::FLOAT8 => (int as f64).to_sql(kind, out),
                _ => Err(mismatch(self, kind)),
            },
            Self::Real(real) if *kind == Type::FLOAT8 => real.to_sql(kind, out),
            Self::Text(text) if <&str as ToSql>::accepts(kind) => text.to_sql(kind, out),
            Self::Blob(blob) if *kind == Type::BYTEA => blob.to_sql(kind, out),
            _ => Err(mismatch(self, kind)),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

fn mismatch(param: &Param<'_>, kind: &Type) -> BoxError {
    let what = match param {
        Param::Text(_) => "a text",
        Param::Blob(_) => "bytes",
        _ => "a number",
    };
    format!("{what} where the statement wants {kind}").into()
}
