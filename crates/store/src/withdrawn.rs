//! Games that are trained on no more: those of networks that a rollback took back with their games.
//!
//! Nothing is deleted and no number changes: such games keep their place in the run, and whoever
//! fills a window passes over them.

use crate::db::{Database, params};
use crate::{Store, StoreError};

/// Withdraws the games of `network`, those still to come included.
pub(crate) fn withdraw(
    db: &dyn Database,
    network: &str,
    who: &str,
    why: &str,
) -> Result<(), StoreError> {
    db.execute(
        "INSERT INTO withdrawn VALUES (?1, ?2, ?3, now_us()) ON CONFLICT DO NOTHING",
        params![network, who, why],
    )?;
    Ok(())
}

/// Its games count again: whoever makes it the best network wants them.
pub(crate) fn readmit(db: &dyn Database, network: &str) -> Result<(), StoreError> {
    db.execute("DELETE FROM withdrawn WHERE network = ?1", params![network])?;
    Ok(())
}

impl Store {
    /// The networks whose games are trained on no more, in order of their ids. A trainer that finds
    /// them changed fills its window anew.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn withdrawn_networks(&self) -> Result<Vec<String>, StoreError> {
        self.db.rows("SELECT network FROM withdrawn ORDER BY network", &[], |row| row.get(0))
    }

    /// Training targets in withdrawn games `1..=upto`.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn withdrawn_positions(&self, upto: u64) -> Result<u64, StoreError> {
        let sql = "SELECT CAST(coalesce(sum(positions), 0) AS BIGINT) FROM games
                   WHERE network IN (SELECT network FROM withdrawn) AND seq <= ?1";
        let upto = upto.min(i64::MAX.cast_unsigned());
        self.db.get(sql, params![upto])
    }
}
