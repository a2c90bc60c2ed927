//! A fleet of one beside a run's folder: worker processes hand games in, the janitor lets them count,
//! a match is played in blocks.

#![allow(clippy::unwrap_used)] // helpers of tests may unwrap as tests do

mod common;

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{config, json, run_loop, tengen};
use serde_json::Value;

/// A process that ends with the test, however that ends.
struct Process(Child);

impl Process {
    fn start(args: &[&str]) -> Self {
        let child = Command::new(env!("CARGO_BIN_EXE_tengen"))
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self(child)
    }

    /// SIGTERM, and what it prints.
    fn stop(mut self) -> String {
        let pid = self.0.id().to_string();
        Command::new("kill").args(["-TERM", &pid]).status().unwrap();
        let mut said = String::new();
        std::io::Read::read_to_string(&mut self.0.stdout.take().unwrap(), &mut said).unwrap();
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

fn status(run: &str) -> Value {
    json(&["fleet", "status", "--store", run, "--json"])
}

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_secs(60), "waiting for {what}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn a_worker_plays_the_best_network_and_its_games_count_once_checked() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    run_loop(&config(folder.path()), &run, "1");
    let (run, spool) = (run.to_str().unwrap(), folder.path().join("spool"));
    let before = status(run)["games"].as_u64().unwrap();
    // Networks go by way of a folder that is neither's own.
    let blobs = folder.path().join("blobs");
    std::fs::create_dir(&blobs).unwrap();
    let place = format!("folder:{}", blobs.display());
    let janitor = ["janitor", "--store", run, "--recheck", "1", "--json", "--blobs", &place];
    let janitor = Process::start(&janitor);
    let spool = spool.to_str().unwrap();
    let args = ["selfplay", "--store", run, "--spool", spool, "--json", "--blobs", &place];
    let worker = Process::start(&[&args[..], &["--name", "box", "--workers", "1"]].concat());
    wait_until("games", || status(run)["games"].as_u64().unwrap() >= before + 4);
    // A second worker on the same spool is refused with the remedy.
    let refused = tengen(&args);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--spool"));
    if cfg!(not(feature = "s3")) {
        let refused = tengen(&["janitor", "--store", run, "--once", "--blobs", "s3://bucket/run"]);
        assert_eq!(refused.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&refused.stderr).contains("--features s3"));
    }
    let worker: Value = serde_json::from_str(&worker.stop()).unwrap();
    assert_eq!(worker["waiting"], 0, "{worker}");
    let best = status(run)["best"].as_str().unwrap().to_owned();
    assert!(blobs.join(format!("{best}.safetensors")).is_file());
    assert!(status(run)["best_age_seconds"].as_f64().unwrap() > 0.0);
    // Another run's place, and the run's own folder, are nobody's to delete in.
    let own = format!("folder:{run}/networks");
    let refused = tengen(&["janitor", "--store", run, "--once", "--blobs", &own]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("a place of its own"));
    wait_until("an empty inbox", || status(run)["inbox"] == 0);
    let janitor: Value = serde_json::from_str(&janitor.stop()).unwrap();
    let played = worker["games"].as_u64().unwrap();
    assert_eq!(janitor["games"]["accepted"], played, "{janitor}");
    assert_eq!(janitor["games"]["quarantined"], 0, "{janitor}");
    // What is told of searches made again is what an honest worker's games give; with so few visits a
    // game or two differ by chance.
    let [looked_at, doubtful] =
        ["looked_at", "doubtful"].map(|key| janitor["games"][key].as_u64().unwrap());
    assert!(looked_at > 0 && doubtful * 20 <= looked_at.max(20), "{janitor}");
    let after = status(run);
    assert_eq!(after["games"].as_u64().unwrap(), before + played);
    assert_eq!(after["workers"][0]["games"], played, "{after}");
    let check = json(&["store", "fsck", "--run", run, "--json"]);
    assert_eq!(check["ok"], true, "{check}");
    let text = tengen(&["fleet", "status", "--store", run, "--prometheus"]);
    assert!(
        String::from_utf8_lossy(&text.stdout).contains("tengen_worker_games_total{worker=\"box-")
    );
}

/// The whole way of docs/fleet.md: a run moves to a server, its folder names the server, the loop goes
/// on there, and a worker that knows the address alone hands games in.
#[test]
fn a_run_moves_to_a_server_and_goes_on_there_with_a_worker_from_elsewhere() {
    let Some(server) = tengen_store::testing::PgServer::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (config, run) = (config(folder.path()), folder.path().join("run"));
    run_loop(&config, &run, "1");
    let url = server.url(&server.fresh_schema());
    let dir = run.to_str().unwrap();
    let moved = json(&["store", "move", "--from", dir, "--to", &url, "--json"]);
    std::fs::write(run.join("store.url"), format!("{url}\n")).unwrap();
    let before = status(dir)["games"].as_u64().unwrap();
    assert_eq!(moved["games"], before);
    run_loop(&config, &run, "16");
    let middle = status(&url)["games"].as_u64().unwrap();
    assert!(middle > before, "the loop plays on the server");
    let janitor = Process::start(&["janitor", "--store", dir]);
    let spool = folder.path().join("spool");
    let worker = Process::start(
        &[
            &["selfplay", "--store", &url, "--spool", spool.to_str().unwrap()][..],
            &["--workers", "1", "--json"],
        ]
        .concat(),
    );
    wait_until("games", || status(&url)["games"].as_u64().unwrap() >= middle + 3);
    let worker: Value = serde_json::from_str(&worker.stop()).unwrap();
    wait_until("an empty inbox", || status(&url)["inbox"] == 0);
    janitor.stop();
    let played = worker["games"].as_u64().unwrap();
    assert_eq!(status(&url)["games"].as_u64().unwrap(), middle + played);
    let check = json(&["store", "fsck", "--run", dir, "--json"]);
    assert_eq!(check["ok"], true, "{check}");
}

#[test]
fn a_draining_run_sends_its_workers_home_and_a_paused_one_lets_them_wait() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    run_loop(&config(folder.path()), &run, "1");
    let (run, spool) = (run.to_str().unwrap(), folder.path().join("spool"));
    let janitor = Process::start(&["janitor", "--store", run]);
    let said = tengen(&["fleet", "mode", "draining", "--store", run]);
    assert!(said.status.success(), "{said:?}");
    assert_eq!(status(run)["mode"], "draining");
    // It comes, is told, and leaves.
    let args = ["selfplay", "--store", run, "--spool", spool.to_str().unwrap(), "--json"];
    let report: Value = serde_json::from_slice(&tengen(&args).stdout).unwrap();
    assert_eq!(report["games"], 0, "{report}");
    let reach = json(&["doctor", "--fleet", run, "--json"]);
    let checks = reach["checks"].as_array().unwrap();
    assert!(checks.iter().any(|check| check["name"] == "run" && check["ok"] == true), "{reach}");
    drop(janitor);
    let lost = tengen(&["selfplay", "--store", "nowhere"]);
    assert_eq!(lost.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&lost.stderr).contains("no run at nowhere"));
}
