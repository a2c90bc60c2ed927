//! `GET /metrics` for Prometheus, at an address of its own.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::runtime::Runtime;
use tokio::sync::{Mutex, watch};
use tokio::task::{JoinHandle, spawn_blocking};

use crate::listen::Door;
use crate::server::{close, open};
use crate::{Limits, ServeError};

/// What the format is called.
const FORMAT: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// Answers `GET /metrics` and `GET /healthz` until it is dropped, in the clear and to whoever asks: listen on
/// this machine alone, or within a network that is trusted.
#[derive(Debug)]
pub struct MetricsServer {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    keeper: Option<(Runtime, JoinHandle<()>)>,
}

impl MetricsServer {
    /// Starts one; `text` is asked whenever somebody asks, one at a time. Where it fails, so does the answer,
    /// with the reason.
    ///
    /// # Errors
    /// [`ServeError::Listen`], [`ServeError::Runtime`].
    pub fn start<E: fmt::Display>(
        address: SocketAddr,
        text: impl Fn() -> Result<String, E> + Send + Sync + 'static,
    ) -> Result<Self, ServeError> {
        let text = Arc::new(move || text().map_err(|error| error.to_string()));
        let one_at_a_time = Arc::new(Mutex::new(()));
        let answer = move || {
            let (text, turn) = (Arc::clone(&text), Arc::clone(&one_at_a_time));
            async move {
                let turn = turn.lock_owned().await;
                let made = spawn_blocking(move || {
                    let _turn = turn;
                    text()
                });
                made.await.unwrap_or_else(|_| Err("the figures could not be made".to_owned()))
            }
        };
        let metrics = move || async move { told(answer().await) };
        let door = Door {
            router: Router::new()
                .route("/metrics", get(metrics))
                .route("/healthz", get(|| async { "ok\n" })),
            identity: None,
            limits: Limits {
                connections: 16,
                connections_of_one: None,
                stop: Duration::from_secs(1),
                ..Limits::default()
            },
            figures: Arc::default(),
        };
        let (address, stop, keeper) = open(address, 1, door)?;
        Ok(Self { address, stop, keeper: Some(keeper) })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for MetricsServer {
    fn drop(&mut self) {
        close(&self.stop, self.keeper.take());
    }
}

fn told(made: Result<String, String>) -> Response {
    match made {
        Ok(text) => ([(CONTENT_TYPE, FORMAT)], text).into_response(),
        Err(reason) => (StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n")).into_response(),
    }
}
