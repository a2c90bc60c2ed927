//! A client without manners: it says over TLS whatever bytes it likes.
#![allow(dead_code, missing_docs, clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::Served;

pub type Tls = StreamOwned<ClientConnection, TcpStream>;

pub fn dial(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

pub fn dial_tls(served: &Served) -> Tls {
    let mut roots = RootCertStore::empty();
    let file = served.folder.path().join("cert.pem");
    for certificate in CertificateDer::pem_file_iter(file).unwrap() {
        roots.add(certificate.unwrap()).unwrap();
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = "localhost".try_into().unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    StreamOwned::new(connection, dial(served.server.address()))
}

/// The head of a call, with `more` headers, each ending in a line's end.
pub fn head(call: &str, token: &str, more: &str) -> String {
    format!(
        "POST /v1/{call} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n{more}\r\n"
    )
}

/// Everything that is answered until the connection ends, or nothing comes any more.
pub fn rest(stream: &mut impl Read) -> String {
    let mut said = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = stream.read(&mut buffer) {
        said.extend(&buffer[..read]);
    }
    String::from_utf8_lossy(&said).into_owned()
}

/// Says `bytes` on a fresh connection and returns the whole answer. The connection closes after one.
pub fn say(served: &Served, bytes: &[u8]) -> String {
    let mut stream = dial_tls(served);
    // The server may have heard enough before the end.
    let _ = stream.write_all(bytes);
    let _ = stream.flush();
    rest(&mut stream)
}

/// A call with a body.
pub fn call(served: &Served, name: &str, body: &[u8]) -> String {
    let more = format!("connection: close\r\ncontent-length: {}\r\n", body.len());
    say(served, &[head(name, &served.token, &more).as_bytes(), body].concat())
}

/// A link that cuts a connection once so many bytes of answers have passed on it; `i64::MAX`: never.
pub struct Cut {
    pub address: SocketAddr,
    pub after: Arc<AtomicI64>,
}

impl Cut {
    pub fn new(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let after = Arc::new(AtomicI64::new(i64::MAX));
        let left = Arc::clone(&after);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(upstream) = TcpStream::connect(server) else { continue };
                let (from, to) = (client.try_clone().unwrap(), upstream.try_clone().unwrap());
                thread::spawn(move || pump(from, to, &AtomicI64::new(i64::MAX)));
                let left = Arc::clone(&left);
                thread::spawn(move || pump(upstream, client, &left));
            }
        });
        Self { address, after }
    }

    pub fn cut_after(&self, bytes: i64) {
        self.after.store(bytes, Ordering::SeqCst);
    }
}

fn pump(mut from: TcpStream, mut to: TcpStream, left: &AtomicI64) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        let before = left.load(Ordering::SeqCst);
        if before != i64::MAX && left.fetch_sub(read as i64, Ordering::SeqCst) < read as i64 {
            break;
        }
        if to.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
