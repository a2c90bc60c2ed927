//! Connections to the run, taken in turn: calls of the store wait, so each is made on a thread of its own.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tengen_store::{SharedUpstream, UpstreamError};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::answer::CallError;

/// Makes a connection to the run; called again after each failure.
pub type ConnectRun = Box<dyn Fn() -> Result<Box<dyn SharedUpstream>, UpstreamError> + Send + Sync>;

/// A few connections for many callers.
pub(crate) struct Pool {
    connect: ConnectRun,
    idle: Mutex<Vec<Box<dyn SharedUpstream>>>,
    places: Arc<Semaphore>,
    most: Duration,
}

impl Pool {
    /// `connections` at once, and `most` for an answer.
    pub fn new(connect: ConnectRun, connections: usize, most: Duration) -> Arc<Self> {
        let places = Arc::new(Semaphore::new(connections.max(1)));
        Arc::new(Self { connect, idle: Mutex::default(), places, most })
    }

    /// Makes a call for `party`. Whoever stops waiting for the answer leaves the call to its end.
    pub async fn ask<T: Send + 'static>(
        self: &Arc<Self>,
        party: Arc<str>,
        call: impl FnOnce(&mut dyn SharedUpstream) -> Result<T, CallError> + Send + 'static,
    ) -> Result<T, CallError> {
        let away = |reason: &str| Err(UpstreamError::Away(reason.to_owned()).into());
        let pool = Arc::clone(self);
        let asked = async move {
            // The semaphore is never closed.
            let Ok(place) = Arc::clone(&pool.places).acquire_owned().await else {
                return away("the server stops");
            };
            let made = spawn_blocking(move || {
                let _place = place;
                pool.on_a_connection(&party, call)
            });
            made.await.unwrap_or_else(|_| away("the call failed within the server"))
        };
        match timeout(self.most, asked).await {
            Ok(answer) => answer,
            Err(_) => away("the run takes too long to answer"),
        }
    }

    /// A connection that failed is not used again; a refusal says nothing against it.
    fn on_a_connection<T>(
        &self,
        party: &str,
        call: impl FnOnce(&mut dyn SharedUpstream) -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut run = match idle {
            Some(run) => run,
            None => (self.connect)()?,
        };
        run.speak_for(party)?;
        let answer = call(&mut *run);
        if !matches!(&answer, Err(CallError::Run(error)) if error.is_temporary()) {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(run);
        }
        answer
    }
}
