//! The store as a whole: a copy of it, and a fingerprint.

use std::fs::{self, File};
use std::path::Path;

use crate::{Store, StoreError};

impl Store {
    /// Writes a compact, consistent copy of the store to `path` while others go on
    /// working: written aside, synced, then renamed.
    ///
    /// # Errors
    /// [`StoreError::BackupExists`] when there is something at `path`.
    pub fn backup(&self, path: &Path) -> Result<(), StoreError> {
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
        self.db.execute("VACUUM INTO ?1", [aside.to_string_lossy()])?;
        File::open(aside).and_then(|file| file.sync_all()).map_err(failed)?;
        fs::rename(aside, path).map_err(failed)?;
        // The rename itself must survive a power cut, too.
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new("."))).and_then(|dir| dir.sync_all()).map_err(failed)
    }

    /// A fingerprint of what the run produced: its games in order (worker, counter,
    /// network, bytes) and its networks with their standing. Free of times, ids drawn at
    /// random and machine names, so two runs of one seed can be compared.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn digest(&self) -> Result<String, StoreError> {
        let tx = self.db.unchecked_transaction()?;
        let mut hasher = blake3::Hasher::new();
        let mut query = tx.prepare(
            "SELECT seq, worker, counter, network, payload_hash FROM games ORDER BY seq",
        )?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let (seq, worker, counter): (u64, String, u64) =
                (row.get(0)?, row.get(1)?, row.get(2)?);
            let (network, hash): (String, Vec<u8>) = (row.get(3)?, row.get(4)?);
            hasher.update(&seq.to_le_bytes()).update(&counter.to_le_bytes());
            text(&mut hasher, &worker);
            text(&mut hasher, &network);
            hasher.update(&hash);
        }
        hasher.update(b"networks");
        let mut query = tx.prepare("SELECT id, status, step FROM networks ORDER BY step, id")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let (id, status, step): (String, String, u64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            text(&mut hasher, &id);
            text(&mut hasher, &status);
            hasher.update(&step.to_le_bytes());
        }
        Ok(hasher.finalize().to_hex().to_string())
    }
}

/// Length first, so that no two lists of texts look alike.
fn text(hasher: &mut blake3::Hasher, text: &str) {
    hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
}
