//! Where a PostgreSQL server is and how to reach it safely: one URL.
//!
//! `postgres://USER:PASSWORD@HOST:PORT/DATABASE?schema=RUN&sslmode=verify-full&sslrootcert=FILE`, and what
//! else libpq's URLs know. `schema` names the run, `tengen` if it is not given. There are two modes of
//! TLS, because half-checked TLS is none: `verify-full`, the default for other machines, and `disable`,
//! the default for this one. A client's own certificate comes from `sslcert` and `sslkey`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use postgres::config::{Host, SslMode};
use postgres::{Client, Config, NoTls};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::StoreError;

/// The schema of a URL that names none.
const SCHEMA: &str = "tengen";

/// How long to wait for a connection before the server counts as away.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A server, a database in it and a schema in that.
#[derive(Clone)]
pub(crate) struct Server {
    config: Config,
    tls: Option<Arc<ClientConfig>>,
    /// The run's schema: lower-case letters, digits and `_`, so it needs no quotes.
    pub(crate) schema: String,
    /// For messages; without the password.
    pub(crate) place: String,
}

impl Server {
    /// Reads a URL.
    pub(crate) fn parse(url: &str) -> Result<Self, StoreError> {
        let refused = |reason: String| StoreError::Url { reason };
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let (mut schema, mut mode) = (SCHEMA.to_owned(), None);
        let (mut roots, mut cert, mut key) = (None, None, None);
        let mut rest = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = unescape(value);
            match name {
                "schema" => schema = value,
                "sslmode" => mode = Some(value),
                "sslrootcert" => roots = Some(PathBuf::from(value)),
                "sslcert" => cert = Some(PathBuf::from(value)),
                "sslkey" => key = Some(PathBuf::from(value)),
                _ => rest.push(pair),
            }
        }
        check_schema(&schema).map_err(refused)?;
        let mut config: Config = format!("{base}?{}", rest.join("&"))
            .parse()
            .map_err(|error: postgres::Error| refused(told(&error)))?;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_application_name().is_none() {
            config.application_name("tengen");
        }
        // A peer that vanished without a word is noticed within a minute.
        config.keepalives_idle(Duration::from_secs(30));
        let tls = match mode.as_deref().unwrap_or(default_mode(&config)) {
            "disable" => None,
            "verify-full" => Some(Arc::new(tls(roots.as_deref(), cert.zip(key)).map_err(refused)?)),
            other => {
                return Err(refused(format!(
                    "sslmode={other} does not check who answers; write sslmode=verify-full (with \
                     sslrootcert=FILE for a certificate of your own), or sslmode=disable"
                )));
            }
        };
        config.ssl_mode(if tls.is_some() { SslMode::Require } else { SslMode::Disable });
        let place = place(&config, &schema);
        Ok(Self { config, tls, schema, place })
    }

    /// Opens one connection.
    pub(crate) fn connect(&self) -> Result<Client, postgres::Error> {
        match &self.tls {
            None => self.config.connect(NoTls),
            Some(tls) => self.config.connect(MakeRustlsConnect::new(ClientConfig::clone(tls))),
        }
    }
}

/// An error with its causes, as `postgres` keeps them apart.
pub(crate) fn told(error: &postgres::Error) -> String {
    if let Some(db) = error.as_db_error() {
        let detail = db.detail().map(|detail| format!(" ({detail})")).unwrap_or_default();
        return format!("{}{detail} [{}]", db.message(), db.code().code());
    }
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        cause = inner.source();
    }
    text
}

/// A schema's name that reads the same with and without quotes.
fn check_schema(name: &str) -> Result<(), String> {
    let sound = name.len() <= 63
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        && !name.starts_with("pg_");
    if sound {
        return Ok(());
    }
    Err(format!(
        "schema={name} is no name for a run; use up to 63 lower-case letters, digits and _, a letter first"
    ))
}

/// This machine is trusted as its files are; others have to prove who they are.
fn default_mode(config: &Config) -> &'static str {
    let here = |host: &Host| match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => matches!(name.as_str(), "localhost" | "127.0.0.1" | "::1"),
    };
    if config.get_hosts().iter().all(here) { "disable" } else { "verify-full" }
}

fn place(config: &Config, schema: &str) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        Some(Host::Unix(path)) => path.display().to_string(),
        None => "localhost".to_owned(),
    };
    let port = config.get_ports().first().map(|port| format!(":{port}")).unwrap_or_default();
    format!("postgres://{host}{port}/{}?schema={schema}", config.get_dbname().unwrap_or_default())
}

fn tls(roots: Option<&Path>, identity: Option<(PathBuf, PathBuf)>) -> Result<ClientConfig, String> {
    let mut store = RootCertStore::empty();
    match roots {
        Some(path) => {
            for cert in certificates(path)? {
                store.add(cert).map_err(|error| format!("{}: {error}", path.display()))?;
            }
        }
        None => {
            store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(store);
    match identity {
        None => Ok(builder.with_no_client_auth()),
        Some((cert, key)) => {
            let secret = PrivateKeyDer::from_pem_file(&key)
                .map_err(|error| format!("sslkey {}: {error}", key.display()))?;
            builder
                .with_client_auth_cert(certificates(&cert)?, secret)
                .map_err(|error| format!("sslcert {}: {error}", cert.display()))
        }
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let failed = |error: rustls::pki_types::pem::Error| format!("{}: {error}", path.display());
    let certs: Vec<_> = CertificateDer::pem_file_iter(path)
        .map_err(failed)?
        .collect::<Result<_, _>>()
        .map_err(failed)?;
    if certs.is_empty() {
        return Err(format!("{} holds no certificate", path.display()));
    }
    Ok(certs)
}

/// `%2F` and its like as the bytes they stand for.
fn unescape(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits = text.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_machine_must_prove_who_it_is_unless_told_otherwise() {
        let tls = |url: &str| Server::parse(url).unwrap().tls.is_some();
        assert!(tls("postgres://me@db.example/games"));
        assert!(tls("postgres://me@localhost/games?sslmode=verify-full"));
        assert!(!tls("postgres://me@db.example/games?sslmode=disable"));
        assert!(!tls("postgres://me@localhost/games"));
        assert!(!tls("postgres:///games?host=/run/postgresql&user=me"));
        for half in ["prefer", "require", "verify-ca", "allow", ""] {
            let refused = Server::parse(&format!("postgres://me@db.example/x?sslmode={half}"));
            let told = refused.err().unwrap().to_string();
            assert!(told.contains("verify-full"), "{told}");
        }
    }

    #[test]
    fn a_schema_is_a_plain_name_and_no_message_holds_a_password() {
        let server =
            Server::parse("postgres://me:secret@db.example:6000/games?schema=run_7").unwrap();
        assert_eq!(server.schema, "run_7");
        assert_eq!(server.place, "postgres://db.example:6000/games?schema=run_7");
        for bad in ["Run", "1a", "a-b", "a;drop", "", "pg_x", "a%20b", "\"a\""] {
            let refused = Server::parse(&format!("postgres://me@localhost/x?schema={bad}"));
            assert!(matches!(refused, Err(StoreError::Url { .. })), "{bad}");
        }
        assert!(Server::parse("postgres://me@localhost:port/x").is_err());
    }

    #[test]
    fn certificates_that_are_missing_are_named() {
        let refused = Server::parse("postgres://me@db/x?sslrootcert=%2Fnone%2Fca.pem");
        let told = refused.err().unwrap().to_string();
        assert!(told.contains("/none/ca.pem"), "{told}");
    }
}
