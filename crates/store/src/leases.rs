//! Who may do a job that only one process may do: leases with an expiry, a heartbeat
//! and a fencing number, all by the database's clock.

use std::time::Duration;

use crate::db::{Database, params};
use crate::{Store, StoreError};

/// Proof of ownership: `epoch` grows with every change of owner, so a process that
/// slept through its expiry cannot pass for the new owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// What is owned, such as `trainer`.
    pub name: String,
    /// Who owns it: unique to a process.
    pub holder: String,
    /// The fencing number.
    pub epoch: u64,
}

/// Is `lease` still the newest one of its name?
pub(crate) fn check(db: &dyn Database, lease: &Lease) -> Result<(), StoreError> {
    let sql = "SELECT holder, epoch FROM leases WHERE name = ?1";
    let current: Option<(String, u64)> =
        db.maybe(sql, params![lease.name], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if current == Some((lease.holder.clone(), lease.epoch)) {
        return Ok(());
    }
    let Lease { name, holder, epoch } = lease.clone();
    Err(StoreError::LeaseLost { name, holder, epoch })
}

impl Store {
    /// Takes the lease `name` for `ttl`, or `None` while somebody (the same holder
    /// included) owns it.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn acquire(
        &mut self,
        name: &str,
        holder: &str,
        ttl: Duration,
    ) -> Result<Option<Lease>, StoreError> {
        let sql = "INSERT INTO leases VALUES (?1, ?2, 1, now_us() + ?3)
             ON CONFLICT (name) DO UPDATE SET holder = excluded.holder,
                 epoch = leases.epoch + 1, until_us = excluded.until_us
             WHERE leases.until_us <= now_us() RETURNING epoch";
        let tx = self.write()?;
        let epoch = tx.maybe(sql, params![name, holder, micros(ttl)], |row| row.get(0))?;
        tx.commit()?;
        Ok(epoch.map(|epoch| Lease { name: name.to_owned(), holder: holder.to_owned(), epoch }))
    }

    /// As [`Store::acquire`], but names the owner where there is one.
    ///
    /// # Errors
    /// [`StoreError::LeaseHeld`] with the owner and the time left.
    pub fn require(
        &mut self,
        name: &str,
        holder: &str,
        ttl: Duration,
    ) -> Result<Lease, StoreError> {
        if let Some(lease) = self.acquire(name, holder, ttl)? {
            return Ok(lease);
        }
        let sql = "SELECT holder, until_us - now_us() FROM leases WHERE name = ?1";
        let (owner, left_us): (String, i64) =
            self.db.row(sql, params![name], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Err(StoreError::LeaseHeld {
            name: name.to_owned(),
            holder: owner,
            seconds: left_us.max(0) as f64 / 1e6,
        })
    }

    /// Extends `lease` to `ttl` from now; `false` when it was taken over or released.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn heartbeat(&mut self, lease: &Lease, ttl: Duration) -> Result<bool, StoreError> {
        let sql = "UPDATE leases SET until_us = now_us() + ?4
             WHERE name = ?1 AND holder = ?2 AND epoch = ?3 AND until_us > 0";
        let rows =
            self.db.execute(sql, params![lease.name, lease.holder, lease.epoch, micros(ttl)])?;
        Ok(rows == 1)
    }

    /// Gives `lease` back; nothing happens when it is no longer the newest one.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn release(&mut self, lease: &Lease) -> Result<(), StoreError> {
        // The row stays: its epoch must go on growing.
        self.db.execute(
            "UPDATE leases SET until_us = 0 WHERE name = ?1 AND holder = ?2 AND epoch = ?3",
            params![lease.name, lease.holder, lease.epoch],
        )?;
        Ok(())
    }
}

/// `ttl` in microseconds; a century at most, so that sums with the clock fit.
fn micros(ttl: Duration) -> i64 {
    const CENTURY: Duration = Duration::from_secs(100 * 365 * 86_400);
    ttl.min(CENTURY).as_micros() as i64
}
