//! The conversation with a run that this process may write to itself: a run in a file, or a trusted
//! process on a server.

use crate::db::Database;
use crate::upstream::{
    Block, BlockGame, BlockLease, RunState, SharedUpstream, Submitted, Upload, Upstream,
    UpstreamError, WorkerCounts, WorkerHello, check_party,
};
use crate::{Store, StoreError, blocks, damaged, inbox, workers};

impl From<StoreError> for UpstreamError {
    fn from(error: StoreError) -> Self {
        if error.is_temporary() {
            Self::Away(error.to_string())
        } else {
            Self::Refused(error.to_string())
        }
    }
}

impl Store {
    /// One short transaction of a worker that must be known and welcome.
    fn hosted<T>(
        &mut self,
        worker: &str,
        what: impl FnOnce(&dyn Database) -> Result<T, UpstreamError>,
    ) -> Result<T, UpstreamError> {
        let speaker = self.speaker.clone();
        let tx = self.write()?;
        workers::admit(&*tx, worker, &speaker)?;
        let answer = what(&*tx)?;
        tx.commit()?;
        Ok(answer)
    }
}

impl Upstream for Store {
    fn register(&mut self, hello: &WorkerHello) -> Result<RunState, UpstreamError> {
        let speaker = self.speaker.clone();
        let tx = self.write()?;
        workers::register(&*tx, hello, &speaker)?;
        let state = workers::run_state(&*tx)?;
        tx.commit()?;
        Ok(state)
    }

    fn run_state(&mut self, worker: &str, counts: WorkerCounts) -> Result<RunState, UpstreamError> {
        self.hosted(worker, |db| {
            workers::seen(db, worker, counts)?;
            Ok(workers::run_state(db)?)
        })
    }

    fn submit(&mut self, uploads: &[Upload]) -> Result<Submitted, UpstreamError> {
        inbox::check_limits(uploads)?;
        let Some(first) = uploads.first() else { return Ok(Submitted::default()) };
        self.hosted(&first.worker, |db| Ok(inbox::submit(db, uploads)?))
    }

    fn network(&mut self, hash: &str) -> Result<Vec<u8>, UpstreamError> {
        self.network_bytes(hash)?.ok_or_else(|| not_kept(hash))
    }

    fn report_damaged(
        &mut self,
        worker: &str,
        network: &str,
        why: &str,
    ) -> Result<(), UpstreamError> {
        self.hosted(worker, |db| damaged::report(db, worker, network, why))
    }

    fn lease_block(&mut self, worker: &str) -> Result<Option<Block>, UpstreamError> {
        self.hosted(worker, |db| Ok(blocks::lease(db, worker)?))
    }

    fn heartbeat(&mut self, lease: &BlockLease) -> Result<bool, UpstreamError> {
        self.hosted(&lease.worker, |db| Ok(blocks::heartbeat(db, lease)?))
    }

    fn finish_block(
        &mut self,
        lease: &BlockLease,
        games: &[BlockGame],
    ) -> Result<bool, UpstreamError> {
        self.hosted(&lease.worker, |db| blocks::finish(db, lease, games))
    }
}

impl SharedUpstream for Store {
    fn speak_for(&mut self, party: &str) -> Result<(), UpstreamError> {
        check_party(party)?;
        self.speaker = format!("/{party}");
        Ok(())
    }
}

/// A network whose bytes lie elsewhere.
pub(crate) fn not_kept(hash: &str) -> UpstreamError {
    UpstreamError::Refused(format!("the run does not keep the bytes of network {hash}"))
}
