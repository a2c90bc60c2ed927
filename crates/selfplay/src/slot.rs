//! One game as a state machine.

use std::sync::Arc;

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use tengen_inference::Evaluation;
use tengen_record::{EndReason, GameRecord, SearchRecord, Turn};
use tengen_rules::{GameState, Move, Outcome};
use tengen_search::{
    PendingLeaf, RootStats, SearchConfig, Selected, Tree, choose_move, policy_target,
};

use crate::StartPosition;
use crate::batch::LeafBatch;
use crate::game::GameDefinition;
use crate::one_sided::{OneSided, reduced_visits, reduced_weight};
use crate::opening::{Opening, draw_from_policy};
use crate::resign::plays_on;
use crate::seed::game_stream;
use crate::surprise::{share_out, surprise};

/// A game in play. It alternates between two verbs: [`select`](Self::select) moves as far as it
/// can and says which leaves it needs, [`answer`](Self::answer) takes what became of them. A select
/// that asks for nothing has reached the end, and [`finish`](Self::finish) makes the record.
///
/// All its randomness comes from its own streams, in an order that only its own leaves and answers
/// decide.
#[derive(Debug)]
pub struct GameSlot {
    game: Arc<GameDefinition>,
    seed: u64,
    rng: ChaCha8Rng,
    /// `None` only while a move is being made.
    tree: Option<Tree>,
    plan: Plan,
    /// Where the game began; its moves are the first turns.
    start: StartPosition,
    turns: Vec<Turn>,
    /// One a target so far: how much it surprised the network.
    surprises: Vec<f64>,
    /// Turns at the start that the raw policy plays.
    opening_turns: usize,
    may_resign: bool,
    /// By colour: own searches in a row that called the game lost.
    lost_in_a_row: [usize; 2],
    one_sided: OneSided,
    /// Leaves asked for and not answered yet.
    in_flight: usize,
    end: Option<(Outcome, EndReason)>,
}

/// How the next move is found.
#[derive(Debug, Clone)]
struct Plan {
    by: By,
    /// The search, where there is one.
    search: SearchConfig,
    /// The weight of what comes of it, where that is a target.
    weight: f32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    /// Drawn from the raw policy, other than the action named: nothing but the root's evaluation
    /// is needed.
    Policy { other_than: Option<usize> },
    /// A short search that only moves the game along.
    Cheap,
    /// A full search with noise: a training target.
    Full,
}

impl GameSlot {
    /// A game at its first move, seeded by `seed`, which also says which of the run's games it is.
    pub fn new(game: Arc<GameDefinition>, seed: u64) -> Self {
        let game = game.drawn(seed);
        let mut rng = game_stream(seed);
        // Always drawn, so that a changed fraction leaves the rest of the stream as it was; the
        // first of them is what `plays_on` looks at.
        let _resign_draw: f64 = rng.random();
        let opening_draw: f64 = rng.random();
        let config = &game.config;
        let opening = Opening::draw(&game, seed);
        let opening_moves = match opening.given {
            true => 0,
            false => (opening_draw * (config.opening_policy_moves + 1) as f64) as usize,
        };
        let may_resign = config.resign && !plays_on(config, seed);
        let turns: Vec<Turn> =
            opening.start.moves.iter().map(|&mv| Turn { mv, search: None }).collect();
        let mut slot = GameSlot {
            seed,
            rng,
            tree: None,
            plan: Plan {
                by: By::Policy {
                    other_than: opening.fork_from.map(|mv| game.settings.size.action(mv)),
                },
                search: game.cheap.clone(),
                weight: 1.0,
            },
            opening_turns: turns.len() + opening_moves,
            start: opening.start,
            turns,
            surprises: Vec::new(),
            may_resign,
            lost_in_a_row: [0; 2],
            one_sided: OneSided::default(),
            in_flight: 0,
            end: None,
            game,
        };
        if opening.fork_from.is_none() {
            slot.plan = slot.next_plan();
        }
        slot.tree = Some(Tree::new(opening.state, &slot.plan.search));
        slot
    }

    /// The position to move in, or the last one.
    pub fn state(&self) -> &GameState {
        self.tree().root_state()
    }

    /// The seed of the game.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Moves made so far.
    pub fn moves(&self) -> usize {
        self.turns.len()
    }

    /// Whether the game has ended.
    pub fn is_over(&self) -> bool {
        self.end.is_some()
    }

    /// Makes every move whose search is spent and adds the leaves that are needed next to `batch`,
    /// at most `leaves_per_step`. Returns how many; 0 exactly when the game is over.
    ///
    /// # Panics
    /// When leaves of an earlier call have not been answered.
    pub fn select(&mut self, batch: &mut LeafBatch) -> usize {
        assert_eq!(self.in_flight, 0, "a game selects again only when its leaves are answered");
        while self.end.is_none() {
            if self.plan.by == By::Full && self.tree().is_root_expanded() {
                let tree = self.tree.as_mut().expect("a tree between moves");
                tree.add_root_noise(&mut self.rng);
            }
            if self.is_spent() {
                self.make_move();
                continue;
            }
            // Side by side only below a root that is known, and never beyond the budget. A finished
            // game met on the way is a simulation done, so it takes the place of a leaf.
            let known = self.tree().is_root_expanded();
            let left = self.plan.search.visits.saturating_sub(self.tree().simulations());
            let wanted =
                if known { self.game.config.leaves_per_step.min(left as usize) } else { 1 };
            for _ in 0..wanted {
                let tree = self.tree.as_mut().expect("a tree between moves");
                if let Selected::Leaf(leaf) = tree.select() {
                    let among = self.game.symmetries.len();
                    let symmetry = self.game.symmetries[self.rng.random_range(0..among)];
                    batch.push(leaf, symmetry);
                    self.in_flight += 1;
                }
            }
            if self.in_flight > 0 {
                break;
            }
        }
        self.in_flight
    }

    /// Takes the answer to one of the leaves of the last [`select`](Self::select).
    pub fn answer(&mut self, leaf: PendingLeaf, evaluation: &Evaluation) {
        let tree = self.tree.as_mut().expect("a tree between moves");
        tree.expand_and_backup(leaf, evaluation);
        self.in_flight -= 1;
    }

    /// The record of the ended game: `players` Black first, `config_digest` as the run has it.
    ///
    /// # Panics
    /// When the game is not over.
    pub fn finish(mut self, players: [String; 2], config_digest: String) -> GameRecord {
        assert!(self.is_over(), "only a game that is over has a record");
        self.weigh_targets();
        let turns = std::mem::take(&mut self.turns);
        self.record(turns, players, config_digest)
    }

    /// The game as it stands, for a look at it: cut short and without a result unless it is over,
    /// the weights of its targets not shared out yet.
    pub fn so_far(&self, players: [String; 2]) -> GameRecord {
        self.record(self.turns.clone(), players, String::new())
    }

    fn record(&self, turns: Vec<Turn>, players: [String; 2], config_digest: String) -> GameRecord {
        let (outcome, end) = self.end.unwrap_or((Outcome::NoResult, EndReason::MoveLimit));
        let settings = self.game.settings;
        GameRecord {
            size: settings.size,
            rules: settings.rules,
            komi: self.state().komi(),
            setup_black: self.start.setup_black.clone(),
            setup_white: self.start.setup_white.clone(),
            first_to_play: self.start.first_to_play,
            seed: self.seed,
            players,
            config_digest,
            turns,
            outcome,
            end,
        }
    }

    /// Shares out the weight of the game's targets by surprise, where that is asked for.
    fn weigh_targets(&mut self) {
        let is_target = |turn: &&mut Turn| turn.search.as_ref().is_some_and(|s| s.is_target);
        let targets = self.turns.iter_mut().filter(is_target);
        let mut searches: Vec<&mut SearchRecord> =
            targets.filter_map(|turn| turn.search.as_mut()).collect();
        let mut weights: Vec<f32> = searches.iter().map(|search| search.weight).collect();
        share_out(&mut weights, &self.surprises, self.game.config.surprise_weight);
        for (search, weight) in searches.iter_mut().zip(weights) {
            search.weight = weight;
        }
    }

    fn tree(&self) -> &Tree {
        self.tree.as_ref().expect("a tree between moves")
    }

    fn next_plan(&mut self) -> Plan {
        let game = &self.game;
        let (by, search) = if self.turns.len() < self.opening_turns {
            (By::Policy { other_than: None }, &game.cheap)
        } else if self.rng.random::<f64>() < game.config.full_search_fraction {
            (By::Full, &game.full)
        } else {
            (By::Cheap, &game.cheap)
        };
        let mut plan = Plan { by, search: search.clone(), weight: 1.0 };
        let extent = self.one_sided.extent(&game.config);
        if by == By::Full && extent > 0.0 {
            plan.search.visits = reduced_visits(game.full.visits, game.cheap.visits, extent);
            plan.weight = reduced_weight(&game.config, extent);
        }
        plan
    }

    fn is_spent(&self) -> bool {
        self.tree().is_root_expanded()
            && (matches!(self.plan.by, By::Policy { .. })
                || self.tree().simulations() >= self.plan.search.visits)
    }

    fn make_move(&mut self) {
        let root = self.tree().root();
        let turn = match self.plan.by {
            By::Policy { other_than } => {
                let pass = self.game.settings.size.pass_action();
                let action = draw_from_policy(root, pass, other_than, &mut self.rng);
                Turn { mv: self.to_move(action), search: None }
            }
            By::Cheap | By::Full => {
                if self.gives_up(&root) {
                    let winner = self.state().to_play().opponent();
                    self.end = Some((Outcome::Resignation { winner }, EndReason::Resignation));
                    return;
                }
                let temperature = self.game.config.temperature_at(self.turns.len());
                let action = choose_move(&root, temperature, &mut self.rng);
                let policy = policy_target(&root, &self.plan.search);
                let is_target = self.plan.by == By::Full;
                if is_target {
                    self.surprises.push(surprise(&root, &policy));
                }
                let (player, value) = (self.state().to_play(), root.value.get());
                self.one_sided.note(&self.game.config, player, value);
                let search = SearchRecord {
                    policy,
                    root_value: value,
                    visits: root.visits,
                    is_target,
                    weight: self.plan.weight,
                };
                Turn { mv: self.to_move(action), search: Some(search) }
            }
        };
        let mv = turn.mv;
        self.turns.push(turn);
        self.plan = self.next_plan();
        self.advance(mv);
        self.end = self.ending();
    }

    /// Whether and how the game is over by now.
    fn ending(&self) -> Option<(Outcome, EndReason)> {
        let state = self.state();
        if let Some(outcome) = state.outcome() {
            return Some((outcome, EndReason::TwoPasses));
        }
        // Two living groups need room: before half of the board is played nothing is settled.
        let early = self.game.config.end_when_settled
            && 2 * self.turns.len() >= self.game.settings.size.area();
        if early && let Some(outcome) = state.settled() {
            return Some((outcome, EndReason::Settled));
        }
        let at_limit = self.turns.len() >= self.game.move_limit;
        at_limit.then(|| (state.score_now(), EndReason::MoveLimit))
    }

    fn to_move(&self, action: usize) -> Move {
        self.game.settings.size.move_at(action)
    }

    fn advance(&mut self, mv: Move) {
        let tree = self.tree.take().expect("a tree between moves");
        let config = &self.plan.search;
        let next = if self.game.config.reuse_tree {
            tree.advance_with(mv, config)
        } else {
            let mut state = tree.root_state().clone();
            state.play(mv).expect("a search chooses legal moves");
            Tree::new(state, config)
        };
        self.tree = Some(next);
    }

    /// Counts a search that calls the game lost; true when the side to move has seen enough.
    fn gives_up(&mut self, root: &RootStats) -> bool {
        let side = self.state().to_play().index();
        let game = &self.game;
        let lost = game.conditions.resign_below.is_some_and(|below| root.value.get() <= below);
        self.lost_in_a_row[side] = if lost { self.lost_in_a_row[side] + 1 } else { 0 };
        self.may_resign && self.lost_in_a_row[side] >= game.config.resign_turns
    }
}
