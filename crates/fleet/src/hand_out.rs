//! Networks handed out to workers: the ones that somebody may ask for, wherever workers look for them.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use tengen_blob::{BlobError, BlobSource, BlobStore, EXTENSION, FolderBlobs};
use tengen_store::{MAX_NETWORK_BYTES, Store, StoreError};

use crate::FleetError;

/// Networks before the best one that go on being handed out.
const KEPT_BEFORE: usize = 2;
/// How long a place of blobs that is away is left alone.
const LEAVE_ALONE: Duration = Duration::from_secs(30);
/// How often a place of blobs is looked through for networks that nobody wants.
const SWEEP: Duration = Duration::from_secs(600);
/// Age of a blob that nobody wants when it goes: whoever was fetching it is through.
const FORGET: Duration = Duration::from_secs(24 * 3600);

/// Hands networks out: through the store, those up to 16 MB, and through a place of blobs.
pub struct HandOut {
    /// Network files at hand.
    files: Option<FolderBlobs>,
    blobs: Option<Box<dyn BlobStore>>,
    forget: Duration,
    claimed: bool,
    /// In the place of blobs for sure.
    put: BTreeSet<String>,
    /// At hand, and nowhere yet where a worker could find it.
    waiting: BTreeSet<String>,
    /// Told of already.
    told: BTreeSet<String>,
    quiet_until: Instant,
    sweep_at: Instant,
}

impl HandOut {
    /// Hands out the networks in `folder` through the store and, if there is one, through `blobs`, which
    /// must be the run's own.
    #[must_use]
    pub fn new(folder: Option<PathBuf>, blobs: Option<Box<dyn BlobStore>>) -> Self {
        let now = Instant::now();
        Self {
            files: folder.map(|folder| FolderBlobs::new(folder, EXTENSION)),
            blobs,
            forget: FORGET,
            claimed: false,
            put: BTreeSet::new(),
            waiting: BTreeSet::new(),
            told: BTreeSet::new(),
            quiet_until: now,
            sweep_at: now,
        }
    }

    /// Deletes unwanted blobs at another age than 24 hours.
    #[must_use]
    pub fn forgetting_after(self, forget: Duration) -> Self {
        Self { forget, ..self }
    }

    /// Whether the file of this network is at hand but no worker can have it yet: a match of it would be
    /// given up.
    #[must_use]
    pub fn is_waiting(&self, hash: &str) -> bool {
        self.waiting.contains(hash)
    }

    /// Hands out the best network, two before it and the candidates of open matches, and takes others
    /// away. A file that is not at hand is another process's to hand out. A place of blobs that is away
    /// is tried again after half a minute.
    ///
    /// # Errors
    /// [`BlobError::Taken`] for a place of another run; the store's.
    pub fn round(&mut self, store: &mut Store) -> Result<(), FleetError> {
        let wanted = wanted(store)?;
        let kept: Vec<String> = store.kept_networks()?.into_iter().map(|(name, _)| name).collect();
        self.waiting.clear();
        self.put.retain(|name| wanted.contains(name));
        self.claim(store)?;
        for hash in &wanted {
            self.hand_out(store, hash, kept.contains(hash))?;
        }
        for name in kept.iter().filter(|name| !wanted.contains(name)) {
            store.drop_network_bytes(name)?;
        }
        if self.claimed && Instant::now() >= self.sweep_at {
            self.sweep_at = Instant::now() + SWEEP;
            if let Err(error) = self.sweep(&wanted) {
                self.leave_alone(&error);
            }
        }
        Ok(())
    }

    fn hand_out(&mut self, store: &mut Store, hash: &str, is_kept: bool) -> Result<(), FleetError> {
        let file = self.files.as_ref().map(|files| files.path(hash));
        let Some(size) = file.and_then(|path| path.metadata().ok()).map(|file| file.len()) else {
            return Ok(());
        };
        let for_store = !is_kept && size <= MAX_NETWORK_BYTES as u64;
        let for_blobs = self.claimed && !self.is_quiet() && !self.put.contains(hash);
        if for_store || for_blobs {
            let Some(bytes) = self.file(hash) else { return Ok(()) };
            if for_store {
                store.put_network_bytes(hash, &bytes)?;
                tracing::info!(network = %hash, bytes = size, "handed out to workers");
            }
            if for_blobs {
                self.put(hash, &bytes);
            }
        }
        if !is_kept && !for_store && !self.put.contains(hash) {
            self.waiting.insert(hash.to_owned());
            if self.blobs.is_none() && self.told.insert(hash.to_owned()) {
                tracing::warn!(
                    network = %hash,
                    bytes = size,
                    "too large for the run's store: hand it out with --blobs"
                );
            }
        }
        Ok(())
    }

    /// The bytes of a network file at hand, if they are what they should be.
    pub(crate) fn file(&mut self, hash: &str) -> Option<Vec<u8>> {
        match self.files.as_mut()?.get(hash) {
            Ok(bytes) => Some(bytes),
            Err(BlobError::Missing(_)) => None,
            Err(error) => {
                if self.told.insert(hash.to_owned()) {
                    tracing::warn!("a network file is not handed out: {error}");
                }
                None
            }
        }
    }

    /// Puts a network into the place of blobs, in place of a damaged one if need be.
    fn put(&mut self, hash: &str, bytes: &[u8]) {
        let Some(blobs) = &mut self.blobs else { return };
        let put = match blobs.put_if_absent(bytes) {
            Err(BlobError::Damaged { .. }) => {
                tracing::warn!(network = %hash, "it lay damaged among the blobs; put there anew");
                blobs.delete(hash).and_then(|()| blobs.put_if_absent(bytes))
            }
            put => put,
        };
        match put {
            Ok(_) => {
                tracing::info!(network = %hash, bytes = bytes.len(), "put among the blobs");
                self.put.insert(hash.to_owned());
            }
            Err(error) => self.leave_alone(&error),
        }
    }

    /// What workers find of a network: whether each copy that can be looked at is whole, `None` if there
    /// is no telling now. A damaged copy is replaced where the file is at hand.
    pub(crate) fn examine(
        &mut self,
        store: &mut Store,
        hash: &str,
    ) -> Result<Option<Copies>, FleetError> {
        if self.blobs.is_some() && (!self.claimed || self.is_quiet()) {
            return Ok(None);
        }
        let mut found = Copies::default();
        if let Some(bytes) = store.network_bytes(hash)? {
            if tengen_blob::verify(hash, &bytes).is_ok() {
                found.whole += 1;
            } else {
                store.drop_network_bytes(hash)?;
                found.damaged += 1;
            }
        }
        if let Some(blobs) = &mut self.blobs {
            match blobs.get(hash) {
                Ok(_) => found.whole += 1,
                Err(BlobError::Missing(_)) => {}
                Err(BlobError::Damaged { .. } | BlobError::TooLarge { .. }) => {
                    found.damaged += 1;
                    if let Err(error) = blobs.delete(hash) {
                        self.leave_alone(&error);
                        return Ok(None);
                    }
                }
                Err(error) => {
                    self.leave_alone(&error);
                    return Ok(None);
                }
            }
            self.put.remove(hash);
        }
        found.can_be_mended = self.file(hash).is_some();
        Ok(Some(found))
    }

    /// Makes the place of blobs this run's.
    fn claim(&mut self, store: &Store) -> Result<(), FleetError> {
        if self.claimed || self.is_quiet() {
            return Ok(());
        }
        let Some(blobs) = &mut self.blobs else { return Ok(()) };
        let owner = store.run()?.ok_or(StoreError::NoRun)?.uid;
        match blobs.claim(&owner) {
            Ok(()) => self.claimed = true,
            Err(error @ BlobError::Taken { .. }) => return Err(error.into()),
            Err(error) => self.leave_alone(&error),
        }
        Ok(())
    }

    /// Deletes what has lain unwanted for long.
    fn sweep(&mut self, wanted: &[String]) -> Result<(), BlobError> {
        let Some(blobs) = &mut self.blobs else { return Ok(()) };
        for kept in blobs.list()? {
            if kept.age >= self.forget && !wanted.contains(&kept.name) {
                blobs.delete(&kept.name)?;
                tracing::info!(network = %kept.name, "taken away from the blobs: nobody wants it");
            }
        }
        Ok(())
    }

    fn is_quiet(&self) -> bool {
        Instant::now() < self.quiet_until
    }

    fn leave_alone(&mut self, error: &BlobError) {
        tracing::warn!("the place of blobs: {error}; trying again in half a minute");
        self.quiet_until = Instant::now() + LEAVE_ALONE;
    }
}

/// What was found of a network where workers look for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Copies {
    pub whole: usize,
    pub damaged: usize,
    /// The file is at hand, so the next round hands it out anew.
    pub can_be_mended: bool,
}

/// The networks that somebody may ask for.
fn wanted(store: &Store) -> Result<Vec<String>, StoreError> {
    let open = store.open_matches()?.into_iter().flat_map(|row| [row.candidate, row.base]);
    let best = store.best()?.map(|best| best.id);
    let promotions = store.promotions()?.into_iter().rev().map(|row| row.network);
    let mut wanted: Vec<String> =
        promotions.take(1 + KEPT_BEFORE).chain(open).chain(best).collect();
    wanted.sort_unstable();
    wanted.dedup();
    Ok(wanted)
}
