//! One game of a match as a state machine: it asks for a leaf, takes the answer, moves.

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use tengen_inference::Evaluation;
use tengen_record::{EndReason, GameRecord, SearchRecord, Turn};
use tengen_rules::{Color, GameState, Move, Outcome, Point, Symmetry};
use tengen_search::{
    PendingLeaf, RootStats, SearchConfig, Selected, Tree, choose_move, policy_target,
};

use crate::Slot;

/// Who is asked: the candidate or the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Candidate,
    Base,
}

impl Side {
    pub fn index(self) -> usize {
        match self {
            Side::Candidate => 0,
            Side::Base => 1,
        }
    }
}

pub(crate) struct Game {
    pub slot: Slot,
    state: GameState,
    start: GameState,
    /// The candidate's tree and the base's: neither sees the other's evaluations.
    trees: [Option<Tree>; 2],
    rng: ChaCha8Rng,
    turns: Vec<Turn>,
    max_moves: usize,
}

impl Game {
    pub fn new(
        slot: Slot,
        start: &GameState,
        opening: &[Move],
        search: &SearchConfig,
        max_moves: usize,
        rng: ChaCha8Rng,
    ) -> Game {
        let mut state = start.clone();
        let mut turns = Vec::new();
        for &mv in opening {
            state.play(mv).expect("openings are legal from the start position");
            turns.push(Turn { mv, search: None });
        }
        let trees = [0, 1].map(|_| Some(Tree::new(state.clone(), search)));
        Game { slot, state, start: start.clone(), trees, rng, turns, max_moves }
    }

    /// Whose evaluator the game waits for.
    pub fn side(&self) -> Side {
        let candidate = if self.slot.1 == 0 { Color::Black } else { Color::White };
        if self.state.to_play() == candidate { Side::Candidate } else { Side::Base }
    }

    pub fn is_done(&self) -> bool {
        self.state.is_over() || self.turns.len() >= self.max_moves
    }

    /// The next leaf of the search, or `None` once it has its `visits`.
    pub fn next_leaf(&mut self, visits: u32) -> Option<(PendingLeaf, Symmetry)> {
        let side = self.side();
        let tree = self.tree(side);
        while !tree.is_root_expanded() || tree.simulations() < visits {
            if let Selected::Leaf(leaf) = tree.select() {
                let size = leaf.state().size();
                let valid: Vec<_> =
                    Symmetry::all().into_iter().filter(|s| s.valid_for(size)).collect();
                let symmetry = valid[self.rng.random_range(0..valid.len())];
                return Some((leaf, symmetry));
            }
        }
        None
    }

    pub fn answer(&mut self, leaf: PendingLeaf, evaluation: &Evaluation) {
        let side = self.side();
        self.tree(side).expand_and_backup(leaf, evaluation);
    }

    /// Plays the most visited move, without noise or temperature, if the search has its `visits`.
    pub fn move_if_ready(&mut self, visits: u32, search: &SearchConfig) {
        let side = self.side();
        let tree = self.tree(side);
        if !tree.is_root_expanded() || tree.simulations() < visits {
            return;
        }
        let root = tree.root();
        let mv = self.state.size().move_at(choose_move(&root, 0.0, &mut self.rng));
        let search = thought(&root, search);
        self.state.play(mv).expect("the search offers legal moves only");
        self.turns.push(Turn { mv, search });
        if !self.is_done() {
            for tree in &mut self.trees {
                *tree = tree.take().map(|tree| tree.advance(mv));
            }
        }
    }

    /// The record, and the candidate's points: 1, 0.5 or 0.
    pub fn finish(self, seed: u64, names: &[String; 2], config_digest: &str) -> (f32, GameRecord) {
        let end = if self.state.is_over() { EndReason::TwoPasses } else { EndReason::MoveLimit };
        let outcome = self.state.score_now();
        let candidate = if self.slot.1 == 0 { Color::Black } else { Color::White };
        let [ours, theirs] = names.clone();
        let record = GameRecord {
            size: self.start.size(),
            rules: self.start.rules(),
            komi: self.start.komi(),
            setup_black: stones(&self.start, Color::Black),
            setup_white: stones(&self.start, Color::White),
            first_to_play: self.start.to_play(),
            seed,
            players: if candidate == Color::Black { [ours, theirs] } else { [theirs, ours] },
            config_digest: config_digest.to_owned(),
            turns: self.turns,
            outcome,
            end,
        };
        (points_of(&outcome, candidate), record)
    }

    fn tree(&mut self, side: Side) -> &mut Tree {
        self.trees[side.index()].as_mut().expect("a tree is away only while it advances")
    }
}

/// What a search found, for the record. Match games are for judging, not for training: nothing in
/// them is a target.
pub(crate) fn thought(root: &RootStats, search: &SearchConfig) -> Option<SearchRecord> {
    let policy = policy_target(root, search);
    (!policy.is_empty()).then(|| SearchRecord {
        policy,
        root_value: root.value.get(),
        visits: root.visits,
        is_target: false,
        weight: 0.0,
    })
}

/// The stones of `color` on the board, in order of their points: what a record calls its set-up.
pub(crate) fn stones(state: &GameState, color: Color) -> Vec<Point> {
    state.size().points().filter(|&point| state.stone(point) == Some(color)).collect()
}

fn points_of(outcome: &Outcome, candidate: Color) -> f32 {
    (outcome.value_for(candidate).get() + 1.0) / 2.0
}
