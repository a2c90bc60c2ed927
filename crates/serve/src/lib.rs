//! A run for machines outside the trust boundary: HTTPS with bearer tokens in front of the eight calls of
//! [`tengen_store::Upstream`], and figures for Prometheus over HTTP.
//!
//! A box that nobody trusts must not reach the database, whatever its login may do there. It talks to
//! [`Server`] instead, through [`HttpUpstream`], which is an `Upstream` like any other: worker, spool, retries and
//! checks stay as they are.
//!
//! - **Nothing is read before it is known from whom, and how much.** A call without a token on the list
//!   ([`Tokens`]) ends at its headers; a body has a declared length, within the limit, and room in memory.
//! - **A worker's name belongs to the token that registered it.** The run itself remembers whose it is
//!   ([`tengen_store::SharedUpstream`]), so that holds over restarts of the server and on every way in.
//! - **Nobody can make others wait.** Connections, calls at once, the time for each step and the bytes
//!   of a token are bounded ([`Limits`]).
//! - **What was acknowledged is on the run's disk.** The server keeps nothing; a lost answer is
//!   [`tengen_store::UpstreamError::Away`], and the worker asks again.
//!
//! | part | owns |
//! |---|---|
//! | `server`, `routes`, `pool` | the calls and the connections to the run that they are made on |
//! | `listen`, `tls`, `patience` | connections from outside: who, how many, how slow |
//! | `tokens`, `rate`, `watched` | who may call, and how much |
//! | `wire`, `body`, `answer` | what travels; the format is told of in `docs/fleet.md` |
//! | `client`, `address` | the worker's side |
//! | `exposition`, `figures`, `metrics` | figures for Prometheus |
//!
//! Why HTTPS, why this format: `docs/adr/0011-serve.md`.

mod address;
mod answer;
mod body;
mod client;
mod error;
mod exposition;
mod figures;
mod limits;
mod listen;
mod metrics;
mod patience;
mod pool;
mod rate;
mod routes;
mod server;
mod tls;
mod tokens;
mod watched;
mod wire;

pub use address::HttpAddress;
pub use client::HttpUpstream;
pub use error::ServeError;
pub use exposition::{Exposition, escaped};
pub use limits::Limits;
pub use metrics::MetricsServer;
pub use pool::ConnectRun;
pub use server::{ServeConfig, Server};
pub use tokens::{Tokens, add_token};
