//! Small games and a store in a temporary folder, shared by the tests.
#![allow(dead_code, missing_docs, clippy::unwrap_used)]

use std::path::PathBuf;

use tempfile::TempDir;
use tengen_record::{EndReason, GameRecord, SearchRecord, Turn};
use tengen_rules::{BoardSize, Color, GameState, Komi, Move, Outcome, Rules};
use tengen_store::{GameId, NetworkStatus, NewGame, NewMatch, NewNetwork, NewRun, Store};

pub struct Bench {
    pub folder: TempDir,
    pub store: Store,
    pub uid: String,
}

impl Bench {
    /// A fresh run.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&folder.path().join("tengen.db")).unwrap();
        let uid = store.init_run(&new_run(7)).unwrap().uid;
        Self { folder, store, uid }
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("tengen.db")
    }

    /// A second process, so to speak.
    pub fn again(&self) -> Store {
        Store::open(&self.path()).unwrap()
    }

    /// The database without its keeper, to damage it with.
    pub fn raw(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.path()).unwrap()
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
