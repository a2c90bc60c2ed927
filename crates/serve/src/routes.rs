//! The calls: who asks, whether there is room, what is asked, what the run says.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Path, Request, State};
use axum::http::header::{
    AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tengen_store::{SharedUpstream, UpstreamError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::answer::{CallError, failure};
use crate::body::{unpack_block, unpack_uploads};
use crate::figures::Figures;
use crate::limits::{Limits, MAX_BODY, MAX_SMALL_BODY};
use crate::pool::Pool;
use crate::rate::{OnTheWay, Rates};
use crate::tokens::Tokens;
use crate::wire::{self, Ask, Damaged, Failure, Held, Hello, Kept, Leased, Noted, Who};

/// Memory for bodies is counted in pieces of so many bytes.
const PIECE: usize = 1024;
/// The share of that memory that one token's bodies may take.
const SHARE: usize = 4;

/// Everything that answers need.
pub(crate) struct Front {
    pub pool: Arc<Pool>,
    pub tokens: Tokens,
    pub figures: Arc<Figures>,
    rates: Arc<Rates>,
    calls: Arc<Semaphore>,
    room: Arc<Semaphore>,
    limits: Limits,
}

type Shared = State<Arc<Front>>;

/// The routes of `/v1` and `/healthz`.
pub(crate) fn router(front: Arc<Front>) -> Router {
    Router::new()
        .route("/v1/register", post(register))
        .route("/v1/state", post(state))
        .route("/v1/submit", post(submit))
        .route("/v1/network/{hash}", get(network))
        .route("/v1/damaged", post(damaged))
        .route("/v1/lease", post(lease))
        .route("/v1/heartbeat", post(heartbeat))
        .route("/v1/finish", post(finish))
        .route("/healthz", get(|| async { "ok\n" }))
        .fallback(|| async {
            let reason = "no such call; this server speaks /v1".to_owned();
            Told::new(StatusCode::NOT_FOUND, Failure::new("refused", reason))
        })
        .with_state(front)
}

async fn register(State(front): Shared, request: Request) -> Response {
    let ask = |body: &[u8], run: &mut dyn SharedUpstream| {
        let hello: Hello = json(body)?;
        Ok(wire::State::from(run.register(&hello.into())?))
    };
    front.answer("register", MAX_SMALL_BODY, request, ask).await
}

async fn state(State(front): Shared, request: Request) -> Response {
    let ask = |body: &[u8], run: &mut dyn SharedUpstream| {
        let ask: Ask = json(body)?;
        Ok(wire::State::from(run.run_state(&ask.worker, ask.counts())?))
    };
    front.answer("state", MAX_SMALL_BODY, request, ask).await
}

async fn submit(State(front): Shared, request: Request) -> Response {
    let figures = Arc::clone(&front.figures);
    let ask = move |body: &[u8], run: &mut dyn SharedUpstream| {
        let uploads = unpack_uploads(body).map_err(CallError::Malformed)?;
        let told = run.submit(&uploads)?;
        figures.games.fetch_add(uploads.len() as u64, Ordering::Relaxed);
        Ok(Kept::from(told))
    };
    front.answer("submit", MAX_BODY, request, ask).await
}

async fn damaged(State(front): Shared, request: Request) -> Response {
    let ask = |body: &[u8], run: &mut dyn SharedUpstream| {
        let Damaged { worker, network, why } = json(body)?;
        run.report_damaged(&worker, &network, &why)?;
        Ok(Noted {})
    };
    front.answer("damaged", MAX_SMALL_BODY, request, ask).await
}

async fn lease(State(front): Shared, request: Request) -> Response {
    let ask = |body: &[u8], run: &mut dyn SharedUpstream| {
        let who: Who = json(body)?;
        Ok(Leased { block: run.lease_block(&who.worker)?.map(Into::into) })
    };
    front.answer("lease", MAX_SMALL_BODY, request, ask).await
}

async fn heartbeat(State(front): Shared, request: Request) -> Response {
    let ask = |body: &[u8], run: &mut dyn SharedUpstream| {
        let lease: wire::Lease = json(body)?;
        Ok(Held { held: run.heartbeat(&lease.into())? })
    };
    front.answer("heartbeat", MAX_SMALL_BODY, request, ask).await
}

async fn finish(State(front): Shared, request: Request) -> Response {
    let ask = |body: &[u8], run: &mut dyn SharedUpstream| {
        let (lease, games) = unpack_block(body).map_err(CallError::Malformed)?;
        Ok(Held { held: run.finish_block(&lease, &games)? })
    };
    front.answer("finish", MAX_BODY, request, ask).await
}

async fn network(State(front): Shared, Path(hash): Path<String>, headers: HeaderMap) -> Response {
    let begun = Instant::now();
    let made = front.network(hash, &headers).await;
    front.told("network", begun, made)
}

fn json<T: DeserializeOwned>(body: &[u8]) -> Result<T, CallError> {
    serde_json::from_slice(body).map_err(|error| CallError::Malformed(error.to_string()))
}

impl Front {
    pub fn new(pool: Arc<Pool>, tokens: Tokens, limits: Limits) -> Arc<Self> {
        let pieces = (limits.body_bytes.max(SHARE * MAX_BODY) / PIECE).min(Semaphore::MAX_PERMITS);
        Arc::new(Self {
            pool,
            tokens,
            figures: Arc::default(),
            rates: Rates::new(
                limits.rate,
                limits.burst.max(MAX_BODY as f64),
                pieces * PIECE / SHARE,
            ),
            calls: Arc::new(Semaphore::new(limits.calls)),
            room: Arc::new(Semaphore::new(pieces)),
            limits,
        })
    }

    /// Answers one call from beginning to end.
    async fn answer<T: Serialize + Send + 'static>(
        &self,
        call: &'static str,
        most: usize,
        request: Request,
        ask: impl FnOnce(&[u8], &mut dyn SharedUpstream) -> Result<T, CallError> + Send + 'static,
    ) -> Response {
        let begun = Instant::now();
        let made = async {
            let holder = self.holder(request.headers())?;
            let (body, _room) = self.read(&holder, most, request).await?;
            let _turn = self.turn()?;
            let answer = self.pool.ask(holder, move |run| ask(&body, run)).await?;
            let text = serde_json::to_vec(&answer).map_err(|error| {
                Told::new(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    Failure::new("away", error.to_string()),
                )
            })?;
            Ok(typed("application/json", text.into()))
        };
        let made = made.await;
        self.told(call, begun, made)
    }

    /// The bytes of a network. They count as a body in memory until the last of them has been sent.
    async fn network(&self, hash: String, headers: &HeaderMap) -> Result<Response, Told> {
        let holder = self.holder(headers)?;
        let turn = self.turn()?;
        let bytes = self.pool.ask(holder, move |run| Ok(run.network(&hash)?)).await?;
        drop(turn);
        let room = self.room(bytes.len())?;
        Ok(typed("application/octet-stream", Bytes::from_owner(Sent { bytes, _room: room })))
    }

    /// Counts a call that has its answer.
    fn told(&self, call: &'static str, begun: Instant, made: Result<Response, Told>) -> Response {
        let response = made.unwrap_or_else(IntoResponse::into_response);
        self.figures.called(call, response.status().as_u16(), begun.elapsed());
        response
    }

    /// Whose token came with the call.
    fn holder(&self, headers: &HeaderMap) -> Result<Arc<str>, Told> {
        let token = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = token.and_then(|text| text.split_once(' ')).and_then(|(scheme, token)| {
            scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
        });
        let refused = |reason: &str| {
            let told = Failure::new("refused", reason.to_owned());
            let bearer = HeaderValue::from_static("Bearer");
            Told::new(StatusCode::UNAUTHORIZED, told).with(WWW_AUTHENTICATE, bearer)
        };
        let token = token.ok_or_else(|| refused("the call came without a token"))?;
        let holder = self.tokens.holder(token);
        holder.ok_or_else(|| refused("the server does not know this token, or not any more"))
    }

    /// Reads a body, once it is known to be small enough and there is room for it.
    async fn read(
        &self,
        holder: &Arc<str>,
        most: usize,
        request: Request,
    ) -> Result<(Bytes, (OnTheWay, OwnedSemaphorePermit)), Told> {
        let refused = |status, reason: String| Told::new(status, Failure::new("refused", reason));
        let length = request.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
        let Some(length) = length.and_then(|text| text.parse::<usize>().ok()) else {
            let reason = "the call does not say how long its body is".to_owned();
            return Err(refused(StatusCode::LENGTH_REQUIRED, reason));
        };
        if length > most {
            let reason = format!("a body of {length} bytes, {most} at most");
            return Err(refused(StatusCode::PAYLOAD_TOO_LARGE, reason));
        }
        let on_the_way = self.rates.take(holder, length, Instant::now()).map_err(|wait| {
            let seconds = wait.as_secs() + 1;
            let reason = format!("too much at once for one token; come back in {seconds} s");
            Told::new(StatusCode::TOO_MANY_REQUESTS, Failure::new("away", reason))
                .with(RETRY_AFTER, HeaderValue::from(seconds))
        })?;
        let room = self.room(length)?;
        let body = match timeout(self.limits.body, to_bytes(request.into_body(), most)).await {
            Ok(Ok(body)) => body,
            Ok(Err(error)) => {
                return Err(refused(StatusCode::BAD_REQUEST, format!("the body: {error}")));
            }
            Err(_) => {
                let reason = "the body takes too long to come".to_owned();
                return Err(Told::new(StatusCode::REQUEST_TIMEOUT, Failure::new("away", reason)));
            }
        };
        self.figures.bytes.fetch_add(body.len() as u64, Ordering::Relaxed);
        Ok((body, (on_the_way, room)))
    }

    /// Memory for a body.
    fn room(&self, bytes: usize) -> Result<OwnedSemaphorePermit, Told> {
        let pieces = u32::try_from(bytes.div_ceil(PIECE)).unwrap_or(u32::MAX);
        Arc::clone(&self.room).try_acquire_many_owned(pieces).map_err(|_| busy())
    }

    /// One of the calls at once.
    fn turn(&self) -> Result<OwnedSemaphorePermit, Told> {
        Arc::clone(&self.calls).try_acquire_owned().map_err(|_| busy())
    }
}

fn busy() -> Told {
    let told = Failure::new("away", "the server is busy".to_owned());
    Told::new(StatusCode::SERVICE_UNAVAILABLE, told).with(RETRY_AFTER, HeaderValue::from(1))
}

fn typed(kind: &'static str, bytes: Bytes) -> Response {
    ([(CONTENT_TYPE, HeaderValue::from_static(kind))], Body::from(bytes)).into_response()
}

/// Bytes on their way out, with their room.
struct Sent {
    bytes: Vec<u8>,
    _room: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Sent {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// An answer that is no success.
struct Told {
    status: StatusCode,
    failure: Box<Failure>,
    header: Option<Box<(axum::http::HeaderName, HeaderValue)>>,
}

impl Told {
    fn new(status: StatusCode, failure: Failure) -> Self {
        Self { status, failure: Box::new(failure), header: None }
    }

    fn with(self, name: axum::http::HeaderName, value: HeaderValue) -> Self {
        Self { header: Some(Box::new((name, value))), ..self }
    }
}

impl From<CallError> for Told {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Malformed(reason) => {
                Self::new(StatusCode::BAD_REQUEST, Failure::new("refused", reason))
            }
            CallError::Run(error) => {
                let (status, mut failure) = failure(&error);
                if let UpstreamError::Away(reason) = &error {
                    // Where the run is, and what ails it, is nobody's business outside.
                    tracing::warn!("the run is out of reach: {reason}");
                    failure.reason = "the server does not reach the run".to_owned();
                }
                Self::new(status, failure)
            }
        }
    }
}

impl IntoResponse for Told {
    fn into_response(self) -> Response {
        let text = serde_json::to_vec(&self.failure).unwrap_or_default();
        let mut response = (self.status, typed("application/json", text.into())).into_response();
        if let Some((name, value)) = self.header.map(|header| *header) {
            response.headers_mut().insert(name, value);
        }
        response
    }
}
