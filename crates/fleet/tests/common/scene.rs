//! A run on a PostgreSQL server of its own, and worker processes that can be killed and frozen.
#![allow(dead_code, missing_docs, clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tengen_fleet::{WorkerConfig, work};
use tengen_store::testing::PgServer;
use tengen_store::{
    NetworkStatus, NewMatch, NewNetwork, NewRun, PROTOCOL, Store, Upstream, WorkerClient,
    WorkerHello,
};

use super::{TestHost, config};

const URL: &str = "TENGEN_TEST_WORKER_URL";
const SPOOL: &str = "TENGEN_TEST_WORKER_SPOOL";

pub struct Scene {
    pub server: PgServer,
    pub schema: String,
    pub folder: TempDir,
}

impl Scene {
    /// `None`, with a line, on a machine without PostgreSQL.
    pub fn new() -> Option<Self> {
        PgServer::start().map(Self::on)
    }

    /// A fresh run on `server`.
    pub fn on(server: PgServer) -> Self {
        let (schema, folder) = (server.fresh_schema(), tempfile::tempdir().unwrap());
        let scene = Self { server, schema, folder };
        let run = NewRun {
            name: "test".into(),
            config_text: String::new(),
            config_digest: "c0ffee".into(),
            seed: 7,
        };
        scene.store().init_run(&run).unwrap();
        scene
    }

    pub fn url(&self) -> String {
        self.url_over(self.server.folder())
    }

    /// The run's address through a socket in `folder`.
    pub fn url_over(&self, folder: &Path) -> String {
        let schema = &self.schema;
        format!("postgres:///postgres?host={}&user=tengen&schema={schema}", folder.display())
    }

    pub fn store(&self) -> Store {
        Store::connect(&self.url()).unwrap()
    }

    pub fn client(&self) -> WorkerClient {
        WorkerClient::connect(&self.url()).unwrap()
    }

    /// The address for a login that has the role of a worker and no other right.
    pub fn url_of_a_worker(&self) -> String {
        self.store().grant_roles().unwrap();
        self.sql("CREATE ROLE box LOGIN; GRANT tengen_worker TO box");
        self.server.url_of("box", &self.schema)
    }

    /// The server without the store, with the run's tables in sight.
    pub fn raw(&self) -> postgres::Client {
        self.raw_of("tengen")
    }

    pub fn raw_of(&self, user: &str) -> postgres::Client {
        let folder = self.server.folder().display();
        let url = format!("postgres:///postgres?host={folder}&user={user}");
        let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
        client.batch_execute(&format!("SET search_path TO {}", self.schema)).unwrap();
        client
    }

    pub fn sql(&self, sql: &str) {
        self.raw().batch_execute(sql).unwrap();
    }

    /// A network and its bytes, in the run's keeping.
    pub fn network(&self, bytes: &[u8], parent: Option<&str>) -> NewNetwork {
        let network = network_of(bytes, parent);
        self.store().put_network_bytes(&network.id, bytes).unwrap();
        network
    }

    /// Makes the network of these bytes the run's first best one.
    pub fn first_best(&self, bytes: &[u8]) -> String {
        let first = NewNetwork { status: NetworkStatus::Best, ..self.network(bytes, None) };
        self.store().add_network(&first).unwrap();
        first.id
    }

    /// Enters a candidate against `base`; returns the match and the candidate.
    pub fn candidate(&self, bytes: &[u8], base: &str, gate: &str, pairs: u32) -> (i64, String) {
        let candidate = self.network(bytes, Some(base));
        let plan = NewMatch {
            gate_config_json: gate.to_owned(),
            pairs_planned: pairs,
            base: base.to_owned(),
        };
        (self.store().add_candidate(&candidate, &plan).unwrap(), candidate.id)
    }
}

/// A candidate of these bytes.
pub fn network_of(bytes: &[u8], parent: Option<&str>) -> NewNetwork {
    let id = blake3::hash(bytes).to_hex().to_string();
    NewNetwork {
        file: format!("networks/{id}.safetensors"),
        id,
        parent: parent.map(str::to_owned),
        step: 1,
        games: 1,
        samples: 1,
        status: NetworkStatus::Candidate,
        losses_json: "{}".into(),
    }
}

pub fn hello(name: &str) -> WorkerHello {
    WorkerHello {
        name: name.to_owned(),
        host: String::new(),
        device: "cpu".into(),
        version: "1".into(),
        protocol: PROTOCOL,
    }
}

/// Waits until `done`, `most` at most.
pub fn wait_for(what: &str, most: Duration, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < most, "waiting for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The body of `child_works_until_told` in whatever test starts [`WorkerProcess`]es: works until it is
/// killed or a file `stop` lies beside the spool.
pub fn work_if_told() {
    let (Ok(url), Ok(spool)) = (std::env::var(URL), std::env::var(SPOOL)) else { return };
    let stop = Path::new(&spool).with_file_name("stop");
    let connect = Box::new(move || Ok(Box::new(WorkerClient::connect(&url)?) as Box<dyn Upstream>));
    // The sent-log is what the run is held to at the end, so it forgets nothing.
    let config = WorkerConfig {
        rest: Duration::from_secs(20),
        sent_log: Duration::from_secs(86_400),
        ..config(Path::new(&spool))
    };
    work(&config, &TestHost::default(), connect, &|| stop.exists()).unwrap();
}

/// A worker process of lower priority than the test that watches it; it ends with the test.
pub struct WorkerProcess {
    child: Child,
    pub spool: PathBuf,
    pub is_frozen: bool,
}

impl WorkerProcess {
    pub fn start(url: &str, spool: &Path) -> Self {
        // `nice` becomes the program, so the process's number is the worker's.
        let child = Command::new("nice")
            .args(["-n", "5"])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "child_works_until_told", "--nocapture"])
            .env(URL, url)
            .env(SPOOL, spool)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        Self { child, spool: spool.to_owned(), is_frozen: false }
    }

    fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    }

    /// SIGSTOP: from now on it does nothing, and notices nothing of that.
    pub fn freeze(&mut self) {
        self.signal("-STOP");
        self.is_frozen = true;
    }

    pub fn thaw(&mut self) {
        if self.is_frozen {
            self.signal("-CONT");
            self.is_frozen = false;
        }
    }

    /// SIGKILL, frozen or not.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub fn is_gone(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for its end, which must be a good one.
    pub fn join(mut self) {
        self.thaw();
        assert!(self.child.wait().unwrap().success(), "{}", self.spool.display());
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Every game that was ever finished in this spool: `(worker, counter)`; none may wait any more.
pub fn finished(spool: &Path) -> Vec<(String, u64)> {
    let db = rusqlite::Connection::open(spool.join("outbox.db")).unwrap();
    let worker: String = db.query_row("SELECT uid FROM worker", [], |row| row.get(0)).unwrap();
    let waiting: i64 = db
        .query_row("SELECT count(*) FROM games WHERE sent_us IS NULL", [], |row| row.get(0))
        .unwrap();
    assert_eq!(waiting, 0, "{}: unsent or refused games", spool.display());
    let mut query = db.prepare("SELECT counter FROM games").unwrap();
    let counters = query.query_map([], |row| row.get::<_, i64>(0)).unwrap();
    counters.map(|counter| (worker.clone(), counter.unwrap().cast_unsigned())).collect()
}
