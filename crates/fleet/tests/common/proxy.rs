//! A link that breaks between the server's commit and the client's hearing of it.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Answers of a connection that always pass, so that a client can log in.
const GREETING: u64 = 6;

/// Forwards connections to a server's socket, and cuts one in place of passing an answer on, for a share
/// of all answers. What the client asked for has then been done.
pub struct Proxy {
    pub socket: PathBuf,
    pub cuts: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
}

impl Proxy {
    /// Listens at `socket` for the server at `server`.
    pub fn new(socket: &Path, server: &Path, share: f64, seed: u64) -> Self {
        let listener = UnixListener::bind(socket).unwrap();
        let server = server.to_owned();
        let (cuts, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (counter, stopped) = (Arc::clone(&cuts), Arc::clone(&stop));
        thread::spawn(move || {
            for (number, client) in (0..).zip(listener.incoming()) {
                if stopped.load(Ordering::Relaxed) {
                    break;
                }
                let Ok(client) = client else { continue };
                // The server may be down: then the client's connection ends at once.
                let Ok(upstream) = UnixStream::connect(&server) else { continue };
                let rng = ChaCha8Rng::seed_from_u64(seed.wrapping_add(number));
                forward(client, upstream, share, rng, Arc::clone(&counter));
            }
        });
        Self { socket: socket.to_owned(), cuts, stop }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Wakes the listener up; if that fails, the process's end does it.
        let _ = UnixStream::connect(&self.socket);
    }
}

fn forward(
    client: UnixStream,
    server: UnixStream,
    share: f64,
    mut rng: ChaCha8Rng,
    cuts: Arc<AtomicU64>,
) {
    let (Ok(mut from_client), Ok(mut to_server)) = (client.try_clone(), server.try_clone()) else {
        return;
    };
    thread::spawn(move || {
        pump(&mut from_client, &mut to_server, &mut || true);
    });
    thread::spawn(move || {
        let (mut from_server, mut to_client) = (server, client);
        let mut answers = 0_u64;
        pump(&mut from_server, &mut to_client, &mut || {
            answers += 1;
            let passes = answers <= GREETING || !rng.random_bool(share);
            cuts.fetch_add(u64::from(!passes), Ordering::Relaxed);
            passes
        });
    });
}

/// Copies until an end closes or `passes` says no; then both are closed.
fn pump(from: &mut UnixStream, to: &mut UnixStream, passes: &mut dyn FnMut() -> bool) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        if !passes() || to.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
