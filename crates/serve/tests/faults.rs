//! Whatever comes from outside: the wrong token, the wrong bytes, too many of them, or too slowly.

#![allow(clippy::unwrap_used)]

#[path = "../../store/tests/common/mod.rs"]
mod common;
mod served;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use common::{Bench, hello, record, upload};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use served::raw::{Cut, call, dial, dial_tls, head, rest, say};
use served::{Served, address, certificate, config, to_file};
use tengen_serve::{HttpAddress, HttpUpstream, Limits, ServeError, Server};
use tengen_store::{
    MAX_GAME_BYTES, MAX_UPLOAD_BYTES, MAX_UPLOADS, SharedUpstream, Submitted, Upload, Upstream,
    UpstreamError, WorkerCounts,
};

const NOTHING: WorkerCounts = WorkerCounts { games: 0, evals: 0 };

/// A run in a file behind a server.
fn served(limits: Limits) -> (Bench, Served) {
    let bench = Bench::sqlite();
    let served = Served::with(limits, to_file(&bench.path()));
    (bench, served)
}

fn games(bench: &Bench, worker: &str, count: u64) -> Vec<Upload> {
    (0..count).map(|k| upload(&bench.uid, worker, k, &record(k as usize % 5 + 1))).collect()
}

fn refusal<T: std::fmt::Debug>(answer: Result<T, UpstreamError>) -> String {
    match answer.unwrap_err() {
        UpstreamError::Refused(reason) => reason,
        other => panic!("{other:?}"),
    }
}

fn away<T: std::fmt::Debug>(answer: Result<T, UpstreamError>) -> String {
    match answer.unwrap_err() {
        UpstreamError::Away(reason) => reason,
        other => panic!("{other:?}"),
    }
}

/// Somebody with manners is served, and soon.
fn serves_others(served: &Served) {
    let begun = Instant::now();
    served.upstream().register(&hello("w")).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

#[test]
fn without_a_token_or_with_a_wrong_one_nothing_is_done() {
    let (bench, served) = served(Limits::default());
    let wrong = "0".repeat(64);
    for token in [&wrong, &served.token[1..], &served.token.to_uppercase()] {
        let mut upstream = served.upstream_with(token);
        assert!(refusal(upstream.register(&hello("w"))).contains("does not know this token"));
        assert!(refusal(upstream.network("c0ffee")).contains("token"));
    }
    for head in ["", "authorization: Basic Ym94OmJveA==\r\n", "authorization: Bearer\r\n"] {
        let request = format!(
            "POST /v1/state HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{head}content-length: 2\r\n\r\n{{}}"
        );
        let answer = say(&served, request.as_bytes());
        assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
        assert!(answer.contains("www-authenticate: Bearer"), "{answer}");
    }
    assert!(bench.store.workers().unwrap().is_empty());
    assert!(HttpUpstream::new(&served.address(), "").is_err());
    assert!(HttpUpstream::new(&served.address(), "a\nb").is_err());
}

#[test]
fn a_revoked_token_is_refused_on_the_connection_that_it_opened() {
    let (_bench, served) = served(Limits::default());
    let mut upstream = served.upstream();
    upstream.register(&hello("w")).unwrap();
    let other = served.add_token("other");
    let text = std::fs::read_to_string(served.tokens()).unwrap();
    let without: String = text.lines().skip(1).map(|line| format!("{line}\n")).collect();
    std::fs::write(served.tokens(), without).unwrap();
    assert!(refusal(upstream.run_state("w", NOTHING)).contains("not any more"));
    served.upstream_with(&other).register(&hello("v")).unwrap();
}

#[test]
fn a_token_does_not_speak_for_anothers_worker() {
    let (bench, served) = served(Limits::default());
    let mut one = served.upstream();
    let mut two = served.upstream_with(&served.add_token("two"));
    one.register(&hello("w")).unwrap();
    two.register(&hello("v")).unwrap();
    for refused in [
        two.register(&hello("w")).map(drop),
        two.run_state("w", NOTHING).map(drop),
        two.submit(&games(&bench, "w", 1)).map(drop),
        two.lease_block("w").map(drop),
    ] {
        assert!(refusal(refused).contains("belongs to another login"));
    }
    assert_eq!(bench.store.waiting_uploads().unwrap(), 0);
    // A second token of the same name is the same party: tokens can be replaced one by one.
    let mut again = served.upstream_with(&served.add_token("box"));
    again.run_state("w", NOTHING).unwrap();
    // And it is the run that remembers whose a worker is, not the server.
    let other = Served::with(Limits::default(), to_file(&bench.path()));
    assert!(
        refusal(other.upstream_with(&other.add_token("two")).run_state("w", NOTHING))
            .contains("login")
    );
    other.upstream().run_state("w", NOTHING).unwrap();
}

#[test]
fn a_body_that_is_too_large_is_refused_before_it_comes() {
    let (_bench, served) = served(Limits::default());
    let too_large = MAX_UPLOADS * (MAX_GAME_BYTES + 1024);
    for (name, length) in
        [("submit", too_large), ("submit", 1 << 60), ("finish", too_large), ("state", 1 << 20)]
    {
        let more = format!("content-length: {length}\r\n");
        let begun = Instant::now();
        let mut stream = dial_tls(&served);
        stream.write_all(head(name, &served.token, &more).as_bytes()).unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 413", "{name} {length}");
        assert!(begun.elapsed() < Duration::from_secs(5));
    }
    let chunked = "connection: close\r\ntransfer-encoding: chunked\r\n";
    let endless = head("submit", &served.token, chunked) + "10000\r\n";
    assert!(say(&served, endless.as_bytes()).starts_with("HTTP/1.1 411 "));
    serves_others(&served);
}

#[test]
fn a_full_batch_passes() {
    let (bench, served) = served(Limits::default());
    let mut upstream = served.upstream();
    upstream.register(&hello("w")).unwrap();
    let mut batch = games(&bench, "w", MAX_UPLOADS as u64);
    for game in &mut batch {
        game.payload = vec![game.counter as u8; MAX_UPLOAD_BYTES / MAX_UPLOADS];
        game.payload_hash = *blake3::hash(&game.payload).as_bytes();
        game.network = "f".repeat(64);
    }
    let told = upstream.submit(&batch).unwrap();
    assert_eq!(told, Submitted { accepted: 256, already_there: 0, quarantined: 0 });
    assert_eq!(bench.store.take_uploads(0, 256).unwrap()[255].upload, batch[255]);
}

#[test]
fn a_body_cut_short_keeps_nothing() {
    let (bench, served) = served(Limits::default());
    served.upstream().register(&hello("w")).unwrap();
    let whole = packed(&games(&bench, "w", 3));
    let more = format!("content-length: {}\r\n", whole.len());
    for length in [0, 1, 4, whole.len() / 2, whole.len() - 1] {
        let mut stream = dial_tls(&served);
        stream.write_all(head("submit", &served.token, &more).as_bytes()).unwrap();
        stream.write_all(&whole[..length]).unwrap();
        stream.conn.send_close_notify();
        stream.flush().unwrap();
        let answer = rest(&mut stream);
        assert!(!answer.contains("200 OK"), "{answer}");
        // And one that says it is whole.
        let answer = call(&served, "submit", &whole[..length]);
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    }
    assert_eq!(bench.store.waiting_uploads().unwrap(), 0);
    assert!(call(&served, "submit", &whole).starts_with("HTTP/1.1 200 "));
    assert_eq!(bench.store.waiting_uploads().unwrap(), 3);
}

/// What the client sends, told apart from the code that sends it: this is the format of docs/fleet.md.
fn packed(games: &[Upload]) -> Vec<u8> {
    let list: Vec<_> = games
        .iter()
        .map(|game| {
            format!(
                r#"{{"id":"{}","counter":{},"network":"{}","bytes":{},"hash":"{}"}}"#,
                game.id,
                game.counter,
                game.network,
                game.payload.len(),
                blake3::Hash::from_bytes(game.payload_hash)
            )
        })
        .collect();
    let head = format!(r#"{{"worker":"{}","games":[{}]}}"#, games[0].worker, list.join(","));
    let mut body = (head.len() as u32).to_le_bytes().to_vec();
    body.extend(head.bytes());
    games.iter().for_each(|game| body.extend(&game.payload));
    body
}

#[test]
fn garbage_is_refused_whatever_it_is_and_wherever_it_comes() {
    let (bench, served) = served(Limits::default());
    let mut upstream = served.upstream();
    upstream.register(&hello("w")).unwrap();
    let good = packed(&games(&bench, "w", 2));
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let calls = ["register", "state", "submit", "lease", "heartbeat", "finish"];
    for turn in 0..120 {
        let mut body = match turn % 3 {
            0 => vec![0; rng.random_range(0..200)],
            1 => good.clone(),
            _ => br#"{"worker":"w","games":[],"evals":-1,"match_id":1e99}"#.to_vec(),
        };
        for _ in 0..rng.random_range(1..20) {
            let length = body.len();
            if length > 0 {
                body[rng.random_range(0..length.min(400))] = rng.random();
            }
        }
        let answer = call(&served, calls[turn % calls.len()], &body);
        // A flipped letter in a name or in a payload is another name or payload: what the run says.
        let fine =
            ["400", "422", "200"].iter().any(|ok| answer.starts_with(&format!("HTTP/1.1 {ok} ")));
        assert!(fine, "{answer}");
    }
    for (path, status) in
        [("/v1/nothing", 404), ("/", 404), ("/v1/../../etc/passwd", 404), ("/v1/submit", 405)]
    {
        let answer = say(
            &served,
            format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").as_bytes(),
        );
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{path}: {answer}");
    }
    for noise in [&b"\0\0\0\0\r\n\r\n"[..], b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", &[b'x'; 40_000]] {
        assert!(!say(&served, noise).contains(" 200 "));
    }
    assert!(refusal(upstream.network("../../etc/passwd")).contains("no network's hash"));
    serves_others(&served);
}

#[test]
fn who_sends_a_byte_at_a_time_makes_nobody_wait_and_is_cut_off() {
    let limits = Limits {
        connections: 64,
        handshake: Duration::from_millis(600),
        head: Duration::from_millis(600),
        body: Duration::from_millis(600),
        ..Limits::default()
    };
    let (_bench, served) = served(limits);
    let slow = head("state", &served.token, "content-length: 100\r\n");
    thread::scope(|scope| {
        let mut ends = Vec::new();
        for kind in 0..12 {
            let (served, slow) = (&served, &slow);
            ends.push(scope.spawn(move || {
                let begun = Instant::now();
                if kind % 3 == 0 {
                    // Never gets as far as TLS.
                    let mut stream = dial(served.server.address());
                    while begun.elapsed() < Duration::from_secs(20)
                        && stream.write_all(b"\x16").is_ok()
                    {
                        thread::sleep(Duration::from_millis(50));
                    }
                    return begun.elapsed();
                }
                let mut stream = dial_tls(served);
                let bytes = slow.as_bytes();
                let at_once = if kind % 3 == 1 { 1 } else { bytes.len() };
                stream.write_all(&bytes[..at_once]).unwrap();
                for byte in bytes[at_once..].iter().chain(&[b' '; 400]) {
                    if stream.write_all(&[*byte]).and_then(|()| stream.flush()).is_err() {
                        break;
                    }
                    thread::sleep(Duration::from_millis(50));
                }
                begun.elapsed()
            }));
        }
        thread::sleep(Duration::from_millis(100));
        for _ in 0..5 {
            serves_others(&served);
        }
        for end in ends {
            let lasted = end.join().unwrap();
            assert!(lasted < Duration::from_secs(10), "{lasted:?}");
        }
    });
}

#[test]
fn a_body_that_does_not_come_is_given_up_with_a_word() {
    let (_bench, served) = served(Limits { body: Duration::from_millis(200), ..Limits::default() });
    let request = head("state", &served.token, "content-length: 100\r\n") + "{";
    let answer = say(&served, request.as_bytes());
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
}

#[test]
fn plain_http_at_the_port_of_tls_gets_no_answer_and_does_no_harm() {
    let (_bench, served) = served(Limits::default());
    let mut stream = dial(served.server.address());
    stream.write_all(head("state", &served.token, "content-length: 0\r\n").as_bytes()).unwrap();
    let answer = rest(&mut stream);
    assert!(!answer.contains("HTTP"), "{answer}");
    let plain = format!("http://localhost:{}", served.server.address().port());
    let mut upstream =
        HttpUpstream::new(&HttpAddress::parse(&plain).unwrap(), &served.token).unwrap();
    away(upstream.run_state("w", NOTHING));
    serves_others(&served);
}

#[test]
fn a_server_that_cannot_prove_who_it_is_gets_no_token() {
    let (_bench, served) = served(Limits::default());
    let port = served.server.address().port();
    let ca = served.folder.path().join("cert.pem");
    let other = served.folder.path().join("other.pem");
    std::fs::write(&other, certificate().0).unwrap();
    for bad in [
        format!("https://localhost:{port}"),
        format!("https://localhost:{port}?ca={}", other.display()),
        format!("https://127.0.0.1:{port}?ca={}", ca.display()),
    ] {
        let address = HttpAddress::parse(&bad).unwrap();
        let mut upstream = HttpUpstream::new(&address, &served.token).unwrap();
        let refused = refusal(upstream.run_state("w", NOTHING));
        assert!(refused.contains("certificate"), "{bad}: {refused}");
    }
    let nothing = HttpAddress::parse("https://localhost?ca=/nowhere.pem").unwrap();
    assert!(HttpUpstream::new(&nothing, "x").unwrap_err().to_string().contains("/nowhere.pem"));
}

#[test]
fn a_renewed_certificate_holds_without_a_restart() {
    let (_bench, served) = served(Limits::default());
    serves_others(&served);
    let (renewed, key) = certificate();
    std::fs::write(served.folder.path().join("cert.pem"), renewed).unwrap();
    std::fs::write(served.folder.path().join("key.pem"), key).unwrap();
    // Clients trust the new one alone now.
    serves_others(&served);
    std::fs::write(served.folder.path().join("key.pem"), "damaged").unwrap();
    serves_others(&served);
}

#[test]
fn a_redirection_is_not_followed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = format!("http://127.0.0.1:{}/", elsewhere.local_addr().unwrap().port());
    let answer = format!(
        "HTTP/1.1 307 x\r\nlocation: {target}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    );
    let server = thread::spawn(move || {
        for _ in 0..2 {
            let (mut stream, _) = listener.accept().unwrap();
            let mut buffer = [0; 4096];
            let _ = stream.read(&mut buffer).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
            stream.shutdown(std::net::Shutdown::Write).unwrap();
            while let Ok(1..) = stream.read(&mut buffer) {}
        }
    });
    let here = HttpAddress::parse(&format!("http://127.0.0.1:{port}")).unwrap();
    let mut upstream = HttpUpstream::new(&here, "secret").unwrap();
    assert!(refusal(upstream.run_state("w", NOTHING)).contains(&target));
    assert!(refusal(upstream.network("c0ffee")).contains(&target));
    server.join().unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    assert!(elsewhere.accept().is_err(), "nobody went there");
}

#[test]
fn an_answer_cut_off_in_the_middle_is_an_outage_and_asking_again_counts_once() {
    let (mut bench, served) = served(Limits::default());
    let bytes: Vec<u8> = (0..2_000_000_u32).map(|k| (k.wrapping_mul(k) >> 7) as u8).collect();
    let hash = blake3::hash(&bytes).to_hex().to_string();
    bench.store.put_network_bytes(&hash, &bytes).unwrap();
    let cut = Cut::new(served.server.address());
    let through = address(cut.address, served.folder.path());
    let mut upstream = HttpUpstream::new(&through, &served.token).unwrap();
    upstream.register(&hello("w")).unwrap();
    cut.cut_after(1_000_000);
    away(upstream.network(&hash));
    // No byte of the answer comes, but the games have been kept.
    cut.cut_after(i64::MAX);
    upstream.run_state("w", NOTHING).unwrap();
    cut.cut_after(0);
    away(upstream.submit(&games(&bench, "w", 3)));
    let begun = Instant::now();
    while bench.store.waiting_uploads().unwrap() < 3 {
        assert!(begun.elapsed() < Duration::from_secs(10));
        thread::sleep(Duration::from_millis(5));
    }
    cut.cut_after(i64::MAX);
    let again = upstream.submit(&games(&bench, "w", 3)).unwrap();
    assert_eq!(again, Submitted { accepted: 0, already_there: 3, quarantined: 0 });
    assert_eq!(upstream.network(&hash).unwrap(), bytes);
}

#[test]
fn a_server_that_is_gone_is_an_outage_and_the_next_one_is_used() {
    let (bench, served) = served(Limits::default());
    let mut upstream = served.upstream();
    upstream.register(&hello("w")).unwrap();
    let listen = served.server.address();
    let Served { folder, server, token } = served;
    drop(server);
    away(upstream.run_state("w", NOTHING));
    let mut config = config(folder.path(), Limits::default());
    config.listen = listen;
    let server = Server::start(&config, to_file(&bench.path())).unwrap();
    upstream.run_state("w", NOTHING).unwrap();
    drop((server, token));
}

#[test]
fn a_token_that_sends_too_much_waits_and_others_do_not() {
    let limits = Limits { rate: 1000.0, burst: 0.0, ..Limits::default() };
    let (bench, served) = served(limits);
    let (mut greedy, mut other) =
        (served.upstream(), served.upstream_with(&served.add_token("other")));
    greedy.register(&hello("w")).unwrap();
    other.register(&hello("v")).unwrap();
    // The least that a burst may be is a full batch.
    let mut batch = games(&bench, "w", MAX_UPLOADS as u64);
    batch.iter_mut().for_each(|game| game.payload = vec![1; MAX_UPLOAD_BYTES / MAX_UPLOADS]);
    greedy.submit(&batch).unwrap();
    assert!(away(greedy.submit(&batch)).contains("too much"));
    other.submit(&games(&bench, "v", 200)).unwrap();
}

#[test]
fn connections_of_one_address_are_bounded() {
    let limits = Limits { connections_of_one: Some(3), ..Limits::default() };
    let (_bench, served) = served(limits);
    let mut held: Vec<_> = (0..3).map(|_| dial_tls(&served)).collect();
    for stream in &mut held {
        stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 200");
    }
    away(served.upstream().run_state("w", NOTHING));
    assert!((served.server.figures())().contains("tengen_serve_turned_away_total 1\n"));
    drop(held);
    let begun = Instant::now();
    while served.upstream().register(&hello("w")).is_err() {
        assert!(begun.elapsed() < Duration::from_secs(10));
        thread::sleep(Duration::from_millis(10));
    }
}

/// A run that nobody reaches until told otherwise.
#[test]
fn a_run_out_of_reach_is_an_outage_of_which_nothing_is_told() {
    let bench = Bench::sqlite();
    let (there, path) = (Arc::new(AtomicBool::new(false)), bench.path());
    let reached = Arc::clone(&there);
    let connect = move || {
        if !reached.load(Ordering::SeqCst) {
            return Err(UpstreamError::Away("postgres://inner.example sleeps".to_owned()));
        }
        Ok(Box::new(tengen_store::Store::open(&path)?) as Box<dyn SharedUpstream>)
    };
    let served = Served::with(Limits::default(), Box::new(connect));
    let told = away(served.upstream().register(&hello("w")));
    assert!(!told.contains("inner.example"), "{told}");
    there.store(true, Ordering::SeqCst);
    serves_others(&served);
}

#[test]
fn a_run_that_does_not_answer_is_not_waited_for_and_calls_over_the_limit_come_later() {
    let bench = Bench::sqlite();
    let path = bench.path();
    let connect = move || {
        thread::sleep(Duration::from_millis(800));
        Ok(Box::new(tengen_store::Store::open(&path)?) as Box<dyn SharedUpstream>)
    };
    let limits = Limits { run: Duration::from_millis(100), calls: 1, ..Limits::default() };
    let served = Served::with(limits, Box::new(connect));
    thread::scope(|scope| {
        let first = scope.spawn(|| away(served.upstream().register(&hello("w"))));
        let begun = Instant::now();
        let mut seen = Vec::new();
        while begun.elapsed() < Duration::from_millis(700) {
            seen.push(away(served.upstream().register(&hello("w"))));
        }
        seen.push(first.join().unwrap());
        assert!(seen.iter().any(|why| why.contains("does not reach")), "{seen:?}");
    });
}

#[test]
fn a_call_in_hand_is_answered_when_the_server_is_told_to_stop() {
    let bench = Bench::sqlite();
    let path = bench.path();
    let connect = move || {
        thread::sleep(Duration::from_millis(500));
        Ok(Box::new(tengen_store::Store::open(&path)?) as Box<dyn SharedUpstream>)
    };
    let served = Served::with(Limits::default(), Box::new(connect));
    let mut upstream = served.upstream();
    let asked = thread::spawn(move || upstream.register(&hello("w")).map(drop));
    thread::sleep(Duration::from_millis(250));
    drop(served);
    asked.join().unwrap().unwrap();
}

#[test]
fn tokens_do_not_travel_in_the_clear_unless_that_is_meant() {
    let (bench, served) = served(Limits::default());
    let mut config = config(served.folder.path(), Limits::default());
    (config.identity, config.listen) = (None, "0.0.0.0:0".parse().unwrap());
    let refused = Server::start(&config, to_file(&bench.path())).unwrap_err();
    assert!(matches!(refused, ServeError::InTheClear(_)), "{refused}");
    config.plain = true;
    drop(Server::start(&config, to_file(&bench.path())).unwrap());
    (config.plain, config.listen) = (false, "127.0.0.1:0".parse().unwrap());
    let server = Server::start(&config, to_file(&bench.path())).unwrap();
    let here = HttpAddress::parse(&format!("http://{}", server.address())).unwrap();
    HttpUpstream::new(&here, &served.token).unwrap().register(&hello("w")).unwrap();
}

#[test]
fn what_a_server_lacks_is_said_at_its_start() {
    let (bench, served) = served(Limits::default());
    let sound = config(served.folder.path(), Limits::default());
    let start = |config| Server::start(&config, to_file(&bench.path())).unwrap_err().to_string();
    let missing = served.folder.path().join("missing");
    let mut no_tokens = sound.clone();
    no_tokens.tokens = missing.clone();
    assert!(start(no_tokens).contains("missing"));
    let (certificate, key) = sound.identity.clone().unwrap();
    for identity in
        [(missing.clone(), key.clone()), (certificate.clone(), missing), (key, certificate)]
    {
        let refused =
            start(tengen_serve::ServeConfig { identity: Some(identity), ..sound.clone() });
        assert!(refused.contains(".pem") || refused.contains("missing"), "{refused}");
    }
    let taken = tengen_serve::ServeConfig { listen: served.server.address(), ..sound };
    assert!(start(taken).contains("cannot listen at 127.0.0.1"));
}
