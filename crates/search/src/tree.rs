//! The tree itself: what it holds, how it starts, what it says.

use tengen_rules::{GameState, LegalMask, Value};

use crate::arena::{Arena, Edge, NO_ACTION, NO_NODE, Node, NodeKind, ROOT};
use crate::gumbel::{Arm, considered_visits};
use crate::select::Step;
use crate::transposition::Table;
use crate::utility::Worth;
use crate::{ChildStats, MoveLimits, RootStats, SearchConfig};

/// A search tree over one position.
///
/// A node does not keep its position: a selection replays the moves from the root, which costs
/// less than a board and its history in every node.
#[derive(Debug, Clone)]
pub struct Tree {
    pub(crate) config: SearchConfig,
    pub(crate) state: GameState,
    /// Moves left out near the root, for analysis.
    pub(crate) limits: MoveLimits,
    pub(crate) arena: Arena,
    /// Where transpositions meet; idle unless [`graph`](SearchConfig::graph) is on.
    pub(crate) table: Table,
    /// What only the root needs: one a legal move, by ascending action.
    pub(crate) root_moves: Vec<RootMove>,
    /// The Gumbel root's plan, by simulation: see `gumbel`. Empty under PUCT.
    pub(crate) schedule: Vec<u32>,
    pub(crate) noised: bool,
    pub(crate) simulations: u32,
    /// Tells leaves of this root from those of an earlier one.
    pub(crate) epoch: u32,
    pub(crate) scratch: Scratch,
}

/// Memory that simulations use over and over.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scratch {
    /// States and paths of leaves that have been answered.
    pub spare: Vec<(GameState, Vec<Step>)>,
    pub legal: Option<LegalMask>,
    pub arms: Vec<Arm>,
    pub values: Vec<f32>,
    pub ordinals: Vec<u16>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct RootMove {
    pub action: u16,
    /// The ordinal of its edge; [`NO_ACTION`] while it has none.
    pub edge: u16,
    /// The evaluator's prior, before temperature and noise.
    pub raw_prior: f32,
    /// The prior as the search uses it.
    pub prior: f32,
    /// Visits inherited from the search before, on which this search builds.
    pub inherited: u32,
    /// The Gumbel draw; 0 where none was made.
    pub gumbel: f32,
}

impl Tree {
    /// A tree that knows nothing about `root` yet.
    pub fn new(root: GameState, config: &SearchConfig) -> Tree {
        let mut tree = Tree {
            config: config.clone(),
            arena: Arena::new(root.size().actions(), config.score_utility > 0.0),
            state: root,
            limits: MoveLimits::default(),
            table: Table::default(),
            root_moves: Vec::new(),
            schedule: Vec::new(),
            noised: false,
            simulations: 0,
            epoch: 0,
            scratch: Scratch::default(),
        };
        let end = Worth::of_end(config, &tree.state);
        tree.reach(end);
        tree.table.enter_root(&tree.state, config.graph);
        tree
    }

    /// The position at the root.
    pub fn root_state(&self) -> &GameState {
        &self.state
    }

    /// How this tree is searched.
    pub fn config(&self) -> &SearchConfig {
        &self.config
    }

    /// Whether the root has been evaluated, so that its moves are known.
    pub fn is_root_expanded(&self) -> bool {
        self.arena.node(ROOT).kind == NodeKind::Expanded
    }

    /// Simulations backed up since this position became the root; evaluating the root itself is
    /// not one of them.
    pub fn simulations(&self) -> u32 {
        self.simulations
    }

    /// Positions in the tree, the root included.
    pub fn node_count(&self) -> usize {
        self.arena.nodes.len()
    }

    /// Bytes that nodes, edges and priors reserve: about `4 x actions + 68` a node, and slack.
    pub fn memory_bytes(&self) -> usize {
        self.arena.bytes() + self.table.bytes()
    }

    /// What the search thinks of the root, with one child a legal move, by ascending action.
    pub fn root(&self) -> RootStats {
        let root = self.arena.node(ROOT);
        let edges = self.arena.edges_of(ROOT);
        let children = self
            .root_moves
            .iter()
            .map(|mv| {
                let edge = edges.get(mv.edge as usize);
                let apart = edge.filter(|e| e.child != NO_NODE && e.visits > 0);
                let result = apart
                    .filter(|_| self.config.score_utility > 0.0)
                    .map(|edge| -self.arena.mean_result(edge.child));
                ChildStats::of(mv, edge, result)
            })
            .collect();
        RootStats {
            visits: root.visits,
            value: Value::new(root.bounds.proven().unwrap_or_else(|| self.arena.mean_result(ROOT))),
            raw_value: Value::new(self.arena.results(ROOT).map_or(root.own_value, |r| r.own)),
            children,
            winner: if self.config.gumbel { self.halving_winner() } else { None },
            noised: self.noised,
            proven: root.bounds.proven().map(Value::new),
        }
    }

    /// Adds a node just reached, with what it is worth where the game is over there.
    pub(crate) fn reach(&mut self, end: Option<Worth>) -> u32 {
        let mut node = Node::reached(end.map(|worth| worth.result));
        node.own_value = end.map_or(0.0, |worth| worth.utility);
        let index = self.arena.push(node);
        if let (Some(results), Some(worth)) = (self.arena.results_mut(index), end) {
            results.own = worth.result;
        }
        index
    }

    /// The edge of a root move, where it has one.
    pub(crate) fn root_edge(&self, mv: &RootMove) -> Option<&Edge> {
        self.arena.edges_of(ROOT).get(mv.edge as usize)
    }

    /// Opens an edge and keeps the root's list in step.
    pub(crate) fn open_edge(&mut self, node: u32, action: u16) -> u16 {
        let ordinal = self.arena.open_edge(node, action);
        if node == ROOT
            && let Ok(at) = self.root_moves.binary_search_by_key(&action, |mv| mv.action)
        {
            self.root_moves[at].edge = ordinal;
        }
        ordinal
    }

    /// Lists the root's moves, takes their present priors as the evaluator's own, and flattens or
    /// sharpens them. To be called once for every new root, as soon as it has its moves.
    pub(crate) fn prepare_root(&mut self) {
        let bare = |action: usize, edge: u16, prior: f32, inherited: u32| RootMove {
            action: action as u16, // actions of the largest board end at 625
            edge,
            raw_prior: prior,
            prior,
            inherited,
            gumbel: 0.0,
        };
        let row = self.arena.prior_row(ROOT).iter().enumerate().filter(|(_, p)| **p >= 0.0);
        let untried = row.map(|(action, &prior)| bare(action, NO_ACTION, prior, 0));
        let edges = self.arena.edges_of(ROOT).iter().zip(0u16..);
        let tried = edges.map(|(e, i)| bare(e.action as usize, i, e.prior, e.visits));
        let mut moves: Vec<RootMove> = untried.chain(tried).collect();
        moves.sort_unstable_by_key(|mv| mv.action);
        let temperature = self.config.root_policy_temperature;
        let top = moves.iter().map(|mv| mv.prior).fold(0.0, f32::max);
        if temperature != 1.0 && top > 0.0 {
            let power = temperature.recip();
            // Where a low temperature would leave nothing of even the largest, all count by that.
            let unit = if top.powf(power) < f32::MIN_POSITIVE { top } else { 1.0 };
            moves.iter_mut().for_each(|mv| mv.prior = (mv.prior / unit).powf(power));
            let sum: f32 = moves.iter().map(|mv| mv.prior).sum();
            moves.iter_mut().for_each(|mv| mv.prior /= sum);
        }
        self.root_moves = moves;
        self.write_root_priors();
        if self.config.gumbel {
            let planned = self.config.visits as usize;
            let considered = (self.config.gumbel_considered as usize).min(self.root_moves.len());
            self.schedule = considered_visits(considered, planned, planned);
        }
    }

    /// Hands the priors of `root_moves` to the tree.
    pub(crate) fn write_root_priors(&mut self) {
        for mv in &self.root_moves {
            if mv.edge == NO_ACTION {
                self.arena.prior_row_mut(ROOT)[mv.action as usize] = mv.prior;
            } else {
                self.arena.edge_mut(ROOT, mv.edge).prior = mv.prior;
            }
        }
        self.arena.find_next(ROOT);
    }
}

/// The exact result of a finished game for the player to move; `None` while it goes on.
pub(crate) fn result_of(state: &GameState) -> Option<f32> {
    state.outcome().map(|o| o.value_for(state.to_play()).get())
}
