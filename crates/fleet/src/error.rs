//! What can refuse, and what the reader of the message can do about it.

use std::path::PathBuf;

use tengen_blob::BlobError;
use tengen_inference::EvalError;
use tengen_selfplay::StartError;
use tengen_store::{StoreError, UpstreamError};
use thiserror::Error;

/// Every way a fleet's parts say no.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FleetError {
    /// Two workers on one spool would send games under one name.
    #[error(
        "another worker already uses the spool folder {0}; give each process its own with --spool"
    )]
    SpoolInUse(PathBuf),
    /// A file or folder of the worker's failed.
    #[error("{path}: {source}")]
    Io {
        /// Which one.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The outbox or the store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The run refused, or is out of reach.
    #[error(transparent)]
    Upstream(#[from] UpstreamError),
    /// A network or another blob.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// What the run asks for cannot be done on this machine.
    #[error("{0}")]
    Host(String),
    /// The evaluator failed.
    #[error(transparent)]
    Evaluation(#[from] EvalError),
    /// A start position that no game can begin from.
    #[error("start position: {0}")]
    Start(#[from] StartError),
    /// A thread of the worker panicked.
    #[error("a thread of the worker panicked; what was finished is in the spool")]
    Panicked,
}

impl FleetError {
    /// For `map_err` on what touches the file or folder `path`.
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}
