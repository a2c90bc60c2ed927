//! The server as a whole: threads of its own, from its start to its end.

use std::fmt;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::listen::Door;
use crate::pool::{ConnectRun, Pool};
use crate::routes::{Front, router};
use crate::tls::Identity;
use crate::{Limits, ServeError, Tokens};

/// Threads that move bytes; calls of the run have others.
const THREADS: usize = 2;
/// For threads that call the run when all else has ended.
const LAST_CALLS: Duration = Duration::from_secs(2);

/// What a server is told at its start.
#[derive(Clone, Debug)]
pub struct ServeConfig {
    /// Where to listen.
    pub listen: SocketAddr,
    /// The files of certificate and key; without them, plain HTTP.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// Whether plain HTTP is meant at an address that other machines reach: a proxy before it does TLS.
    pub plain: bool,
    /// The file of tokens.
    pub tokens: PathBuf,
    /// Connections to the run.
    pub connections: usize,
    /// What it allows.
    pub limits: Limits,
}

/// A server that runs until it is dropped.
pub struct Server {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    keeper: Option<(Runtime, JoinHandle<()>)>,
    front: Arc<Front>,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Server {
    /// Starts one for the run that `connect` reaches, which need not be within reach yet.
    ///
    /// # Errors
    /// [`ServeError`], naming the file or address that is not usable; [`ServeError::InTheClear`].
    pub fn start(config: &ServeConfig, connect: ConnectRun) -> Result<Self, ServeError> {
        if config.identity.is_none() && !config.plain && !config.listen.ip().is_loopback() {
            return Err(ServeError::InTheClear(config.listen));
        }
        let identity = config.identity.as_ref();
        let identity = identity.map(|(certificate, key)| Identity::load(certificate, key));
        let identity = identity.transpose()?;
        let tokens = Tokens::open(&config.tokens)?;
        let limits = config.limits.clone();
        let pool = Pool::new(connect, config.connections, limits.run);
        let front = Front::new(pool, tokens, limits.clone());
        let door = Door {
            router: router(Arc::clone(&front)),
            identity,
            limits,
            figures: Arc::clone(&front.figures),
        };
        let (address, stop, keeper) = open(config.listen, THREADS, door)?;
        Ok(Self { address, stop, keeper: Some(keeper), front })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it has done, in Prometheus's format; to be asked for at any time, from any thread.
    pub fn figures(&self) -> impl Fn() -> String + Send + Sync + use<> {
        let front = Arc::clone(&self.front);
        move || front.figures.text(front.tokens.count())
    }
}

impl Drop for Server {
    /// Lets nobody in any more, answers what has been asked, and ends.
    fn drop(&mut self) {
        close(&self.stop, self.keeper.take());
    }
}

pub(crate) type Opened = (SocketAddr, watch::Sender<bool>, (Runtime, JoinHandle<()>));

/// Opens a door at `address`, on threads of its own.
pub(crate) fn open(address: SocketAddr, threads: usize, door: Door) -> Result<Opened, ServeError> {
    let failed = |source| ServeError::Listen { address, source };
    let listener = TcpListener::bind(address).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let runtime = Builder::new_multi_thread()
        .worker_threads(threads)
        .thread_name("tengen-serve")
        .enable_all()
        .build()
        .map_err(ServeError::Runtime)?;
    let (stop, stopped) = watch::channel(false);
    let entered = runtime.enter();
    let listener = tokio::net::TcpListener::from_std(listener).map_err(failed)?;
    drop(entered);
    let keeper = runtime.spawn(door.keep(listener, stopped));
    Ok((address, stop, (runtime, keeper)))
}

/// Ends what [`open`] began, when all are served or their time is up.
pub(crate) fn close(stop: &watch::Sender<bool>, keeper: Option<(Runtime, JoinHandle<()>)>) {
    // Nobody listens any more if the keeper has ended.
    let _ = stop.send(true);
    if let Some((runtime, keeper)) = keeper {
        let _ = runtime.block_on(keeper);
        runtime.shutdown_timeout(LAST_CALLS);
    }
}
