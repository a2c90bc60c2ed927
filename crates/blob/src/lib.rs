//! Blobs by the hash of their bytes: the networks of a run, wherever they are kept.
//!
//! | part | owns |
//! |---|---|
//! | `blobs` | [`BlobSource`] and [`BlobStore`]: what a place of blobs promises |
//! | `folder` | [`FolderBlobs`]: files, on this machine's disk or a shared one |
//! | `bucket` | `Bucket`: objects in any store that speaks S3; feature `s3` |
//! | `place` | [`BlobPlace`]: a place as written on a command line |
//!
//! No run, no network format: bytes and their hash.

mod blobs;
#[cfg(feature = "s3")]
mod bucket;
mod error;
mod folder;
mod place;

pub use blobs::{BlobSource, BlobStore, Kept, MAX_BLOB_BYTES, check_name, verify};
#[cfg(feature = "s3")]
pub use bucket::Bucket;
pub use error::BlobError;
pub use folder::FolderBlobs;
pub use place::{BlobPlace, EXTENSION};
