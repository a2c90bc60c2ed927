//! Connections from outside: how many, from whom, how slow. What they ask is the router's business.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use futures_util::future::{Either, select};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use crate::figures::Figures;
use crate::limits::Limits;
use crate::patience::Patient;
use crate::tls::Identity;

/// Bytes of a request's head, at most.
const MAX_HEAD: usize = 16 * 1024;
/// How long to wait before the next connection when the system has no room for one.
const NO_ROOM: Duration = Duration::from_millis(200);

/// What stands between the outside and a router.
pub(crate) struct Door {
    pub router: Router,
    pub identity: Option<Identity>,
    pub limits: Limits,
    pub figures: Arc<Figures>,
}

impl Door {
    /// Lets connections in until `stop`; then those that are being answered get `limits.stop` to end.
    pub async fn keep(mut self, listener: TcpListener, mut stop: watch::Receiver<bool>) {
        let guests = Guests::new(&self.limits, &self.figures);
        let stopped = stop.clone();
        loop {
            let came = match select(pin!(listener.accept()), pin!(told_to(&mut stop))).await {
                Either::Left((came, _)) => came,
                Either::Right(_) => break,
            };
            let (stream, from) = match came {
                Ok(came) => came,
                Err(error) => {
                    tracing::warn!("no connection: {error}");
                    sleep(NO_ROOM).await;
                    continue;
                }
            };
            // One over a limit is closed without a word.
            if let Some(guest) = guests.admit(from) {
                let tls = self.identity.as_mut().map(|identity| identity.config().into());
                let (router, limits) = (self.router.clone(), self.limits.clone());
                let (figures, stop) = (Arc::clone(&self.figures), stopped.clone());
                tokio::spawn(async move {
                    welcome(stream, tls, router, &limits, &figures, stop).await;
                    drop(guest);
                });
            }
        }
        drop(listener);
        // Whoever lasts longer is cut off.
        let _ = timeout(self.limits.stop, guests.gone()).await;
    }
}

/// One connection, from its first byte to its last.
async fn welcome(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    router: Router,
    limits: &Limits,
    figures: &Figures,
    stop: watch::Receiver<bool>,
) {
    // Without it answers wait for each other; a system that refuses is slower, no more.
    let _ = stream.set_nodelay(true);
    let stream = Patient::new(stream, limits.stall);
    let Some(tls) = tls else {
        return converse(stream, router, limits, stop).await;
    };
    match timeout(limits.handshake, tls.accept(stream)).await {
        Ok(Ok(stream)) => converse(stream, router, limits, stop).await,
        // Somebody who speaks no TLS, trusts another certificate, or says nothing.
        Ok(Err(_)) | Err(_) => {
            figures.handshakes_failed.fetch_add(1, Ordering::Relaxed);
        }
    }
}

async fn converse(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    router: Router,
    limits: &Limits,
    mut stop: watch::Receiver<bool>,
) {
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        .max_header_size(MAX_HEAD)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut connection = pin!(connection);
    let told = pin!(told_to(&mut stop));
    // How a connection ended is nothing to act on: what was answered was answered.
    if let Either::Right(_) = select(connection.as_mut(), told).await {
        connection.as_mut().graceful_shutdown();
        let _ = connection.await;
    }
}

/// Waits for the word to stop.
async fn told_to(stop: &mut watch::Receiver<bool>) {
    // A server that is gone has stopped.
    let _ = stop.wait_for(|stop| *stop).await;
}

/// Who is in.
struct Guests {
    all: u32,
    places: Arc<Semaphore>,
    most_of_one: Option<usize>,
    of_one: Arc<Mutex<HashMap<IpAddr, usize>>>,
    figures: Arc<Figures>,
}

/// A connection's place, until dropped.
struct Guest {
    from: IpAddr,
    of_one: Arc<Mutex<HashMap<IpAddr, usize>>>,
    figures: Arc<Figures>,
    _place: OwnedSemaphorePermit,
}

impl Guests {
    fn new(limits: &Limits, figures: &Arc<Figures>) -> Self {
        let all = u32::try_from(limits.connections).unwrap_or(u32::MAX >> 4).max(1);
        Self {
            all,
            places: Arc::new(Semaphore::new(all as usize)),
            most_of_one: limits.connections_of_one,
            of_one: Arc::default(),
            figures: Arc::clone(figures),
        }
    }

    fn admit(&self, from: SocketAddr) -> Option<Guest> {
        let from = from.ip().to_canonical();
        let place = Arc::clone(&self.places).try_acquire_owned().ok();
        let mut of_one = self.of_one.lock().unwrap_or_else(PoisonError::into_inner);
        let count = of_one.get(&from).copied().unwrap_or_default();
        let room = self.most_of_one.is_none_or(|most| count < most);
        let Some(place) = place.filter(|_| room) else {
            self.figures.turned_away.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        of_one.insert(from, count + 1);
        self.figures.connections.fetch_add(1, Ordering::Relaxed);
        Some(Guest {
            from,
            of_one: Arc::clone(&self.of_one),
            figures: Arc::clone(&self.figures),
            _place: place,
        })
    }

    /// Waits until all have left.
    async fn gone(&self) {
        // The semaphore is never closed.
        let _ = self.places.acquire_many(self.all).await;
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.figures.connections.fetch_sub(1, Ordering::Relaxed);
        let mut of_one = self.of_one.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = of_one.get_mut(&self.from) {
            *count -= 1;
            if *count == 0 {
                of_one.remove(&self.from);
            }
        }
    }
}
