//! The networks that a worker keeps: the best one, and two from before.

use std::path::PathBuf;

use tengen_blob::{BlobError, BlobSource, BlobStore, EXTENSION, FolderBlobs};

use crate::Spool;

/// Networks kept beside the one in use.
const KEPT_BESIDE: usize = 2;

/// A worker's networks as files, each verified whenever it is asked for: a file that lies there
/// already may have been cut short since.
#[derive(Clone, Debug)]
pub struct NetCache {
    blobs: FolderBlobs,
    /// Oldest first, the one in use last.
    used: Vec<String>,
    /// The two of the match block at hand.
    beside: Vec<String>,
}

impl NetCache {
    /// The cache in a worker's spool folder.
    #[must_use]
    pub fn new(spool: &Spool) -> Self {
        Self {
            blobs: FolderBlobs::new(spool.networks(), EXTENSION),
            used: Vec::new(),
            beside: Vec::new(),
        }
    }

    /// Whether the network is here and whole.
    #[must_use]
    pub fn has(&mut self, hash: &str) -> bool {
        self.blobs.get(hash).is_ok()
    }

    /// The file of the network `hash`, taken from `source` unless it is here and whole. The networks
    /// asked for before the last two go.
    ///
    /// # Errors
    /// `source`'s; the other networks then stay as they are.
    pub fn fetch(&mut self, hash: &str, source: &mut dyn BlobSource) -> Result<PathBuf, BlobError> {
        self.require(hash, source)?;
        keep_last(&mut self.used, hash, 1 + KEPT_BESIDE);
        self.sweep()?;
        Ok(self.blobs.path(hash))
    }

    /// The file of a network of a match block; the networks of the block before go.
    ///
    /// # Errors
    /// As [`fetch`](Self::fetch).
    pub fn fetch_for_match(
        &mut self,
        hash: &str,
        source: &mut dyn BlobSource,
    ) -> Result<PathBuf, BlobError> {
        self.require(hash, source)?;
        keep_last(&mut self.beside, hash, 2);
        self.sweep()?;
        Ok(self.blobs.path(hash))
    }

    fn require(&mut self, hash: &str, source: &mut dyn BlobSource) -> Result<(), BlobError> {
        if !self.has(hash) {
            let bytes = source.get(hash)?;
            self.blobs.put_if_absent(&bytes)?;
        }
        Ok(())
    }

    fn sweep(&mut self) -> Result<(), BlobError> {
        for name in self.blobs.list()?.into_iter().map(|kept| kept.name) {
            if !self.used.contains(&name) && !self.beside.contains(&name) {
                self.blobs.delete(&name)?;
            }
        }
        Ok(())
    }

    /// Bytes of the network in use: the next one will be about as large.
    #[must_use]
    pub fn size(&self) -> u64 {
        let file = self.used.last().map(|hash| self.blobs.path(hash));
        file.and_then(|path| path.metadata().ok()).map_or(0, |file| file.len())
    }
}

/// Moves `hash` to the end and keeps the last `most`.
fn keep_last(list: &mut Vec<String>, hash: &str, most: usize) {
    list.retain(|kept| kept != hash);
    list.push(hash.to_owned());
    list.drain(..list.len().saturating_sub(most));
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// A source that counts, and hands out what it is told to.
    #[derive(Default)]
    struct Source {
        blobs: HashMap<String, Vec<u8>>,
        asked: usize,
    }

    impl Source {
        fn with(&mut self, bytes: &[u8]) -> String {
            let name = blake3::hash(bytes).to_hex().to_string();
            self.blobs.insert(name.clone(), bytes.to_vec());
            name
        }
    }

    impl BlobSource for Source {
        fn get(&mut self, name: &str) -> Result<Vec<u8>, BlobError> {
            self.asked += 1;
            let bytes = self.blobs.get(name).cloned();
            let bytes = bytes.ok_or_else(|| BlobError::Missing(name.to_owned()))?;
            tengen_blob::verify(name, &bytes)?;
            Ok(bytes)
        }
    }

    #[test]
    fn the_best_and_two_before_it_are_kept_and_fetched_once() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::open(folder.path(), "box", 1).unwrap();
        let (mut cache, mut source) = (NetCache::new(&spool), Source::default());
        let nets: Vec<String> = (0..5).map(|n: u8| source.with(&[n; 9])).collect();
        for net in &nets {
            assert!(cache.fetch(net, &mut source).unwrap().is_file());
        }
        assert_eq!(source.asked, 5);
        let kept: Vec<bool> = nets.iter().map(|net| cache.has(net)).collect();
        assert_eq!(kept, [false, false, true, true, true]);
        cache.fetch(&nets[2], &mut source).unwrap();
        assert_eq!((source.asked, cache.size()), (5, 9));
        cache.fetch_for_match(&nets[0], &mut source).unwrap();
        cache.fetch_for_match(&nets[2], &mut source).unwrap();
        cache.fetch(&nets[1], &mut source).unwrap();
        assert!(cache.has(&nets[0]), "the block at hand needs it");
    }

    /// KataGo's client asks only whether the file exists.
    #[test]
    fn a_file_that_lies_there_damaged_is_fetched_anew() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::open(folder.path(), "box", 1).unwrap();
        let (mut cache, mut source) = (NetCache::new(&spool), Source::default());
        let net = source.with(b"weights");
        let path = cache.fetch(&net, &mut source).unwrap();
        std::fs::write(&path, b"weig").unwrap();
        cache.fetch(&net, &mut source).unwrap();
        assert_eq!((source.asked, std::fs::read(&path).unwrap()), (2, b"weights".to_vec()));
    }

    #[test]
    fn a_damaged_answer_leaves_what_is_here_alone() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::open(folder.path(), "box", 1).unwrap();
        let (mut cache, mut source) = (NetCache::new(&spool), Source::default());
        let old = source.with(b"old");
        cache.fetch(&old, &mut source).unwrap();
        let new = source.with(b"new");
        for bytes in [&b"ne"[..], b"nex", b""] {
            source.blobs.insert(new.clone(), bytes.to_vec());
            let refused = cache.fetch(&new, &mut source);
            assert!(matches!(refused, Err(BlobError::Damaged { .. })), "{refused:?}");
            assert!(!cache.has(&new) && cache.has(&old));
        }
    }
}
