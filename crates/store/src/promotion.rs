//! The best pointer and every way it moves: a verdict, a hand, a step back.

use crate::db::{Database, params};
use crate::networks::{NetworkStatus, set_status};
use crate::{Store, StoreError, journal, matches, run, withdrawn};

/// How a match ends.
#[derive(Clone, Debug)]
pub struct Conclusion {
    /// In a word: `promote`, `reject`, `undecided`, `void`.
    pub verdict: String,
    /// Does the candidate become the best network?
    pub promote: bool,
    /// The tally and what led to the verdict, JSON.
    pub detail_json: String,
}

/// One line of the best pointer's history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromotionRow {
    /// `initial`, `match`, `hand` or `rollback`.
    pub kind: String,
    /// The new best.
    pub network: String,
    /// The one before.
    pub previous: Option<String>,
    /// The match that decided, for kind `match`.
    pub match_id: Option<i64>,
    /// Who moved it.
    pub who: String,
    /// Why.
    pub why: String,
    /// When, microseconds since 1970.
    pub at_us: i64,
}

/// What a rollback takes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rollback {
    /// The best pointer alone: games of the network that falls stay in the window.
    Pointer,
    /// The games of the network that falls too: they are trained on no more, unless it is made the
    /// best again. Nothing is deleted.
    PointerAndGames,
}

/// A move of the best pointer.
pub(crate) struct Move<'a> {
    pub kind: &'a str,
    pub to: &'a str,
    pub match_id: Option<i64>,
    pub who: &'a str,
    pub why: &'a str,
}

/// Moves the pointer from `from`, which the caller has read in this transaction.
pub(crate) fn move_best(
    db: &dyn Database,
    from: Option<&str>,
    step: &Move<'_>,
) -> Result<(), StoreError> {
    // The old one first: the schema allows one best at a time.
    if let Some(old) = from {
        set_status(db, old, NetworkStatus::Promoted)?;
    }
    set_status(db, step.to, NetworkStatus::Best)?;
    withdrawn::readmit(db, step.to)?;
    db.execute("UPDATE runs SET best = ?1", params![step.to])?;
    db.execute(
        "INSERT INTO promotions (kind, network, previous, match_id, who, why, at_us)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, now_us())",
        params![step.kind, step.to, from, step.match_id, step.who, step.why],
    )?;
    journal::note(db, "best", &format!(r#"{{"by":"{}","network":"{}"}}"#, step.kind, step.to))
}

pub(crate) fn history(db: &dyn Database) -> Result<Vec<PromotionRow>, StoreError> {
    let sql = "SELECT kind, network, previous, match_id, who, why, at_us
               FROM promotions ORDER BY promotion_id";
    db.rows(sql, &[], |row| {
        Ok(PromotionRow {
            kind: row.get(0)?,
            network: row.get(1)?,
            previous: row.get(2)?,
            match_id: row.get(3)?,
            who: row.get(4)?,
            why: row.get(5)?,
            at_us: row.get(6)?,
        })
    })
}

/// The bests still standing, the present one last: a rollback takes one off.
pub(crate) fn standing(history: &[PromotionRow]) -> Vec<&str> {
    let mut bests = Vec::new();
    for row in history {
        if row.kind == "rollback" {
            bests.pop();
        } else {
            bests.push(row.network.as_str());
        }
    }
    bests
}

impl Store {
    /// Ends a match, in one transaction: the verdict and, if it says so, the promotion,
    /// which is a compare-and-set of the best pointer from the match's base. Returns
    /// whether the candidate is now the best.
    ///
    /// # Errors
    /// [`StoreError::AlreadyConcluded`] the second time. [`StoreError::BestMoved`] when the
    /// best is no longer the base: nothing is written, the match stays open, and may be
    /// concluded with `promote: false`. [`StoreError::UnknownMatch`], [`StoreError::LeaseLost`].
    pub fn conclude(&mut self, match_id: i64, end: &Conclusion) -> Result<bool, StoreError> {
        let tx = self.fenced_write()?;
        let game = matches::require_open(&*tx, match_id)?;
        tx.execute(
            "UPDATE matches SET verdict = ?2, promoted = ?3, detail_json = ?4, decided_us = now_us()
             WHERE match_id = ?1",
            params![match_id, end.verdict, end.promote, end.detail_json],
        )?;
        // Whoever still plays a block of it hears that the match is over.
        tx.execute("DELETE FROM match_blocks WHERE match_id = ?1", params![match_id])?;
        if end.promote {
            let best = run::require(&*tx)?.best;
            if best.as_deref() != Some(&game.base) {
                return Err(StoreError::BestMoved {
                    match_id,
                    expected: game.base,
                    found: best.unwrap_or_else(|| "none".to_owned()),
                });
            }
            let why = format!("match {match_id}: {}", end.verdict);
            let step = Move {
                kind: "match",
                to: &game.candidate,
                match_id: Some(match_id),
                who: "gate",
                why: &why,
            };
            move_best(&*tx, Some(&game.base), &step)?;
        } else {
            // A network that is or was the best by another way keeps that.
            tx.execute(
                "UPDATE networks SET status = 'rejected' WHERE id = ?1 AND status = 'candidate'",
                params![game.candidate],
            )?;
        }
        tx.commit()?;
        Ok(end.promote)
    }

    /// Makes a registered network the best, whatever its matches say.
    ///
    /// # Errors
    /// [`StoreError::UnknownNetwork`], [`StoreError::LeaseLost`].
    pub fn promote_by_hand(&mut self, id: &str, who: &str, why: &str) -> Result<(), StoreError> {
        let tx = self.fenced_write()?;
        let best = run::require(&*tx)?.best;
        if best.as_deref() == Some(id) {
            return Ok(());
        }
        let kind = if best.is_some() { "hand" } else { "initial" };
        let step = Move { kind, to: id, match_id: None, who, why };
        move_best(&*tx, best.as_deref(), &step)?;
        tx.commit()
    }

    /// Goes back to the best network before the present one and returns its id; again
    /// goes back further.
    ///
    /// # Errors
    /// [`StoreError::NoEarlierBest`], [`StoreError::LeaseLost`].
    pub fn rollback(&mut self, what: Rollback, who: &str, why: &str) -> Result<String, StoreError> {
        let back = self.step_back(None, what, who, why)?;
        back.ok_or(StoreError::NoEarlierBest)
    }

    /// As [`Store::rollback`] of the pointer, if `network` is the best now; `None` if it is not.
    ///
    /// # Errors
    /// As [`Store::rollback`].
    pub fn step_back_from(
        &mut self,
        network: &str,
        who: &str,
        why: &str,
    ) -> Result<Option<String>, StoreError> {
        self.step_back(Some(network), Rollback::Pointer, who, why)
    }

    fn step_back(
        &mut self,
        only: Option<&str>,
        what: Rollback,
        who: &str,
        why: &str,
    ) -> Result<Option<String>, StoreError> {
        let tx = self.fenced_write()?;
        if only.is_some() && run::require(&*tx)?.best.as_deref() != only {
            return Ok(None);
        }
        let history = history(&*tx)?;
        let [.., earlier, best] = standing(&history)[..] else {
            return Err(StoreError::NoEarlierBest);
        };
        let step = Move { kind: "rollback", to: earlier, match_id: None, who, why };
        move_best(&*tx, Some(best), &step)?;
        if what == Rollback::PointerAndGames {
            withdrawn::withdraw(&*tx, best, who, why)?;
        }
        tx.commit()?;
        Ok(Some(earlier.to_owned()))
    }

    /// How the best pointer moved, oldest first.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn promotions(&self) -> Result<Vec<PromotionRow>, StoreError> {
        history(&*self.db)
    }
}
