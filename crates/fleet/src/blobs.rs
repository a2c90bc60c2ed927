//! Blobs by the hash of their bytes: networks, wherever they are kept.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use tengen_store::{Upstream, UpstreamError};

use crate::BlobError;

/// Where blobs come from. A blob's name is the BLAKE3 hash of its bytes, 64 lower-case hexadecimal
/// digits, so whoever is given a blob can tell that it is the right one: [`get`](Self::get) does.
pub trait BlobSource {
    /// The bytes whose hash is `name`, verified.
    ///
    /// # Errors
    /// [`BlobError::Missing`]; [`BlobError::Damaged`] for other bytes; [`BlobError::Away`].
    fn get(&mut self, name: &str) -> Result<Vec<u8>, BlobError>;
}

/// Where blobs are kept.
pub trait BlobStore: BlobSource {
    /// Keeps `bytes` and returns their name. A blob that is there already is success.
    ///
    /// # Errors
    /// [`BlobError::Away`].
    fn put_if_absent(&mut self, bytes: &[u8]) -> Result<String, BlobError>;

    /// Every blob's name, in order.
    ///
    /// # Errors
    /// [`BlobError::Away`].
    fn list(&mut self) -> Result<Vec<String>, BlobError>;

    /// Deletes a blob; one that is not there is success.
    ///
    /// # Errors
    /// [`BlobError::Away`].
    fn delete(&mut self, name: &str) -> Result<(), BlobError>;
}

/// Whether `bytes` are those that `name` promises.
///
/// # Errors
/// [`BlobError::BadName`], [`BlobError::Damaged`].
pub fn verify(name: &str, bytes: &[u8]) -> Result<(), BlobError> {
    check_name(name)?;
    let found = blake3::hash(bytes).to_hex();
    if found.as_str() == name {
        return Ok(());
    }
    let (name, found) = (name.to_owned(), found.to_string());
    Err(BlobError::Damaged { name, found, bytes: bytes.len() })
}

/// A name becomes part of a path, so nothing else may pass for one.
pub(crate) fn check_name(name: &str) -> Result<(), BlobError> {
    let digit = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
    if name.len() == 64 && name.bytes().all(digit) {
        Ok(())
    } else {
        Err(BlobError::BadName(name.chars().take(80).collect()))
    }
}

/// Networks as the run's own store hands them out.
pub struct FromRun<'a>(pub &'a mut dyn Upstream);

impl BlobSource for FromRun<'_> {
    fn get(&mut self, name: &str) -> Result<Vec<u8>, BlobError> {
        check_name(name)?;
        let bytes = self.0.network(name).map_err(|error| match error {
            UpstreamError::Refused(_) => BlobError::Missing(name.to_owned()),
            other => BlobError::Away(other.to_string()),
        })?;
        verify(name, &bytes)?;
        Ok(bytes)
    }
}

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
        let bytes = fs::read(&path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => BlobError::Missing(name.to_owned()),
            _ => away(&path)(error),
        })?;
        verify(name, &bytes)?;
        Ok(bytes)
    }
}

impl BlobStore for FolderBlobs {
    fn put_if_absent(&mut self, bytes: &[u8]) -> Result<String, BlobError> {
        let name = blake3::hash(bytes).to_hex().to_string();
        // A damaged file of that name is no blob, so it is written anew.
        if self.get(&name).is_err() {
            let path = self.path(&name);
            self.write(&path, bytes).map_err(away(&path))?;
        }
        Ok(name)
    }

    fn list(&mut self) -> Result<Vec<String>, BlobError> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(away(&self.folder))? {
            let name = entry.map_err(away(&self.folder))?.file_name();
            let Some((stem, extension)) = name.to_str().and_then(|name| name.rsplit_once('.'))
            else {
                continue;
            };
            if extension == self.extension && check_name(stem).is_ok() {
                names.push(stem.to_owned());
            }
        }
        names.sort_unstable();
        Ok(names)
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
        assert_eq!(blobs.list().unwrap(), std::slice::from_ref(&name));
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
