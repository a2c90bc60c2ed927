//! One game as a state machine.

use std::sync::Arc;

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use tengen_inference::Evaluation;
use tengen_record::{EndReason, GameRecord, SearchRecord, Turn};
use tengen_rules::{Color, GameState, Move, Outcome};
use tengen_search::{
    PendingLeaf, RootStats, SearchConfig, Selected, Tree, choose_move, policy_target,
};

use crate::batch::LeafBatch;
use crate::game::GameDefinition;
use crate::seed::game_stream;

/// A game in play. It alternates between two verbs: [`select`](Self::select) moves as far as it
/// can and says which leaves it needs, [`answer`](Self::answer) takes what became of them. A select
/// that asks for nothing has reached the end, and [`finish`](Self::finish) makes the record.
///
/// All its randomness comes from its own stream, in an order that only its own leaves and answers
/// decide.
#[derive(Debug)]
pub struct GameSlot {
    game: Arc<GameDefinition>,
    seed: u64,
    rng: ChaCha8Rng,
    /// `None` only while a move is being made.
    tree: Option<Tree>,
    plan: Plan,
    turns: Vec<Turn>,
    /// Moves at the start that the raw policy plays.
    opening_moves: usize,
    may_resign: bool,
    /// By colour: own searches in a row that called the game lost.
    lost_in_a_row: [usize; 2],
    /// Leaves asked for and not answered yet.
    in_flight: usize,
    end: Option<(Outcome, EndReason)>,
}

/// How the next move is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plan {
    /// Drawn from the raw policy: nothing but the root's evaluation is needed.
    Opening,
    /// A short search that only moves the game along.
    Cheap,
    /// A full search with noise: a training target.
    Full,
}

impl GameSlot {
    /// A game at its first move, seeded by `seed`.
    pub fn new(game: Arc<GameDefinition>, seed: u64) -> Self {
        let mut rng = game_stream(seed);
        // Always drawn, so that a changed fraction leaves the rest of the stream as it was.
        let resign_draw: f64 = rng.random();
        let opening_draw: f64 = rng.random();
        let config = &game.config;
        let opening_moves = (opening_draw * (config.opening_policy_moves + 1) as f64) as usize;
        let may_resign = config.resign && resign_draw >= config.resign_disabled_fraction;
        let mut slot = GameSlot {
            seed,
            rng,
            tree: None,
            plan: Plan::Opening,
            turns: Vec::new(),
            opening_moves,
            may_resign,
            lost_in_a_row: [0; 2],
            in_flight: 0,
            end: None,
            game,
        };
        slot.plan = slot.next_plan();
        slot.tree = Some(Tree::new(slot.game.initial_state(), slot.search_config()));
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
            if self.plan == Plan::Full && self.tree().is_root_expanded() {
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
            let left = self.search_config().visits.saturating_sub(self.tree().simulations());
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
    pub fn finish(self, players: [String; 2], config_digest: String) -> GameRecord {
        let (outcome, end) = self.end.expect("only a game that is over has a record");
        let settings = self.game.settings;
        GameRecord {
            size: settings.size,
            rules: settings.rules,
            komi: settings.komi,
            setup_black: Vec::new(),
            setup_white: Vec::new(),
            first_to_play: Color::Black,
            seed: self.seed,
            players,
            config_digest,
            turns: self.turns,
            outcome,
            end,
        }
    }

    fn tree(&self) -> &Tree {
        self.tree.as_ref().expect("a tree between moves")
    }

    fn search_config(&self) -> &SearchConfig {
        if self.plan == Plan::Full { &self.game.full } else { &self.game.cheap }
    }

    fn next_plan(&mut self) -> Plan {
        if self.turns.len() < self.opening_moves {
            Plan::Opening
        } else if self.rng.random::<f64>() < self.game.config.full_search_fraction {
            Plan::Full
        } else {
            Plan::Cheap
        }
    }

    fn is_spent(&self) -> bool {
        self.tree().is_root_expanded()
            && (self.plan == Plan::Opening
                || self.tree().simulations() >= self.search_config().visits)
    }

    fn make_move(&mut self) {
        let root = self.tree().root();
        let turn = match self.plan {
            Plan::Opening => {
                let pass = self.game.settings.size.pass_action();
                let action = draw_from_policy(root, pass, &mut self.rng);
                Turn { mv: self.to_move(action), search: None }
            }
            Plan::Cheap | Plan::Full => {
                if self.gives_up(&root) {
                    let winner = self.state().to_play().opponent();
                    self.end = Some((Outcome::Resignation { winner }, EndReason::Resignation));
                    return;
                }
                let temperature = self.game.config.temperature_at(self.turns.len());
                let action = choose_move(&root, temperature, &mut self.rng);
                let search = SearchRecord {
                    policy: policy_target(&root, self.search_config()),
                    root_value: root.value.get(),
                    visits: root.visits,
                    is_target: self.plan == Plan::Full,
                    weight: 1.0,
                };
                Turn { mv: self.to_move(action), search: Some(search) }
            }
        };
        let mv = turn.mv;
        self.turns.push(turn);
        self.plan = self.next_plan();
        self.advance(mv);
        let state = self.state();
        if let Some(outcome) = state.outcome() {
            self.end = Some((outcome, EndReason::TwoPasses));
        } else if self.turns.len() >= self.game.move_limit {
            self.end = Some((state.score_now(), EndReason::MoveLimit));
        }
    }

    fn to_move(&self, action: usize) -> Move {
        self.game.settings.size.move_at(action)
    }

    fn advance(&mut self, mv: Move) {
        let tree = self.tree.take().expect("a tree between moves");
        let config = self.search_config();
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
        let config = &self.game.config;
        let lost = root.value.get() <= config.resign_below;
        self.lost_in_a_row[side] = if lost { self.lost_in_a_row[side] + 1 } else { 0 };
        self.may_resign && self.lost_in_a_row[side] >= config.resign_turns
    }
}

/// An action drawn in proportion to the evaluator's own priors; a pass only where nothing else is
/// legal. An opening is there to vary the start. Passes in it ended games before their first search,
/// and the answer "pass", which wins at once against a pass on the empty board, spread from there.
fn draw_from_policy(mut root: RootStats, pass: usize, rng: &mut ChaCha8Rng) -> usize {
    if root.children.len() > 1 {
        root.children.retain(|child| child.action != pass);
    }
    // A root without visits is judged by its priors.
    root.visits = 0;
    root.winner = None;
    root.children.iter_mut().for_each(|child| child.prior = child.raw_prior);
    choose_move(&root, 1.0, rng)
}
