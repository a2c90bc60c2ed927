//! Matches played by many: pairs leased in blocks, results taken in and settled slot by slot.
//!
//! A leased block has an expiry, a heartbeat and a fencing number that its results must show. Results
//! wait in `match_uploads` until a trusted process has replayed them; the verdict is still made by
//! [`Store::conclude`] on the prefix of complete pairs.

use std::ops::Range;

use tengen_record::GameRecord;

use crate::db::{Database, params};
use crate::inbox::{Aside, Settled, put_aside, sound_game};
use crate::upstream::{BLOCK_PAIRS, Block, BlockGame, BlockLease, MAX_GAME_BYTES, UpstreamError};
use crate::{Store, StoreError, journal, matches, workers};

/// Seconds that a block's lease lasts without a heartbeat.
const LEASE_SECONDS: u32 = 60;

/// Leases in a row that may bring nothing before a block is given up.
const MAX_ATTEMPTS: u32 = 5;

/// A game of a match in the inbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingMatchGame {
    /// The match.
    pub match_id: i64,
    /// Who played it.
    pub worker: String,
    /// What was handed in.
    pub game: BlockGame,
}

/// Where a block of a match stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockRow {
    /// Its number in the match, from 0.
    pub block: u32,
    /// `ready`, `leased`, `done` or `failed`.
    pub state: String,
    /// Who has it, or had it last; empty before the first.
    pub worker: String,
    /// Its fencing number.
    pub epoch: u64,
    /// Leases in a row that brought nothing.
    pub attempts: u32,
}

/// The pairs of block `block` in a match of `planned` pairs.
fn pairs_of(block: u32, planned: u32) -> Range<u32> {
    let first = block.saturating_mul(BLOCK_PAIRS).min(planned);
    first..first.saturating_add(BLOCK_PAIRS).min(planned)
}

/// The played slots of a block, settled or not, in order.
fn played(
    db: &dyn Database,
    match_id: i64,
    pairs: &Range<u32>,
) -> Result<Vec<(u32, u8)>, StoreError> {
    let sql =
        "SELECT pair, colour FROM match_games WHERE match_id = ?1 AND pair >= ?2 AND pair < ?3
               UNION SELECT pair, colour FROM match_uploads
               WHERE match_id = ?1 AND pair >= ?2 AND pair < ?3 ORDER BY pair, colour";
    db.rows(sql, params![match_id, pairs.start, pairs.end], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Leases the first block that is free; the oldest match and its first pairs first, as the verdict
/// looks at a prefix.
pub(crate) fn lease(db: &dyn Database, worker: &str) -> Result<Option<Block>, StoreError> {
    let sql = "UPDATE match_blocks SET state = 'leased', worker = ?1, epoch = epoch + 1,
                   attempts = attempts + 1, until_us = now_us() + ?2
               WHERE (match_id, block) = (
                   SELECT b.match_id, b.block FROM match_blocks AS b
                   WHERE (b.state = 'ready' OR (b.state = 'leased' AND b.until_us <= now_us()))
                       AND b.attempts < ?3
                       AND (SELECT verdict FROM matches AS m WHERE m.match_id = b.match_id) IS NULL
                   ORDER BY b.match_id, b.block LIMIT 1 FOR UPDATE SKIP LOCKED)
               RETURNING match_id, block, epoch";
    let lease_us = i64::from(LEASE_SECONDS) * 1_000_000;
    let leased = db.maybe(sql, params![worker, lease_us, MAX_ATTEMPTS], |row| {
        let worker = worker.to_owned();
        Ok(BlockLease { match_id: row.get(0)?, block: row.get(1)?, worker, epoch: row.get(2)? })
    })?;
    let Some(lease) = leased else { return Ok(None) };
    let plan = matches::require_open(db, lease.match_id)?;
    let pairs = pairs_of(lease.block, plan.pairs_planned);
    Ok(Some(Block {
        done: played(db, lease.match_id, &pairs)?,
        candidate: plan.candidate,
        base: plan.base,
        gate_config_json: plan.gate_config_json,
        lease_seconds: LEASE_SECONDS,
        pairs,
        lease,
    }))
}

/// Whether `lease` is the block's newest one and the match open; the block's row is held until the
/// transaction ends.
fn is_current(db: &dyn Database, lease: &BlockLease) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM match_blocks WHERE match_id = ?1 AND block = ?2 AND worker = ?3
                   AND epoch = ?4 AND state = 'leased'
                   AND (SELECT verdict FROM matches WHERE matches.match_id = match_blocks.match_id) IS NULL
               FOR UPDATE";
    let BlockLease { match_id, block, worker, epoch } = lease;
    let found = db.maybe(sql, params![match_id, block, worker, epoch], |_| Ok(()))?;
    Ok(found.is_some())
}

/// Extends a block's lease.
pub(crate) fn heartbeat(db: &dyn Database, lease: &BlockLease) -> Result<bool, StoreError> {
    if !is_current(db, lease)? {
        return Ok(false);
    }
    let sql = "UPDATE match_blocks SET until_us = now_us() + ?3 WHERE match_id = ?1 AND block = ?2";
    let lease_us = i64::from(LEASE_SECONDS) * 1_000_000;
    db.execute(sql, params![lease.match_id, lease.block, lease_us])?;
    Ok(true)
}

/// Takes in a block's games and gives the block back: `done` if no slot is missing, else `ready`.
pub(crate) fn finish(
    db: &dyn Database,
    lease: &BlockLease,
    games: &[BlockGame],
) -> Result<bool, UpstreamError> {
    if !is_current(db, lease)? {
        return Ok(false);
    }
    let plan = matches::require_open(db, lease.match_id)?;
    let pairs = pairs_of(lease.block, plan.pairs_planned);
    let sql = "INSERT INTO match_uploads (match_id, pair, colour, worker, payload, payload_hash, created_us)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, now_us())
               ON CONFLICT (match_id, pair, colour) DO UPDATE SET worker = excluded.worker,
                   payload = excluded.payload, payload_hash = excluded.payload_hash,
                   created_us = excluded.created_us";
    for BlockGame { pair, colour, payload, payload_hash } in games {
        if !pairs.contains(pair) || *colour > 1 || payload.len() > MAX_GAME_BYTES {
            let bytes = payload.len();
            return Err(UpstreamError::Refused(format!(
                "pair {pair}, colour {colour} with {bytes} bytes: the block has the pairs {pairs:?}, \
                 the colours 0 and 1, and games of {MAX_GAME_BYTES} bytes at most"
            )));
        }
        let worker = &lease.worker;
        db.execute(sql, params![lease.match_id, pair, colour, worker, payload, payload_hash])?;
    }
    let missing = pairs.len() * 2 > played(db, lease.match_id, &pairs)?.len();
    let sql = "UPDATE match_blocks SET state = ?3, until_us = 0,
                   attempts = CASE WHEN ?4 > 0 THEN 0 ELSE attempts END
               WHERE match_id = ?1 AND block = ?2";
    let state = if missing { "ready" } else { "done" };
    db.execute(sql, params![lease.match_id, lease.block, state, games.len()])?;
    Ok(true)
}

impl Store {
    /// Offers an open match to the fleet: its pairs in blocks that workers lease. Again is success.
    ///
    /// # Errors
    /// [`StoreError::UnknownMatch`], [`StoreError::AlreadyConcluded`], [`StoreError::LeaseLost`].
    pub fn offer_match(&mut self, match_id: i64) -> Result<(), StoreError> {
        let tx = self.fenced_write()?;
        let plan = matches::require_open(&*tx, match_id)?;
        let sql =
            "INSERT INTO match_blocks (match_id, block, state, worker, epoch, attempts, until_us)
                   VALUES (?1, ?2, 'ready', '', 0, 0, 0) ON CONFLICT DO NOTHING";
        for block in 0..plan.pairs_planned.div_ceil(BLOCK_PAIRS) {
            tx.execute(sql, params![match_id, block])?;
        }
        tx.commit()
    }

    /// The blocks of a match that was offered, in order.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn blocks(&self, match_id: i64) -> Result<Vec<BlockRow>, StoreError> {
        let sql = "SELECT block, state, worker, epoch, attempts FROM match_blocks
                   WHERE match_id = ?1 ORDER BY block";
        self.db.rows(sql, params![match_id], |row| {
            Ok(BlockRow {
                block: row.get(0)?,
                state: row.get(1)?,
                worker: row.get(2)?,
                epoch: row.get(3)?,
                attempts: row.get(4)?,
            })
        })
    }

    /// Games of matches in the inbox, oldest match first.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn take_match_uploads(&self, limit: usize) -> Result<Vec<WaitingMatchGame>, StoreError> {
        let sql = "SELECT match_id, worker, pair, colour, payload, payload_hash FROM match_uploads
                   ORDER BY match_id, pair, colour LIMIT ?1";
        self.db.rows(sql, params![limit], |row| {
            let (match_id, worker) = (row.get(0)?, row.get(1)?);
            let (pair, colour) = (row.get(2)?, row.get(3)?);
            let (payload, payload_hash) = (row.get(4)?, row.get(5)?);
            let game = BlockGame { pair, colour, payload, payload_hash };
            Ok(WaitingMatchGame { match_id, worker, game })
        })
    }

    /// Replays games of matches and moves them on, in one transaction: sound ones into their slots, the
    /// others into quarantine, and their slots are leased again. `judge` may refuse what replays, such as
    /// a game with another opening. Games for a match that has its verdict are dropped. Blocks that
    /// nobody could play in five leases are given up, with an event: whoever decides plays them itself.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`]; then nothing has moved.
    pub fn settle_match_uploads(
        &mut self,
        games: &[WaitingMatchGame],
        judge: &mut dyn FnMut(&WaitingMatchGame, &GameRecord) -> Result<(), String>,
    ) -> Result<Settled, StoreError> {
        let checked: Vec<_> = games
            .iter()
            .map(|waiting| {
                let record = sound_game(&waiting.game.payload, &waiting.game.payload_hash);
                record.and_then(|record| judge(waiting, &record).map(|()| record))
            })
            .collect();
        let tx = self.fenced_write()?;
        let mut told = Settled::default();
        for (waiting, record) in games.iter().zip(&checked) {
            let WaitingMatchGame { match_id, worker, game } = waiting;
            let BlockGame { pair, colour, payload, payload_hash } = game;
            // Only these bytes: the slot may have been handed in again meanwhile.
            let sql = "DELETE FROM match_uploads
                       WHERE match_id = ?1 AND pair = ?2 AND colour = ?3 AND payload_hash = ?4";
            if tx.execute(sql, params![match_id, pair, colour, payload_hash])? == 0 {
                continue;
            }
            match record {
                _ if matches::require_open(&*tx, *match_id).is_err() => told.already_there += 1,
                Ok(record) => {
                    matches::upsert(&*tx, *match_id, (*pair, *colour), record, payload)?;
                    told.accepted += 1;
                }
                Err(reason) => {
                    let network = format!("match {match_id}");
                    let aside = Aside {
                        id: &[],
                        worker,
                        counter: None,
                        network: &network,
                        payload,
                        payload_hash,
                    };
                    let slot = format!("pair {pair}, colour {colour}: {reason}");
                    put_aside(&*tx, &aside, &slot)?;
                    workers::count_refused(&*tx, worker, 1)?;
                    let sql = "UPDATE match_blocks SET state = 'ready'
                               WHERE match_id = ?1 AND block = ?2 AND state = 'done'";
                    tx.execute(sql, params![match_id, pair / BLOCK_PAIRS])?;
                    told.quarantined += 1;
                }
            }
        }
        give_up(&*tx)?;
        tx.commit()?;
        Ok(told)
    }
}

/// Marks the blocks that nobody could play.
fn give_up(db: &dyn Database) -> Result<(), StoreError> {
    let sql = "UPDATE match_blocks SET state = 'failed'
               WHERE attempts >= ?1 AND (state = 'ready' OR (state = 'leased' AND until_us <= now_us()))
               RETURNING match_id, block";
    let failed: Vec<(i64, u32)> =
        db.rows(sql, params![MAX_ATTEMPTS], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for (match_id, block) in failed {
        journal::note(db, "block-failed", &format!(r#"{{"match":{match_id},"block":{block}}}"#))?;
    }
    Ok(())
}
