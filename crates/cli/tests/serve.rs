//! `tengen serve` as processes: a worker with a token and an address plays for a run that it cannot reach itself.

#![allow(clippy::unwrap_used)] // helpers of tests may unwrap as tests do

mod common;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{config, json, run_loop, tengen};
use serde_json::Value;

/// A process that ends with the test, however that ends.
struct Process(Child);

impl Process {
    fn start(args: &[&str], token: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tengen"));
        command.args(args).env("TENGEN_TOKEN", token).stdout(Stdio::piped()).stderr(Stdio::null());
        Self(command.spawn().unwrap())
    }

    /// SIGTERM, and what it prints.
    fn stop(mut self) -> String {
        let pid = self.0.id().to_string();
        Command::new("kill").args(["-TERM", &pid]).status().unwrap();
        let mut said = String::new();
        self.0.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(self.0.wait().unwrap().success(), "{said}");
        said
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_secs(60), "waiting for {what}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// A port that nobody has now.
fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

/// What Prometheus would be told; empty while nobody listens.
fn figures(address: &str) -> String {
    let Ok(mut stream) = TcpStream::connect(address) else { return String::new() };
    stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn certificate(folder: &Path) -> (String, String) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let (cert, key) = (folder.join("cert.pem"), folder.join("key.pem"));
    std::fs::write(&cert, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    (cert.display().to_string(), key.display().to_string())
}

#[test]
fn a_worker_with_a_token_plays_for_a_run_that_it_cannot_reach_itself() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    run_loop(&config(folder.path()), &run, "1");
    let (run, tokens) = (run.to_str().unwrap(), folder.path().join("tokens").display().to_string());
    let (cert, key) = certificate(folder.path());
    let made = tengen(&["serve", "token", "alice", "--tokens", &tokens]);
    assert!(made.status.success(), "{made:?}");
    let token = String::from_utf8(made.stdout).unwrap();
    let (listen, served, swept) = (free_address(), free_address(), free_address());
    let server = Process::start(
        &[
            &["serve", "--store", run, "--tokens", &tokens, "--listen", &listen][..],
            &["--cert", &cert, "--key", &key, "--metrics", &served],
        ]
        .concat(),
        "",
    );
    let janitor = Process::start(&["janitor", "--store", run, "--metrics", &swept], "");
    wait_until("figures", || figures(&served).contains("tengen_serve_tokens 1\n"));
    let address = format!("https://localhost:{}?ca={cert}", listen.rsplit_once(':').unwrap().1);
    let spool = folder.path().join("spool").display().to_string();
    let token_file = folder.path().join("token");
    std::fs::write(&token_file, &token).unwrap();
    // The token from a file, then from the environment.
    let told = tengen(
        &[
            &["selfplay", "--store", &address, "--spool", &spool, "--workers", "1", "--json"][..],
            &["--token", token_file.to_str().unwrap(), "--until-minutes", "0.02"],
        ]
        .concat(),
    );
    assert!(told.status.success(), "{told:?}");
    let first: Value = serde_json::from_slice(&told.stdout).unwrap();
    let games = || {
        let text = figures(&served);
        let line = text.lines().find_map(|line| line.strip_prefix("tengen_serve_games_total "));
        line.map_or(0, |games| games.parse::<u64>().unwrap())
    };
    let before = games();
    let worker = Process::start(
        &["selfplay", "--store", &address, "--spool", &spool, "--workers", "1", "--json"],
        &token,
    );
    wait_until("games of the second worker", || games() > before);
    let worker: Value = serde_json::from_str(&worker.stop()).unwrap();
    assert_eq!(worker["waiting"], 0, "{worker}");
    let played = first["games"].as_u64().unwrap() + worker["games"].as_u64().unwrap();
    let status = || json(&["fleet", "status", "--store", run, "--json"]);
    wait_until("an empty inbox", || status()["inbox"] == 0);
    assert!(figures(&swept).contains("tengen_inbox_games 0\n"), "{}", figures(&swept));
    assert!(figures(&served).contains("tengen_worker_games_total{worker="));
    janitor.stop();
    assert!(played > 0 && status()["workers"][0]["unsound"] == 0, "{}", status());
    let check = json(&["store", "fsck", "--run", run, "--json"]);
    assert_eq!(check["ok"], true, "{check}");
    // Whom it does not know it sends away, and nobody says the token where others read it.
    let refused = Command::new(env!("CARGO_BIN_EXE_tengen"))
        .args(["doctor", "--fleet", &address])
        .env("TENGEN_TOKEN", "0".repeat(64))
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stdout).contains("does not know this token"));
    let lost = tengen(&["selfplay", "--store", &address, "--spool", &spool]);
    assert_eq!(lost.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&lost.stderr).contains("TENGEN_TOKEN"), "{lost:?}");
    let asked = tengen(&["fleet", "status", "--store", &address]);
    assert_eq!(asked.status.code(), Some(1));
    server.stop();
}

#[test]
fn a_server_that_would_send_tokens_in_the_clear_does_not_start() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    run_loop(&config(folder.path()), &run, "1");
    let tokens = folder.path().join("tokens").display().to_string();
    tengen(&["serve", "token", "alice", "--tokens", &tokens]);
    let args = ["serve", "--store", run.to_str().unwrap(), "--tokens", &tokens];
    let refused = tengen(&[&args[..], &["--listen", "0.0.0.0:0"]].concat());
    assert_eq!(refused.status.code(), Some(1));
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("--plain") && said.lines().count() == 1, "{said}");
    assert_eq!(tengen(&["serve"]).status.code(), Some(2));
    assert_eq!(tengen(&[&args[..], &["--cert", "x"]].concat()).status.code(), Some(2));
}
