//! Reading everything back and checking that it agrees with itself.

use std::collections::HashSet;

use crate::copies::PAGE;
use crate::db::{Database, Engine, Row, params};
use crate::games::unpack;
use crate::matches::points_of;
use crate::promotion::{history, standing};
use crate::{Store, StoreError, run};

/// What a full check found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FsckReport {
    /// No problem at all.
    pub ok: bool,
    /// Games read.
    pub games: u64,
    /// Training targets in them.
    pub positions: u64,
    /// Every problem, in words.
    pub problems: Vec<String>,
}

impl Store {
    /// Reads and replays every game and checks the books: sequence without gaps, counts,
    /// hashes, match results, promotions, the best pointer. Changes nothing; takes about
    /// as long as replaying the games does.
    ///
    /// # Errors
    /// Only where the store cannot be read at all; damage is a problem in the report.
    pub fn fsck(&self) -> Result<FsckReport, StoreError> {
        // One snapshot: a running self-play must not look like a gap.
        let tx = self.snapshot()?;
        let mut report = FsckReport::default();
        pages(&*tx, &mut report.problems)?;
        games(&*tx, &mut report)?;
        match_games(&*tx, &mut report.problems)?;
        imports(&*tx, &mut report.problems)?;
        best(&*tx, &mut report.problems)?;
        report.ok = report.problems.is_empty();
        Ok(report)
    }
}

/// SQLite's own view: pages, indexes, unique and foreign keys. A server looks after its own.
fn pages(db: &dyn Database, problems: &mut Vec<String>) -> Result<(), StoreError> {
    if db.engine() != Engine::Sqlite {
        return Ok(());
    }
    for line in db.rows("PRAGMA integrity_check", &[], |row| row.get::<String>(0))? {
        if line != "ok" {
            problems.push(format!("SQLite: {line}"));
        }
    }
    let sql = "SELECT \"table\", rowid, parent FROM pragma_foreign_key_check";
    problems.extend(db.rows(sql, &[], |row| {
        let (table, id, parent): (String, Option<i64>, String) =
            (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(format!("{table} row {id:?} points to nothing in {parent}"))
    })?);
    Ok(())
}

/// Reads a table in order of its number, page by page: `sql` takes the number before the page and the
/// page's length, and `read` returns the number of its row.
fn paged(
    db: &dyn Database,
    sql: &str,
    mut read: impl FnMut(&mut Row<'_>) -> Result<u64, StoreError>,
) -> Result<(), StoreError> {
    let mut after = 0_u64;
    while let Some(last) = db.rows(sql, params![after, PAGE], &mut read)?.last() {
        after = *last;
    }
    Ok(())
}

fn games(db: &dyn Database, report: &mut FsckReport) -> Result<(), StoreError> {
    let sql = "SELECT seq, moves, positions, cumulative, result, payload, payload_hash
               FROM games WHERE seq > ?1 ORDER BY seq LIMIT ?2";
    let (mut expected, mut sum) = (1_u64, 0_u64);
    paged(db, sql, |row| {
        let (seq, moves, positions, cumulative): (u64, u64, u64, u64) =
            (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
        let (result, payload, hash): (String, Vec<u8>, Vec<u8>) =
            (row.get(4)?, row.get(5)?, row.get(6)?);
        if seq != expected {
            report.problems.push(format!("games {expected} to {} are missing", seq - 1));
        }
        // After a gap the sum goes on from the stored one: one gap is one problem.
        if seq == expected && cumulative != sum + positions {
            report.problems.push(format!(
                "game {seq}: {cumulative} positions up to here, but they sum up to {}",
                sum + positions
            ));
        }
        (expected, sum) = (seq + 1, cumulative);
        report.games += 1;
        report.positions += positions;
        let claimed = Claimed { moves, positions: Some(positions), result: &result };
        if let Err(problem) = replay(&payload, &hash, &claimed) {
            report.problems.push(format!("game {seq}: {problem}"));
        }
        Ok(seq)
    })?;
    let last = run::read(db)?.map_or(0, |run| run.last_seq);
    if expected - 1 != last {
        report
            .problems
            .push(format!("the run counts {last} games, the newest is {}", expected - 1));
    }
    Ok(())
}

/// What the columns beside a blob say of it.
struct Claimed<'a> {
    moves: u64,
    positions: Option<u64>,
    result: &'a str,
}

fn replay(
    payload: &[u8],
    hash: &[u8],
    claimed: &Claimed<'_>,
) -> Result<tengen_record::GameRecord, String> {
    let record = unpack(payload, hash, "").map_err(|error| match error {
        StoreError::DamagedGame { reason, .. } => reason,
        other => other.to_string(),
    })?;
    record.validate().map_err(|refusal| format!("does not replay: {refusal}"))?;
    let (moves, result) = (record.turns.len() as u64, record.outcome.result_text());
    if moves != claimed.moves || result != claimed.result {
        return Err(format!(
            "the row says {} moves and {}, the game {moves} and {result}",
            claimed.moves, claimed.result
        ));
    }
    match claimed.positions {
        Some(row) if row != record.positions() as u64 => {
            Err(format!("the row says {row} positions, the game {}", record.positions()))
        }
        _ => Ok(record),
    }
}

fn match_games(db: &dyn Database, problems: &mut Vec<String>) -> Result<(), StoreError> {
    let sql = "SELECT pair, colour, points, moves, result, payload, payload_hash
               FROM match_games WHERE match_id = ?1 ORDER BY pair, colour";
    let ids = "SELECT DISTINCT match_id FROM match_games ORDER BY match_id";
    for id in db.rows(ids, &[], |row| row.get::<i64>(0))? {
        db.rows(sql, params![id], |row| {
            let (pair, colour): (u32, u8) = (row.get(0)?, row.get(1)?);
            let (points, moves): (f32, u64) = (row.get(2)?, row.get(3)?);
            let (result, payload, hash): (String, Vec<u8>, Vec<u8>) =
                (row.get(4)?, row.get(5)?, row.get(6)?);
            let claimed = Claimed { moves, positions: None, result: &result };
            let problem = match replay(&payload, &hash, &claimed) {
                Err(problem) => problem,
                Ok(record) if points_of(&record, colour) != points => {
                    format!("{points} points for the candidate contradict {result}")
                }
                Ok(_) => return Ok(()),
            };
            problems.push(format!("match {id}, pair {pair}, colour {colour}: {problem}"));
            Ok(())
        })?;
    }
    Ok(())
}

fn imports(db: &dyn Database, problems: &mut Vec<String>) -> Result<(), StoreError> {
    let sql = "SELECT import_seq, moves, result, payload, payload_hash FROM imported_games
               WHERE import_seq > ?1 ORDER BY import_seq LIMIT ?2";
    let mut expected = 1_u64;
    paged(db, sql, |row| {
        let (seq, moves, result): (u64, u64, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let (payload, hash): (Vec<u8>, Vec<u8>) = (row.get(3)?, row.get(4)?);
        if seq != expected {
            problems.push(format!("imported games {expected} to {} are missing", seq - 1));
        }
        expected = seq + 1;
        let claimed = Claimed { moves, positions: None, result: &result };
        if let Err(problem) = replay(&payload, &hash, &claimed) {
            problems.push(format!("imported game {seq}: {problem}"));
        }
        Ok(seq)
    })
}

/// Promotions follow each other and the verdicts, and end at the run's best.
fn best(db: &dyn Database, problems: &mut Vec<String>) -> Result<(), StoreError> {
    let history = history(db)?;
    let mut before: Option<&str> = None;
    for row in &history {
        if row.previous.as_deref() != before {
            problems.push(format!("promotion of {}: the best before was {before:?}", row.network));
        }
        before = Some(&row.network);
    }
    let best = run::read(db)?.and_then(|run| run.best);
    if best.as_deref() != before || standing(&history).last().copied() != before {
        problems.push(format!("the best network is {best:?}, promotions end at {before:?}"));
    }
    let status: Option<String> =
        db.get("SELECT max(id) FROM networks WHERE status = 'best'", &[])?;
    if status != best {
        problems.push(format!("the best network is {best:?}, but {status:?} is marked as it"));
    }

    let promoted: HashSet<(i64, &str, Option<&str>)> = history
        .iter()
        .filter_map(|row| Some((row.match_id?, row.network.as_str(), row.previous.as_deref())))
        .collect();
    let sql = "SELECT match_id, candidate, base FROM matches WHERE promoted = 1";
    let verdicts: Vec<(i64, String, String)> =
        db.rows(sql, &[], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    for (id, candidate, base) in &verdicts {
        if !promoted.contains(&(*id, candidate.as_str(), Some(base))) {
            problems.push(format!("match {id} promotes {candidate}, but no promotion says so"));
        }
    }
    if promoted.len() != verdicts.len() {
        problems.push(format!(
            "{} promotions by {} promoting matches",
            promoted.len(),
            verdicts.len()
        ));
    }
    Ok(())
}
