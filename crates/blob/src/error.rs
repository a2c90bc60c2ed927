//! What can refuse, and what the reader of the message can do about it.

use thiserror::Error;

/// Why a blob cannot be had or kept.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BlobError {
    /// A name that no blob has.
    #[error("{0:?} is no blob's name: 64 lower-case hexadecimal digits are expected")]
    BadName(String),
    /// Nothing by that name.
    #[error("there is no blob {0}")]
    Missing(String),
    /// The bytes are not those that the name promises.
    #[error("blob {name} is damaged: {bytes} bytes came, whose hash is {found}")]
    Damaged {
        /// The hash asked for.
        name: String,
        /// The hash of what came.
        found: String,
        /// How much came.
        bytes: usize,
    },
    /// More bytes than anybody should have to take.
    #[error("blob {name} has {bytes} bytes, more than the {most} that are taken")]
    TooLarge {
        /// Its name.
        name: String,
        /// Its size.
        bytes: u64,
        /// [`MAX_BLOB_BYTES`](crate::MAX_BLOB_BYTES).
        most: u64,
    },
    /// Whoever keeps a place also deletes in it, so a place belongs to one owner alone.
    #[error(
        "{place} holds the blobs of {owner}; give this run a place of its own, such as {place}/RUN"
    )]
    Taken {
        /// The place.
        place: String,
        /// Whose it is, as far as that is known.
        owner: String,
    },
    /// The text that names a place is none, or this program cannot go there.
    #[error("{0}")]
    Place(String),
    /// The place that keeps blobs did not do it now; it may later.
    #[error("{0}")]
    Away(String),
}
