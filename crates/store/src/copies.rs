//! The store as a whole: a copy of it, and a fingerprint.

use std::fs::{self, File};
use std::path::Path;

use crate::db::{Database, params};
use crate::{Store, StoreError};

/// Games read at a time where all of them are read.
pub(crate) const PAGE: u64 = 4096;

impl Store {
    /// Writes a compact, consistent copy of the store to `path` while others go on
    /// working: written aside, synced, then renamed.
    ///
    /// # Errors
    /// [`StoreError::BackupExists`] when there is something at `path`; [`StoreError::FileOnly`] on a
    /// server, which has its own tools.
    pub fn backup(&self, path: &Path) -> Result<(), StoreError> {
        self.file_only("a backup", "`pg_dump`, or `tengen store move` to a file")?;
        if path.exists() {
            return Err(StoreError::BackupExists { path: path.to_owned() });
        }
        let failed = |source| StoreError::Io { path: path.to_owned(), source };
        let mut aside = path.as_os_str().to_owned();
        aside.push(".part");
        let aside = Path::new(&aside);
        if aside.exists() {
            fs::remove_file(aside).map_err(failed)?;
        }
        self.db.execute("VACUUM INTO ?1", params![*aside.to_string_lossy()])?;
        File::open(aside).and_then(|file| file.sync_all()).map_err(failed)?;
        fs::rename(aside, path).map_err(failed)?;
        // The rename itself must survive a power cut, too.
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new("."))).and_then(|dir| dir.sync_all()).map_err(failed)
    }

    /// A fingerprint of what the run produced: its games in order (worker, counter,
    /// network, bytes) and its networks with their standing. Free of times, ids drawn at
    /// random and machine names, so two runs of one seed can be compared; and free of the
    /// engine, so a run that moved has the same.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn digest(&self) -> Result<String, StoreError> {
        let tx = self.snapshot()?;
        digest_of(&*tx)
    }
}

/// [`Store::digest`] of one state of the store.
pub(crate) fn digest_of(db: &dyn Database) -> Result<String, StoreError> {
    let mut hasher = blake3::Hasher::new();
    let sql = "SELECT seq, worker, counter, network, payload_hash FROM games
               WHERE seq > ?1 ORDER BY seq LIMIT ?2";
    let mut after = 0_u64;
    loop {
        let seqs = db.rows(sql, params![after, PAGE], |row| {
            let (seq, worker, counter): (u64, String, u64) =
                (row.get(0)?, row.get(1)?, row.get(2)?);
            let (network, hash): (String, Vec<u8>) = (row.get(3)?, row.get(4)?);
            hasher.update(&seq.to_le_bytes()).update(&counter.to_le_bytes());
            text(&mut hasher, &worker);
            text(&mut hasher, &network);
            hasher.update(&hash);
            Ok(seq)
        })?;
        match seqs.last() {
            Some(last) => after = *last,
            None => break,
        }
    }
    hasher.update(b"networks");
    db.rows("SELECT id, status, step FROM networks ORDER BY step, id", &[], |row| {
        let (id, status, step): (String, String, u64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        text(&mut hasher, &id);
        text(&mut hasher, &status);
        hasher.update(&step.to_le_bytes());
        Ok(())
    })?;
    Ok(hasher.finalize().to_hex().to_string())
}

/// Length first, so that no two lists of texts look alike.
fn text(hasher: &mut blake3::Hasher, text: &str) {
    hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
}
