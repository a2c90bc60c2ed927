//! The bytes of small networks, kept beside the data for workers without a shared disk.

use crate::db::params;
use crate::{Store, StoreError};

/// Bytes of a network that the store keeps, at most: 16 MB. Larger ones belong on a shared disk or in an
/// object store.
pub const MAX_NETWORK_BYTES: usize = 16 * 1024 * 1024;

/// Bytes of one row.
const CHUNK: usize = 1024 * 1024;

impl Store {
    /// Keeps the bytes of the network file `hash`; doing it twice is success.
    ///
    /// # Errors
    /// [`StoreError::RefusedNetwork`] when the bytes have another hash or are too many.
    pub fn put_network_bytes(&mut self, hash: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let refused = |reason: String| StoreError::RefusedNetwork { id: hash.to_owned(), reason };
        if bytes.is_empty() || bytes.len() > MAX_NETWORK_BYTES {
            return Err(refused(format!(
                "{} bytes, but the store keeps 1 to {MAX_NETWORK_BYTES}; use a shared folder",
                bytes.len()
            )));
        }
        let found = blake3::hash(bytes).to_hex();
        if found.as_str() != hash {
            return Err(refused(format!("its bytes have the hash {found}")));
        }
        let tx = self.write()?;
        let sql = "INSERT INTO network_chunks (hash, chunk, bytes) VALUES (?1, ?2, ?3)
                   ON CONFLICT DO NOTHING";
        for (chunk, bytes) in bytes.chunks(CHUNK).enumerate() {
            tx.execute(sql, params![hash, chunk, bytes])?;
        }
        tx.commit()
    }

    /// The bytes of the network file `hash`, if they are kept; whoever uses them verifies them.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn network_bytes(&self, hash: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let sql = "SELECT bytes FROM network_chunks WHERE hash = ?1 ORDER BY chunk";
        let chunks: Vec<Vec<u8>> = self.db.rows(sql, params![hash], |row| row.get(0))?;
        Ok((!chunks.is_empty()).then(|| chunks.concat()))
    }

    /// The networks whose bytes are kept, with their sizes, in order of their hashes.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn kept_networks(&self) -> Result<Vec<(String, u64)>, StoreError> {
        let sql = "SELECT hash, CAST(sum(length(bytes)) AS BIGINT) FROM network_chunks
                   GROUP BY hash ORDER BY hash";
        self.db.rows(sql, &[], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Forgets the bytes of a network, not the network.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn drop_network_bytes(&mut self, hash: &str) -> Result<(), StoreError> {
        self.db.execute("DELETE FROM network_chunks WHERE hash = ?1", params![hash]).map(drop)
    }
}
