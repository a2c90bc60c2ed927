//! Matches between a candidate and the best network, slot by slot.

use tengen_record::GameRecord;
use tengen_rules::Color;

use crate::db::{Database, Row, params};
use crate::games::{pack, unpack};
use crate::networks::{self, NetworkStatus, NewNetwork};
use crate::{Store, StoreError, run};

/// A match to be played.
#[derive(Clone, Debug)]
pub struct NewMatch {
    /// The gate's configuration, JSON.
    pub gate_config_json: String,
    /// Opening pairs planned; each is two games, one with each colour.
    pub pairs_planned: u32,
    /// The network to beat.
    pub base: String,
}

/// A match as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchRow {
    /// Its number.
    pub id: i64,
    /// The network on trial.
    pub candidate: String,
    /// The network to beat.
    pub base: String,
    /// The gate's configuration, JSON.
    pub gate_config_json: String,
    /// Opening pairs planned.
    pub pairs_planned: u32,
    /// `None` while it is open.
    pub verdict: Option<String>,
    /// Did the verdict promote the candidate?
    pub promoted: Option<bool>,
    /// The tally and what led to the verdict, JSON.
    pub detail_json: Option<String>,
    /// When it was planned, microseconds since 1970.
    pub created_us: i64,
    /// When the verdict fell, microseconds since 1970.
    pub decided_us: Option<i64>,
}

/// A played slot of a match.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchGameRow {
    /// The opening pair, from 0.
    pub pair: u32,
    /// 0 if the candidate is Black, 1 if it is White.
    pub colour: u8,
    /// The candidate's: 1, 0.5 or 0.
    pub points: f32,
    /// Moves played.
    pub moves: u32,
    /// As in SGF's RE: `B+3.5`, `W+R`, `0`, `Void`.
    pub result: String,
}

const SELECT: &str = "SELECT match_id, candidate, base, gate_config_json, pairs_planned, verdict,
    promoted, detail_json, created_us, decided_us FROM matches";

fn columns(row: &mut Row<'_>) -> Result<MatchRow, StoreError> {
    Ok(MatchRow {
        id: row.get(0)?,
        candidate: row.get(1)?,
        base: row.get(2)?,
        gate_config_json: row.get(3)?,
        pairs_planned: row.get(4)?,
        verdict: row.get(5)?,
        promoted: row.get(6)?,
        detail_json: row.get(7)?,
        created_us: row.get(8)?,
        decided_us: row.get(9)?,
    })
}

/// A match that still takes games and a verdict.
pub(crate) fn require_open(db: &dyn Database, match_id: i64) -> Result<MatchRow, StoreError> {
    let found = db.maybe(&format!("{SELECT} WHERE match_id = ?1"), params![match_id], columns)?;
    let found = found.ok_or(StoreError::UnknownMatch(match_id))?;
    match found.verdict {
        None => Ok(found),
        Some(verdict) => Err(StoreError::AlreadyConcluded { match_id, verdict }),
    }
}

impl Store {
    /// Registers a candidate and its match in one transaction and returns the match's
    /// number. The same candidate against the same base (a training step repeated after
    /// a crash) has the same match.
    ///
    /// # Errors
    /// [`StoreError::UnknownNetwork`] for a base or parent that is not registered,
    /// [`StoreError::SelfMatch`], [`StoreError::LeaseLost`].
    pub fn add_candidate(&mut self, new: &NewNetwork, plan: &NewMatch) -> Result<i64, StoreError> {
        if new.id == plan.base {
            return Err(StoreError::SelfMatch(new.id.clone()));
        }
        for known in new.parent.iter().chain([&plan.base]) {
            self.network(known)?.ok_or_else(|| StoreError::UnknownNetwork(known.clone()))?;
        }
        let tx = self.fenced_write()?;
        run::require(&*tx)?;
        networks::insert(&*tx, &NewNetwork { status: NetworkStatus::Candidate, ..new.clone() })?;
        tx.execute(
            "INSERT INTO matches (candidate, base, gate_config_json, pairs_planned, created_us)
             VALUES (?1, ?2, ?3, ?4, now_us()) ON CONFLICT (candidate, base) DO NOTHING",
            params![new.id, plan.base, plan.gate_config_json, plan.pairs_planned],
        )?;
        let match_id = tx.get(
            "SELECT match_id FROM matches WHERE candidate = ?1 AND base = ?2",
            params![new.id, plan.base],
        )?;
        tx.commit()?;
        Ok(match_id)
    }

    /// Every match, oldest first.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn matches(&self) -> Result<Vec<MatchRow>, StoreError> {
        self.db.rows(&format!("{SELECT} ORDER BY match_id"), &[], columns)
    }

    /// The matches without a verdict, oldest first.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn open_matches(&self) -> Result<Vec<MatchRow>, StoreError> {
        let mut all = self.matches()?;
        all.retain(|row| row.verdict.is_none());
        Ok(all)
    }

    /// Stores the game of a slot; a slot played twice keeps the newer game and counts once.
    ///
    /// # Errors
    /// [`StoreError::AlreadyConcluded`], [`StoreError::RefusedMatchGame`] for a slot outside
    /// the plan or points that the game contradicts, [`StoreError::RefusedGame`].
    pub fn record_match_game(
        &mut self,
        match_id: i64,
        pair: u32,
        colour: u8,
        points: f32,
        record: &GameRecord,
    ) -> Result<(), StoreError> {
        let payload = pack(record, &format!("of match {match_id}, pair {pair}, colour {colour}"))?;
        let tx = self.fenced_write()?;
        let plan = require_open(&*tx, match_id)?;
        check_slot(&plan, pair, colour, points, record)
            .map_err(|reason| StoreError::RefusedMatchGame { match_id, pair, colour, reason })?;
        upsert(&*tx, match_id, (pair, colour), record, &payload)?;
        tx.commit()
    }

    /// The played slots of a match in slot order: by pair, then by colour.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn match_games(&self, match_id: i64) -> Result<Vec<MatchGameRow>, StoreError> {
        let sql = "SELECT pair, colour, points, moves, result FROM match_games
                   WHERE match_id = ?1 ORDER BY pair, colour";
        self.db.rows(sql, params![match_id], |row| {
            Ok(MatchGameRow {
                pair: row.get(0)?,
                colour: row.get(1)?,
                points: row.get(2)?,
                moves: row.get(3)?,
                result: row.get(4)?,
            })
        })
    }

    /// The games of a match as `(pair, colour, game)`, in slot order.
    ///
    /// # Errors
    /// [`StoreError::DamagedGame`] when a game cannot be read back.
    pub fn match_records(&self, match_id: i64) -> Result<Vec<(u32, u8, GameRecord)>, StoreError> {
        let sql = "SELECT pair, colour, payload, payload_hash FROM match_games
                   WHERE match_id = ?1 ORDER BY pair, colour";
        self.db.rows(sql, params![match_id], |row| {
            let (pair, colour) = (row.get(0)?, row.get(1)?);
            let (payload, hash): (Vec<u8>, Vec<u8>) = (row.get(2)?, row.get(3)?);
            let name = format!("of match {match_id}, pair {pair}, colour {colour}");
            Ok((pair, colour, unpack(&payload, &hash, &name)?))
        })
    }
}

/// Stores the game of a slot; a slot played twice keeps the newer game.
pub(crate) fn upsert(
    db: &dyn Database,
    match_id: i64,
    (pair, colour): (u32, u8),
    record: &GameRecord,
    payload: &[u8],
) -> Result<(), StoreError> {
    db.execute(
        "INSERT INTO match_games (match_id, pair, colour, points, result, moves, payload, payload_hash, created_us)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, now_us())
         ON CONFLICT (match_id, pair, colour) DO UPDATE SET points = excluded.points,
             result = excluded.result, moves = excluded.moves, payload = excluded.payload,
             payload_hash = excluded.payload_hash, created_us = excluded.created_us",
        params![
            match_id,
            pair,
            colour,
            points_of(record, colour),
            record.outcome.result_text(),
            record.turns.len(),
            payload,
            *blake3::hash(payload).as_bytes()
        ],
    )?;
    Ok(())
}

/// Points must be what the game's winner says; a game without one gives half a point.
pub(crate) fn points_of(record: &GameRecord, colour: u8) -> f32 {
    let candidate = if colour == 0 { Color::Black } else { Color::White };
    match record.outcome.winner() {
        None => 0.5,
        Some(winner) if winner == candidate => 1.0,
        Some(_) => 0.0,
    }
}

fn check_slot(
    plan: &MatchRow,
    pair: u32,
    colour: u8,
    points: f32,
    record: &GameRecord,
) -> Result<(), String> {
    if pair >= plan.pairs_planned || colour > 1 {
        return Err(format!("the match has {} pairs and the colours 0 and 1", plan.pairs_planned));
    }
    let due = points_of(record, colour);
    if points != due {
        let result = record.outcome.result_text();
        return Err(format!("{points} points claimed, but {result} gives the candidate {due}"));
    }
    Ok(())
}
