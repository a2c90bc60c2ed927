//! The networks of a run: where their files are, where they come from, how strong they are.

use std::fmt;
use std::str::FromStr;

use crate::db::{Database, Row, params};
use crate::promotion::{self, Move};
use crate::{Store, StoreError, run};

/// Where a network stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NetworkStatus {
    /// Fresh weights, before anything was trained.
    Initial,
    /// Trained, its match not yet decided.
    Candidate,
    /// The one that plays: the run's best.
    Best,
    /// Was the best once.
    Promoted,
    /// Failed its match.
    Rejected,
}

impl NetworkStatus {
    const ALL: [(Self, &str); 5] = [
        (Self::Initial, "initial"),
        (Self::Candidate, "candidate"),
        (Self::Best, "best"),
        (Self::Promoted, "promoted"),
        (Self::Rejected, "rejected"),
    ];
}

impl fmt::Display for NetworkStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::ALL[*self as usize].1)
    }
}

impl FromStr for NetworkStatus {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        let found = Self::ALL.iter().find(|(_, word)| *word == text);
        found.map(|(status, _)| *status).ok_or_else(|| StoreError::UnknownWord {
            what: "network status",
            value: text.to_owned(),
        })
    }
}

/// A network to be registered; its file is already in place.
#[derive(Clone, Debug)]
pub struct NewNetwork {
    /// BLAKE3 of the file's bytes, hex.
    pub id: String,
    /// The network that training went on from.
    pub parent: Option<String>,
    /// The file, relative to the run's folder.
    pub file: String,
    /// The trainer's step.
    pub step: u64,
    /// Games the trainer had seen.
    pub games: u64,
    /// Positions trained on, repeats included.
    pub samples: u64,
    /// Where it stands.
    pub status: NetworkStatus,
    /// Its last losses, JSON.
    pub losses_json: String,
}

/// Strength on the run's own scale, in Elo, with the bounds of its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elo {
    /// The estimate.
    pub elo: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

/// A network as stored, with the verdict of its newest match.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkRow {
    /// BLAKE3 of the file's bytes, hex.
    pub id: String,
    /// The network that training went on from.
    pub parent: Option<String>,
    /// The file, relative to the run's folder.
    pub file: String,
    /// The trainer's step.
    pub step: u64,
    /// Games the trainer had seen.
    pub games: u64,
    /// Positions trained on, repeats included.
    pub samples: u64,
    /// Where it stands.
    pub status: NetworkStatus,
    /// Its last losses, JSON.
    pub losses_json: String,
    /// Its rating, once there is one.
    pub elo: Option<Elo>,
    /// When it was registered, microseconds since 1970.
    pub created_us: i64,
    /// The newest match that it played as the candidate.
    pub match_id: Option<i64>,
    /// That match's verdict.
    pub verdict: Option<String>,
    /// When the verdict fell, microseconds since 1970.
    pub decided_us: Option<i64>,
}

const SELECT: &str = "SELECT n.id, n.parent, n.file, n.step, n.games, n.samples, n.status,
        n.losses_json, n.elo, n.elo_low, n.elo_high, n.created_us, m.match_id, m.verdict, m.decided_us
     FROM networks n LEFT JOIN matches m
     ON m.match_id = (SELECT max(match_id) FROM matches WHERE candidate = n.id)";

fn columns(row: &mut Row<'_>) -> Result<NetworkRow, StoreError> {
    let elo = match (row.get(8)?, row.get(9)?, row.get(10)?) {
        (Some(elo), Some(low), Some(high)) => Some(Elo { elo, low, high }),
        _ => None,
    };
    Ok(NetworkRow {
        id: row.get(0)?,
        parent: row.get(1)?,
        file: row.get(2)?,
        step: row.get(3)?,
        games: row.get(4)?,
        samples: row.get(5)?,
        status: row.get::<String>(6)?.parse()?,
        losses_json: row.get(7)?,
        elo,
        created_us: row.get(11)?,
        match_id: row.get(12)?,
        verdict: row.get(13)?,
        decided_us: row.get(14)?,
    })
}

/// Inserts a network; one that is there already stays as it is.
pub(crate) fn insert(db: &dyn Database, new: &NewNetwork) -> Result<bool, StoreError> {
    let rows = db.execute(
        "INSERT INTO networks (id, parent, file, step, games, samples, status, losses_json, place, created_us)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, (SELECT coalesce(max(place), 0) + 1 FROM networks), now_us())
         ON CONFLICT (id) DO NOTHING",
        params![
            new.id,
            new.parent,
            new.file,
            new.step,
            new.games,
            new.samples,
            new.status.to_string(),
            new.losses_json
        ],
    )?;
    Ok(rows == 1)
}

pub(crate) fn set_status(db: &dyn Database, id: &str, to: NetworkStatus) -> Result<(), StoreError> {
    match db
        .execute("UPDATE networks SET status = ?2 WHERE id = ?1", params![id, to.to_string()])?
    {
        1 => Ok(()),
        _ => Err(StoreError::UnknownNetwork(id.to_owned())),
    }
}

impl Store {
    /// Registers a network; doing it twice is success. One with status
    /// [`NetworkStatus::Best`] also becomes the run's first best.
    ///
    /// # Errors
    /// [`StoreError::BestExists`] for a second best, [`StoreError::UnknownNetwork`] for a
    /// parent that is not registered, [`StoreError::LeaseLost`].
    pub fn add_network(&mut self, new: &NewNetwork) -> Result<(), StoreError> {
        if let Some(parent) = &new.parent {
            self.network(parent)?.ok_or_else(|| StoreError::UnknownNetwork(parent.clone()))?;
        }
        let tx = self.fenced_write()?;
        run::require(&*tx)?;
        if new.status == NetworkStatus::Best {
            insert(&*tx, &NewNetwork { status: NetworkStatus::Initial, ..new.clone() })?;
            make_first_best(&*tx, &new.id)?;
        } else {
            insert(&*tx, new)?;
        }
        tx.commit()
    }

    /// Makes a registered network the run's first best; doing it twice is success.
    ///
    /// # Errors
    /// [`StoreError::BestExists`] when another one is the best.
    pub fn set_initial_best(&mut self, id: &str) -> Result<(), StoreError> {
        let tx = self.fenced_write()?;
        make_first_best(&*tx, id)?;
        tx.commit()
    }

    /// Every network, oldest first.
    ///
    /// # Errors
    /// [`StoreError::UnknownWord`] when another release wrote a status.
    pub fn networks(&self) -> Result<Vec<NetworkRow>, StoreError> {
        self.db.rows(&format!("{SELECT} ORDER BY n.place"), &[], columns)
    }

    /// The network `id`, if it is registered.
    ///
    /// # Errors
    /// As [`Store::networks`].
    pub fn network(&self, id: &str) -> Result<Option<NetworkRow>, StoreError> {
        let sql = format!("{SELECT} WHERE n.id = ?1");
        self.db.maybe(&sql, params![id], columns)
    }

    /// The network that plays, once there is one.
    ///
    /// # Errors
    /// As [`Store::networks`].
    pub fn best(&self) -> Result<Option<NetworkRow>, StoreError> {
        let sql = format!("{SELECT} WHERE n.id = (SELECT best FROM runs)");
        self.db.maybe(&sql, &[], columns)
    }

    /// Seconds since the best pointer moved last, by the database's clock; `None` before it first did.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn best_age_seconds(&self) -> Result<Option<f64>, StoreError> {
        let sql = "SELECT now_us() - max(at_us) FROM promotions";
        let age: Option<i64> = self.db.get(sql, &[])?;
        Ok(age.map(|us| us as f64 / 1e6))
    }

    /// Who played the newest `games` games, and how many of them, in order of the networks' ids.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn players_of_newest(&self, games: u64) -> Result<Vec<(String, u64)>, StoreError> {
        let sql = "SELECT network, count(*) FROM games
                   WHERE seq > (SELECT last_seq FROM runs) - ?1 GROUP BY network ORDER BY network";
        let games = games.min(i64::MAX.cast_unsigned());
        self.db.rows(sql, params![games], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Sets a network's rating, in Elo with its 95 % interval.
    ///
    /// # Errors
    /// [`StoreError::UnknownNetwork`].
    pub fn set_elo(&mut self, id: &str, elo: f64, low: f64, high: f64) -> Result<(), StoreError> {
        let sql = "UPDATE networks SET elo = ?2, elo_low = ?3, elo_high = ?4 WHERE id = ?1";
        match self.db.execute(sql, params![id, elo, low, high])? {
            1 => Ok(()),
            _ => Err(StoreError::UnknownNetwork(id.to_owned())),
        }
    }
}

fn make_first_best(db: &dyn Database, id: &str) -> Result<(), StoreError> {
    match run::require(db)?.best {
        Some(best) if best == id => Ok(()),
        Some(best) => Err(StoreError::BestExists(best)),
        None => promotion::move_best(
            db,
            None,
            &Move { kind: "initial", to: id, match_id: None, who: "run", why: "first network" },
        ),
    }
}
