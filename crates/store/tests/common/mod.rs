//! Small games and a store in a temporary folder, shared by the tests.
#![allow(dead_code, missing_docs, clippy::unwrap_used)]

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use tempfile::TempDir;
use tengen_record::{EndReason, GameRecord, SearchRecord, Turn};
use tengen_rules::{BoardSize, Color, GameState, Komi, Move, Outcome, Rules};
use tengen_store::testing::PgServer;
use tengen_store::{
    Engine, GameId, NetworkStatus, NewGame, NewMatch, NewNetwork, NewRun, PROTOCOL, Store, Upload,
    WorkerClient, WorkerHello,
};

/// A fresh run, in a file or on the server of these tests.
pub struct Bench {
    pub folder: TempDir,
    pub store: Store,
    pub uid: String,
    /// What `Store::open_any` takes.
    pub place: String,
}

impl Bench {
    pub fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("tengen.db").to_str().unwrap().to_owned();
        Self::at(folder, place)
    }

    /// `None` on a machine without PostgreSQL.
    pub fn postgres() -> Option<Self> {
        let server = PgServer::shared()?;
        Some(Self::at(tempfile::tempdir().unwrap(), server.url(&server.fresh_schema())))
    }

    fn at(folder: TempDir, place: String) -> Self {
        let mut store = Store::open_any(&place).unwrap();
        let uid = store.init_run(&new_run(7)).unwrap().uid;
        Self { folder, store, uid, place }
    }

    /// A second run, or a first one of the same seed elsewhere.
    pub fn twin(&self) -> Self {
        Self::at(tempfile::tempdir().unwrap(), self.another_place())
    }

    /// Where no run is yet, on the same engine.
    pub fn another_place(&self) -> String {
        match self.store.engine() {
            Engine::Sqlite => {
                let folder = tempfile::tempdir_in(self.folder.path()).unwrap().keep();
                folder.join("tengen.db").to_str().unwrap().to_owned()
            }
            Engine::Postgres => {
                let server = PgServer::shared().unwrap();
                server.url(&server.fresh_schema())
            }
        }
    }

    /// The file, of a run in a file.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("tengen.db")
    }

    /// A second process, so to speak.
    pub fn again(&self) -> Store {
        Store::open_any(&self.place).unwrap()
    }

    /// The file without its keeper, to damage it with.
    pub fn raw(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.path()).unwrap()
    }

    /// The server without the keeper, with the run's tables in sight.
    pub fn raw_postgres(&self) -> postgres::Client {
        let (url, schema) = self.place.split_once("&schema=").unwrap();
        let mut client = postgres::Client::connect(url, postgres::NoTls).unwrap();
        client.batch_execute(&format!("SET search_path TO {schema}")).unwrap();
        client
    }

    /// A worker's own login on the server, which has no right but its role's.
    pub fn worker_login(&mut self) -> WorkerClient {
        // Roles belong to the whole server: one test at a time makes them.
        static ROLES: Mutex<()> = Mutex::new(());
        let guard = ROLES.lock().unwrap_or_else(PoisonError::into_inner);
        self.store.grant_roles().unwrap();
        self.sql(
            "DO $$ BEGIN
                 IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'box') THEN CREATE ROLE box LOGIN; END IF;
                 GRANT tengen_worker TO box;
             END $$",
        );
        drop(guard);
        let schema = self.place.split_once("&schema=").unwrap().1;
        WorkerClient::connect(&PgServer::shared().unwrap().url_of("box", schema)).unwrap()
    }

    /// Runs statements behind the store's back.
    pub fn sql(&self, sql: &str) {
        match self.store.engine() {
            Engine::Sqlite => self.raw().execute_batch(sql).unwrap(),
            Engine::Postgres => self.raw_postgres().batch_execute(sql).unwrap(),
        }
    }

    /// Flips a bit in the payload of one row.
    pub fn flip_a_byte(&self, table: &str, row: &str) {
        let read = format!("SELECT payload FROM {table} WHERE {row}");
        let write = format!("UPDATE {table} SET payload = $1 WHERE {row}");
        let flip = |mut blob: Vec<u8>| {
            let middle = blob.len() / 2;
            blob[middle] ^= 1;
            blob
        };
        match self.store.engine() {
            Engine::Sqlite => {
                let raw = self.raw();
                let blob = flip(raw.query_row(&read, [], |row| row.get(0)).unwrap());
                raw.execute(&write, [&blob]).unwrap();
            }
            Engine::Postgres => {
                let mut raw = self.raw_postgres();
                let blob = flip(raw.query_one(&read, &[]).unwrap().get(0));
                raw.execute(&write, &[&blob]).unwrap();
            }
        }
    }

    /// Makes the store look as if a program of that schema version had written it.
    pub fn pretend_schema(&self, version: u32) {
        self.sql(&match self.store.engine() {
            Engine::Sqlite => format!("PRAGMA user_version = {version}"),
            Engine::Postgres => format!(
                "INSERT INTO migrations SELECT {version}, 'later', checksum, 0 FROM migrations WHERE version = 1"
            ),
        });
    }

    pub fn game<'a>(&self, worker: &str, counter: u64, record: &'a GameRecord) -> NewGame<'a> {
        game(&self.uid, worker, counter, record)
    }

    /// Appends games `0..n` of worker `w`, game `k` with `k + 1` targets.
    pub fn fill(&mut self, n: u64) {
        let records: Vec<_> = (0..n).map(|k| record(k as usize + 1)).collect();
        let games: Vec<_> =
            records.iter().zip(0..).map(|(record, k)| self.game("w", k, record)).collect();
        self.store.append_games(&games).unwrap();
    }

    /// Registers `base` as the best network and returns the match of `id` against it.
    pub fn candidate(&mut self, base: &str, id: &str) -> i64 {
        if self.store.best().unwrap().is_none() {
            self.store.add_network(&network(base, None, NetworkStatus::Best)).unwrap();
        }
        let plan =
            NewMatch { gate_config_json: "{}".to_owned(), pairs_planned: 2, base: base.to_owned() };
        self.store.add_candidate(&network(id, Some(base), NetworkStatus::Candidate), &plan).unwrap()
    }
}

pub fn game<'a>(uid: &str, worker: &str, counter: u64, record: &'a GameRecord) -> NewGame<'a> {
    NewGame {
        id: GameId::derive(uid, worker, counter),
        worker: worker.to_owned(),
        counter,
        network: "uniform".to_owned(),
        record,
    }
}

pub fn new_run(seed: u64) -> NewRun {
    NewRun {
        name: "test".to_owned(),
        config_text: "[run]\nname = \"test\"\n".to_owned(),
        config_digest: "c0ffee".to_owned(),
        seed,
    }
}

pub fn network(id: &str, parent: Option<&str>, status: NetworkStatus) -> NewNetwork {
    NewNetwork {
        id: id.to_owned(),
        parent: parent.map(str::to_owned),
        file: format!("networks/{id}.safetensors"),
        step: 10,
        games: 20,
        samples: 1280,
        status,
        losses_json: "{}".to_owned(),
    }
}

/// A 5×5 game: stones row by row from the top left, two passes; the first `targets` moves
/// are training targets.
pub fn record(targets: usize) -> GameRecord {
    let size = BoardSize::square(5).unwrap();
    let (rules, komi) = (Rules::tromp_taylor(), Komi::from_points(0.5).unwrap());
    let mut state = GameState::new(size, rules, komi);
    let mut turns = Vec::new();
    for index in 0..targets.max(1) + 2 {
        let stones = targets.max(1);
        let mv = if index < stones { size.move_at(index) } else { Move::Pass };
        let search = (index < targets).then(|| SearchRecord {
            policy: vec![(size.action(mv) as u16, 1)],
            root_value: 0.25,
            visits: 8,
            is_target: true,
            weight: 1.0,
        });
        state.play(mv).unwrap();
        turns.push(Turn { mv, search });
    }
    GameRecord {
        size,
        rules,
        komi,
        setup_black: Vec::new(),
        setup_white: Vec::new(),
        first_to_play: Color::Black,
        seed: 1,
        players: ["uniform".to_owned(), "uniform".to_owned()],
        config_digest: "c0ffee".to_owned(),
        turns,
        outcome: state.outcome().unwrap(),
        end: EndReason::TwoPasses,
    }
}

/// A game that `winner` wins because the other player resigns after one move.
pub fn resigned(winner: Color) -> GameRecord {
    let mut game = record(1);
    game.turns.truncate(1);
    game.outcome = Outcome::Resignation { winner };
    game.end = EndReason::Resignation;
    game
}

pub fn hello(name: &str) -> WorkerHello {
    WorkerHello {
        name: name.to_owned(),
        host: "box".to_owned(),
        device: "cpu".to_owned(),
        version: "0.1.0".to_owned(),
        protocol: PROTOCOL,
    }
}

/// A game as it travels, with its hash.
pub fn game_bytes(record: &GameRecord) -> (Vec<u8>, [u8; 32]) {
    let payload = tengen_record::encode(record);
    let hash = *blake3::hash(&payload).as_bytes();
    (payload, hash)
}

pub fn upload(uid: &str, worker: &str, counter: u64, record: &GameRecord) -> Upload {
    let (payload, payload_hash) = game_bytes(record);
    let (id, network) = (GameId::derive(uid, worker, counter), "uniform".to_owned());
    Upload { id, worker: worker.to_owned(), counter, network, payload, payload_hash }
}
