//! Whole workers behind a server, on a link that loses answers: their games reach the run, each once.

#![allow(clippy::unwrap_used)]

#[path = "../../store/tests/common/mod.rs"]
mod common;
mod served;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use common::Bench;
use served::raw::Cut;
use served::{Served, address, to_file};
use tengen_fleet::{Connect, Host, Plan, WorkerConfig, work};
use tengen_inference::LeafEvaluator;
use tengen_rules::{BoardSize, Komi, Rules};
use tengen_search::SearchConfig;
use tengen_selfplay::{GameSettings, SelfPlayConfig};
use tengen_serve::{HttpAddress, HttpUpstream, Limits, MetricsServer};
use tengen_store::{RunState, Upstream};

/// A 3×3 game with few visits, one thread, four games in flight, and no network.
struct Uniform;

impl Host for Uniform {
    fn plan(&self, _run: &RunState) -> Result<Plan, String> {
        Ok(Plan {
            settings: GameSettings {
                size: BoardSize::square(3).unwrap(),
                rules: Rules::tromp_taylor(),
                komi: Komi::from_points(0.5).unwrap(),
            },
            others: Vec::new(),
            selfplay: SelfPlayConfig {
                workers: 1,
                games_in_flight: 4,
                ..SelfPlayConfig::default()
            },
            search: SearchConfig { visits: 8, ..SearchConfig::default() },
            starts: Arc::default(),
        })
    }

    fn evaluators(&self, _: &Path, _: usize) -> Result<Vec<Box<dyn LeafEvaluator>>, String> {
        Err("a run without a network".to_owned())
    }
}

fn worker(spool: &Path, label: &str) -> WorkerConfig {
    WorkerConfig {
        look_every: Duration::from_millis(50),
        ship_every: Duration::from_millis(20),
        turn: Duration::from_millis(2),
        drain: Duration::from_millis(200),
        rest: Duration::from_secs(10),
        ..WorkerConfig::new(spool, label)
    }
}

fn connect(address: &HttpAddress, token: &str) -> Connect {
    let (address, token) = (address.clone(), token.to_owned());
    Box::new(move || Ok(Box::new(HttpUpstream::new(&address, &token)?) as Box<dyn Upstream>))
}

#[test]
fn games_of_workers_behind_a_bad_link_reach_the_run_once_each() {
    let mut bench = Bench::sqlite();
    let served = Served::with(Limits::default(), to_file(&bench.path()));
    let other = served.add_token("other");
    let cut = Cut::new(served.server.address());
    let through = address(cut.address, served.folder.path());
    let stop = AtomicBool::new(false);
    let should_stop = || stop.load(Ordering::Relaxed);
    let finished: u64 = thread::scope(|scope| {
        let workers: Vec<_> = [("one", &served.token), ("two", &other)]
            .into_iter()
            .map(|(label, token)| {
                let (connect, should_stop) = (connect(&through, token), &should_stop);
                let spool = served.folder.path().join(label);
                std::fs::create_dir(&spool).unwrap();
                scope.spawn(move || work(&worker(&spool, label), &Uniform, connect, should_stop))
            })
            .collect();
        let begun = Instant::now();
        let mut cuts = 0;
        while cuts < 8 || bench.store.waiting_uploads().unwrap() < 60 {
            if begun.elapsed() > Duration::from_secs(60) {
                break;
            }
            // Sometimes between the commit and its answer, sometimes in the middle of a handshake.
            cut.cut_after(cuts * 700);
            thread::sleep(Duration::from_millis(60));
            cut.cut_after(i64::MAX);
            thread::sleep(Duration::from_millis(600));
            cuts += 1;
        }
        stop.store(true, Ordering::Relaxed);
        let reports = workers.into_iter().map(|worker| worker.join().unwrap().unwrap());
        reports
            .map(|report| {
                assert_eq!(report.waiting, 0, "{report:?}");
                report.games
            })
            .sum()
    });
    assert!(finished >= 60, "{finished}");
    // The run's digest of its configuration is what the games name, so they are sound as they are.
    let waiting = bench.store.take_uploads(0, 100_000).unwrap();
    let settled = bench.store.settle_uploads(&waiting, &mut |_, _| Ok(())).unwrap();
    assert_eq!((settled.accepted, settled.quarantined), (finished, 0), "{settled:?}");
    assert_eq!(bench.store.counts().unwrap().last_seq, finished);
    assert!(bench.store.fsck().unwrap().ok);
    let told: u64 = bench.store.workers().unwrap().iter().map(|worker| worker.counts.games).sum();
    assert_eq!(told, finished, "the run heard the totals");
    let text = (served.server.figures())();
    assert!(text.contains("tengen_serve_calls_total{call=\"submit\",status=\"200\"}"), "{text}");
}

#[test]
fn figures_are_answered_over_http_and_their_failure_too() {
    let failing = Arc::new(AtomicBool::new(false));
    let fails = Arc::clone(&failing);
    let text = move || {
        if fails.load(Ordering::SeqCst) { Err("the run is away") } else { Ok("x 1\n".to_owned()) }
    };
    let server = MetricsServer::start("127.0.0.1:0".parse().unwrap(), text).unwrap();
    let ask = |path: &str| {
        use std::io::Write;
        let mut stream = served::raw::dial(server.address());
        let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        served::raw::rest(&mut stream)
    };
    let answer = ask("/metrics");
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("\r\n\r\nx 1\n"), "{answer}");
    assert!(answer.contains("text/plain; version=0.0.4"), "{answer}");
    assert!(ask("/healthz").ends_with("ok\n"));
    assert!(ask("/").starts_with("HTTP/1.1 404 "));
    failing.store(true, Ordering::SeqCst);
    let answer = ask("/metrics");
    assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains("the run is away"), "{answer}");
}
