//! The worker's side: the eight calls over HTTPS.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tengen_store::{
    Block, BlockGame, BlockLease, RunState, Submitted, Upload, Upstream, UpstreamError,
    WorkerCounts, WorkerHello,
};
use ureq::http::Response;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Body};

use crate::HttpAddress;
use crate::answer::meaning;
use crate::body::{pack_block, pack_uploads};
use crate::limits::{MAX_ANSWER, MAX_NETWORK_ANSWER};
use crate::wire::{Ask, Damaged, Held, Hello, Kept, Lease, Leased, Noted, State, Who};

/// For a connection, its TLS included.
const CONNECT: Duration = Duration::from_secs(10);
/// For a body to be sent, and for the answer to begin: longer than the server takes over either.
const ANSWER: Duration = Duration::from_secs(75);
/// For all of an answer; a network on a slow line takes its time.
const WHOLE_ANSWER: Duration = Duration::from_secs(600);
/// A body of more bytes is sent only once the server has said that it will take it: a refusal is then heard,
/// where a connection closed in the middle of a body would be all there is.
const ASK_FIRST: usize = 64 * 1024;
/// A connection unused for so long is not used again; the server closes it after 20 s.
const IDLE: Duration = Duration::from_secs(10);

/// A worker's way to a run behind `tengen serve`. Nothing is connected before the first call, and
/// redirections are not followed, as the token would go with them.
pub struct HttpUpstream {
    address: HttpAddress,
    authorization: String,
    agent: Agent,
}

impl fmt::Debug for HttpUpstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpUpstream").field("address", &self.address).finish_non_exhaustive()
    }
}

impl HttpUpstream {
    /// For the server at `address`, with the token that it gave.
    ///
    /// # Errors
    /// [`UpstreamError::Refused`] for a token that cannot be one, or a file of certificates that is none.
    pub fn new(address: &HttpAddress, token: &str) -> Result<Self, UpstreamError> {
        let token = token.trim();
        if token.is_empty() || !token.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(UpstreamError::Refused("the token is empty, or no token".to_owned()));
        }
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::Specific(Arc::new(roots(address)?)))
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .build();
        let config = Agent::config_builder()
            .tls_config(tls)
            .user_agent(concat!("tengen/", env!("CARGO_PKG_VERSION")))
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_connect(Some(CONNECT))
            .timeout_send_body(Some(ANSWER))
            .timeout_recv_response(Some(ANSWER))
            .timeout_recv_body(Some(WHOLE_ANSWER))
            .max_idle_age(IDLE)
            .max_idle_connections_per_host(1)
            .build();
        Ok(Self {
            address: address.clone(),
            authorization: format!("Bearer {token}"),
            agent: config.into(),
        })
    }

    /// A call in JSON.
    fn call<T: DeserializeOwned>(
        &self,
        name: &str,
        question: &impl Serialize,
    ) -> Result<T, UpstreamError> {
        let body = serde_json::to_vec(question)
            .map_err(|error| UpstreamError::Refused(error.to_string()))?;
        self.post(name, "application/json", &body)
    }

    /// A call that carries games.
    fn post<T: DeserializeOwned>(
        &self,
        name: &str,
        kind: &str,
        body: &[u8],
    ) -> Result<T, UpstreamError> {
        let mut request = self.agent.post(self.address.of(name));
        if body.len() > ASK_FIRST {
            request = request.header("expect", "100-continue");
        }
        let request = request.header("authorization", &self.authorization);
        let answer = self.read(request.header("content-type", kind).send(body), MAX_ANSWER)?;
        serde_json::from_slice(&answer).map_err(|error| {
            UpstreamError::Away(format!("the answer to {name} cannot be read: {error}"))
        })
    }

    /// The bytes of an answer with status 200, or what another one means.
    fn read(
        &self,
        answer: Result<Response<Body>, ureq::Error>,
        most: usize,
    ) -> Result<Vec<u8>, UpstreamError> {
        let mut answer = answer.map_err(refusal)?;
        let body = answer.body_mut().with_config().limit(most as u64).read_to_vec();
        let body = body.map_err(refusal)?;
        if answer.status() == 200 {
            return Ok(body);
        }
        let location = answer.headers().get("location").and_then(|value| value.to_str().ok());
        Err(meaning(answer.status().as_u16(), location, &body))
    }
}

/// The certificates to trust: the machine's, or those in the file that the address names.
fn roots(address: &HttpAddress) -> Result<Vec<Certificate<'static>>, UpstreamError> {
    let ders: Vec<CertificateDer<'static>> = match address.ca() {
        Some(file) => CertificateDer::pem_file_iter(file)
            .and_then(Iterator::collect)
            .map_err(|error| UpstreamError::Refused(format!("ca={}: {error}", file.display())))?,
        // Files that cannot be read are told of only if nothing else is there.
        None => rustls_native_certs::load_native_certs().certs,
    };
    Ok(ders.iter().map(|der| Certificate::from_der(der).to_owned()).collect())
}

/// What came in the way of an answer. Almost all of it passes; what does not is a mistake in the address or a
/// server that is not the one it should be.
fn refusal(error: ureq::Error) -> UpstreamError {
    use ureq::Error;
    let text = error.to_string();
    let untrusted = |error: &rustls::Error| matches!(error, rustls::Error::InvalidCertificate(_));
    let for_good = match &error {
        Error::Io(io) => io
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<rustls::Error>())
            .is_some_and(untrusted),
        Error::Rustls(inner) => untrusted(inner),
        Error::Http(_) | Error::BadUri(_) | Error::InvalidProxyUrl | Error::Tls(_) => true,
        _ => false,
    };
    if for_good { UpstreamError::Refused(text) } else { UpstreamError::Away(text) }
}

/// A block's games or a batch as one body.
fn packed(body: Result<Vec<u8>, String>) -> Result<Vec<u8>, UpstreamError> {
    body.map_err(UpstreamError::Refused)
}

const GAMES: &str = "application/vnd.tengen.games";

impl Upstream for HttpUpstream {
    fn register(&mut self, hello: &WorkerHello) -> Result<RunState, UpstreamError> {
        let state = self.call::<State>("register", &Hello::from(hello));
        state.and_then(RunState::try_from).map_err(|error| match error {
            UpstreamError::Version { theirs, needed, .. } => {
                UpstreamError::Version { ours: hello.protocol, theirs, needed }
            }
            other => other,
        })
    }

    fn run_state(&mut self, worker: &str, counts: WorkerCounts) -> Result<RunState, UpstreamError> {
        let WorkerCounts { games, evals } = counts;
        self.call::<State>("state", &Ask { worker: worker.to_owned(), games, evals })?.try_into()
    }

    fn submit(&mut self, uploads: &[Upload]) -> Result<Submitted, UpstreamError> {
        let Some(first) = uploads.first() else { return Ok(Submitted::default()) };
        if let Some(other) = uploads.iter().find(|upload| upload.worker != first.worker) {
            let (one, other) = (&first.worker, &other.worker);
            return Err(UpstreamError::Refused(format!(
                "games of two workers, {one:?} and {other:?}"
            )));
        }
        let body = packed(pack_uploads(&first.worker, uploads))?;
        Ok(self.post::<Kept>("submit", GAMES, &body)?.into())
    }

    fn network(&mut self, hash: &str) -> Result<Vec<u8>, UpstreamError> {
        if hash.is_empty() || !hash.bytes().all(|b| b.is_ascii_alphanumeric()) {
            return Err(UpstreamError::Refused(format!("{hash:?} is no network's hash")));
        }
        let request = self.agent.get(self.address.of(&format!("network/{hash}")));
        let answer = request.header("authorization", &self.authorization).call();
        self.read(answer, MAX_NETWORK_ANSWER)
    }

    fn report_damaged(
        &mut self,
        worker: &str,
        network: &str,
        why: &str,
    ) -> Result<(), UpstreamError> {
        // As much as the run keeps of it, so that the question stays a small one.
        let why = why.chars().take(300).collect();
        let told = Damaged { worker: worker.to_owned(), network: network.to_owned(), why };
        self.call::<Noted>("damaged", &told).map(|Noted {}| ())
    }

    fn lease_block(&mut self, worker: &str) -> Result<Option<Block>, UpstreamError> {
        let leased: Leased = self.call("lease", &Who { worker: worker.to_owned() })?;
        Ok(leased.block.map(Block::from))
    }

    fn heartbeat(&mut self, lease: &BlockLease) -> Result<bool, UpstreamError> {
        Ok(self.call::<Held>("heartbeat", &Lease::from(lease))?.held)
    }

    fn finish_block(
        &mut self,
        lease: &BlockLease,
        games: &[BlockGame],
    ) -> Result<bool, UpstreamError> {
        let body = packed(pack_block(lease, games))?;
        Ok(self.post::<Held>("finish", GAMES, &body)?.held)
    }
}
