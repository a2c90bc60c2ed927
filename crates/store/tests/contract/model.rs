//! Some clients do random things in turn, on the store and on a model of it in memory; every answer
//! must be the same. One seed, one story: a failure prints the seed and the steps before it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tengen_rules::Color;
use tengen_store::{
    Block, BlockGame, Conclusion, Lease, NetworkStatus, NewMatch, Rollback, RunMode, Store,
    StoreError, Upstream, WorkerCounts, WorkerState,
};

use crate::common::{Bench, game, game_bytes, hello, network, record, resigned, upload};

cases! {
    clients_taking_turns_see_what_the_model_sees_1,
    clients_taking_turns_see_what_the_model_sees_2,
    clients_taking_turns_see_what_the_model_sees_3,
}

const STEPS: usize = 250;
const LONG: Duration = Duration::from_secs(3600);
/// Stands where a block's holder does once nothing of it is missing.
const DONE: &str = "";
const WORKERS: [&str; 3] = ["u", "v", "w"];

/// A stored game, as far as the model cares.
#[derive(Clone, Debug, PartialEq)]
struct Game {
    worker: String,
    counter: u64,
    network: String,
    targets: u64,
}

#[derive(Clone, Debug)]
struct Match {
    candidate: String,
    base: String,
    pairs: u32,
    verdict: Option<String>,
    games: BTreeMap<(u32, u8), f32>,
    waiting: BTreeMap<(u32, u8), f32>,
    /// Once it is offered: epoch, attempts and, while it is leased, to whom; or `DONE`.
    block: Option<(u64, u32, Option<String>)>,
}

#[derive(Clone, Debug, Default)]
struct Model {
    games: Vec<Game>,
    inbox: Vec<Game>,
    aside: BTreeSet<(String, u64, u64)>,
    networks: Vec<(String, NetworkStatus)>,
    elo: BTreeMap<String, f64>,
    best: Option<String>,
    promotions: Vec<(&'static str, String)>,
    withdrawn: BTreeSet<String>,
    matches: Vec<Match>,
    /// Name to holder, epoch, and whether it is held.
    leases: BTreeMap<&'static str, (String, u64, bool)>,
    trained: u64,
    ahead_limit: Option<u64>,
    mode: RunMode,
    metrics: u64,
}

impl Model {
    fn status(&mut self, id: &str) -> Option<&mut NetworkStatus> {
        self.networks.iter_mut().find(|(name, _)| name == id).map(|(_, status)| status)
    }

    fn move_best(&mut self, kind: &'static str, to: &str) {
        if let Some(old) = self.best.take() {
            *self.status(&old).unwrap() = NetworkStatus::Promoted;
        }
        *self.status(to).unwrap() = NetworkStatus::Best;
        self.withdrawn.remove(to);
        self.best = Some(to.to_owned());
        self.promotions.push((kind, to.to_owned()));
    }

    fn standing(&self) -> Vec<String> {
        let mut bests = Vec::new();
        for (kind, id) in &self.promotions {
            if *kind == "rollback" {
                bests.pop();
            } else {
                bests.push(id.clone());
            }
        }
        bests
    }

    /// What is known under a worker's number: the targets tell games apart.
    fn known(&self, worker: &str, counter: u64) -> Vec<u64> {
        let stored = self.games.iter().chain(&self.inbox);
        let stored = stored.filter(|g| g.worker == worker && g.counter == counter);
        let aside = self.aside.iter().filter(|(w, c, _)| w == worker && *c == counter);
        stored.map(|g| g.targets).chain(aside.map(|(_, _, targets)| *targets)).collect()
    }

    fn window_start(&self, upto: u64, positions: u64) -> u64 {
        let mut held = 0;
        for (seq, game) in (1..).zip(&self.games).collect::<Vec<(u64, _)>>().into_iter().rev() {
            if seq > upto {
                continue;
            }
            if held >= positions {
                return seq;
            }
            held += if self.withdrawn.contains(&game.network) { 0 } else { game.targets };
        }
        0
    }
}

struct Client {
    store: Store,
    fence: Option<Lease>,
    blocks: Vec<Block>,
}

struct Story {
    rng: ChaCha8Rng,
    model: Model,
    clients: Vec<Client>,
    uid: String,
    told: Vec<String>,
}

fn clients_taking_turns_see_what_the_model_sees_1(bench: &mut Bench) {
    tell(bench, 1, 2);
}

fn clients_taking_turns_see_what_the_model_sees_2(bench: &mut Bench) {
    tell(bench, 2, 4);
}

fn clients_taking_turns_see_what_the_model_sees_3(bench: &mut Bench) {
    tell(bench, 3, 8);
}

fn tell(bench: &mut Bench, seed: u64, clients: usize) {
    let clients = (0..clients)
        .map(|_| Client { store: bench.again(), fence: None, blocks: Vec::new() })
        .collect();
    for worker in WORKERS {
        bench.store.register(&hello(worker)).unwrap();
    }
    let rng = ChaCha8Rng::seed_from_u64(seed);
    let (model, uid) = (Model::default(), bench.uid.clone());
    let mut story = Story { rng, model, clients, uid, told: Vec::new() };
    for step in 0..STEPS {
        let told = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| story.step()));
        if told.is_err() {
            let tail = story.told.len().saturating_sub(12);
            panic!("seed {seed}, step {step}: {:#?}", &story.told[tail..]);
        }
    }
    story.agree();
    assert!(bench.store.fsck().unwrap().ok, "{:?}", bench.store.fsck().unwrap().problems);
}

impl Story {
    fn step(&mut self) {
        let who = self.rng.random_range(0..self.clients.len());
        let what = self.rng.random_range(0..30);
        self.told.push(format!("client {who} does {what}"));
        match what {
            0..=2 => self.append(who),
            3 => self.read(who),
            4 => self.set_trained(who),
            5 => self.set_ahead_limit(who),
            6 => self.window(who),
            7 => self.add_network(who),
            8..=9 => self.add_candidate(who),
            10..=11 => self.record_match_game(who),
            12 => self.conclude(who),
            13 => self.promote(who),
            14 => self.roll_back(who),
            15 => self.acquire(who),
            16 => self.heartbeat(who),
            17 => self.release(who),
            18 => self.fence(who),
            19 => self.journal(who),
            20 => self.rate(who),
            21..=22 => self.submit(who),
            23 => self.settle(who),
            24 => self.mode(who),
            25 => self.offer(who),
            26 => self.lease_block(who),
            27 => self.finish_block(who),
            28 => self.settle_match(who),
            _ => self.agree(),
        }
    }

    /// Whether a fenced write of this client is refused; the answer must then say so.
    fn stale(&self, who: usize) -> bool {
        self.clients[who].fence.as_ref().is_some_and(|lease| {
            let current = self.model.leases.get(lease.name.as_str());
            current
                .is_none_or(|(holder, epoch, _)| (holder, *epoch) != (&lease.holder, lease.epoch))
        })
    }

    fn lost<T: std::fmt::Debug>(answer: Result<T, StoreError>) {
        assert!(matches!(answer, Err(StoreError::LeaseLost { .. })), "{answer:?}");
    }

    fn any_network(&mut self) -> String {
        let names: Vec<_> = self.model.networks.iter().map(|(id, _)| id.clone()).collect();
        let known = names.choose(&mut self.rng).cloned();
        known.unwrap_or_else(|| "nobody".to_owned())
    }

    fn append(&mut self, who: usize) {
        let n = self.rng.random_range(1..4);
        let mut batch = Vec::new();
        for _ in 0..n {
            let worker = WORKERS.choose(&mut self.rng).unwrap().to_string();
            let (counter, targets) = (self.rng.random_range(0..30), self.rng.random_range(0..4));
            let network = self.any_network();
            batch.push(Game { worker, counter, network, targets });
        }
        let records: Vec<_> = batch.iter().map(|game| record(game.targets as usize)).collect();
        let games: Vec<_> = batch
            .iter()
            .zip(&records)
            .map(|(g, record)| {
                let mut new = game(&self.uid, &g.worker, g.counter, record);
                new.network.clone_from(&g.network);
                new
            })
            .collect();
        let told = self.clients[who].store.append_games(&games).unwrap();
        let before = self.model.games.len() as u64;
        for game in batch {
            let there = |g: &Game| (&g.worker, g.counter) == (&game.worker, game.counter);
            if !self.model.games.iter().any(there) {
                self.model.games.push(game);
            }
        }
        let last_seq = self.model.games.len() as u64;
        assert_eq!((told.inserted, told.last_seq), (last_seq - before, last_seq));
        assert_eq!(told.already_there, n - told.inserted);
    }

    fn read(&mut self, who: usize) {
        let last = self.model.games.len() as u64;
        let (a, b) = (self.rng.random_range(0..=last), self.rng.random_range(0..=last + 2));
        let games = self.clients[who].store.games_in(a, b).unwrap();
        let range = a as usize..(b.min(last).max(a)) as usize;
        let due: Vec<_> = (a + 1..).zip(&self.model.games[range]).collect();
        assert_eq!(games.len(), due.len());
        for (game, (seq, model)) in games.iter().zip(due) {
            let told = (game.seq, &game.worker, game.counter, &game.network);
            assert_eq!(told, (seq, &model.worker, model.counter, &model.network));
            assert_eq!(game.record.positions() as u64, model.targets);
            assert_eq!(game.withdrawn, self.model.withdrawn.contains(&model.network));
        }
        let worker = WORKERS.choose(&mut self.rng).unwrap();
        let mine = self.model.games.iter().filter(|game| game.worker == *worker);
        let due = mine.map(|game| game.counter + 1).max().unwrap_or(0);
        assert_eq!(self.clients[who].store.next_counter(worker).unwrap(), due);
    }

    fn set_trained(&mut self, who: usize) {
        let seq = self.rng.random_range(0..=self.model.games.len() as u64);
        let answer = self.clients[who].store.set_trained(seq);
        if self.stale(who) {
            return Self::lost(answer);
        }
        answer.unwrap();
        self.model.trained = self.model.trained.max(seq);
    }

    fn set_ahead_limit(&mut self, who: usize) {
        let limit = self.rng.random_bool(0.7).then(|| self.rng.random_range(0..40));
        self.clients[who].store.set_ahead_limit(limit).unwrap();
        self.model.ahead_limit = limit;
    }

    fn window(&mut self, who: usize) {
        let upto = self.rng.random_range(0..=self.model.games.len() as u64 + 1);
        let positions = self.rng.random_range(0..60);
        let start = self.clients[who].store.window_start(upto, positions).unwrap();
        assert_eq!(start, self.model.window_start(upto, positions as u64), "{upto} {positions}");
    }

    fn add_network(&mut self, who: usize) {
        let id = format!("n{}", self.rng.random_range(0..12));
        let first = self.model.best.is_none();
        let status = if first { NetworkStatus::Best } else { NetworkStatus::Candidate };
        let answer = self.clients[who].store.add_network(&network(&id, None, status));
        if self.stale(who) {
            return Self::lost(answer);
        }
        answer.unwrap();
        if self.model.status(&id).is_none() {
            let fresh = if first { NetworkStatus::Initial } else { status };
            self.model.networks.push((id.clone(), fresh));
        }
        if first {
            self.model.move_best("initial", &id);
        }
    }

    fn add_candidate(&mut self, who: usize) {
        let id = format!("n{}", self.rng.random_range(0..12));
        let base = self.any_network();
        let pairs = self.rng.random_range(1..4);
        let plan =
            NewMatch { gate_config_json: "{}".into(), pairs_planned: pairs, base: base.clone() };
        let new = network(&id, None, NetworkStatus::Candidate);
        let answer = self.clients[who].store.add_candidate(&new, &plan);
        if id == base {
            assert!(matches!(answer, Err(StoreError::SelfMatch(_))), "{answer:?}");
        } else if self.model.status(&base).is_none() {
            assert!(matches!(answer, Err(StoreError::UnknownNetwork(_))), "{answer:?}");
        } else if self.stale(who) {
            Self::lost(answer);
        } else {
            let same = |m: &Match| (&m.candidate, &m.base) == (&id, &base);
            let known = self.model.matches.iter().position(same);
            if self.model.status(&id).is_none() {
                self.model.networks.push((id.clone(), NetworkStatus::Candidate));
            }
            let place = known.unwrap_or_else(|| {
                self.model.matches.push(Match {
                    candidate: id,
                    base,
                    pairs,
                    verdict: None,
                    games: BTreeMap::new(),
                    waiting: BTreeMap::new(),
                    block: None,
                });
                self.model.matches.len() - 1
            });
            let ids: Vec<_> =
                self.clients[who].store.matches().unwrap().iter().map(|row| row.id).collect();
            assert_eq!(answer.unwrap(), ids[place]);
        }
    }

    /// A match and its number in the store.
    fn any_match(&mut self, who: usize) -> Option<(usize, i64)> {
        let rows = self.clients[who].store.matches().unwrap();
        assert_eq!(rows.len(), self.model.matches.len());
        for (row, due) in rows.iter().zip(&self.model.matches) {
            assert_eq!((&row.candidate, &row.verdict), (&due.candidate, &due.verdict));
        }
        let place = (0..rows.len()).collect::<Vec<_>>().choose(&mut self.rng).copied()?;
        Some((place, rows[place].id))
    }

    fn record_match_game(&mut self, who: usize) {
        let Some((place, id)) = self.any_match(who) else { return };
        let (pair, colour) = (self.rng.random_range(0..4), self.rng.random_range(0..2));
        let black = self.rng.random_bool(0.5);
        let points = f32::from(u8::from(black == (colour == 0)));
        let played = resigned(if black { Color::Black } else { Color::White });
        let answer = self.clients[who].store.record_match_game(id, pair, colour, points, &played);
        let stale = self.stale(who);
        let due = &mut self.model.matches[place];
        if stale {
            Self::lost(answer);
        } else if due.verdict.is_some() {
            assert!(matches!(answer, Err(StoreError::AlreadyConcluded { .. })), "{answer:?}");
        } else if pair >= due.pairs {
            assert!(matches!(answer, Err(StoreError::RefusedMatchGame { .. })), "{answer:?}");
        } else {
            answer.unwrap();
            due.games.insert((pair, colour), points);
        }
    }

    fn conclude(&mut self, who: usize) {
        let Some((place, id)) = self.any_match(who) else { return };
        let promote = self.rng.random_bool(0.6);
        let verdict = if promote { "promote" } else { "reject" }.to_owned();
        let end = Conclusion { verdict: verdict.clone(), promote, detail_json: "{}".into() };
        let answer = self.clients[who].store.conclude(id, &end);
        let stale = self.stale(who);
        let Match { candidate, base, verdict: decided, .. } = self.model.matches[place].clone();
        if stale {
            Self::lost(answer);
        } else if decided.is_some() {
            assert!(matches!(answer, Err(StoreError::AlreadyConcluded { .. })), "{answer:?}");
        } else if promote && self.model.best.as_ref() != Some(&base) {
            assert!(matches!(answer, Err(StoreError::BestMoved { .. })), "{answer:?}");
        } else {
            assert_eq!(answer.unwrap(), promote);
            self.model.matches[place].verdict = Some(verdict);
            if promote {
                self.model.move_best("match", &candidate);
            } else if let Some(status @ NetworkStatus::Candidate) = self.model.status(&candidate) {
                *status = NetworkStatus::Rejected;
            }
        }
    }

    fn promote(&mut self, who: usize) {
        let id = self.any_network();
        let answer = self.clients[who].store.promote_by_hand(&id, "me", "why");
        if self.stale(who) {
            Self::lost(answer);
        } else if self.model.status(&id).is_none() {
            assert!(matches!(answer, Err(StoreError::UnknownNetwork(_))), "{answer:?}");
        } else {
            answer.unwrap();
            if self.model.best.as_ref() != Some(&id) {
                let kind = if self.model.best.is_some() { "hand" } else { "initial" };
                self.model.move_best(kind, &id);
            }
        }
    }

    fn roll_back(&mut self, who: usize) {
        let games = self.rng.random_bool(0.5);
        let what = if games { Rollback::PointerAndGames } else { Rollback::Pointer };
        let answer = self.clients[who].store.rollback(what, "me", "why");
        if self.stale(who) {
            return Self::lost(answer);
        }
        let [.., earlier, best] = &self.model.standing()[..] else {
            assert!(matches!(answer, Err(StoreError::NoEarlierBest)), "{answer:?}");
            return;
        };
        assert_eq!(answer.unwrap(), *earlier);
        self.model.move_best("rollback", earlier);
        if games {
            self.model.withdrawn.insert(best.clone());
        }
    }

    fn acquire(&mut self, who: usize) {
        let name = *["trainer", "gate"].choose(&mut self.rng).unwrap();
        // A lease of no length has run out as soon as it is given.
        let held = self.rng.random_bool(0.5);
        let holder = format!("client {who}");
        let ttl = if held { LONG } else { Duration::ZERO };
        let told = self.clients[who].store.acquire(name, &holder, ttl).unwrap();
        let entry = self.model.leases.entry(name).or_insert((String::new(), 0, false));
        if entry.2 {
            assert_eq!(told, None);
            return;
        }
        *entry = (holder, entry.1 + 1, held);
        let lease = told.unwrap();
        assert_eq!(lease.epoch, entry.1);
        let fence = self.rng.random_bool(0.5).then_some(lease);
        self.clients[who].store.fence_with(fence.clone());
        self.clients[who].fence = fence;
    }

    fn heartbeat(&mut self, who: usize) {
        let Some(lease) = self.clients[who].fence.clone() else { return };
        let told = self.clients[who].store.heartbeat(&lease, LONG).unwrap();
        let stale = self.stale(who);
        let entry = self.model.leases.get_mut(lease.name.as_str()).unwrap();
        // A lease of no length that nobody took goes on.
        assert_eq!(told, !stale);
        if told {
            entry.2 = true;
        }
    }

    fn release(&mut self, who: usize) {
        let Some(lease) = self.clients[who].fence.clone() else { return };
        self.clients[who].store.release(&lease).unwrap();
        if !self.stale(who) {
            self.model.leases.get_mut(lease.name.as_str()).unwrap().2 = false;
            // It stays the newest, so its owner may still write, but it cannot be renewed: the fence
            // goes, which is how a process that gave its lease back behaves.
            self.clients[who].fence = None;
            self.clients[who].store.fence_with(None);
        }
    }

    fn fence(&mut self, who: usize) {
        self.clients[who].fence = None;
        self.clients[who].store.fence_with(None);
    }

    fn journal(&mut self, who: usize) {
        self.model.metrics += 1;
        let step = self.model.metrics;
        self.clients[who].store.add_metric(step, "{}").unwrap();
        self.clients[who].store.add_event("step", &step.to_string()).unwrap();
        let steps: Vec<_> =
            self.clients[who].store.metrics().unwrap().iter().map(|row| row.step).collect();
        assert_eq!(steps, (1..=step).collect::<Vec<_>>());
        assert_eq!(self.clients[who].store.events(1).unwrap()[0].detail_json, step.to_string());
    }

    fn rate(&mut self, who: usize) {
        let id = self.any_network();
        let elo = f64::from(self.rng.random_range(-100..100)) / 4.0;
        let answer = self.clients[who].store.set_elo(&id, elo, elo - 1.0, elo + 1.0);
        if self.model.status(&id).is_none() {
            assert!(matches!(answer, Err(StoreError::UnknownNetwork(_))), "{answer:?}");
        } else {
            answer.unwrap();
            self.model.elo.insert(id, elo);
        }
    }

    fn submit(&mut self, who: usize) {
        let worker = WORKERS.choose(&mut self.rng).unwrap().to_string();
        let mut due = [0; 3];
        let mut batch = Vec::new();
        for _ in 0..self.rng.random_range(1..4) {
            let (counter, targets) = (self.rng.random_range(0..30), self.rng.random_range(1..3));
            batch.push(upload(&self.uid, &worker, counter, &record(targets as usize)));
            let known = self.model.known(&worker, counter);
            if known.is_empty() {
                due[0] += 1;
                let network = "uniform".to_owned();
                self.model.inbox.push(Game { worker: worker.clone(), counter, network, targets });
            } else if known.contains(&targets) {
                due[1] += 1;
            } else {
                due[2] += 1;
                self.model.aside.insert((worker.clone(), counter, targets));
            }
        }
        // Nobody is blocked in this story.
        self.clients[who].store.set_worker_state(&worker, WorkerState::Ok).unwrap();
        let told = self.clients[who].store.submit(&batch).unwrap();
        assert_eq!([told.accepted, told.already_there, told.quarantined], due);
    }

    fn settle(&mut self, who: usize) {
        let limit = self.rng.random_range(1..8);
        let store = &mut self.clients[who].store;
        let waiting = store.take_uploads(0, limit).unwrap();
        let told = store.settle_uploads(&waiting, &mut |_, _| Ok(())).unwrap();
        let settled: Vec<_> = self.model.inbox.drain(..limit.min(self.model.inbox.len())).collect();
        assert_eq!(told.total(), settled.len() as u64);
        for game in settled {
            let there = |g: &Game| (&g.worker, g.counter) == (&game.worker, game.counter);
            if !self.model.games.iter().any(there) {
                self.model.games.push(game);
            }
        }
    }

    fn mode(&mut self, who: usize) {
        let modes = [RunMode::Running, RunMode::Paused, RunMode::Draining];
        self.model.mode = *modes.choose(&mut self.rng).unwrap();
        self.clients[who].store.set_run_mode(self.model.mode).unwrap();
    }

    fn offer(&mut self, who: usize) {
        let Some((place, id)) = self.any_match(who) else { return };
        let answer = self.clients[who].store.offer_match(id);
        let stale = self.stale(who);
        let due = &mut self.model.matches[place];
        if stale {
            Self::lost(answer);
        } else if due.verdict.is_some() {
            assert!(matches!(answer, Err(StoreError::AlreadyConcluded { .. })), "{answer:?}");
        } else {
            answer.unwrap();
            due.block.get_or_insert((0, 0, None));
        }
    }

    fn lease_block(&mut self, who: usize) {
        let worker = WORKERS.choose(&mut self.rng).unwrap().to_string();
        let told = self.clients[who].store.lease_block(&worker).unwrap();
        let free = |m: &Match| {
            m.verdict.is_none() && m.block.as_ref().is_some_and(|b| b.2.is_none() && b.1 < 5)
        };
        let Some(due) = self.model.matches.iter_mut().find(|m| free(m)) else {
            assert_eq!(told, None);
            return;
        };
        let block = told.unwrap();
        let (epoch, attempts, holder) = due.block.as_mut().unwrap();
        (*epoch, *attempts, *holder) = (*epoch + 1, *attempts + 1, Some(worker));
        assert_eq!((block.lease.epoch, &block.candidate), (*epoch, &due.candidate));
        assert_eq!(block.pairs, 0..due.pairs);
        self.clients[who].blocks.push(block);
    }

    fn finish_block(&mut self, who: usize) {
        if self.clients[who].blocks.is_empty() {
            return;
        }
        let at = self.rng.random_range(0..self.clients[who].blocks.len());
        let block = self.clients[who].blocks.remove(at);
        let mut games = Vec::new();
        for pair in block.pairs.clone() {
            for colour in [0, 1] {
                if self.rng.random_bool(0.6) {
                    let black = self.rng.random_bool(0.5);
                    let game = resigned(if black { Color::Black } else { Color::White });
                    let (payload, payload_hash) = game_bytes(&game);
                    let points = f32::from(u8::from(black == (colour == 0)));
                    games.push((BlockGame { pair, colour, payload, payload_hash }, points));
                }
            }
        }
        let sent: Vec<_> = games.iter().map(|(game, _)| game.clone()).collect();
        let told = self.clients[who].store.finish_block(&block.lease, &sent).unwrap();
        let same = |m: &&mut Match| (&m.candidate, &m.base) == (&block.candidate, &block.base);
        let due = self.model.matches.iter_mut().find(same).unwrap();
        let verdict = due.verdict.is_some();
        let (epoch, attempts, holder) = due.block.as_mut().unwrap();
        let leased = holder.as_deref().is_some_and(|holder| holder != DONE);
        let current = !verdict && leased && *epoch == block.lease.epoch;
        assert_eq!(told, current);
        if current {
            *holder = None;
            if !games.is_empty() {
                *attempts = 0;
            }
            due.waiting.extend(games.iter().map(|(g, points)| ((g.pair, g.colour), *points)));
            let complete = due.slots() as u32 == 2 * due.pairs;
            if let (true, Some((_, _, holder))) = (complete, &mut due.block) {
                *holder = Some(DONE.to_owned());
            }
        }
    }

    fn settle_match(&mut self, who: usize) {
        let store = &mut self.clients[who].store;
        let waiting = store.take_match_uploads(1000).unwrap();
        let due: usize = self.model.matches.iter().map(|m| m.waiting.len()).sum();
        assert_eq!(waiting.len(), due);
        let answer = store.settle_match_uploads(&waiting, &mut |_, _| Ok(()));
        if self.stale(who) {
            return Self::lost(answer);
        }
        assert_eq!(answer.unwrap().total(), due as u64);
        for due in &mut self.model.matches {
            let waiting = std::mem::take(&mut due.waiting);
            if due.verdict.is_none() {
                due.games.extend(waiting);
            }
            // Given up: it is leased to nobody any more, as five attempts say already.
        }
    }

    /// Everything that can be read says what the model says, to every client.
    fn agree(&mut self) {
        for client in &mut self.clients {
            let (store, model) = (&mut client.store, &self.model);
            let counts = store.counts().unwrap();
            let positions: u64 = model.games.iter().map(|game| game.targets).sum();
            assert_eq!((counts.games, counts.positions), (model.games.len() as u64, positions));
            assert_eq!(store.waiting_uploads().unwrap(), model.inbox.len() as u64);
            assert_eq!(store.quarantined(999).unwrap().len(), model.aside.len());
            let rows = store.networks().unwrap();
            let networks: Vec<_> = rows.iter().map(|row| (row.id.clone(), row.status)).collect();
            assert_eq!(networks, model.networks);
            for row in &rows {
                assert_eq!(row.elo.map(|elo| elo.elo), model.elo.get(&row.id).copied());
            }
            assert_eq!(store.best().unwrap().map(|row| row.id), model.best);
            let moves = store.promotions().unwrap();
            let moves: Vec<_> =
                moves.iter().map(|row| (row.kind.as_str(), row.network.clone())).collect();
            assert_eq!(moves, model.promotions);
            let withdrawn: Vec<_> = model.withdrawn.iter().cloned().collect();
            assert_eq!(store.withdrawn_networks().unwrap(), withdrawn);
            let open = model.matches.iter().filter(|m| m.verdict.is_none()).count();
            assert_eq!(store.open_matches().unwrap().len(), open);
            for (row, due) in store.matches().unwrap().iter().zip(&model.matches) {
                let games = store.match_games(row.id).unwrap();
                let games: BTreeMap<_, _> =
                    games.iter().map(|g| ((g.pair, g.colour), g.points)).collect();
                assert_eq!(games, due.games, "{due:?}");
            }
            let run = store.run().unwrap().unwrap();
            assert_eq!((run.trained_seq, run.ahead_limit), (model.trained, model.ahead_limit));
            let state = store.run_state("w", WorkerCounts::default()).unwrap();
            let played = (model.games.len() + model.inbox.len()) as u64;
            let ahead = model.ahead_limit.is_some_and(|l| played - model.trained.min(played) >= l);
            assert_eq!((state.mode, state.ahead), (model.mode, ahead), "{model:?}");
        }
    }
}

impl Match {
    /// Slots with a game, settled or not.
    fn slots(&self) -> usize {
        self.games.keys().chain(self.waiting.keys()).collect::<BTreeSet<_>>().len()
    }
}
