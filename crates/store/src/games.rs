//! Finished games: appended once, numbered without gaps, read back by number.

use tengen_record::{GameRecord, decode, encode};

use crate::db::{Database, Row, params};
use crate::{GameId, Store, StoreError, journal, run};

/// A finished game on its way into the store.
#[derive(Clone, Debug)]
pub struct NewGame<'a> {
    /// Its name, [`GameId::derive`]d from the three that follow it from.
    pub id: GameId,
    /// Which worker played it.
    pub worker: String,
    /// The game's number at that worker.
    pub counter: u64,
    /// Who played: a network id, or `uniform`.
    pub network: String,
    /// The game itself.
    pub record: &'a GameRecord,
}

/// What became of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// Games that are new.
    pub inserted: u64,
    /// Games that were stored before, or twice in the batch: success, counted once.
    pub already_there: u64,
    /// The newest sequence number after the batch.
    pub last_seq: u64,
}

/// A game as stored.
#[derive(Clone, Debug)]
pub struct StoredGame {
    /// Its place in the run: 1, 2, 3, … without gaps.
    pub seq: u64,
    /// Its name.
    pub id: GameId,
    /// Which worker played it.
    pub worker: String,
    /// The game's number at that worker.
    pub counter: u64,
    /// Who played.
    pub network: String,
    /// Whether a rollback took it out of training; see [`Rollback`](crate::Rollback).
    pub withdrawn: bool,
    /// The game itself.
    pub record: GameRecord,
}

/// How much the run has gathered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Games stored.
    pub games: u64,
    /// Training targets in them.
    pub positions: u64,
    /// The newest sequence number.
    pub last_seq: u64,
}

/// Training targets in games `1..=seq`; 0 before the first.
fn cumulative(db: &dyn Database, seq: u64) -> Result<u64, StoreError> {
    let sql = "SELECT cumulative FROM games WHERE seq <= ?1 ORDER BY seq DESC LIMIT 1";
    Ok(db.maybe(sql, params![seq], |row| row.get(0))?.unwrap_or(0))
}

impl Store {
    /// Stores a batch of finished games in one transaction: all or none. A game that is
    /// there already counts as success, once; if its bytes differ the stored ones stay
    /// and an event `game-conflict` tells of it.
    ///
    /// # Errors
    /// [`StoreError::RefusedGame`] for a game that does not replay under its own rules,
    /// [`StoreError::CounterTaken`] when two workers share a name, [`StoreError::NoRun`].
    pub fn append_games(&mut self, games: &[NewGame<'_>]) -> Result<Appended, StoreError> {
        // Replaying and packing need no lock.
        let mut packed = Vec::with_capacity(games.len());
        for game in games {
            packed.push((game, pack(game.record, &game.id.to_string())?));
        }
        let packed: Vec<_> =
            packed.iter().map(|(game, payload)| Packed { game, payload }).collect();
        let tx = self.write()?;
        let appended = append(&*tx, &packed)?;
        tx.commit()?;
        Ok(appended)
    }

    /// The number that `worker`'s next game gets: one more than its newest stored one.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn next_counter(&self, worker: &str) -> Result<u64, StoreError> {
        let sql = "SELECT coalesce(max(counter) + 1, 0) FROM games WHERE worker = ?1";
        self.db.get(sql, params![worker])
    }

    /// The games with `after < seq ≤ upto`, in order. As numbers have no gaps and appear
    /// in order, a reader that goes on from its last one neither skips nor repeats a game.
    ///
    /// # Errors
    /// [`StoreError::DamagedGame`] when a game cannot be read back.
    pub fn games_in(&self, after: u64, upto: u64) -> Result<Vec<StoredGame>, StoreError> {
        let sql = "SELECT seq, game_id, worker, counter, network, payload, payload_hash,
                       network IN (SELECT network FROM withdrawn)
                   FROM games WHERE seq > ?1 AND seq <= ?2 ORDER BY seq";
        self.db.rows(sql, params![clamp(after), clamp(upto)], stored)
    }

    /// The largest `s` for which the games with `s < seq ≤ upto` hold at least
    /// `positions` training targets, withdrawn games not counted, or 0 where all of them hold fewer.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn window_start(&self, upto: u64, positions: usize) -> Result<u64, StoreError> {
        let upto = clamp(upto);
        if !self.withdrawn_networks()?.is_empty() {
            return self.window_start_among_withdrawn(upto, positions as u64);
        }
        let Some(rest) = cumulative(&*self.db, upto)?.checked_sub(positions as u64) else {
            return Ok(0);
        };
        // `cumulative` never falls as `seq` grows, so its index finds the newest such game.
        let sql = "SELECT seq FROM games WHERE cumulative <= ?1 AND seq <= ?2
                   ORDER BY cumulative DESC, seq DESC LIMIT 1";
        Ok(self.db.maybe(sql, params![rest, upto], |row| row.get(0))?.unwrap_or(0))
    }

    /// [`window_start`](Self::window_start) by walking back: sums of targets know of no withdrawal.
    fn window_start_among_withdrawn(&self, upto: u64, positions: u64) -> Result<u64, StoreError> {
        // Piece by piece: the window may be a small part of the run.
        let sql = "SELECT seq, CASE WHEN network IN (SELECT network FROM withdrawn) THEN 0 ELSE positions END
                   FROM games WHERE seq <= ?1 ORDER BY seq DESC LIMIT 4096";
        let (mut upto, mut held) = (upto, 0);
        loop {
            let piece: Vec<(u64, u64)> =
                self.db.rows(sql, params![upto], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let Some(&(oldest, _)) = piece.last() else { return Ok(0) };
            for (seq, targets) in piece {
                if held >= positions {
                    return Ok(seq);
                }
                held += targets;
            }
            upto = oldest - 1;
        }
    }

    /// Games, training targets and the newest sequence number.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn counts(&self) -> Result<Counts, StoreError> {
        let sql = "SELECT count(*), coalesce(max(seq), 0), coalesce(max(cumulative), 0) FROM games";
        self.db.row(sql, &[], |row| {
            Ok(Counts { games: row.get(0)?, last_seq: row.get(1)?, positions: row.get(2)? })
        })
    }

    /// `(seq, training targets)` of the games with `after < seq ≤ upto`, in order,
    /// without unpacking them.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn positions_by_seq(&self, after: u64, upto: u64) -> Result<Vec<(u64, u64)>, StoreError> {
        let sql = "SELECT seq, positions FROM games WHERE seq > ?1 AND seq <= ?2 ORDER BY seq";
        self.db.rows(sql, params![clamp(after), clamp(upto)], |row| Ok((row.get(0)?, row.get(1)?)))
    }
}

/// A game that was replayed, with its bytes.
pub(crate) struct Packed<'a> {
    pub game: &'a NewGame<'a>,
    pub payload: &'a [u8],
}

/// Appends games in the caller's write transaction: the one place where numbers are given.
pub(crate) fn append(db: &dyn Database, games: &[Packed<'_>]) -> Result<Appended, StoreError> {
    let before = run::require(db)?.last_seq;
    let (mut seq, mut positions) = (before, cumulative(db, before)?);
    for Packed { game, payload } in games {
        if is_stored(db, game, payload)? {
            continue;
        }
        seq += 1;
        positions += game.record.positions() as u64;
        insert(db, game, payload, seq, positions)?;
    }
    db.execute("UPDATE runs SET last_seq = ?1", params![seq])?;
    let inserted = seq - before;
    Ok(Appended { inserted, already_there: games.len() as u64 - inserted, last_seq: seq })
}

/// A validated game as bytes.
pub(crate) fn pack(record: &GameRecord, game: &str) -> Result<Vec<u8>, StoreError> {
    record.validate().map_err(|refusal| StoreError::RefusedGame {
        game: game.to_owned(),
        reason: refusal.to_string(),
    })?;
    Ok(encode(record))
}

/// Bytes as a game again, if they are the ones that were written.
pub(crate) fn unpack(payload: &[u8], hash: &[u8], game: &str) -> Result<GameRecord, StoreError> {
    let damaged = |reason: String| StoreError::DamagedGame { game: game.to_owned(), reason };
    if blake3::hash(payload).as_bytes().as_slice() != hash {
        return Err(damaged("its bytes do not match their BLAKE3 hash".to_owned()));
    }
    decode(payload).map_err(|error| damaged(error.to_string()))
}

/// Is this game there already? Told by its id; its slot at the worker must then be free.
fn is_stored(db: &dyn Database, game: &NewGame<'_>, payload: &[u8]) -> Result<bool, StoreError> {
    let sql = "SELECT payload_hash FROM games WHERE game_id = ?1";
    let known: Option<Vec<u8>> = db.maybe(sql, params![game.id], |row| row.get(0))?;
    if let Some(hash) = known {
        if blake3::hash(payload).as_bytes().as_slice() != hash {
            journal::note(db, "game-conflict", &format!(r#"{{"game":"{}"}}"#, game.id))?;
        }
        return Ok(true);
    }
    let sql = "SELECT game_id FROM games WHERE worker = ?1 AND counter = ?2";
    let taken: Option<GameId> =
        db.maybe(sql, params![game.worker, game.counter], |row| row.get(0))?;
    match taken {
        None => Ok(false),
        Some(stored) => Err(StoreError::CounterTaken {
            worker: game.worker.clone(),
            counter: game.counter,
            stored,
            asked: game.id,
        }),
    }
}

fn insert(
    db: &dyn Database,
    game: &NewGame<'_>,
    payload: &[u8],
    seq: u64,
    cumulative: u64,
) -> Result<(), StoreError> {
    let record = game.record;
    db.execute(
        "INSERT INTO games (seq, game_id, worker, counter, network, config_digest, width, height,
             result, moves, positions, cumulative, payload, payload_hash, created_us)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, now_us())",
        params![
            seq,
            game.id,
            game.worker,
            game.counter,
            game.network,
            record.config_digest,
            record.size.width(),
            record.size.height(),
            record.outcome.result_text(),
            record.turns.len(),
            record.positions(),
            cumulative,
            payload,
            *blake3::hash(payload).as_bytes(),
        ],
    )?;
    Ok(())
}

fn stored(row: &mut Row<'_>) -> Result<StoredGame, StoreError> {
    let (seq, id): (u64, GameId) = (row.get(0)?, row.get(1)?);
    let (payload, hash): (Vec<u8>, Vec<u8>) = (row.get(5)?, row.get(6)?);
    Ok(StoredGame {
        seq,
        id,
        worker: row.get(2)?,
        counter: row.get(3)?,
        network: row.get(4)?,
        withdrawn: row.get(7)?,
        record: unpack(&payload, &hash, &format!("{seq} ({id})"))?,
    })
}

/// A bound such as `u64::MAX` that means "to the end", as the largest integer that a column holds.
pub(crate) fn clamp(seq: u64) -> u64 {
    seq.min(i64::MAX.cast_unsigned())
}
