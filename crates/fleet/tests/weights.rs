//! Networks that come damaged, late or not at all: the worker plays on, tells, and the run mends or steps
//! back.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use common::scene::hello;
use common::{Model, TestHost, config};
use tengen_blob::EXTENSION;
use tengen_fleet::{
    BlobError, BlobSource, BlobStore, Complaints, FleetError, FolderBlobs, HandOut, OpenBlobs,
    WorkerConfig, work,
};
use tengen_store::testing::PgServer;
use tengen_store::{
    Block, BlockLease, MAX_NETWORK_BYTES, NetworkStatus, NewMatch, NewNetwork, NewRun, Store,
    Upstream, WorkerState,
};

/// A folder behind a line that is slow, or broken.
struct Line {
    folder: FolderBlobs,
    bytes_a_second: u64,
    is_down: Arc<AtomicBool>,
}

impl BlobSource for Line {
    fn get(&mut self, name: &str) -> Result<Vec<u8>, BlobError> {
        if self.is_down.load(Ordering::Relaxed) {
            return Err(BlobError::Away("503 Service Unavailable".into()));
        }
        let size = fs::metadata(self.folder.path(name)).map_or(0, |file| file.len());
        thread::sleep(Duration::from_secs_f64(size as f64 / self.bytes_a_second as f64));
        self.folder.get(name)
    }
}

/// Networks of a run that lie in a folder alone, and a worker that looks there.
struct Scene {
    spool: tempfile::TempDir,
    folder: tempfile::TempDir,
    model: Model,
    host: TestHost,
    is_down: Arc<AtomicBool>,
}

impl Scene {
    fn new() -> Self {
        Self {
            spool: tempfile::tempdir().unwrap(),
            folder: tempfile::tempdir().unwrap(),
            model: Model::default(),
            host: TestHost::default(),
            is_down: Arc::default(),
        }
    }

    fn file(&self, name: &str) -> std::path::PathBuf {
        FolderBlobs::new(self.folder.path(), EXTENSION).path(name)
    }

    /// Makes the network of these bytes the best; `found` is what lies in its place.
    fn promote(&self, bytes: &[u8], found: &[u8]) -> String {
        let name = blake3::hash(bytes).to_hex().to_string();
        fs::write(self.file(&name), found).unwrap();
        self.model.run(|run| run.state.best = Some(name.clone()));
        name
    }

    fn games_of(&self, network: &str) -> usize {
        self.model.run(|run| run.games.values().filter(|g| g.network == network).count())
    }

    fn wait_for_games(&self, network: &str) {
        let before = self.games_of(network);
        self.model.wait_until("games", |run| {
            run.games.values().filter(|game| game.network == network).count() >= before + 20
        });
    }

    fn work(&self, bytes_a_second: u64, meanwhile: impl FnOnce()) {
        let (folder, is_down) = (self.folder.path().to_owned(), Arc::clone(&self.is_down));
        let open: OpenBlobs = Arc::new(move || {
            let folder = FolderBlobs::new(&folder, EXTENSION);
            Ok(Box::new(Line { folder, bytes_a_second, is_down: Arc::clone(&is_down) }))
        });
        let config = WorkerConfig { blobs: Some(open), ..config(self.spool.path()) };
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            let connect = self.model.connect();
            let worker = scope
                .spawn(|| work(&config, &self.host, connect, &|| stop.load(Ordering::Relaxed)));
            let _stop = StopOnDrop(&stop);
            meanwhile();
            stop.store(true, Ordering::Relaxed);
            worker.join().unwrap().unwrap();
        });
    }
}

struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn truncated_flipped_and_empty_networks_are_told_of_and_never_played() {
    let scene = Scene::new();
    let first = scene.promote(b"first", b"first");
    scene.work(u64::MAX, || {
        scene.wait_for_games(&first);
        for (bytes, found) in [(b"second", &b"secon"[..]), (b"third.", b"thirf."), (b"fourth", b"")]
        {
            let damaged = scene.promote(bytes, found);
            scene.model.wait_until("the report", |run| {
                run.damaged.iter().any(|(_, network)| *network == damaged)
            });
            scene.wait_for_games(&first);
            assert_eq!(scene.games_of(&damaged), 0);
        }
        let fifth = scene.promote(b"fifth", b"fifth");
        scene.wait_for_games(&fifth);
    });
    scene.model.run(|run| {
        let worker = run.workers.keys().next().unwrap();
        assert_eq!(run.damaged.len(), 3, "each was told of once: {:?}", run.damaged);
        assert!(run.damaged.iter().all(|(who, _)| who == worker));
    });
    assert_eq!(*scene.host.loaded.lock().unwrap(), [b"first".to_vec(), b"fifth".to_vec()]);
}

#[test]
fn a_place_that_is_down_stops_no_game_and_the_run_itself_is_asked() {
    let scene = Scene::new();
    let first = scene.promote(b"first", b"first");
    scene.work(u64::MAX, || {
        scene.wait_for_games(&first);
        scene.is_down.store(true, Ordering::Relaxed);
        // The run does not keep this one ...
        let second = scene.promote(b"second", b"second");
        scene.wait_for_games(&first);
        assert_eq!(scene.games_of(&second), 0);
        // ... but this one.
        let third = scene.model.run(|run| run.promote(b"third"));
        scene.wait_for_games(&third);
        scene
            .model
            .run(|run| assert!(run.damaged.is_empty(), "a place that is down is not damage"));
    });
}

#[test]
fn at_ten_kilobytes_a_second_games_are_played_and_shipped_meanwhile() {
    let scene = Scene::new();
    let first = scene.promote(b"first", b"first");
    scene.work(10_000, || {
        scene.wait_for_games(&first);
        let (begun, large) = (Instant::now(), vec![1; 20_000]);
        let second = scene.promote(&large, &large);
        scene.wait_for_games(&first);
        assert!(begun.elapsed() < Duration::from_secs(2), "the download takes two seconds");
        scene.wait_for_games(&second);
        assert!(begun.elapsed() > Duration::from_secs(2));
    });
}

#[test]
fn a_block_is_played_once_both_of_its_networks_have_come() {
    let scene = Scene::new();
    let best = scene.promote(b"best", b"best");
    let candidate = scene.promote(&[3; 300], &[3; 300]);
    scene.model.run(|run| {
        run.state.best = Some(best.clone());
        run.blocks.push_back(block(&candidate, &best));
    });
    scene.work(1_000, || {
        scene.model.wait_until("the block", |run| !run.block_games.is_empty());
        // The next one's candidate is nowhere: its lease goes back at once.
        let missing = "0".repeat(64);
        scene.model.run(|run| run.blocks.push_back(block(&missing, &best)));
        scene.model.wait_until("the block given back", |run| run.block_games.len() == 2);
        scene.wait_for_games(&best);
    });
    scene.model.run(|run| {
        let games: Vec<usize> = run.block_games.iter().map(|(_, games)| games.len()).collect();
        assert_eq!(games, [4, 0]);
    });
}

fn block(candidate: &str, base: &str) -> Block {
    Block {
        lease: BlockLease { match_id: 3, block: 0, worker: String::new(), epoch: 1 },
        candidate: candidate.to_owned(),
        base: base.to_owned(),
        gate_config_json: r#"{"pairs":2,"visits":4,"opening_moves":1}"#.into(),
        pairs: 0..2,
        done: Vec::new(),
        lease_seconds: 60,
    }
}

/// A run whose store can be opened twice, in a file and on a server.
fn each_run(test: fn(&mut Store, &Path)) {
    let folder = tempfile::tempdir().unwrap();
    let mut stores = vec![Store::open(&folder.path().join("tengen.db")).unwrap()];
    if let Some(server) = PgServer::shared() {
        stores.push(Store::open_any(&server.url(&server.fresh_schema())).unwrap());
    }
    for store in &mut stores {
        let new = NewRun {
            name: "test".into(),
            config_text: String::new(),
            config_digest: "c0ffee".into(),
            seed: 7,
        };
        store.init_run(&new).unwrap();
        test(store, tempfile::tempdir().unwrap().path());
    }
}

/// Registers a network with its file in `files`, and makes it the best if so wanted.
fn register(store: &mut Store, files: &Path, bytes: &[u8], best: bool) -> String {
    let id = blake3::hash(bytes).to_hex().to_string();
    fs::write(files.join(format!("{id}.{EXTENSION}")), bytes).unwrap();
    store
        .add_network(&NewNetwork {
            id: id.clone(),
            parent: None,
            file: format!("networks/{id}.safetensors"),
            step: 1,
            games: 1,
            samples: 1,
            status: NetworkStatus::Candidate,
            losses_json: "{}".into(),
        })
        .unwrap();
    if best {
        store.promote_by_hand(&id, "test", "test").unwrap();
    }
    id
}

/// Two folders: network files at hand, and a place of blobs.
fn folders(root: &Path) -> (std::path::PathBuf, std::path::PathBuf) {
    let (files, place) = (root.join("networks"), root.join("blobs"));
    fs::create_dir_all(&files).unwrap();
    fs::create_dir_all(&place).unwrap();
    (files, place)
}

fn blobs(place: &Path) -> Option<Box<dyn BlobStore>> {
    Some(Box::new(FolderBlobs::new(place, EXTENSION)))
}

fn say_damaged(store: &mut Store, network: &str, workers: &[&str]) {
    for name in workers {
        store.register(&hello(name)).unwrap();
        store.report_damaged(name, network, "20 bytes came").unwrap();
    }
}

fn newest_event(store: &Store) -> String {
    store.events(1).unwrap().pop().map(|event| event.kind).unwrap_or_default()
}

#[test]
fn three_workers_make_the_run_step_back_from_a_network_that_nobody_can_mend() {
    each_run(|store, root| {
        let (files, place) = folders(root);
        let mut hand_out = HandOut::new(Some(files.clone()), blobs(&place));
        let first = register(store, &files, b"first", true);
        let second = register(store, &files, &[2; 100], true);
        hand_out.round(store).unwrap();
        // Its file is lost, and what lies in the places is damaged.
        fs::remove_file(files.join(format!("{second}.{EXTENSION}"))).unwrap();
        fs::write(place.join(format!("{second}.{EXTENSION}")), [2; 99]).unwrap();
        store.drop_network_bytes(&second).unwrap();
        let mut complaints = Complaints::default();
        for workers in [&["a"][..], &["a", "b"], &["a", "b"]] {
            say_damaged(store, &second, workers);
            complaints.attend(store, &mut hand_out).unwrap();
            assert_eq!(store.best().unwrap().unwrap().id, second, "{workers:?}");
        }
        // A suspect's word is not heard.
        say_damaged(store, &second, &["liar"]);
        store.set_worker_state("liar", WorkerState::Suspect).unwrap();
        complaints.attend(store, &mut hand_out).unwrap();
        assert_eq!(store.best().unwrap().unwrap().id, second);
        say_damaged(store, &second, &["c"]);
        complaints.attend(store, &mut hand_out).unwrap();
        assert_eq!(store.best().unwrap().unwrap().id, first);
        assert_eq!(newest_event(store), "network-withdrawn");
        let last = store.promotions().unwrap().pop().unwrap();
        assert_eq!((&*last.kind, &*last.who), ("rollback", "janitor"));
        assert!(store.withdrawn_networks().unwrap().is_empty(), "its games were sound");
        // Said once more, it costs no further network.
        say_damaged(store, &second, &["a", "b", "c"]);
        complaints.attend(store, &mut hand_out).unwrap();
        assert_eq!(store.best().unwrap().unwrap().id, first);
        assert!(store.fsck().unwrap().ok);
    });
}

#[test]
fn a_damaged_copy_is_mended_from_the_file_and_a_whole_one_cannot_be_talked_away() {
    each_run(|store, root| {
        let (files, place) = folders(root);
        let mut hand_out = HandOut::new(Some(files.clone()), blobs(&place));
        let mut complaints = Complaints::default();
        register(store, &files, b"first", true);
        let second = register(store, &files, b"second", true);
        hand_out.round(store).unwrap();
        let copy = place.join(format!("{second}.{EXTENSION}"));
        fs::write(&copy, b"secong").unwrap();
        say_damaged(store, &second, &["a"]);
        complaints.attend(store, &mut hand_out).unwrap();
        assert_eq!(newest_event(store), "network-mended");
        hand_out.round(store).unwrap();
        assert_eq!(fs::read(&copy).unwrap(), b"second");
        say_damaged(store, &second, &["a", "b", "c", "d"]);
        complaints.attend(store, &mut hand_out).unwrap();
        assert_eq!(store.damage_reports().unwrap().len(), 4, "not looked into within a minute");
        let mut complaints = Complaints::default();
        complaints.attend(store, &mut hand_out).unwrap();
        assert_eq!(newest_event(store), "network-disputed");
        assert_eq!(store.best().unwrap().unwrap().id, second);
        assert!(store.damage_reports().unwrap().is_empty());
    });
}

#[test]
fn the_best_two_before_it_and_open_candidates_are_handed_out_and_others_go_in_time() {
    each_run(|store, root| {
        let (files, place) = folders(root);
        let mut hand_out =
            HandOut::new(Some(files.clone()), blobs(&place)).forgetting_after(Duration::ZERO);
        let nets: Vec<String> =
            (0..5_u8).map(|n| register(store, &files, &[n; 9], n < 4)).collect();
        let plan =
            NewMatch { gate_config_json: "{}".into(), pairs_planned: 8, base: nets[3].clone() };
        let candidate = NewNetwork {
            id: nets[4].clone(),
            parent: None,
            file: String::new(),
            step: 1,
            games: 1,
            samples: 1,
            status: NetworkStatus::Candidate,
            losses_json: "{}".into(),
        };
        store.add_candidate(&candidate, &plan).unwrap();
        // Left over from before.
        let old = FolderBlobs::new(&place, EXTENSION).put_if_absent(b"old").unwrap();
        let refused = hand_out.round(store);
        assert!(matches!(refused, Err(FleetError::Blob(BlobError::Taken { .. }))), "{refused:?}");
        fs::write(place.join("owner.txt"), store.run().unwrap().unwrap().uid).unwrap();
        hand_out.round(store).unwrap();
        let there: Vec<String> = FolderBlobs::new(&place, EXTENSION)
            .list()
            .unwrap()
            .into_iter()
            .map(|kept| kept.name)
            .collect();
        let mut due = nets[1..].to_vec();
        due.sort_unstable();
        assert_eq!(there, due);
        assert!(!there.contains(&old));
        let kept: Vec<String> =
            store.kept_networks().unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(kept, due);
    });
}

#[test]
fn a_large_network_waits_while_there_is_no_place_for_it() {
    each_run(|store, root| {
        let (files, place) = folders(root);
        let large = register(store, &files, &vec![7; MAX_NETWORK_BYTES + 1], true);
        let small = register(store, &files, b"small", true);
        let mut without = HandOut::new(Some(files.clone()), None);
        without.round(store).unwrap();
        assert!(without.is_waiting(&large) && !without.is_waiting(&small));
        // A place that is not there yet.
        fs::remove_dir(&place).unwrap();
        let mut hand_out = HandOut::new(Some(files.clone()), blobs(&place));
        hand_out.round(store).unwrap();
        assert!(hand_out.is_waiting(&large) && !hand_out.is_waiting(&small));
        fs::create_dir(&place).unwrap();
        let mut hand_out = HandOut::new(Some(files), blobs(&place));
        hand_out.round(store).unwrap();
        assert!(!hand_out.is_waiting(&large));
        assert!(place.join(format!("{large}.{EXTENSION}")).is_file());
    });
}
