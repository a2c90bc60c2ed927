//! Where a tree lives: a few vectors that grow by blocks, no allocation for a node.
//!
//! A move of an expanded node is in one place: its prior stands in the node's row of
//! [`priors`](Arena::prior_row) until the first visit, then it becomes an [`Edge`] among the node's
//! edges, which lie in one slice. Nearly all moves of a tree are never tried, so a node costs
//! four bytes a move and little else.

use crate::utility::Results;

/// Index of a node that was never reached.
pub(crate) const NO_NODE: u32 = u32::MAX;
/// The root is always the first node.
pub(crate) const ROOT: u32 = 0;
/// What a row says of an action that is illegal or has become an edge.
pub(crate) const NOT_HERE: f32 = -1.0;
/// No action: every move of the node has become an edge.
pub(crate) const NO_ACTION: u16 = u16::MAX;

/// The smallest slice of edges.
const FIRST_SLICE: usize = 2;
/// Slices of 2, 4, … 1024 edges: the largest board has 626 actions.
const SLICES: usize = 10;

/// A position reached. Sums are for the player to move here.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    pub kind: NodeKind,
    /// Which slice size `first_edge` points to.
    slice: u8,
    pub edge_count: u16,
    first_edge: u32,
    row: u32,
    /// The evaluator's value, or the exact result of a finished game.
    pub own_value: f32,
    /// Visits of all edges, their values and squared values, and their leaves in flight.
    pub visits: u32,
    pub value_sum: f32,
    pub square_sum: f32,
    pub in_flight: u32,
    /// The move of the largest prior among those never tried, the first of equals.
    pub next_prior: f32,
    pub next_action: u16,
    pub bounds: Bounds,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NodeKind {
    /// Reached, not evaluated yet.
    Leaf,
    /// Evaluated; has its moves.
    Expanded,
    /// The game is over here.
    Terminal,
}

/// A move tried: the paper's {N, W, P}. W is for the player who makes the move.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edge {
    pub prior: f32,
    pub visits: u32,
    pub value_sum: f32,
    pub square_sum: f32,
    pub in_flight: u32,
    pub child: u32,
    pub action: u16,
    /// The child's bounds, for the player who makes the move.
    pub bounds: Bounds,
}

/// What is proven of a result: between `low` and `high`, each -1, 0 or 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub low: i8,
    pub high: i8,
}

impl Bounds {
    pub const OPEN: Bounds = Bounds { low: -1, high: 1 };

    /// The bounds of a finished game.
    pub fn exact(value: f32) -> Bounds {
        let sign = i8::from(value > 0.0) - i8::from(value < 0.0);
        Bounds { low: sign, high: sign }
    }

    /// The same seen by the opponent.
    pub fn turned(self) -> Bounds {
        Bounds { low: -self.high, high: -self.low }
    }

    /// The result, once nothing is open.
    pub fn proven(self) -> Option<f32> {
        (self.low == self.high).then_some(f32::from(self.low))
    }
}

impl Node {
    /// A node just reached; with a result where the game is over there.
    pub fn reached(result: Option<f32>) -> Node {
        Node {
            kind: if result.is_some() { NodeKind::Terminal } else { NodeKind::Leaf },
            slice: 0,
            edge_count: 0,
            first_edge: 0,
            row: 0,
            own_value: result.unwrap_or(0.0),
            visits: 0,
            value_sum: 0.0,
            square_sum: 0.0,
            in_flight: 0,
            next_prior: NOT_HERE,
            next_action: NO_ACTION,
            bounds: result.map_or(Bounds::OPEN, Bounds::exact),
        }
    }

    /// Mean over the node's own evaluation and all visits below.
    pub fn mean_value(&self) -> f32 {
        (self.own_value + self.value_sum) / (1 + self.visits) as f32
    }

    /// Mean of the squared values, the own one included.
    pub fn mean_square(&self) -> f32 {
        (self.own_value * self.own_value + self.square_sum) / (1 + self.visits) as f32
    }

    /// The same node as the start of a copy: its edges, its row and its leaves in flight are yet to
    /// come.
    pub fn without_edges(&self) -> Node {
        Node { slice: 0, edge_count: 0, first_edge: 0, row: 0, in_flight: 0, ..*self }
    }

    fn edge_range(&self) -> std::ops::Range<usize> {
        let first = self.first_edge as usize;
        first..first + self.edge_count as usize
    }
}

impl Edge {
    /// A move about to be tried for the first time.
    pub fn new(action: u16, prior: f32) -> Edge {
        Edge {
            prior,
            visits: 0,
            value_sum: 0.0,
            square_sum: 0.0,
            in_flight: 0,
            child: NO_NODE,
            action,
            bounds: Bounds::OPEN,
        }
    }

    /// Whether nothing was ever backed up or is under way here: only leaves given up leave such.
    pub fn is_untried(&self) -> bool {
        self.visits + self.in_flight == 0
    }

    pub fn q_or(&self, unvisited: f32) -> f32 {
        if self.visits == 0 { unvisited } else { self.value_sum / self.visits as f32 }
    }
}

/// The nodes of a tree, their edges and their untried priors.
#[derive(Debug, Clone)]
pub(crate) struct Arena {
    pub nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// Slices given up by nodes that needed larger ones, by size.
    free: [Vec<u32>; SLICES],
    /// `[rows, actions]`.
    priors: Vec<f32>,
    actions: usize,
    /// One a node where utilities are no results; else none at all.
    results: Option<Vec<Results>>,
}

impl Arena {
    /// Room for boards of so many actions; with sums of results beside those of the nodes if
    /// `with_results`.
    pub fn new(actions: usize, with_results: bool) -> Arena {
        Arena {
            results: with_results.then(Vec::new),
            nodes: Vec::new(),
            edges: Vec::new(),
            free: Default::default(),
            priors: Vec::new(),
            actions,
        }
    }

    pub fn node(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    pub fn node_mut(&mut self, node: u32) -> &mut Node {
        &mut self.nodes[node as usize]
    }

    pub fn push(&mut self, node: Node) -> u32 {
        grow(&mut self.nodes, 1, 64);
        self.nodes.push(node);
        if let Some(results) = &mut self.results {
            grow(results, 1, 64);
            results.push(Results::default());
        }
        (self.nodes.len() - 1) as u32
    }

    /// The node's sums of results, where they are kept.
    pub fn results(&self, node: u32) -> Option<&Results> {
        self.results.as_ref().map(|results| &results[node as usize])
    }

    pub fn results_mut(&mut self, node: u32) -> Option<&mut Results> {
        self.results.as_mut().map(|results| &mut results[node as usize])
    }

    /// The mean result of a node: that of its values, unless results are kept apart.
    pub fn mean_result(&self, node: u32) -> f32 {
        let here = self.node(node);
        self.results(node).map_or_else(|| here.mean_value(), |r| r.mean(here.visits))
    }

    /// The node's tried moves, in the order of their first visits.
    pub fn edges_of(&self, node: u32) -> &[Edge] {
        &self.edges[self.nodes[node as usize].edge_range()]
    }

    pub fn edges_of_mut(&mut self, node: u32) -> &mut [Edge] {
        &mut self.edges[self.nodes[node as usize].edge_range()]
    }

    /// The `ordinal`-th edge; an edge keeps its ordinal for life.
    pub fn edge_mut(&mut self, node: u32, ordinal: u16) -> &mut Edge {
        let first = self.nodes[node as usize].first_edge;
        &mut self.edges[first as usize + ordinal as usize]
    }

    /// The node with its `ordinal`-th edge, both to be changed.
    pub fn step_mut(&mut self, node: u32, ordinal: u16) -> (&mut Node, &mut Edge) {
        let node = &mut self.nodes[node as usize];
        let at = node.first_edge as usize + ordinal as usize;
        (node, &mut self.edges[at])
    }

    /// The priors of moves never tried, by action; [`NOT_HERE`] elsewhere. Expanded nodes only.
    pub fn prior_row(&self, node: u32) -> &[f32] {
        let start = self.nodes[node as usize].row as usize * self.actions;
        &self.priors[start..start + self.actions]
    }

    pub fn prior_row_mut(&mut self, node: u32) -> &mut [f32] {
        let start = self.nodes[node as usize].row as usize * self.actions;
        &mut self.priors[start..start + self.actions]
    }

    /// Makes a leaf an expanded node whose row is all [`NOT_HERE`]; to be filled, then
    /// [`find_next`](Self::find_next).
    pub fn expand(&mut self, node: u32, own_value: f32) -> &mut [f32] {
        let row = (self.priors.len() / self.actions) as u32;
        grow(&mut self.priors, self.actions, 32 * self.actions);
        self.priors.resize(self.priors.len() + self.actions, NOT_HERE);
        let node = &mut self.nodes[node as usize];
        node.kind = NodeKind::Expanded;
        node.own_value = own_value;
        node.row = row;
        &mut self.priors[row as usize * self.actions..]
    }

    /// Makes a move of the row an edge and answers its ordinal.
    pub fn open_edge(&mut self, node: u32, action: u16) -> u16 {
        let slot = &mut self.prior_row_mut(node)[action as usize];
        let prior = std::mem::replace(slot, NOT_HERE);
        let ordinal = self.push_edge(node, Edge::new(action, prior));
        self.find_next(node);
        ordinal
    }

    /// Appends an edge, moving the node's edges to a larger slice where theirs is full.
    pub fn push_edge(&mut self, node: u32, edge: Edge) -> u16 {
        let Node { slice, edge_count, first_edge, .. } = self.nodes[node as usize];
        let count = edge_count as usize;
        if count == 0 {
            self.nodes[node as usize].first_edge = self.take_slice(0);
        } else if count == FIRST_SLICE << slice {
            let to = self.take_slice(slice as usize + 1);
            let from = first_edge as usize;
            self.edges.copy_within(from..from + count, to as usize);
            self.free[slice as usize].push(first_edge);
            let node = &mut self.nodes[node as usize];
            node.first_edge = to;
            node.slice = slice + 1;
        }
        let node = &mut self.nodes[node as usize];
        self.edges[node.first_edge as usize + count] = edge;
        node.edge_count += 1;
        edge_count
    }

    fn take_slice(&mut self, slice: usize) -> u32 {
        if let Some(first) = self.free[slice].pop() {
            return first;
        }
        let first = self.edges.len();
        let length = FIRST_SLICE << slice;
        grow(&mut self.edges, length, 256);
        self.edges.resize(first + length, Edge::new(NO_ACTION, 0.0));
        first as u32
    }

    /// Finds the node's best untried move anew.
    pub fn find_next(&mut self, node: u32) {
        let (action, prior) = largest(self.prior_row(node));
        let node = &mut self.nodes[node as usize];
        node.next_action = action;
        node.next_prior = prior;
    }

    /// Bytes reserved.
    pub fn bytes(&self) -> usize {
        let free: usize = self.free.iter().map(|f| f.capacity() * size_of::<u32>()).sum();
        let results = self.results.as_ref().map_or(0, Vec::capacity) * size_of::<Results>();
        results
            + self.nodes.capacity() * size_of::<Node>()
            + self.edges.capacity() * size_of::<Edge>()
            + self.priors.capacity() * size_of::<f32>()
            + free
    }
}

/// Makes room for `more` entries in steps of a quarter: doubling would leave half a tree unused.
fn grow<T>(vector: &mut Vec<T>, more: usize, least: usize) {
    if vector.capacity() - vector.len() < more {
        vector.reserve_exact((vector.len() / 4).max(least).max(more));
    }
}

/// The first of the largest entries that are not [`NOT_HERE`].
fn largest(row: &[f32]) -> (u16, f32) {
    // The largest first, in eight lanes that a compiler can keep in registers; then its place.
    let mut lanes = [NOT_HERE; 8];
    let chunks = row.chunks_exact(8);
    let rest = chunks.remainder().iter().copied().fold(NOT_HERE, f32::max);
    for chunk in chunks {
        for (lane, &prior) in lanes.iter_mut().zip(chunk) {
            *lane = if prior > *lane { prior } else { *lane };
        }
    }
    let top = lanes.into_iter().fold(rest, f32::max);
    if top < 0.0 {
        return (NO_ACTION, NOT_HERE);
    }
    let action = row.iter().position(|&prior| prior == top);
    (action.map_or(NO_ACTION, |a| a as u16), top)
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn nodes_and_edges_stay_compact() {
        assert_eq!((size_of::<Node>(), size_of::<Edge>()), (40, 28));
    }

    #[test]
    fn the_largest_is_the_first_of_equals_whatever_the_length() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for length in 1..100 {
            let row: Vec<f32> =
                (0..length).map(|_| rng.random_range(-1..4) as f32 / 4.0).map(hide).collect();
            let naive = row.iter().enumerate().filter(|(_, p)| **p >= 0.0).fold(
                (NO_ACTION, NOT_HERE),
                |best, (a, &p)| if p > best.1 { (a as u16, p) } else { best },
            );
            assert_eq!(largest(&row), naive, "{row:?}");
        }
        fn hide(prior: f32) -> f32 {
            if prior < 0.0 { NOT_HERE } else { prior }
        }
    }

    #[test]
    fn edges_keep_their_ordinals_while_their_slice_moves() {
        let mut arena = Arena::new(40, false);
        let (a, b) = (arena.push(Node::reached(None)), arena.push(Node::reached(None)));
        for node in [a, b] {
            arena.expand(node, 0.0).fill(0.5);
            arena.find_next(node);
        }
        for turn in 0..40 {
            for node in [a, b] {
                let action = arena.node(node).next_action;
                assert_eq!(action, turn, "equal priors go by action");
                assert_eq!(arena.open_edge(node, action), turn);
                arena.edge_mut(node, turn).visits = u32::from(turn) + 100 * node;
            }
        }
        for node in [a, b] {
            assert_eq!(arena.node(node).next_action, NO_ACTION);
            let visits: Vec<u32> = arena.edges_of(node).iter().map(|e| e.visits).collect();
            assert_eq!(visits, (0..40).map(|n| n + 100 * node).collect::<Vec<_>>());
        }
        // What they gave up serves the next node.
        let length = arena.edges.len();
        let c = arena.push(Node::reached(None));
        arena.expand(c, 0.0).fill(0.5);
        (0..40).for_each(|action| _ = arena.open_edge(c, action));
        assert_eq!(arena.edges.len(), length + 64, "only the largest slice is new");
    }
}
