//! A server that speaks as much S3 as a blob needs, and misbehaves on demand.
#![allow(dead_code, missing_docs, clippy::unwrap_used)]

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What goes wrong with one request.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// Nothing does.
    None,
    /// Half of the body comes, then the connection ends.
    Cut,
    /// The body is these bytes, and whole as such.
    Other(Vec<u8>),
    /// This status, and no body.
    Status(u16),
    /// So many bytes a second.
    Slow(usize),
    /// The headers promise so many bytes.
    Promise(u64),
}

#[derive(Default)]
pub struct State {
    pub objects: BTreeMap<String, Vec<u8>>,
    /// Taken from the front, one a request.
    pub faults: VecDeque<Fault>,
    /// Methods and keys, as they came.
    pub requests: Vec<String>,
}

/// Listens until the process ends.
#[derive(Clone)]
pub struct Server {
    pub state: Arc<Mutex<State>>,
    pub endpoint: String,
}

impl Server {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::<Mutex<State>>::default();
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                thread::spawn(move || serve(client, &state));
            }
        });
        Self { state, endpoint }
    }

    pub fn with<T>(&self, with: impl FnOnce(&mut State) -> T) -> T {
        with(&mut self.state.lock().unwrap())
    }

    pub fn faults(&self, faults: impl IntoIterator<Item = Fault>) {
        self.with(|state| state.faults = faults.into_iter().collect());
    }
}

/// One request, one answer, one connection.
fn serve(client: TcpStream, state: &Mutex<State>) -> Option<()> {
    let mut reader = BufReader::new(client.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, key) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (mut length, mut create) = (0, false);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let header = header.trim().to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        create |= header.starts_with("if-none-match:");
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let (fault, found) = {
        let mut state = state.lock().unwrap();
        state.requests.push(format!("{method} {key}"));
        let fault = state.faults.pop_front().unwrap_or(Fault::None);
        let found = state.objects.get(&key).cloned();
        if method == "PUT" && fault == Fault::None && !(create && found.is_some()) {
            state.objects.insert(key, body);
        }
        (fault, found)
    };
    let (status, mut answer) = match (method.as_str(), found) {
        ("PUT", Some(_)) if create => (412, Vec::new()),
        ("PUT", _) => (200, Vec::new()),
        (_, Some(bytes)) => (200, bytes),
        (_, None) => (404, Vec::new()),
    };
    let (mut status, mut promised) = (status, answer.len() as u64);
    let mut rate = usize::MAX;
    match fault {
        Fault::None => {}
        Fault::Cut => answer.truncate(answer.len() / 2),
        Fault::Other(bytes) => {
            promised = bytes.len() as u64;
            answer = bytes;
        }
        Fault::Status(other) => {
            (status, promised) = (other, 0);
            answer.clear();
        }
        Fault::Slow(bytes) => rate = bytes,
        Fault::Promise(bytes) => promised = bytes,
    }
    let mut client = client;
    write!(
        client,
        "HTTP/1.1 {status} told\r\nContent-Length: {promised}\r\nETag: \"1\"\r\n\
         Last-Modified: Mon, 01 Jun 2026 00:00:00 GMT\r\nConnection: close\r\n\r\n"
    )
    .ok()?;
    if method != "HEAD" {
        for part in answer.chunks((rate / 10).max(1)) {
            client.write_all(part).ok()?;
            if rate < usize::MAX {
                thread::sleep(Duration::from_millis(100));
            }
        }
    }
    Some(())
}
