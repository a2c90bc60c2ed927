//! Hands finished games to the run, batch by batch.

use std::time::Duration;

use tengen_store::{
    GameId, MAX_UPLOADS, OutboxGame, StoreError, Submitted, Upload, Upstream, UpstreamError,
};
use thiserror::Error;

use crate::Spool;

/// Bytes of one batch, so that a batch of large games is still one short transaction.
const BATCH_BYTES: usize = 4 << 20;

/// Takes games out of a spool and gives them to the run. It never waits and keeps no clock; see
/// [`Backoff`](crate::Backoff) for when to call it again.
///
/// Each game has the id that run, worker and counter give it, so a batch whose answer was lost is
/// simply sent again: what the run has counts once.
///
/// After every failure the game acknowledged *last* is sent once more. A server that came back
/// without its newest commits (a replica took over) does not know it; then everything in the
/// sent-log is sent again. If that one is there, so are all before it.
#[derive(Clone, Debug)]
pub struct Shipper {
    run_uid: String,
    /// The run may have lost commits.
    doubtful: bool,
    /// Games in the next batch: halves while the run refuses, to find the one that it won't have.
    batch: usize,
}

/// What one call did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shipped {
    /// What the run said.
    pub submitted: Submitted,
    /// Games that the run won't have; they are set aside in the spool.
    pub refused: u64,
    /// Games that were acknowledged and lost by the run; they wait again.
    pub again: u64,
}

impl Shipped {
    /// Whether nothing was there to be done.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// Why games stayed in the spool.
#[derive(Debug, Error)]
pub enum ShipError {
    /// The run's doing.
    #[error(transparent)]
    Upstream(#[from] UpstreamError),
    /// The outbox's.
    #[error(transparent)]
    Outbox(#[from] StoreError),
}

impl Shipper {
    /// A shipper for the run `run_uid`. It doubts at first: much may have happened since the
    /// process before this one.
    #[must_use]
    pub fn new(run_uid: &str) -> Self {
        Self { run_uid: run_uid.to_owned(), doubtful: true, batch: MAX_UPLOADS }
    }

    /// Forgets what was acknowledged longer than `age` ago.
    ///
    /// # Errors
    /// The outbox's.
    pub fn forget_sent(&self, spool: &Spool, age: Duration) -> Result<u64, StoreError> {
        spool.forget_sent(age)
    }

    /// The run was out of reach: it may have come back without its newest commits.
    pub fn doubt(&mut self) {
        self.doubtful = true;
    }

    /// Ships one batch.
    ///
    /// # Errors
    /// Whatever the error, no game is lost and the call may be repeated.
    pub fn ship(
        &mut self,
        spool: &Spool,
        upstream: &mut dyn Upstream,
    ) -> Result<Shipped, ShipError> {
        let shipped = self.try_ship(spool, upstream);
        if matches!(&shipped, Err(ShipError::Upstream(error)) if error.is_temporary()) {
            self.doubtful = true;
        }
        shipped
    }

    fn try_ship(
        &mut self,
        spool: &Spool,
        upstream: &mut dyn Upstream,
    ) -> Result<Shipped, ShipError> {
        let mut shipped = Shipped::default();
        if self.doubtful {
            shipped.again = self.look_for_the_newest(spool, upstream)?;
            self.doubtful = false;
        }
        loop {
            let games = spool.outbox().batch(self.batch, BATCH_BYTES)?;
            if games.is_empty() {
                return Ok(shipped);
            }
            match upstream.submit(&self.uploads(spool, &games)) {
                Ok(submitted) => {
                    spool.acknowledge(&games)?;
                    shipped.submitted = submitted;
                    self.batch = (self.batch * 2).min(MAX_UPLOADS);
                    return Ok(shipped);
                }
                Err(UpstreamError::Refused(why)) => match &games[..] {
                    [game] => {
                        let counter = game.counter;
                        tracing::warn!(counter, %why, "the run refuses a game; it is set aside");
                        spool.set_aside(game, &why)?;
                        shipped.refused = 1;
                        return Ok(shipped);
                    }
                    _ => self.batch = games.len().div_ceil(2),
                },
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Sends the game acknowledged last once more; returns how many games wait again.
    fn look_for_the_newest(
        &self,
        spool: &Spool,
        upstream: &mut dyn Upstream,
    ) -> Result<u64, ShipError> {
        let Some(newest) = spool.outbox().newest_sent()? else { return Ok(0) };
        // Asked before without hearing the answer, the run may have the newest from that question.
        let unheard = spool.ask()?;
        if !unheard {
            let answer = upstream.submit(&self.uploads(spool, std::slice::from_ref(&newest)))?;
            if answer.accepted == 0 {
                spool.asked()?;
                return Ok(0);
            }
        }
        let games = spool.send_again()?;
        tracing::warn!(games, unheard, "the run may lack its newest games; they are sent again");
        Ok(games)
    }

    fn uploads(&self, spool: &Spool, games: &[OutboxGame]) -> Vec<Upload> {
        let upload = |game: &OutboxGame| Upload {
            id: GameId::derive(&self.run_uid, spool.worker(), game.counter),
            worker: spool.worker().to_owned(),
            counter: game.counter,
            network: game.network.clone(),
            payload_hash: *blake3::hash(&game.payload).as_bytes(),
            payload: game.payload.clone(),
        };
        games.iter().map(upload).collect()
    }
}
