//! Networks on their way to a worker's disk: from a place of blobs if it has one, else from the run.
//!
//! A place may be slow: what comes from there comes on a thread of its own, so that games are shipped and
//! leases kept alive meanwhile.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;

use tengen_blob::{BlobError, BlobSource};
use tengen_store::{Upstream, UpstreamError};

use crate::net_cache::NetCache;

/// Goes to a place of blobs; asked anew for each network, so that a place may come and go.
pub type OpenBlobs = Arc<dyn Fn() -> Result<Box<dyn BlobSource>, BlobError> + Send + Sync>;

/// What for a network is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To play with it.
    Play,
    /// For a block of a match.
    Match,
}

/// A network as the run's own store hands it out.
struct FromRun<'a>(&'a mut dyn Upstream);

impl BlobSource for FromRun<'_> {
    fn get(&mut self, name: &str) -> Result<Vec<u8>, BlobError> {
        tengen_blob::check_name(name)?;
        let bytes = self.0.network(name).map_err(|error| match error {
            UpstreamError::Refused(_) => BlobError::Missing(name.to_owned()),
            other => BlobError::Away(other.to_string()),
        })?;
        tengen_blob::verify(name, &bytes)?;
        Ok(bytes)
    }
}

/// Why a network is not here.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The run is out of reach, or wants nothing of this worker.
    Run(UpstreamError),
    /// The network cannot be had, or not be kept; the run is well.
    Network(BlobError),
}

/// How a download ended.
type Came = Result<Vec<u8>, BlobError>;

/// Fetches networks, one after another.
pub(crate) struct Supply {
    cache: NetCache,
    blobs: Option<OpenBlobs>,
    /// The network on its way.
    download: Option<(String, Receiver<Came>)>,
    /// The one that came last, until it is asked for.
    came: Option<(String, Came)>,
    /// Networks that came damaged, from wherever, and how.
    damaged: Vec<(String, String)>,
}

impl Supply {
    pub fn new(cache: NetCache, blobs: Option<OpenBlobs>) -> Self {
        Self { cache, blobs, download: None, came: None, damaged: Vec::new() }
    }

    /// Bytes of the network in use: the next one will be about as large.
    pub fn size(&self) -> u64 {
        self.cache.size()
    }

    /// What came damaged since the last call: network and how.
    pub fn complaints(&mut self) -> Vec<(String, String)> {
        std::mem::take(&mut self.damaged)
    }

    /// The file of the network `hash`; `None` while it is on its way: ask again. What the place of blobs
    /// does not give, the run itself is asked for.
    pub fn require(
        &mut self,
        hash: &str,
        purpose: Purpose,
        run: &mut dyn Upstream,
    ) -> Result<Option<PathBuf>, Trouble> {
        self.look();
        let mut trouble = None;
        match self.came.take_if(|(name, _)| name == hash) {
            Some((_, Ok(bytes))) => return self.keep(hash, purpose, bytes).map(Some),
            Some((_, Err(error))) => trouble = Some(error),
            None if self.download.is_some() => return Ok(None),
            None if self.cache.has(hash) => return self.keep(hash, purpose, Vec::new()).map(Some),
            None => {
                if let Some(blobs) = &self.blobs {
                    self.download = Some((hash.to_owned(), begin(hash, Arc::clone(blobs))));
                    return Ok(None);
                }
            }
        }
        if let Some(trouble) = &trouble {
            tracing::warn!(network = %hash, "{trouble}; asking the run itself");
            self.note(hash, trouble);
        }
        match FromRun(run).get(hash) {
            Ok(bytes) => self.keep(hash, purpose, bytes).map(Some),
            Err(BlobError::Away(why)) => Err(Trouble::Run(UpstreamError::Away(why))),
            // The run need not keep it: then what matters is what the place of blobs said.
            Err(missing @ BlobError::Missing(_)) => {
                Err(Trouble::Network(trouble.unwrap_or(missing)))
            }
            Err(error) => {
                self.note(hash, &error);
                Err(Trouble::Network(error))
            }
        }
    }

    /// Takes in a download that has ended.
    fn look(&mut self) {
        let Some((_, answer)) = &self.download else { return };
        let came = match answer.try_recv() {
            Err(TryRecvError::Empty) => return,
            Err(TryRecvError::Disconnected) => {
                Err(BlobError::Away("the thread that fetched it panicked".to_owned()))
            }
            Ok(came) => came,
        };
        self.came = self.download.take().map(|(name, _)| (name, came));
    }

    fn note(&mut self, hash: &str, error: &BlobError) {
        if matches!(error, BlobError::Damaged { .. }) {
            self.damaged.push((hash.to_owned(), error.to_string()));
        }
    }

    /// Puts a network that was verified, or is here already, where it belongs.
    fn keep(&mut self, hash: &str, purpose: Purpose, bytes: Vec<u8>) -> Result<PathBuf, Trouble> {
        let kept = match purpose {
            Purpose::Play => self.cache.fetch(hash, &mut Here(bytes)),
            Purpose::Match => self.cache.fetch_for_match(hash, &mut Here(bytes)),
        };
        kept.map_err(Trouble::Network)
    }
}

/// Bytes that are here.
struct Here(Vec<u8>);

impl BlobSource for Here {
    fn get(&mut self, _name: &str) -> Result<Vec<u8>, BlobError> {
        Ok(std::mem::take(&mut self.0))
    }
}

/// Fetches `hash` on a thread that nobody waits for: at the worker's end it may be left alone.
fn begin(hash: &str, open: OpenBlobs) -> Receiver<Came> {
    let (tell, answer) = channel();
    let name = hash.to_owned();
    thread::spawn(move || {
        let came = open().and_then(|mut blobs| blobs.get(&name));
        // Nobody listens once the worker has ended.
        let _ = tell.send(came);
    });
    answer
}
