//! `--metrics ADDRESS`: figures for Prometheus over HTTP.

use std::net::SocketAddr;

use anyhow::Result;
use tengen_serve::MetricsServer;

/// Answers `GET /metrics` with `text` until it is dropped.
pub fn start(
    address: SocketAddr,
    text: impl Fn() -> Result<String> + Send + Sync + 'static,
) -> Result<MetricsServer> {
    let server = MetricsServer::start(address, move || text().map_err(|e| format!("{e:#}")))?;
    tracing::info!("figures at http://{}/metrics", server.address());
    Ok(server)
}
