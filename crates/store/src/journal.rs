//! The run's diary and its measurements.

use crate::db::{Database, params};
use crate::{Store, StoreError};

/// Something worth remembering that happened to the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRow {
    /// Grows with time.
    pub id: i64,
    /// When, microseconds since 1970.
    pub at_us: i64,
    /// What, in one word: `promoted`, `rollback`, `game-conflict`, …
    pub kind: String,
    /// The particulars, JSON.
    pub detail_json: String,
}

/// One measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricRow {
    /// The trainer's step it belongs to.
    pub step: u64,
    /// When, microseconds since 1970.
    pub at_us: i64,
    /// The numbers, JSON.
    pub json: String,
}

pub(crate) fn note(db: &dyn Database, kind: &str, detail_json: &str) -> Result<(), StoreError> {
    db.execute(
        "INSERT INTO events (at_us, kind, detail_json) VALUES (now_us(), ?1, ?2)",
        params![kind, detail_json],
    )?;
    Ok(())
}

impl Store {
    /// Adds a line to the diary.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn add_event(&mut self, kind: &str, detail_json: &str) -> Result<(), StoreError> {
        note(&*self.db, kind, detail_json)
    }

    /// The newest `limit` events, oldest of them first.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn events(&self, limit: usize) -> Result<Vec<EventRow>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let sql = "SELECT * FROM (SELECT event_id, at_us, kind, detail_json FROM events
                                  ORDER BY event_id DESC LIMIT ?1) AS newest ORDER BY event_id";
        self.db.rows(sql, params![limit], |row| {
            Ok(EventRow {
                id: row.get(0)?,
                at_us: row.get(1)?,
                kind: row.get(2)?,
                detail_json: row.get(3)?,
            })
        })
    }

    /// Adds a measurement at the trainer's `step`.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn add_metric(&mut self, step: u64, json: &str) -> Result<(), StoreError> {
        self.db.execute(
            "INSERT INTO metrics (step, at_us, json) VALUES (?1, now_us(), ?2)",
            params![step, json],
        )?;
        Ok(())
    }

    /// Every measurement, oldest first.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn metrics(&self) -> Result<Vec<MetricRow>, StoreError> {
        self.db.rows("SELECT step, at_us, json FROM metrics ORDER BY metric_id", &[], |row| {
            Ok(MetricRow { step: row.get(0)?, at_us: row.get(1)?, json: row.get(2)? })
        })
    }
}
