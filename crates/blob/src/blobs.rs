//! What a place of blobs promises.

use std::time::Duration;

use crate::BlobError;

/// Bytes of a blob, at most: 1 GiB, ten times a network of 40 blocks of 256 filters.
pub const MAX_BLOB_BYTES: u64 = 1 << 30;

/// Where blobs come from. A blob's name is the BLAKE3 hash of its bytes, 64 lower-case hexadecimal
/// digits, so whoever is given a blob can tell that it is the right one: [`get`](Self::get) does.
pub trait BlobSource: Send {
    /// The bytes whose hash is `name`, verified.
    ///
    /// # Errors
    /// [`BlobError::Missing`]; [`BlobError::Damaged`] for other bytes; [`BlobError::TooLarge`];
    /// [`BlobError::Away`]. Nothing is tried twice: when to try again is the caller's to say.
    fn get(&mut self, name: &str) -> Result<Vec<u8>, BlobError>;
}

/// A blob that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Its name, the hash of what its bytes should be.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// How long ago it was written: the place's time of writing held against this machine's clock,
    /// good enough to tell days apart.
    pub age: Duration,
}

/// Where blobs are kept.
pub trait BlobStore: BlobSource {
    /// Makes the place `owner`'s, for good; again is success.
    ///
    /// # Errors
    /// [`BlobError::Taken`] for another owner's place, or one with blobs in it that nobody claimed;
    /// [`BlobError::Away`].
    fn claim(&mut self, owner: &str) -> Result<(), BlobError>;

    /// Keeps `bytes` and returns their name. A blob of that name and size is success.
    ///
    /// # Errors
    /// [`BlobError::Damaged`] when other bytes lie under that name and stay; [`BlobError::TooLarge`];
    /// [`BlobError::Away`].
    fn put_if_absent(&mut self, bytes: &[u8]) -> Result<String, BlobError>;

    /// Every blob, in order of their names.
    ///
    /// # Errors
    /// [`BlobError::Away`].
    fn list(&mut self) -> Result<Vec<Kept>, BlobError>;

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
///
/// # Errors
/// [`BlobError::BadName`].
pub fn check_name(name: &str) -> Result<(), BlobError> {
    let digit = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
    if name.len() == 64 && name.bytes().all(digit) {
        Ok(())
    } else {
        Err(BlobError::BadName(name.chars().take(80).collect()))
    }
}

/// Refuses what is larger than anybody takes.
pub(crate) fn check_size(name: &str, bytes: u64) -> Result<(), BlobError> {
    if bytes <= MAX_BLOB_BYTES {
        return Ok(());
    }
    Err(BlobError::TooLarge { name: name.to_owned(), bytes, most: MAX_BLOB_BYTES })
}
