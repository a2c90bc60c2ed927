//! Select: from the root to a leaf by PUCT.

use tengen_rules::GameState;

use crate::policy::forced_visits;
use crate::tree::{Edge, NO_NODE, Node, NodeKind, ROOT};
use crate::{SearchConfig, Tree};

/// Where a selection ended.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly every selection is a leaf; a box would cost")]
pub enum Selected {
    /// A position to evaluate.
    Leaf(PendingLeaf),
    /// A finished game, whose exact result is already backed up.
    Terminal,
}

/// A leaf in flight. It is owed an answer, once: hand it to
/// [`expand_and_backup`](Tree::expand_and_backup) or [`abandon`](Tree::abandon) of the tree it came
/// from; until then its path is charged virtual losses.
#[derive(Debug)]
#[must_use = "a leaf in flight holds virtual losses until it is backed up or abandoned"]
pub struct PendingLeaf {
    pub(crate) epoch: u32,
    pub(crate) node: u32,
    pub(crate) path: Vec<Step>,
    pub(crate) state: GameState,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub node: u32,
    pub edge: u32,
}

impl PendingLeaf {
    /// The position to evaluate.
    pub fn state(&self) -> &GameState {
        &self.state
    }

    /// Plies from the root; 0 for the root itself.
    pub fn depth(&self) -> usize {
        self.path.len()
    }
}

impl Tree {
    /// Walks from the root to a leaf.
    ///
    /// The first selection of a new tree gives the root. While leaves are in flight a selection
    /// may reach one of them again; that second leaf is as good as the first. On a root where the
    /// game is over every selection is [`Selected::Terminal`] and counts nothing.
    pub fn select(&mut self) -> Selected {
        let mut state = self.state.clone();
        let mut path = Vec::new();
        let mut node = ROOT;
        while self.nodes[node as usize].kind == NodeKind::Expanded {
            let edge = self.choose_edge(node);
            let at = edge as usize;
            let mv = state.size().move_at(self.edges[at].action as usize);
            state.play(mv).expect("edges are made from the legal moves of this very position");
            self.nodes[node as usize].in_flight += 1;
            self.edges[at].in_flight += 1;
            path.push(Step { node, edge });
            if self.edges[at].child == NO_NODE {
                self.edges[at].child = self.nodes.len() as u32;
                self.nodes.push(Node::reached(&state));
            }
            node = self.edges[at].child;
        }
        let reached = self.nodes[node as usize];
        if reached.kind == NodeKind::Terminal {
            self.backup(&path, reached.own_value);
            return Selected::Terminal;
        }
        Selected::Leaf(PendingLeaf { epoch: self.epoch, node, path, state })
    }

    fn choose_edge(&self, node: u32) -> u32 {
        let config = &self.config;
        if config.gumbel {
            let first = self.nodes[node as usize].first_edge;
            let best = if node == ROOT { self.halving_edge() } else { self.lagging_edge(node) };
            return first + best as u32;
        }
        let reduction = if node == ROOT { config.root_fpu_reduction } else { config.fpu_reduction };
        let forced = if node == ROOT && self.noised { config.forced_playouts } else { 0.0 };
        let parent = &self.nodes[node as usize];
        let best = puct(parent, self.edges_of(node), config, reduction, forced);
        parent.first_edge + best as u32
    }
}

/// AlphaZero's exploration rate for a node of `visits` visits.
pub(crate) fn exploration(config: &SearchConfig, visits: f32) -> f32 {
    ((1.0 + visits + config.c_puct_base) / config.c_puct_base).ln() + config.c_puct_init
}

/// The edge of the largest `Q + c(N) * P * sqrt(N) / (1 + n)`; the first of equals.
///
/// Edges never tried differ only in their priors, so one pass finds the best tried edge and the
/// best untried one, and the prior mass that the first-play urgency needs.
fn puct(
    parent: &Node,
    edges: &[Edge],
    config: &SearchConfig,
    reduction: f32,
    forced: f32,
) -> usize {
    let loss = config.virtual_loss as f32;
    let total = parent.visits as f32 + loss * parent.in_flight as f32;
    let scale = exploration(config, total) * total.max(1.0).sqrt();
    let mut tried = (f32::NEG_INFINITY, usize::MAX);
    let mut untried = (f32::NEG_INFINITY, usize::MAX);
    let mut tried_mass = 0.0;
    for (i, edge) in edges.iter().enumerate() {
        if edge.visits + edge.in_flight == 0 {
            if edge.prior > untried.0 {
                untried = (edge.prior, i);
            }
            continue;
        }
        tried_mass += edge.prior;
        let charged = loss * edge.in_flight as f32;
        let n = edge.visits as f32 + charged;
        if forced > 0.0 && n < forced_visits(forced, edge.prior, total) {
            return i;
        }
        let q = if n > 0.0 { (edge.value_sum - charged) / n } else { 0.0 };
        let score = q + scale * edge.prior / (1.0 + n);
        if score > tried.0 {
            tried = (score, i);
        }
    }
    if untried.1 == usize::MAX {
        return tried.1;
    }
    let urgency = parent.mean_value() - reduction * tried_mass.sqrt();
    let score = urgency + scale * untried.0;
    match score.total_cmp(&tried.0) {
        std::cmp::Ordering::Greater => untried.1,
        std::cmp::Ordering::Less => tried.1,
        std::cmp::Ordering::Equal => untried.1.min(tried.1),
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// PUCT as the paper prints it: a score for every edge, then the first of the largest.
    fn naive(parent: &Node, edges: &[Edge], config: &SearchConfig, reduction: f32) -> usize {
        let loss = config.virtual_loss as f32;
        let total = parent.visits as f32 + loss * parent.in_flight as f32;
        let tried = |e: &&Edge| e.visits + e.in_flight > 0;
        let mass: f32 = edges.iter().filter(tried).map(|e| e.prior).sum();
        let urgency = parent.mean_value() - reduction * mass.sqrt();
        let scores = edges.iter().map(|e| {
            let n = e.visits as f32 + loss * e.in_flight as f32;
            let q = if tried(&e) { (e.value_sum - loss * e.in_flight as f32) / n } else { urgency };
            let scale = exploration(config, total) * total.max(1.0).sqrt();
            q + scale * e.prior / (1.0 + n)
        });
        let mut best = (0, f32::NEG_INFINITY);
        for (i, score) in scores.enumerate() {
            if score > best.1 {
                best = (i, score);
            }
        }
        best.0
    }

    #[test]
    fn one_pass_finds_what_the_formula_says() {
        let config = SearchConfig::default();
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        for _ in 0..2_000 {
            let mut edges: Vec<Edge> =
                (0..rng.random_range(1..40)).map(|a| Edge::new(a, rng.random::<f32>())).collect();
            for edge in edges.iter_mut() {
                edge.visits = rng.random_range(0..4u32).saturating_sub(1) * rng.random_range(1..30);
                edge.in_flight = u32::from(rng.random_range(0..8) == 0);
                edge.value_sum = edge.visits as f32 * rng.random_range(-1.0..1.0);
            }
            let parent = Node {
                first_edge: 0,
                edge_count: edges.len() as u16,
                kind: NodeKind::Expanded,
                own_value: rng.random_range(-1.0..1.0),
                visits: edges.iter().map(|e| e.visits).sum(),
                value_sum: edges.iter().map(|e| e.value_sum).sum(),
                in_flight: edges.iter().map(|e| e.in_flight).sum(),
            };
            for reduction in [0.0, 0.2] {
                let fast = puct(&parent, &edges, &config, reduction, 0.0);
                assert_eq!(fast, naive(&parent, &edges, &config, reduction), "{parent:?}");
            }
        }
    }

    #[test]
    fn exploration_agrees_with_published_numbers() {
        // minigo on an empty 9x9 board with uniform priors. Its formula counts the root's own
        // evaluation in N and carries a factor 2 that ours leaves to c_init.
        let config = SearchConfig::default();
        let term = |n_root: f32, n: f32| {
            2.0 * exploration(&config, n_root) / 82.0 * (n_root - 1.0).max(1.0).sqrt() / (1.0 + n)
        };
        for (n_root, n, expected) in
            [(1.0, 0.0, 0.030_490_287), (3.0, 1.0, 0.021_561_644), (3.0, 0.0, 0.043_123_287)]
        {
            assert!((term(n_root, n) - expected).abs() < 1e-7, "N={n_root} n={n}");
        }
    }
}
