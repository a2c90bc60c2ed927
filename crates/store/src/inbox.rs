//! Games from workers: taken in at once, believed only after a trusted process has replayed them.
//!
//! A game waits in `uploads`, which no window reads. [`Store::settle_uploads`] replays it and moves
//! it on, in one transaction: into `games`, or into `quarantine` with the reason.

use std::collections::HashSet;

use tengen_record::GameRecord;

use crate::db::{Database, Row, params};
use crate::games::{NewGame, Packed, append, unpack};
use crate::upstream::{
    MAX_GAME_BYTES, MAX_UPLOAD_BYTES, MAX_UPLOADS, Submitted, Upload, UpstreamError,
};
use crate::{GameId, Store, StoreError, journal, run, workers};

/// What keeps a game of `uniform` from needing a network's row.
const UNIFORM: &str = "uniform";

/// A game in the inbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingUpload {
    /// Its place in the inbox; grows, with gaps.
    pub id: i64,
    /// What was handed in.
    pub upload: Upload,
}

/// What became of games from the inbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// Games that are part of the run now.
    pub accepted: u64,
    /// Games that were part of it before.
    pub already_there: u64,
    /// Games put aside as unsound.
    pub quarantined: u64,
}

impl Settled {
    /// Games looked at.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.accepted + self.already_there + self.quarantined
    }
}

/// A game that was put aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuarantinedGame {
    /// Its place in the quarantine; grows, with gaps.
    pub id: i64,
    /// Who handed it in.
    pub worker: String,
    /// The game's number at that worker; `None` for a game of a match.
    pub counter: Option<u64>,
    /// Why it was put aside.
    pub reason: String,
    /// Its bytes.
    pub payload: Vec<u8>,
}

/// Digests and networks that were found to be the run's, so that a batch asks once for each.
#[derive(Default)]
struct Known {
    configs: HashSet<String>,
    networks: HashSet<String>,
}

/// Checks the limits of one call; nothing is kept of a call beyond them.
pub(crate) fn check_limits(uploads: &[Upload]) -> Result<(), UpstreamError> {
    let refused = |reason| Err(UpstreamError::Refused(reason));
    if uploads.len() > MAX_UPLOADS {
        return refused(format!("{} games in one call, {MAX_UPLOADS} at most", uploads.len()));
    }
    let bytes: usize = uploads.iter().map(|upload| upload.payload.len()).sum();
    if bytes > MAX_UPLOAD_BYTES {
        return refused(format!("{bytes} bytes of games in one call, {MAX_UPLOAD_BYTES} at most"));
    }
    let Some(first) = uploads.first() else { return Ok(()) };
    for upload in uploads {
        let (worker, counter) = (&upload.worker, upload.counter);
        if *worker != first.worker {
            return refused(format!("games of two workers, {:?} and {worker:?}", first.worker));
        }
        if upload.payload.len() > MAX_GAME_BYTES || upload.network.len() > 128 {
            let bytes = upload.payload.len();
            return refused(format!("game {counter} has {bytes} bytes, {MAX_GAME_BYTES} at most"));
        }
        if i64::try_from(counter).is_err() {
            return refused(format!("game number {counter} is out of range"));
        }
    }
    Ok(())
}

/// Takes games into the inbox, in the caller's transaction.
pub(crate) fn submit(db: &dyn Database, uploads: &[Upload]) -> Result<Submitted, StoreError> {
    let mut told = Submitted::default();
    let known = "SELECT payload_hash FROM uploads WHERE worker = ?1 AND counter = ?2
                 UNION ALL SELECT payload_hash FROM games WHERE worker = ?1 AND counter = ?2
                 UNION ALL SELECT payload_hash FROM quarantine WHERE worker = ?1 AND counter = ?2";
    let insert =
        "INSERT INTO uploads (game_id, worker, counter, network, payload, payload_hash, created_us)
                  VALUES (?1, ?2, ?3, ?4, ?5, ?6, now_us())";
    for upload in uploads {
        let Upload { id, worker, counter, network, payload, payload_hash } = upload;
        let hashes: Vec<Vec<u8>> = db.rows(known, params![worker, counter], |row| row.get(0))?;
        if hashes.is_empty() {
            db.execute(insert, params![id, worker, counter, network, payload, payload_hash])?;
            told.accepted += 1;
        } else if hashes.iter().any(|hash| hash.as_slice() == payload_hash) {
            told.already_there += 1;
        } else {
            put_aside(db, &Aside::of(upload), "handed in before with other bytes")?;
            told.quarantined += 1;
        }
    }
    if let Some(first) = uploads.first().filter(|_| told.quarantined > 0) {
        workers::count_refused(db, &first.worker, told.quarantined)?;
    }
    Ok(told)
}

/// What is kept of a game that is put aside.
pub(crate) struct Aside<'a> {
    pub id: &'a [u8],
    pub worker: &'a str,
    pub counter: Option<u64>,
    pub network: &'a str,
    pub payload: &'a [u8],
    pub payload_hash: &'a [u8],
}

impl<'a> Aside<'a> {
    fn of(upload: &'a Upload) -> Self {
        Self {
            id: &upload.id.0,
            worker: &upload.worker,
            counter: Some(upload.counter),
            network: &upload.network,
            payload: &upload.payload,
            payload_hash: &upload.payload_hash,
        }
    }
}

/// Moves a game into quarantine and tells the diary.
pub(crate) fn put_aside(
    db: &dyn Database,
    game: &Aside<'_>,
    reason: &str,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO quarantine (game_id, worker, counter, network, reason, payload, payload_hash, created_us)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, now_us()) RETURNING quarantine_id";
    let Aside { id, worker, counter, network, payload, payload_hash } = game;
    let number: i64 =
        db.get(sql, params![id, worker, counter, network, reason, payload, payload_hash])?;
    journal::note(db, "game-quarantined", &format!(r#"{{"quarantine":{number}}}"#))
}

fn waiting(row: &mut Row<'_>) -> Result<WaitingUpload, StoreError> {
    let upload = Upload {
        id: row.get(1)?,
        worker: row.get(2)?,
        counter: row.get(3)?,
        network: row.get(4)?,
        payload: row.get(5)?,
        payload_hash: row.get(6)?,
    };
    Ok(WaitingUpload { id: row.get(0)?, upload })
}

/// Why a game that replays must not enter the run all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objection {
    /// What is wrong with it, for whoever looks into the quarantine.
    pub reason: String,
    /// Whether it counts against the worker: an honest one may hand in a game that has merely grown old.
    pub is_fault: bool,
}

impl Objection {
    /// An objection that counts against the worker.
    #[must_use]
    pub fn fault(reason: String) -> Self {
        Self { reason, is_fault: true }
    }

    /// An objection that does not.
    #[must_use]
    pub fn no_fault(reason: String) -> Self {
        Self { reason, is_fault: false }
    }
}

impl Store {
    /// The oldest `limit` games in the inbox behind place `after`.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn take_uploads(&self, after: i64, limit: usize) -> Result<Vec<WaitingUpload>, StoreError> {
        let sql = "SELECT upload_id, game_id, worker, counter, network, payload, payload_hash
                   FROM uploads WHERE upload_id > ?1 ORDER BY upload_id LIMIT ?2";
        self.db.rows(sql, params![after, limit], waiting)
    }

    /// Games waiting in the inbox.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn waiting_uploads(&self) -> Result<u64, StoreError> {
        self.db.get("SELECT count(*) FROM uploads", &[])
    }

    /// Replays `uploads` and moves them on, in one transaction: sound ones become games of the run, with
    /// numbers without gaps; the others go into quarantine and count against their worker, unless the
    /// [`Objection`] says that it is not at fault. A game is sound
    /// if its id follows from its origin, its bytes are the ones that were hashed, it replays under its own
    /// rules, its configuration and its network are ones of this run, and `judge` has nothing
    /// against it. Uploads that somebody else has settled meanwhile are passed over.
    ///
    /// # Errors
    /// Only the store's own; then nothing has moved.
    pub fn settle_uploads(
        &mut self,
        uploads: &[WaitingUpload],
        judge: &mut dyn FnMut(&Upload, &GameRecord) -> Result<(), Objection>,
    ) -> Result<Settled, StoreError> {
        let run = run::require(&*self.db)?;
        // Replaying needs no lock.
        let mut checked = Vec::with_capacity(uploads.len());
        let mut known = Known::default();
        for WaitingUpload { id, upload } in uploads {
            let sound = self.sound_record(&run.uid, upload, &mut known)?;
            let sound = sound.map_err(Objection::fault);
            let sound = sound.and_then(|record| judge(upload, &record).map(|()| record));
            checked.push((id, upload, sound));
        }
        let tx = self.write()?;
        let mut told = Settled::default();
        let mut sound = Vec::new();
        for (id, upload, record) in &checked {
            if tx.execute("DELETE FROM uploads WHERE upload_id = ?1", params![**id])? == 0 {
                continue;
            }
            match record {
                Ok(record) => sound.push((
                    NewGame {
                        id: upload.id,
                        worker: upload.worker.clone(),
                        counter: upload.counter,
                        network: upload.network.clone(),
                        record,
                    },
                    &upload.payload,
                )),
                Err(objection) => {
                    put_aside(&*tx, &Aside::of(upload), &objection.reason)?;
                    workers::count_refused(&*tx, &upload.worker, u64::from(objection.is_fault))?;
                    told.quarantined += 1;
                }
            }
        }
        let packed: Vec<_> = sound.iter().map(|(game, payload)| Packed { game, payload }).collect();
        let appended = append(&*tx, &packed)?;
        tx.commit()?;
        (told.accepted, told.already_there) = (appended.inserted, appended.already_there);
        Ok(told)
    }

    /// The game of an upload, or why it must not enter the run.
    fn sound_record(
        &self,
        uid: &str,
        upload: &Upload,
        known: &mut Known,
    ) -> Result<Result<GameRecord, String>, StoreError> {
        let due = GameId::derive(uid, &upload.worker, upload.counter);
        if upload.id != due {
            return Ok(Err(format!("its id is {}, but its origin gives {due}", upload.id)));
        }
        let record = match sound_game(&upload.payload, &upload.payload_hash) {
            Ok(record) => record,
            Err(reason) => return Ok(Err(reason)),
        };
        let digest = &record.config_digest;
        if !known.configs.contains(digest) {
            if self.config(digest)?.is_none() {
                return Ok(Err(format!("its configuration {digest:?} is none of this run's")));
            }
            known.configs.insert(digest.clone());
        }
        let network = &upload.network;
        if network != UNIFORM && !known.networks.contains(network) {
            if self.network(network)?.is_none() {
                return Ok(Err(format!("its network {network:?} is none of this run's")));
            }
            known.networks.insert(network.clone());
        }
        Ok(Ok(record))
    }

    /// The newest `limit` games in quarantine, oldest of them first.
    ///
    /// # Errors
    /// Only the store's own.
    pub fn quarantined(&self, limit: usize) -> Result<Vec<QuarantinedGame>, StoreError> {
        let sql = "SELECT quarantine_id, worker, counter, reason, payload FROM quarantine
                   ORDER BY quarantine_id DESC LIMIT ?1";
        let mut games = self.db.rows(sql, params![limit], |row| {
            Ok(QuarantinedGame {
                id: row.get(0)?,
                worker: row.get(1)?,
                counter: row.get(2)?,
                reason: row.get(3)?,
                payload: row.get(4)?,
            })
        })?;
        games.reverse();
        Ok(games)
    }
}

/// Bytes from outside as a game that replays, or what is wrong with them.
pub(crate) fn sound_game(payload: &[u8], hash: &[u8]) -> Result<GameRecord, String> {
    let record = unpack(payload, hash, "").map_err(|error| match error {
        StoreError::DamagedGame { reason, .. } => reason,
        other => other.to_string(),
    })?;
    record.validate().map_err(|refusal| format!("it does not replay: {refusal}"))?;
    Ok(record)
}
