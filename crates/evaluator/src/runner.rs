//! Plays the slots of a match, many games side by side on two evaluators.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::ControlFlow;

use tengen_inference::{EvalError, Leaf, LeafEvaluator, evaluate_in_batches};
use tengen_record::GameRecord;
use tengen_rules::{GameState, Move};
use tengen_search::SearchConfig;

use crate::GateConfig;
use crate::game::{Game, Side};
use crate::opening::{draw_openings, stream};

/// A game of a match: `(pair, colour)`; colour 0 = the candidate is Black, 1 = it is White.
pub type Slot = (u32, u8);

/// What a run of a match did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatchReport {
    /// Games finished in this run.
    pub games: u32,
    /// Whether every slot of the match is now played.
    pub complete: bool,
    /// Leaves evaluated by the candidate and by the base; openings included.
    pub evaluations: [u64; 2],
}

/// A match between a candidate and a base network.
///
/// Each game depends only on the evaluators, the settings, the seed and its slot, so a match that
/// was stopped is finished later by the slots that are missing, with the same games.
#[derive(Clone, Debug)]
pub struct MatchRunner {
    config: GateConfig,
    search: SearchConfig,
    start: GameState,
    seed: u64,
    /// Simulations a move of the candidate and of the base.
    visits: [u32; 2],
    names: [String; 2],
    config_digest: String,
    book: Vec<Vec<Move>>,
    open: Vec<Slot>,
}

impl MatchRunner {
    /// A match of `config.pairs` pairs from `start` without the slots `already` played. Both sides
    /// search alike: `search` with the gate's visits, and without noise, forced playouts or a root
    /// temperature.
    pub fn new(
        config: &GateConfig,
        search: &SearchConfig,
        start: &GameState,
        seed: u64,
        already: &[Slot],
    ) -> MatchRunner {
        let done: HashSet<Slot> = already.iter().copied().collect();
        let slots = (0..config.pairs).flat_map(|pair| [(pair, 0), (pair, 1)]);
        MatchRunner {
            config: config.clone(),
            search: SearchConfig {
                visits: config.visits,
                dirichlet_fraction: 0.0,
                root_policy_temperature: 1.0,
                forced_playouts: 0.0,
                ..search.clone()
            },
            start: start.clone(),
            seed,
            visits: [config.visits; 2],
            names: ["candidate".to_owned(), "base".to_owned()],
            config_digest: String::new(),
            book: Vec::new(),
            open: slots.filter(|slot| !done.contains(slot)).collect(),
        }
    }

    /// Names for the records: the candidate's and the base's network ids.
    pub fn set_names(&mut self, candidate: impl Into<String>, base: impl Into<String>) {
        self.names = [candidate.into(), base.into()];
    }

    /// Simulations a move of the candidate and of the base, where they differ.
    pub fn set_visits(&mut self, visits: [u32; 2]) {
        self.visits = visits;
    }

    /// The digest of the effective configuration, for the records; empty until set.
    pub fn set_config_digest(&mut self, digest: impl Into<String>) {
        self.config_digest = digest.into();
    }

    /// Openings to be played in turn (pair 0 the first one, and round again) in place of drawn
    /// ones; see [`parse_openings`](crate::parse_openings). An empty book draws them.
    pub fn set_openings(&mut self, book: Vec<Vec<Move>>) {
        self.book = book;
    }

    /// Slots still to be played.
    pub fn open_slots(&self) -> &[Slot] {
        &self.open
    }

    /// Plays until no slot is open, `should_stop` says so (asked at each step), or `on_game`
    /// breaks. `on_game(pair, colour, points, record)` gets each game as it finishes, games of a
    /// step in slot order; points are the candidate's. Unfinished games are dropped and stay open.
    ///
    /// # Errors
    /// The evaluators'; games already handed out stay played.
    pub fn run(
        &mut self,
        candidate: &mut dyn LeafEvaluator,
        base: &mut dyn LeafEvaluator,
        should_stop: &dyn Fn() -> bool,
        on_game: &mut dyn FnMut(u32, u8, f32, GameRecord) -> ControlFlow<()>,
    ) -> Result<MatchReport, EvalError> {
        let mut report = MatchReport::default();
        if self.open.is_empty() || should_stop() {
            report.complete = self.open.is_empty();
            return Ok(report);
        }
        let mut waiting: VecDeque<Slot> = self.open.iter().copied().collect();
        let mut known: HashMap<u32, Vec<Move>> = HashMap::new();
        let mut games: Vec<Game> = Vec::new();
        while !(waiting.is_empty() && games.is_empty()) {
            if should_stop() {
                return Ok(report);
            }
            let room = self.config.games_in_flight.max(1).saturating_sub(games.len());
            let fresh: Vec<Slot> = waiting.drain(..room.min(waiting.len())).collect();
            self.open_pairs(candidate, base, &fresh, &mut known, &mut report)?;
            games.extend(fresh.into_iter().map(|slot| self.begin(slot, &known[&slot.0])));
            self.step(&mut games, Side::Candidate, candidate, &mut report)?;
            self.step(&mut games, Side::Base, base, &mut report)?;
            for game in games.iter_mut().filter(|game| !game.is_done()) {
                game.move_if_ready(self.visits[game.side().index()], &self.search);
            }
            let (done, playing) = games.into_iter().partition(Game::is_done);
            games = playing;
            for game in done {
                let slot = game.slot;
                let (points, record) = game.finish(self.seed, &self.names, &self.config_digest);
                self.open.retain(|&open| open != slot);
                report.games += 1;
                report.complete = self.open.is_empty();
                if on_game(slot.0, slot.1, points, record).is_break() {
                    return Ok(report);
                }
            }
        }
        Ok(report)
    }

    /// Draws the openings of pairs that begin; the second game of a pair finds its pair known.
    fn open_pairs(
        &self,
        candidate: &mut dyn LeafEvaluator,
        base: &mut dyn LeafEvaluator,
        fresh: &[Slot],
        known: &mut HashMap<u32, Vec<Move>>,
        report: &mut MatchReport,
    ) -> Result<(), EvalError> {
        let mut pairs: Vec<u32> = fresh.iter().map(|slot| slot.0).collect();
        pairs.dedup();
        pairs.retain(|pair| !known.contains_key(pair));
        if pairs.is_empty() {
            return Ok(());
        }
        if !self.book.is_empty() {
            let entry = |pair: u32| self.book[pair as usize % self.book.len()].clone();
            known.extend(pairs.into_iter().map(|pair| (pair, entry(pair))));
            return Ok(());
        }
        let drawn = draw_openings(candidate, base, &self.start, &self.config, self.seed, &pairs)?;
        let asked = pairs.len() as u64 * u64::from(self.config.opening_moves);
        report.evaluations = report.evaluations.map(|n| n + asked);
        known.extend(pairs.into_iter().zip(drawn));
        Ok(())
    }

    fn begin(&self, slot: Slot, opening: &[Move]) -> Game {
        let rng = stream(self.seed, u64::from(slot.0) << 1 | u64::from(slot.1));
        let area = self.start.size().area() as f64;
        let max_moves = (area * self.config.max_moves_factor).ceil() as usize;
        Game::new(slot, &self.start, opening, &self.search, max_moves.max(1), rng)
    }

    /// One leaf of each game that waits for `side`, in one batch.
    fn step(
        &self,
        games: &mut [Game],
        side: Side,
        evaluator: &mut dyn LeafEvaluator,
        report: &mut MatchReport,
    ) -> Result<(), EvalError> {
        let mut pending = Vec::new();
        for (index, game) in games.iter_mut().enumerate() {
            if !game.is_done() && game.side() == side {
                let leaf = game.next_leaf(self.visits[side.index()]);
                pending.extend(leaf.map(|(leaf, symmetry)| (index, leaf, symmetry)));
            }
        }
        let leaves: Vec<Leaf<'_>> = pending
            .iter()
            .map(|(_, leaf, symmetry)| Leaf { state: leaf.state(), symmetry: *symmetry })
            .collect();
        let answers = evaluate_in_batches(evaluator, &leaves)?;
        report.evaluations[side.index()] += answers.len() as u64;
        for ((index, leaf, _), answer) in pending.into_iter().zip(&answers) {
            games[index].answer(leaf, answer);
        }
        Ok(())
    }
}
