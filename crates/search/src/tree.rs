//! The arena: nodes in one vector, the edges of a node side by side in another.

use tengen_rules::{GameState, Value};

use crate::gumbel::considered_visits;
use crate::{ChildStats, RootStats, SearchConfig};

/// Index of a node that was never reached.
pub(crate) const NO_NODE: u32 = u32::MAX;
/// The root is always the first node.
pub(crate) const ROOT: u32 = 0;

/// A search tree over one position.
///
/// A node does not keep its position: a selection replays the moves from the root, which costs
/// less than a board and its history in every node.
#[derive(Debug, Clone)]
pub struct Tree {
    pub(crate) config: SearchConfig,
    pub(crate) state: GameState,
    pub(crate) nodes: Vec<Node>,
    pub(crate) edges: Vec<Edge>,
    /// Per root edge: what only the root needs.
    pub(crate) root_edges: Vec<RootEdge>,
    /// The Gumbel root's plan, by simulation: see `gumbel`. Empty under PUCT.
    pub(crate) schedule: Vec<u32>,
    pub(crate) noised: bool,
    pub(crate) simulations: u32,
    /// Tells leaves of this root from those of an earlier one.
    pub(crate) epoch: u32,
}

/// A position reached. Sums are for the player to move here.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    pub first_edge: u32,
    pub edge_count: u16,
    pub kind: NodeKind,
    /// The evaluator's value, or the exact result of a finished game.
    pub own_value: f32,
    /// Visits of all edges, their values, and their leaves in flight.
    pub visits: u32,
    pub value_sum: f32,
    pub in_flight: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NodeKind {
    /// Reached, not evaluated yet.
    Leaf,
    /// Evaluated; has its edges.
    Expanded,
    /// The game is over here.
    Terminal,
}

/// A move from a position: the paper's {N, W, P}. W is for the player who makes the move.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edge {
    pub prior: f32,
    pub visits: u32,
    pub value_sum: f32,
    pub in_flight: u32,
    pub child: u32,
    pub action: u16,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct RootEdge {
    /// The evaluator's prior, before temperature and noise.
    pub raw_prior: f32,
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
            state: root,
            nodes: Vec::new(),
            edges: Vec::new(),
            root_edges: Vec::new(),
            schedule: Vec::new(),
            noised: false,
            simulations: 0,
            epoch: 0,
        };
        let node = Node::reached(&tree.state);
        tree.nodes.push(node);
        tree
    }

    /// The position at the root.
    pub fn root_state(&self) -> &GameState {
        &self.state
    }

    /// Whether the root has been evaluated, so that its moves are known.
    pub fn is_root_expanded(&self) -> bool {
        self.nodes[ROOT as usize].kind == NodeKind::Expanded
    }

    /// Simulations backed up since this position became the root; evaluating the root itself is
    /// not one of them.
    pub fn simulations(&self) -> u32 {
        self.simulations
    }

    /// What the search thinks of the root, with one child a legal move, by ascending action.
    pub fn root(&self) -> RootStats {
        let root = &self.nodes[ROOT as usize];
        let children = self
            .edges_of(ROOT)
            .iter()
            .zip(&self.root_edges)
            .map(|(edge, extra)| ChildStats {
                action: edge.action as usize,
                visits: edge.visits,
                q: Value::new(edge.q_or(0.0)),
                prior: edge.prior,
                raw_prior: extra.raw_prior,
            })
            .collect();
        RootStats {
            visits: root.visits,
            value: Value::new(root.mean_value()),
            raw_value: Value::new(root.own_value),
            children,
            winner: if self.config.gumbel { self.halving_winner() } else { None },
            noised: self.noised,
        }
    }

    pub(crate) fn edges_of(&self, node: u32) -> &[Edge] {
        &self.edges[self.nodes[node as usize].edge_range()]
    }

    /// Takes the present priors of the root as the evaluator's own, and flattens or sharpens them.
    /// To be called once for every new root, as soon as it has its edges.
    pub(crate) fn prepare_root(&mut self) {
        let range = self.nodes[ROOT as usize].edge_range();
        let edges = &mut self.edges[range];
        self.root_edges = edges
            .iter()
            .map(|e| RootEdge { raw_prior: e.prior, inherited: e.visits, gumbel: 0.0 })
            .collect();
        let temperature = self.config.root_policy_temperature;
        if temperature != 1.0 {
            edges.iter_mut().for_each(|e| e.prior = e.prior.powf(temperature.recip()));
            let sum: f32 = edges.iter().map(|e| e.prior).sum();
            edges.iter_mut().for_each(|e| e.prior /= sum);
        }
        if self.config.gumbel {
            let planned = self.config.visits as usize;
            let considered = (self.config.gumbel_considered as usize).min(self.root_edges.len());
            self.schedule = considered_visits(considered, planned, planned);
        }
    }
}

impl Node {
    /// A node for `state`: terminal with the exact result when the game is over there.
    pub fn reached(state: &GameState) -> Node {
        let result = state.outcome().map(|o| o.value_for(state.to_play()).get());
        Node {
            first_edge: 0,
            edge_count: 0,
            kind: if result.is_some() { NodeKind::Terminal } else { NodeKind::Leaf },
            own_value: result.unwrap_or(0.0),
            visits: 0,
            value_sum: 0.0,
            in_flight: 0,
        }
    }

    pub fn edge_range(&self) -> std::ops::Range<usize> {
        let first = self.first_edge as usize;
        first..first + self.edge_count as usize
    }

    /// Mean over the node's own evaluation and all visits below.
    pub fn mean_value(&self) -> f32 {
        (self.own_value + self.value_sum) / (1 + self.visits) as f32
    }
}

impl Edge {
    pub fn new(action: usize, prior: f32) -> Edge {
        let action = action as u16; // actions of the largest board end at 625
        Edge { prior, visits: 0, value_sum: 0.0, in_flight: 0, child: NO_NODE, action }
    }

    pub fn q_or(&self, unvisited: f32) -> f32 {
        if self.visits == 0 { unvisited } else { self.value_sum / self.visits as f32 }
    }
}
