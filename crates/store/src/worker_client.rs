//! The conversation with a run on a server, for a login that may do nothing else.

use postgres::types::ToSql;

use crate::StoreError;
use crate::db::postgres::Postgres;
use crate::db::{Database, Row, params};
use crate::inbox::check_limits;
use crate::upstream::{
    Block, BlockGame, BlockLease, RunState, SharedUpstream, Submitted, Upload, Upstream,
    UpstreamError, WorkerCounts, WorkerHello, check_party,
};
use crate::upstream_store::not_kept;

/// Seconds that `lease_block` gives.
const LEASE_SECONDS: u32 = 60;

/// A worker's connection to a run on a PostgreSQL server. Its login needs the role `tengen_worker` alone.
#[derive(Debug)]
pub struct WorkerClient {
    db: Postgres,
}

impl WorkerClient {
    /// Connects to the run of `postgres://…?schema=RUN`, as [`Store::connect`](crate::Store::connect) says.
    ///
    /// # Errors
    /// [`UpstreamError::Away`] when nobody answers, [`UpstreamError::Refused`] for a URL or a login that
    /// is not usable.
    pub fn connect(url: &str) -> Result<Self, UpstreamError> {
        Ok(Self { db: Postgres::connect(url)? })
    }

    fn state(
        &self,
        hello: &WorkerHello,
        sql: &str,
        values: &[crate::db::Param<'_>],
    ) -> Result<RunState, UpstreamError> {
        let db: &dyn Database = &self.db;
        db.row(sql, values, |row| {
            if let Err(refusal) = verdict(hello, &row.get::<String>(0)?) {
                return Ok(Err(refusal));
            }
            let Some(run_uid) = row.get(1)? else { return Err(StoreError::NoRun) };
            Ok(Ok(RunState {
                run_uid,
                config_text: row.get(2)?,
                config_digest: row.get(3)?,
                seed: row.get::<i64>(4)?.cast_unsigned(),
                best: row.get(5)?,
                mode: row.get::<String>(6)?.parse()?,
                ahead: row.get(7)?,
            }))
        })?
    }

    /// Calls a function that takes arrays.
    fn call(
        &self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<postgres::Row, UpstreamError> {
        Ok(self.db.run(sql, |client, statement| client.query_one(statement, values))?)
    }
}

/// The first column of every answer.
fn verdict(hello: &WorkerHello, status: &str) -> Result<(), UpstreamError> {
    if let Some(rest) = status.strip_prefix("version ") {
        let (theirs, needed) = rest.split_once(' ').unwrap_or((rest, "unknown"));
        return Err(UpstreamError::Version {
            ours: hello.protocol,
            theirs: theirs.parse().unwrap_or_default(),
            needed: needed.to_owned(),
        });
    }
    admitted(&hello.name, status)
}

fn admitted(worker: &str, status: &str) -> Result<(), UpstreamError> {
    match status {
        "ok" => Ok(()),
        "blocked" => Err(UpstreamError::Blocked(worker.to_owned())),
        other => {
            let reason = other.strip_prefix("refused: ").unwrap_or(other);
            Err(UpstreamError::Refused(reason.to_owned()))
        }
    }
}

/// A worker of whom the name alone matters.
fn named(worker: &str) -> WorkerHello {
    let nothing = String::new;
    WorkerHello {
        name: worker.to_owned(),
        host: nothing(),
        device: nothing(),
        version: nothing(),
        protocol: 0,
    }
}

/// An answer of a status and a yes or no.
fn held(worker: &str, row: &mut Row<'_>) -> Result<Result<bool, UpstreamError>, StoreError> {
    let (status, yes): (String, bool) = (row.get(0)?, row.get(1)?);
    Ok(admitted(worker, &status).map(|()| yes))
}

/// A counter as a column.
fn column(count: u64) -> Result<i64, UpstreamError> {
    i64::try_from(count).map_err(|_| UpstreamError::Refused(format!("{count} is out of range")))
}

impl Upstream for WorkerClient {
    fn register(&mut self, hello: &WorkerHello) -> Result<RunState, UpstreamError> {
        let WorkerHello { name, host, device, version, protocol } = hello;
        let sql = "SELECT * FROM register_worker(?1, ?2, ?3, ?4, ?5)";
        self.state(hello, sql, params![name, host, device, version, protocol])
    }

    fn run_state(&mut self, worker: &str, counts: WorkerCounts) -> Result<RunState, UpstreamError> {
        let sql = "SELECT * FROM run_state(?1, ?2, ?3)";
        self.state(&named(worker), sql, params![worker, counts.games, counts.evals])
    }

    fn submit(&mut self, uploads: &[Upload]) -> Result<Submitted, UpstreamError> {
        check_limits(uploads)?;
        let Some(first) = uploads.first() else { return Ok(Submitted::default()) };
        let ids: Vec<&[u8]> = uploads.iter().map(|u| &u.id.0[..]).collect();
        let counters =
            uploads.iter().map(|u| column(u.counter)).collect::<Result<Vec<i64>, _>>()?;
        let networks: Vec<&str> = uploads.iter().map(|u| u.network.as_str()).collect();
        let payloads: Vec<&[u8]> = uploads.iter().map(|u| u.payload.as_slice()).collect();
        let hashes: Vec<&[u8]> = uploads.iter().map(|u| &u.payload_hash[..]).collect();
        let row = self.call(
            "SELECT * FROM submit_uploads(?1, ?2, ?3, ?4, ?5, ?6)",
            &[&first.worker, &ids, &counters, &networks, &payloads, &hashes],
        )?;
        admitted(&first.worker, row.get(0))?;
        let count = |at: usize| row.get::<_, i64>(at).cast_unsigned();
        Ok(Submitted { accepted: count(1), already_there: count(2), quarantined: count(3) })
    }

    fn network(&mut self, hash: &str) -> Result<Vec<u8>, UpstreamError> {
        let db: &dyn Database = &self.db;
        let mut bytes = Vec::new();
        for chunk in 0_u32.. {
            let next: Option<Vec<u8>> =
                db.get("SELECT network_chunk(?1, ?2)", params![hash, chunk])?;
            match next {
                Some(next) => bytes.extend(next),
                None => break,
            }
        }
        if bytes.is_empty() { Err(not_kept(hash)) } else { Ok(bytes) }
    }

    fn report_damaged(
        &mut self,
        worker: &str,
        network: &str,
        why: &str,
    ) -> Result<(), UpstreamError> {
        let db: &dyn Database = &self.db;
        let sql = "SELECT report_damaged(?1, ?2, ?3)";
        let status: String = db.get(sql, params![worker, network, why])?;
        admitted(worker, &status)
    }

    fn lease_block(&mut self, worker: &str) -> Result<Option<Block>, UpstreamError> {
        let sql = "SELECT * FROM lease_block(?1)";
        let found =
            self.db.run(sql, |client, statement| client.query_opt(statement, &[&worker]))?;
        let Some(row) = found else { return Ok(None) };
        admitted(worker, row.get(0))?;
        let small = |at: usize| u32::try_from(row.get::<_, i64>(at)).unwrap_or(u32::MAX);
        let done: Vec<i64> = row.get(9);
        Ok(Some(Block {
            lease: BlockLease {
                match_id: row.get(1),
                block: small(2),
                worker: worker.to_owned(),
                epoch: row.get::<_, i64>(3).cast_unsigned(),
            },
            candidate: row.get(4),
            base: row.get(5),
            gate_config_json: row.get(6),
            pairs: small(7)..small(8),
            done: done.iter().map(|slot| ((slot / 2) as u32, (slot % 2) as u8)).collect(),
            lease_seconds: LEASE_SECONDS,
        }))
    }

    fn heartbeat(&mut self, lease: &BlockLease) -> Result<bool, UpstreamError> {
        let BlockLease { match_id, block, worker, epoch } = lease;
        let sql = "SELECT * FROM heartbeat(?1, ?2, ?3, ?4)";
        let db: &dyn Database = &self.db;
        db.row(sql, params![worker, match_id, block, epoch], |row| held(worker, row))?
    }

    fn finish_block(
        &mut self,
        lease: &BlockLease,
        games: &[BlockGame],
    ) -> Result<bool, UpstreamError> {
        let BlockLease { match_id, block, worker, epoch } = lease;
        let pairs: Vec<i64> = games.iter().map(|game| i64::from(game.pair)).collect();
        let colours: Vec<i64> = games.iter().map(|game| i64::from(game.colour)).collect();
        let payloads: Vec<&[u8]> = games.iter().map(|game| game.payload.as_slice()).collect();
        let hashes: Vec<&[u8]> = games.iter().map(|game| &game.payload_hash[..]).collect();
        let row = self.call(
            "SELECT * FROM finish_block(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            &[
                worker,
                match_id,
                &i64::from(*block),
                &column(*epoch)?,
                &pairs,
                &colours,
                &payloads,
                &hashes,
            ],
        )?;
        admitted(worker, row.get(0))?;
        Ok(row.get(1))
    }
}

impl SharedUpstream for WorkerClient {
    fn speak_for(&mut self, party: &str) -> Result<(), UpstreamError> {
        check_party(party)?;
        Ok(self.db.speak_for(party)?)
    }
}
