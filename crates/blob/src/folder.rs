//! Blobs as files of a folder: a disk's, or one that several machines have mounted.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::blobs::{check_name, check_size};
use crate::{BlobError, BlobSource, BlobStore, Kept, verify};

/// The file that says whose the folder is.
const OWNER: &str = "owner.txt";

/// A folder of files `NAME.EXTENSION`, such as a run's `networks/`.
#[derive(Clone, Debug)]
pub struct FolderBlobs {
    folder: PathBuf,
    extension: &'static str,
}

impl FolderBlobs {
    /// The blobs in `folder`, which must exist.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>, extension: &'static str) -> Self {
        Self { folder: folder.into(), extension }
    }

    /// The file of a blob, there or not.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.{}", self.extension))
    }

    /// Writes the file whole or not at all: aside, synced, renamed, the folder synced.
    fn write(&self, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
        let aside = self.folder.join(format!(".{}.aside", std::process::id()));
        let written = File::create(&aside)
            .and_then(|mut file| {
                file.write_all(bytes)?;
                file.sync_all()
            })
            .and_then(|()| fs::rename(&aside, path))
            .and_then(|()| File::open(&self.folder)?.sync_all());
        if written.is_err() {
            // The error that matters is the first; a file left aside is never read.
            let _ = fs::remove_file(&aside);
        }
        written
    }
}

fn away(path: &Path) -> impl FnOnce(std::io::Error) -> BlobError {
    let path = path.display().to_string();
    move |error| BlobError::Away(format!("{path}: {error}"))
}

impl BlobSource for FolderBlobs {
    fn get(&mut self, name: &str) -> Result<Vec<u8>, BlobError> {
        check_name(name)?;
        let path = self.path(name);
        let gone = |error: std::io::Error| match error.kind() {
            ErrorKind::NotFound => BlobError::Missing(name.to_owned()),
            _ => away(&path)(error),
        };
        check_size(name, fs::metadata(&path).map_err(gone)?.len())?;
        let bytes = fs::read(&path).map_err(gone)?;
        verify(name, &bytes)?;
        Ok(bytes)
    }
}

impl BlobStore for FolderBlobs {
    fn claim(&mut self, owner: &str) -> Result<(), BlobError> {
        let path = self.folder.join(OWNER);
        let place = self.folder.display().to_string();
        let taken =
            |owner: &str| BlobError::Taken { place: place.clone(), owner: owner.to_owned() };
        match fs::read_to_string(&path) {
            Ok(known) if known.trim() == owner => Ok(()),
            Ok(known) => Err(taken(known.trim())),
            Err(error) if error.kind() != ErrorKind::NotFound => Err(away(&path)(error)),
            Err(_) if !self.list()?.is_empty() => Err(taken("nobody known")),
            Err(_) => self.write(&path, format!("{owner}\n").as_bytes()).map_err(away(&path)),
        }
    }

    fn put_if_absent(&mut self, bytes: &[u8]) -> Result<String, BlobError> {
        let name = blake3::hash(bytes).to_hex().to_string();
        check_size(&name, bytes.len() as u64)?;
        // A damaged file of that name is no blob, so it is written anew: a rename replaces it whole.
        if self.get(&name).is_err() {
            let path = self.path(&name);
            self.write(&path, bytes).map_err(away(&path))?;
        }
        Ok(name)
    }

    fn list(&mut self) -> Result<Vec<Kept>, BlobError> {
        let mut kept = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(away(&self.folder))? {
            let entry = entry.map_err(away(&self.folder))?;
            let name = entry.file_name();
            let Some((stem, extension)) = name.to_str().and_then(|name| name.rsplit_once('.'))
            else {
                continue;
            };
            if extension != self.extension || check_name(stem).is_err() {
                continue;
            }
            let file = entry.metadata().map_err(away(&entry.path()))?;
            let written = file.modified().map_err(away(&entry.path()))?;
            // A file from the future is a new one.
            let age = SystemTime::now().duration_since(written).unwrap_or(Duration::ZERO);
            kept.push(Kept { name: stem.to_owned(), bytes: file.len(), age });
        }
        kept.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(kept)
    }

    fn delete(&mut self, name: &str) -> Result<(), BlobError> {
        check_name(name)?;
        let path = self.path(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(away(&path)(error)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blob_is_kept_once_under_its_hash_and_deleted_quietly() {
        let folder = tempfile::tempdir().unwrap();
        let mut blobs = FolderBlobs::new(folder.path(), "safetensors");
        let name = blobs.put_if_absent(b"weights").unwrap();
        assert_eq!(blobs.put_if_absent(b"weights").unwrap(), name);
        assert_eq!(blobs.get(&name).unwrap(), b"weights");
        fs::write(folder.path().join("notes.txt"), "no blob").unwrap();
        let kept = blobs.list().unwrap();
        assert_eq!((kept.len(), &kept[0].name, kept[0].bytes), (1, &name, 7));
        assert!(kept[0].age < Duration::from_secs(60));
        blobs.delete(&name).unwrap();
        blobs.delete(&name).unwrap();
        assert_eq!(blobs.get(&name), Err(BlobError::Missing(name)));
    }

    #[test]
    fn cut_short_or_with_one_bit_changed_it_is_damaged_and_written_anew() {
        let folder = tempfile::tempdir().unwrap();
        let mut blobs = FolderBlobs::new(folder.path(), "safetensors");
        let name = blobs.put_if_absent(b"weights").unwrap();
        for bad in [&b"weight"[..], b"weighus", b""] {
            fs::write(blobs.path(&name), bad).unwrap();
            assert!(matches!(blobs.get(&name), Err(BlobError::Damaged { .. })));
            assert_eq!(blobs.put_if_absent(b"weights").unwrap(), name);
            assert_eq!(blobs.get(&name).unwrap(), b"weights");
        }
    }

    /// Whoever hands networks out also deletes old ones: not those of another run, and not those in a
    /// run's own folder.
    #[test]
    fn a_folder_belongs_to_whoever_claimed_it_empty() {
        let folder = tempfile::tempdir().unwrap();
        let mut blobs = FolderBlobs::new(folder.path(), "safetensors");
        blobs.claim("run 1").unwrap();
        blobs.put_if_absent(b"weights").unwrap();
        blobs.claim("run 1").unwrap();
        let refused = blobs.claim("run 2").unwrap_err().to_string();
        assert!(refused.contains("run 1"), "{refused}");
        fs::remove_file(folder.path().join(OWNER)).unwrap();
        assert!(matches!(blobs.claim("run 1"), Err(BlobError::Taken { .. })));
    }

    #[test]
    fn a_file_larger_than_any_blob_is_not_even_read() {
        let folder = tempfile::tempdir().unwrap();
        let mut blobs = FolderBlobs::new(folder.path(), "safetensors");
        let name = "a".repeat(64);
        let file = File::create(blobs.path(&name)).unwrap();
        file.set_len(crate::MAX_BLOB_BYTES + 1).unwrap();
        assert!(matches!(blobs.get(&name), Err(BlobError::TooLarge { .. })));
    }

    #[test]
    fn what_is_no_name_never_becomes_a_path() {
        let folder = tempfile::tempdir().unwrap();
        let mut blobs = FolderBlobs::new(folder.path(), "safetensors");
        for name in ["", "../../etc/passwd", &"A".repeat(64), &"g".repeat(64), &"a".repeat(63)] {
            assert!(matches!(blobs.get(name), Err(BlobError::BadName(_))), "{name}");
            assert!(matches!(blobs.delete(name), Err(BlobError::BadName(_))), "{name}");
        }
    }
}
