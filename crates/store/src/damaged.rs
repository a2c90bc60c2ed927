//! What workers say of networks that came damaged, and the step back from one that nobody can mend.

use crate::db::{Database, params};
use crate::upstream::UpstreamError;
use crate::{Store, StoreError, journal};

/// Letters of what a worker tells, at most.
const MAX_TOLD: usize = 300;

/// A worker's word that a network came damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamageReport {
    /// The network.
    pub network: String,
    /// Who says so.
    pub worker: String,
    /// What came.
    pub why: String,
    /// When it said so last, microseconds since 1970.
    pub at_us: i64,
}

/// Notes a worker's word; its newest stands.
pub(crate) fn report(
    db: &dyn Database,
    worker: &str,
    network: &str,
    why: &str,
) -> Result<(), UpstreamError> {
    let known = db.maybe("SELECT 1 FROM networks WHERE id = ?1", params![network], |_| Ok(()))?;
    if known.is_none() {
        let name: String = network.chars().take(64).collect();
        return Err(UpstreamError::Refused(format!("no network of this run: {name}")));
    }
    let why: String = why.chars().take(MAX_TOLD).collect();
    db.execute(
        "INSERT INTO damaged_networks (network, worker, why, at_us) VALUES (?1, ?2, ?3, now_us())
         ON CONFLICT (network, worker) DO UPDATE SET why = excluded.why, at_us = excluded.at_us",
        params![network, worker, why],
    )?;
    Ok(())
}

impl Store {
    /// What trusted workers say of damaged networks, in order of network and worker; suspects are not heard.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn damage_reports(&self) -> Result<Vec<DamageReport>, StoreError> {
        let sql = "SELECT d.network, d.worker, d.why, d.at_us FROM damaged_networks d
                   JOIN workers w ON w.name = d.worker WHERE w.state = 'ok'
                   ORDER BY d.network, d.worker";
        self.db.rows(sql, &[], |row| {
            Ok(DamageReport {
                network: row.get(0)?,
                worker: row.get(1)?,
                why: row.get(2)?,
                at_us: row.get(3)?,
            })
        })
    }

    /// Forgets what was said of `network` and notes in the diary what was found: `kind` and the particulars,
    /// JSON.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn answer_damage(
        &mut self,
        network: &str,
        kind: &str,
        detail_json: &str,
    ) -> Result<(), StoreError> {
        let tx = self.write()?;
        tx.execute("DELETE FROM damaged_networks WHERE network = ?1", params![network])?;
        journal::note(&*tx, kind, detail_json)?;
        tx.commit()
    }
}
