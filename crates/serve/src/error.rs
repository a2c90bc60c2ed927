//! Why a server does not start.

use std::net::SocketAddr;
use std::path::PathBuf;

use thiserror::Error;

/// Why a server, or a file of it, is refused.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServeError {
    /// A file that cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// Which one.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A list of tokens with a line that is none.
    #[error(
        "{path}, line {line}: {reason}; a line is NAME and the BLAKE3 hash of a token in hexadecimal, as `tengen serve token NAME` writes it"
    )]
    Tokens {
        /// The list.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A certificate or key that TLS cannot use.
    #[error("{path}: {reason}")]
    Certificate {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// No address to listen at.
    #[error("cannot listen at {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        source: std::io::Error,
    },
    /// Tokens would travel in the clear.
    #[error(
        "{0} can be reached from other machines, and tokens would travel in the clear: give --cert and --key, or --plain where a proxy before it does TLS"
    )]
    InTheClear(SocketAddr),
    /// The system gives no threads.
    #[error("cannot start: {0}")]
    Runtime(std::io::Error),
    /// The system gives no random bytes.
    #[error("no random bytes for a token")]
    NoRandomness,
}
