//! The server's side of TLS: its certificate, read again when a new one lies in its place.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::ServeError;
use crate::watched::Watched;

/// A certificate with its chain, and its key, in two PEM files.
#[derive(Debug)]
pub(crate) struct Identity {
    certificate: Watched,
    key: Watched,
    config: Arc<ServerConfig>,
}

impl Identity {
    pub fn load(certificate: &Path, key: &Path) -> Result<Self, ServeError> {
        let config = read(certificate, key)?;
        let (mut certificate, mut key) = (Watched::new(certificate), Watched::new(key));
        certificate.changed();
        key.changed();
        Ok(Self { certificate, key, config })
    }

    /// For the next connection. A renewed certificate holds at once; one that is not sound changes nothing.
    pub fn config(&mut self) -> Arc<ServerConfig> {
        let (certificate, key) = (self.certificate.changed(), self.key.changed());
        if certificate || key {
            match read(self.certificate.path(), self.key.path()) {
                Ok(config) => self.config = config,
                Err(error) => tracing::error!("the certificate of before stays: {error}"),
            }
        }
        Arc::clone(&self.config)
    }
}

fn read(certificate: &Path, key: &Path) -> Result<Arc<ServerConfig>, ServeError> {
    let refused =
        |path: &Path, reason: String| ServeError::Certificate { path: PathBuf::from(path), reason };
    let chain: Vec<_> = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect)
        .map_err(|error| refused(certificate, error.to_string()))?;
    if chain.is_empty() {
        return Err(refused(certificate, "no certificate in it".to_owned()));
    }
    let secret =
        PrivateKeyDer::from_pem_file(key).map_err(|error| refused(key, error.to_string()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, secret))
        .map_err(|error| {
            refused(certificate, format!("with the key {}: {error}", key.display()))
        })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
