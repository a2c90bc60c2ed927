//! Workers, janitor and matchmaker on a run's real store: a file, and a PostgreSQL server where there
//! is one.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use common::scene::hello;
use common::{TestHost, config, plan};
use tengen_fleet::{Janitor, MatchEnd, MatchRound, attend_match, work};
use tengen_store::testing::PgServer;
use tengen_store::{
    GameId, NetworkStatus, NewMatch, NewNetwork, NewRun, Store, Upload, Upstream, WorkerClient,
    WorkerState,
};

/// A fresh run, and how to come to it as its keeper and as a worker.
struct Run {
    _folder: tempfile::TempDir,
    place: String,
}

impl Run {
    fn each(test: fn(&Run)) {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("tengen.db").display().to_string();
        Run { _folder: folder, place }.begin(test);
        if let Some(server) = PgServer::shared() {
            let place = server.url(&server.fresh_schema());
            Run { _folder: tempfile::tempdir().unwrap(), place }.begin(test);
        }
    }

    fn begin(self, test: fn(&Run)) {
        self.store()
            .init_run(&NewRun {
                name: "test".into(),
                config_text: String::new(),
                config_digest: "c0ffee".into(),
                seed: 7,
            })
            .unwrap();
        test(&self);
    }

    fn store(&self) -> Store {
        Store::open_any(&self.place).unwrap()
    }

    fn upstream(&self) -> Box<dyn Upstream> {
        if self.place.starts_with("postgres") {
            Box::new(WorkerClient::connect(&self.place).unwrap())
        } else {
            Box::new(self.store())
        }
    }

    /// Lets `workers` work while `meanwhile` does something until it says so.
    fn with_workers(&self, workers: usize, mut meanwhile: impl FnMut() -> bool) {
        let stop = AtomicBool::new(false);
        let folder = tempfile::tempdir().unwrap();
        let host = TestHost::default();
        thread::scope(|scope| {
            let threads: Vec<_> = (0..workers)
                .map(|n| {
                    let config = config(&folder.path().join(n.to_string()));
                    let (stop, host) = (&stop, &host);
                    scope.spawn(move || {
                        let connect = self.connector();
                        work(&config, host, connect, &|| stop.load(Ordering::Relaxed)).unwrap()
                    })
                })
                .collect();
            let begun = Instant::now();
            while !meanwhile() && begun.elapsed() < Duration::from_secs(60) {
                thread::sleep(Duration::from_millis(10));
            }
            stop.store(true, Ordering::Relaxed);
            for thread in threads {
                assert_eq!(thread.join().unwrap().waiting, 0);
            }
        });
    }

    fn connector(&self) -> tengen_fleet::Connect {
        let again = Run { _folder: tempfile::tempdir().unwrap(), place: self.place.clone() };
        Box::new(move || Ok(again.upstream()))
    }

    /// Registers a network and keeps its bytes.
    fn network(&self, bytes: &[u8], parent: Option<&str>) -> NewNetwork {
        let id = blake3::hash(bytes).to_hex().to_string();
        self.store().put_network_bytes(&id, bytes).unwrap();
        NewNetwork {
            file: format!("networks/{id}.safetensors"),
            id,
            parent: parent.map(str::to_owned),
            step: 1,
            games: 1,
            samples: 1,
            status: NetworkStatus::Best,
            losses_json: "{}".into(),
        }
    }
}

#[test]
fn games_of_two_workers_become_the_runs_once_the_janitor_has_looked() {
    Run::each(|run| {
        let (mut store, mut janitor) = (run.store(), Janitor::default());
        run.with_workers(2, || {
            janitor.sweep(&mut store, &|_| Ok(plan()), None).unwrap();
            store.counts().unwrap().games >= 30
        });
        while janitor.sweep(&mut store, &|_| Ok(plan()), None).unwrap().total() > 0 {}
        let workers = store.workers().unwrap();
        let played: u64 = workers.iter().map(|worker| worker.counts.games).sum();
        assert_eq!((workers.len(), store.counts().unwrap().games), (2, played));
        assert!(store.quarantined(9).unwrap().is_empty());
        assert!(store.fsck().unwrap().ok);
    });
}

#[test]
fn a_forger_is_suspected_then_blocked_and_no_game_of_its_enters_the_run() {
    Run::each(|run| {
        let (mut store, mut upstream) = (run.store(), run.upstream());
        let uid = upstream.register(&hello("forger")).unwrap().run_uid;
        let mut hand_in = |counter| {
            let payload = vec![counter as u8; 50];
            upstream.submit(&[Upload {
                id: GameId::derive(&uid, "forger", counter),
                worker: "forger".into(),
                counter,
                network: "uniform".into(),
                payload_hash: *blake3::hash(&payload).as_bytes(),
                payload,
            }])
        };
        let mut janitor = Janitor::default();
        let mut states = Vec::new();
        for counter in 0..10 {
            hand_in(counter).unwrap();
            janitor.sweep(&mut store, &|_| Ok(plan()), None).unwrap();
            states.push(store.workers().unwrap()[0].state);
        }
        assert_eq!(states[1..3], [WorkerState::Ok, WorkerState::Suspect]);
        assert_eq!(states[8..], [WorkerState::Suspect, WorkerState::Blocked]);
        assert!(hand_in(10).unwrap_err().to_string().contains("blocked"));
        assert_eq!(store.counts().unwrap().games, 0);
        assert_eq!(store.quarantined(99).unwrap().len(), 10);
    });
}

/// Attends until the match has its verdict.
fn conclude(run: &Run, workers: usize) -> MatchRound {
    let mut store = run.store();
    let mut last = None;
    run.with_workers(workers, || {
        last = attend_match(&mut store).unwrap();
        last.as_ref().is_none_or(|round| round.end.is_some())
    });
    last.unwrap()
}

#[test]
fn workers_play_a_match_in_blocks_and_the_verdict_and_promotion_fall_together() {
    Run::each(|run| {
        let mut store = run.store();
        let base = run.network(b"base", None);
        store.add_network(&base).unwrap();
        let candidate = run.network(b"candidate", Some(&base.id));
        let gate = r#"{"mode":"fixed","pairs":12,"threshold":0.3,"visits":4,"opening_moves":2}"#;
        let plan =
            NewMatch { gate_config_json: gate.into(), pairs_planned: 12, base: base.id.clone() };
        let id = store.add_candidate(&candidate, &plan).unwrap();
        let round = conclude(run, 2);
        assert_eq!((round.match_id, &round.candidate), (id, &candidate.id));
        // Equals score near a half, and the threshold is far below.
        assert_eq!(round.end, Some(MatchEnd::Promoted), "{round:?}");
        assert_eq!(store.best().unwrap().unwrap().id, candidate.id);
        assert!(attend_match(&mut store).unwrap().is_none(), "a second matchmaker finds nothing");
        assert!(store.quarantined(9).unwrap().is_empty());
    });
}

#[test]
fn a_match_against_a_network_that_is_no_longer_the_best_is_void() {
    Run::each(|run| {
        let mut store = run.store();
        let base = run.network(b"base", None);
        store.add_network(&base).unwrap();
        let plan =
            NewMatch { gate_config_json: "{}".into(), pairs_planned: 8, base: base.id.clone() };
        let candidate = run.network(b"candidate", Some(&base.id));
        store.add_candidate(&candidate, &plan).unwrap();
        let other = run.network(b"other", Some(&base.id));
        store
            .add_network(&NewNetwork { status: NetworkStatus::Candidate, ..other.clone() })
            .unwrap();
        store.promote_by_hand(&other.id, "test", "why not").unwrap();
        let round = attend_match(&mut store).unwrap().unwrap();
        assert!(matches!(round.end, Some(MatchEnd::Void(_))), "{round:?}");
        assert_eq!(store.best().unwrap().unwrap().id, other.id);
    });
}
