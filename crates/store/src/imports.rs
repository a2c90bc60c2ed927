//! Games from elsewhere, beside the run's own and never among them.
//!
//! They lie in tables of their own and are numbered on their own, so no self-play window, cursor
//! or count can come upon one. Whoever wants to learn from them asks for them by
//! [`Store::imported_games`].

use std::collections::HashMap;

use tengen_record::{GameRecord, SoundRecord, encode};

use crate::db::{Database, params};
use crate::games::{clamp, unpack};
use crate::{Store, StoreError};

/// BLAKE3 of a file's bytes: a file is known again wherever it lies.
pub type FileHash = [u8; 32];

/// A game checked and packed, ready to be stored: the costly half, which needs no store.
#[derive(Clone, Debug)]
pub struct ImportGame {
    index: u64,
    content: [u8; 16],
    players: [String; 2],
    size: (usize, usize),
    result: String,
    moves: usize,
    payload: Vec<u8>,
    payload_hash: [u8; 32],
}

/// Games `from..to` of a file; those that are not in `games` were refused.
#[derive(Clone, Debug)]
pub struct ImportBatch {
    /// The file.
    pub hash: FileHash,
    /// Where it lies; kept from the first batch.
    pub path: String,
    /// The file's first game in this batch, from 0.
    pub from: u64,
    /// One behind its last.
    pub to: u64,
    /// What is to be stored.
    pub games: Vec<ImportGame>,
    /// Whether the file ends here.
    pub complete: bool,
}

/// How far a file has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportProgress {
    /// Games looked at.
    pub done: u64,
    /// Whether that is all of them.
    pub complete: bool,
}

/// What became of some batches, or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportCounts {
    /// Games that are stored.
    pub stored: u64,
    /// Games left out because the same moves on the same board were stored before.
    pub repeated: u64,
    /// Games left out because they were broken or illegal.
    pub refused: u64,
}

/// An imported game with its origin.
#[derive(Clone, Debug)]
pub struct ImportedGame {
    /// Its number among the imported games: 1, 2, 3, … without gaps.
    pub import_seq: u64,
    /// The file it was found in first.
    pub path: String,
    /// Its place in that file, from 0.
    pub file_index: u64,
    /// The game itself.
    pub record: GameRecord,
}

impl ImportGame {
    /// Packs a game, which is game `index` of its file, from 0.
    pub fn pack(index: u64, record: &SoundRecord) -> ImportGame {
        let payload = encode(record);
        ImportGame {
            index,
            content: content(record),
            players: record.players.clone(),
            size: (record.size.width(), record.size.height()),
            result: record.outcome.result_text(),
            moves: record.turns.len(),
            payload_hash: *blake3::hash(&payload).as_bytes(),
            payload,
        }
    }
}

/// Names a game by its board, its setup, who begins and its moves: two files of one game differ in
/// spelling and comments, not in these.
fn content(record: &GameRecord) -> [u8; 16] {
    let mut bytes = vec![record.size.width() as u8, record.size.height() as u8];
    bytes.push(record.first_to_play.index() as u8);
    for stones in [&record.setup_black, &record.setup_white] {
        bytes.extend((stones.len() as u16).to_le_bytes());
        bytes.extend(stones.iter().flat_map(|p| (p.index() as u16).to_le_bytes()));
    }
    for turn in &record.turns {
        bytes.extend((record.size.action(turn.mv) as u16).to_le_bytes());
    }
    let mut name = [0; 16];
    name.copy_from_slice(&blake3::hash(&bytes).as_bytes()[..16]);
    name
}

impl Store {
    /// Every file that an import has looked at, and how far.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn import_progress(&self) -> Result<HashMap<FileHash, ImportProgress>, StoreError> {
        let files = self.db.rows("SELECT hash, done, complete FROM import_files", &[], |row| {
            Ok((row.get(0)?, ImportProgress { done: row.get(1)?, complete: row.get(2)? }))
        })?;
        Ok(files.into_iter().collect())
    }

    /// Stores batches in one transaction: all or none. A batch that does not begin where its file
    /// stands was stored before (by another process, or as a copy of the file): it is left out
    /// and its games count as repeated.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn append_imports(&mut self, batches: &[ImportBatch]) -> Result<ImportCounts, StoreError> {
        let tx = self.write()?;
        let mut counts = ImportCounts::default();
        let mut seq: u64 =
            tx.get("SELECT coalesce(max(import_seq), 0) FROM imported_games", &[])?;
        for batch in batches {
            let (file, progress) = file_row(&*tx, batch)?;
            if progress.complete || progress.done != batch.from {
                counts.repeated += batch.games.len() as u64;
                continue;
            }
            let before = seq;
            for game in &batch.games {
                seq += insert(&*tx, file, game, seq + 1)?;
            }
            let (stored, games) = (seq - before, batch.games.len() as u64);
            let refused = (batch.to - batch.from).saturating_sub(games);
            tx.execute(
                "UPDATE import_files SET done = ?2, complete = ?3, refused = refused + ?4,
                     repeated = repeated + ?5 WHERE file_id = ?1",
                params![file, batch.to, batch.complete, refused, games - stored],
            )?;
            counts.stored += stored;
            counts.repeated += games - stored;
            counts.refused += refused;
        }
        tx.commit()?;
        Ok(counts)
    }

    /// Imported games, and what was left out, over all imports.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn import_counts(&self) -> Result<ImportCounts, StoreError> {
        let sql = "SELECT (SELECT count(*) FROM imported_games),
                       CAST(coalesce(sum(repeated), 0) AS BIGINT),
                       CAST(coalesce(sum(refused), 0) AS BIGINT) FROM import_files";
        self.db.row(sql, &[], |row| {
            Ok(ImportCounts { stored: row.get(0)?, repeated: row.get(1)?, refused: row.get(2)? })
        })
    }

    /// The imported games with `after < import_seq ≤ upto`, in order.
    ///
    /// # Errors
    /// [`StoreError::DamagedGame`] when a game cannot be read back.
    pub fn imported_games(&self, after: u64, upto: u64) -> Result<Vec<ImportedGame>, StoreError> {
        let sql = "SELECT import_seq, path, file_index, payload, payload_hash
                   FROM imported_games JOIN import_files USING (file_id)
                   WHERE import_seq > ?1 AND import_seq <= ?2 ORDER BY import_seq";
        self.db.rows(sql, params![clamp(after), clamp(upto)], |row| {
            let import_seq: u64 = row.get(0)?;
            let (payload, hash): (Vec<u8>, Vec<u8>) = (row.get(3)?, row.get(4)?);
            Ok(ImportedGame {
                import_seq,
                path: row.get(1)?,
                file_index: row.get(2)?,
                record: unpack(&payload, &hash, &format!("import {import_seq}"))?,
            })
        })
    }
}

fn file_row(db: &dyn Database, batch: &ImportBatch) -> Result<(i64, ImportProgress), StoreError> {
    let sql = "SELECT file_id, done, complete FROM import_files WHERE hash = ?1";
    let known = db.maybe(sql, params![batch.hash], |row| {
        Ok((row.get(0)?, ImportProgress { done: row.get(1)?, complete: row.get(2)? }))
    })?;
    if let Some(known) = known {
        return Ok(known);
    }
    let file = db.get(
        "INSERT INTO import_files (hash, path, done, refused, repeated, complete, created_us)
         VALUES (?1, ?2, 0, 0, 0, 0, now_us()) RETURNING file_id",
        params![batch.hash, batch.path],
    )?;
    Ok((file, ImportProgress::default()))
}

/// The rows inserted: 1, or 0 for a game that is there already.
fn insert(db: &dyn Database, file: i64, game: &ImportGame, seq: u64) -> Result<u64, StoreError> {
    let (width, height) = game.size;
    let [black, white] = &game.players;
    db.execute(
        "INSERT INTO imported_games (import_seq, content, file_id, file_index, black, white,
             width, height, result, moves, payload, payload_hash, created_us)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, now_us())
         ON CONFLICT (content) DO NOTHING",
        params![
            seq,
            game.content,
            file,
            game.index,
            black,
            white,
            width,
            height,
            game.result,
            game.moves,
            game.payload,
            game.payload_hash,
        ],
    )
}
