//! A server over TLS on this machine, with a certificate of its own, shared by the tests.
#![allow(dead_code, missing_docs, clippy::unwrap_used)]

pub mod raw;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tempfile::TempDir;
use tengen_serve::{ConnectRun, HttpAddress, HttpUpstream, Limits, ServeConfig, Server, add_token};
use tengen_store::testing::PgServer;
use tengen_store::{SharedUpstream, Store, WorkerClient};

use crate::common::Bench;

/// Certificate and key for `localhost`, made once for all tests of the process.
fn identity() -> &'static (String, String) {
    static MADE: OnceLock<(String, String)> = OnceLock::new();
    MADE.get_or_init(certificate)
}

pub fn certificate() -> (String, String) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    (made.cert.pem(), made.signing_key.serialize_pem())
}

pub struct Served {
    pub folder: TempDir,
    pub server: Server,
    /// Of the party `box`.
    pub token: String,
}

impl Served {
    pub fn file(bench: &Bench) -> Self {
        Self::with(Limits::default(), to_file(&bench.path()))
    }

    pub fn worker_login(bench: &mut Bench) -> Self {
        drop(bench.worker_login());
        let schema = bench.place.split_once("&schema=").unwrap().1;
        let url = PgServer::shared().unwrap().url_of("box", schema);
        let connect = move || Ok(Box::new(WorkerClient::connect(&url)?) as Box<dyn SharedUpstream>);
        Self::with(Limits::default(), Box::new(connect))
    }

    pub fn with(limits: Limits, connect: ConnectRun) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let token = add_token(&folder.path().join("tokens"), "box").unwrap();
        let (certificate, key) = identity();
        std::fs::write(folder.path().join("cert.pem"), certificate).unwrap();
        std::fs::write(folder.path().join("key.pem"), key).unwrap();
        let server = Server::start(&config(folder.path(), limits), connect).unwrap();
        Self { folder, server, token }
    }

    pub fn tokens(&self) -> PathBuf {
        self.folder.path().join("tokens")
    }

    pub fn add_token(&self, name: &str) -> String {
        add_token(&self.tokens(), name).unwrap()
    }

    pub fn address(&self) -> HttpAddress {
        address(self.server.address(), self.folder.path())
    }

    pub fn upstream(&self) -> HttpUpstream {
        self.upstream_with(&self.token)
    }

    pub fn upstream_with(&self, token: &str) -> HttpUpstream {
        HttpUpstream::new(&self.address(), token).unwrap()
    }
}

/// The address that a worker is given.
pub fn address(server: SocketAddr, folder: &Path) -> HttpAddress {
    let ca = folder.join("cert.pem");
    let text = format!("https://localhost:{}/?ca={}", server.port(), ca.display());
    HttpAddress::parse(&text).unwrap()
}

pub fn config(folder: &Path, limits: Limits) -> ServeConfig {
    ServeConfig {
        listen: "127.0.0.1:0".parse().unwrap(),
        identity: Some((folder.join("cert.pem"), folder.join("key.pem"))),
        plain: false,
        tokens: folder.join("tokens"),
        connections: 2,
        limits,
    }
}

pub fn to_file(path: &Path) -> ConnectRun {
    let path = path.to_owned();
    Box::new(move || Ok(Box::new(Store::open(&path)?) as Box<dyn SharedUpstream>))
}
