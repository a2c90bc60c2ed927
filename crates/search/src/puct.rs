//! PUCT: which edge a simulation takes.

use crate::arena::{Edge, NO_ACTION, Node, ROOT};
use crate::policy::forced_visits;
use crate::{SearchConfig, Tree};

/// A move to descend by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// The ordinal of an edge.
    Tried(u16),
    /// The action of a move that has no edge yet.
    Untried(u16),
}

/// What differs between the root and the nodes below.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AtNode {
    /// First-play reduction.
    pub reduction: f32,
    /// `k` of forced playouts, 0 for none.
    pub forced: f32,
}

impl Tree {
    pub(crate) fn puct_choice(&self, node: u32) -> Choice {
        let config = &self.config;
        let at = if node == ROOT {
            let forced = if self.noised { config.forced_playouts } else { 0.0 };
            AtNode { reduction: config.root_fpu_reduction, forced }
        } else {
            AtNode { reduction: config.fpu_reduction, forced: 0.0 }
        };
        puct(self.arena.node(node), self.arena.edges_of(node), config, at)
    }
}

/// AlphaZero's exploration rate for a node of `visits` visits.
pub(crate) fn exploration(config: &SearchConfig, visits: f32) -> f32 {
    let growth = ((1.0 + visits + config.c_puct_base) / config.c_puct_base).ln();
    config.c_puct_log * growth + config.c_puct_init
}

/// KataGo's factor on the exploration rate: above 1 where the values seen below a node are spread
/// more widely than [`c_puct_stdev_prior`](SearchConfig::c_puct_stdev_prior), below 1 where less.
pub(crate) fn spread_factor(config: &SearchConfig, node: &Node) -> f32 {
    let (scale, prior) = (config.c_puct_stdev_scale, config.c_puct_stdev_prior);
    if scale == 0.0 || node.visits == 0 {
        return 1.0;
    }
    let weight = config.c_puct_stdev_prior_weight;
    let seen = (1 + node.visits) as f32;
    let mean = node.mean_value();
    let square = mean * mean;
    let squares = node.mean_square().max(square);
    let pooled = (weight * (square + prior * prior) + seen * squares) / (weight + seen - 1.0);
    let stdev = (pooled - square).max(0.0).sqrt();
    1.0 + scale * (stdev / prior - 1.0)
}

/// What a move never tried is taken to be worth.
fn first_play(config: &SearchConfig, node: &Node, reduction: f32, tried_mass: f32) -> f32 {
    let mut parent = node.mean_value();
    if config.fpu_by_mass {
        let share = (tried_mass * tried_mass).min(1.0);
        parent = share * parent + (1.0 - share) * node.own_value;
    }
    parent - reduction * tried_mass.sqrt()
}

/// The move of the largest `Q + c(N) * P * sqrt(N) / (1 + n)`; the lowest action of equals.
///
/// Moves never tried differ only in their priors, so the node's best of them stands for all.
pub(crate) fn puct(node: &Node, edges: &[Edge], config: &SearchConfig, at: AtNode) -> Choice {
    let loss = config.virtual_loss as f32;
    let total = node.visits as f32 + loss * node.in_flight as f32;
    let rate = exploration(config, total) * spread_factor(config, node);
    let scale = rate * total.max(1.0).sqrt();
    let hopeless = node.bounds.high == -1;
    let mut tried = Best::NONE;
    let mut forced = Best::NONE;
    let mut untried = Best::NONE;
    let mut tried_mass = 0.0;
    if node.next_action != NO_ACTION {
        untried = Best { score: node.next_prior, action: node.next_action, edge: NO_ACTION };
    }
    for (edge, ordinal) in edges.iter().zip(0..) {
        if edge.is_untried() {
            untried.consider(edge.prior, edge.action, ordinal);
            continue;
        }
        tried_mass += edge.prior;
        if edge.bounds.high == -1 && !hopeless {
            continue; // a proven loss is worth no further look
        }
        if edge.bounds.low == 1 {
            return Choice::Tried(ordinal); // a proven win: the search is over here
        }
        let charged = loss * edge.in_flight as f32;
        let n = edge.visits as f32 + charged;
        if at.forced > 0.0 && n < forced_visits(at.forced, edge.prior, total) {
            forced.consider(0.0, edge.action, ordinal);
            continue;
        }
        let q = if n > 0.0 { (edge.value_sum - charged) / n } else { 0.0 };
        tried.consider(q + scale * edge.prior / (1.0 + n), edge.action, ordinal);
    }
    if forced.action != NO_ACTION {
        return forced.choice();
    }
    if untried.action != NO_ACTION {
        let score = first_play(config, node, at.reduction, tried_mass) + scale * untried.score;
        tried.consider(score, untried.action, untried.edge);
    }
    tried.choice()
}

/// The best so far: the larger score, then the lower action.
#[derive(Debug, Clone, Copy)]
struct Best {
    score: f32,
    action: u16,
    edge: u16,
}

impl Best {
    const NONE: Best = Best { score: f32::NEG_INFINITY, action: NO_ACTION, edge: NO_ACTION };

    #[inline]
    fn consider(&mut self, score: f32, action: u16, edge: u16) {
        if score > self.score || (score == self.score && action < self.action) {
            *self = Best { score, action, edge };
        }
    }

    fn choice(self) -> Choice {
        match self.edge {
            NO_ACTION => Choice::Untried(self.action),
            edge => Choice::Tried(edge),
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::arena::{Bounds, NOT_HERE};

    const BELOW: AtNode = AtNode { reduction: 0.2, forced: 0.0 };

    /// PUCT as the paper prints it: a score for every move, then the first of the largest.
    fn naive(node: &Node, edges: &[Edge], untried: &[(u16, f32)], at: AtNode) -> u16 {
        let config = SearchConfig::default();
        let loss = config.virtual_loss as f32;
        let total = node.visits as f32 + loss * node.in_flight as f32;
        let mass: f32 = edges.iter().filter(|e| !e.is_untried()).map(|e| e.prior).sum();
        let urgency = node.mean_value() - at.reduction * mass.sqrt();
        let scale = exploration(&config, total) * total.max(1.0).sqrt();
        let tried = edges.iter().map(|e| {
            let n = e.visits as f32 + loss * e.in_flight as f32;
            let q = if e.is_untried() {
                urgency
            } else {
                (e.value_sum - loss * e.in_flight as f32) / n
            };
            (e.action, q + scale * e.prior / (1.0 + n))
        });
        let untried = untried.iter().map(|&(action, prior)| (action, urgency + scale * prior));
        let mut scores: Vec<(u16, f32)> = tried.chain(untried).collect();
        scores.sort_by_key(|&(action, _)| action);
        scores.iter().fold((0, f32::NEG_INFINITY), |best, &s| if s.1 > best.1 { s } else { best }).0
    }

    #[test]
    fn one_pass_finds_what_the_formula_says() {
        let config = SearchConfig::default();
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        for _ in 0..2_000 {
            let mut edges = Vec::new();
            let mut untried: Vec<(u16, f32)> = Vec::new();
            for action in 0..rng.random_range(1..40) {
                let prior = rng.random::<f32>();
                if rng.random_range(0..3) == 0 {
                    untried.push((action, prior));
                    continue;
                }
                let mut edge = Edge::new(action, prior);
                edge.visits = rng.random_range(0..4u32).saturating_sub(1) * rng.random_range(1..30);
                edge.in_flight = u32::from(rng.random_range(0..8) == 0);
                edge.value_sum = edge.visits as f32 * rng.random_range(-1.0..1.0);
                edges.insert(rng.random_range(0..=edges.len()), edge);
            }
            let first = |best: (u16, f32), &m: &(u16, f32)| if m.1 > best.1 { m } else { best };
            let next = untried.iter().fold((NO_ACTION, NOT_HERE), first);
            let mut node = Node::reached(None);
            node.own_value = rng.random_range(-1.0..1.0);
            node.visits = edges.iter().map(|e| e.visits).sum();
            node.value_sum = edges.iter().map(|e| e.value_sum).sum();
            node.in_flight = edges.iter().map(|e| e.in_flight).sum();
            (node.next_action, node.next_prior) = next;
            for reduction in [0.0, 0.2] {
                let at = AtNode { reduction, forced: 0.0 };
                let found = match puct(&node, &edges, &config, at) {
                    Choice::Tried(edge) => edges[edge as usize].action,
                    Choice::Untried(action) => action,
                };
                assert_eq!(found, naive(&node, &edges, &untried, at), "{node:?}");
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

    #[test]
    fn the_rate_follows_the_spread_of_the_values() {
        let config = SearchConfig { c_puct_stdev_scale: 0.85, ..SearchConfig::default() };
        let node = |own_value: f32, values: &[f32]| {
            let mut node = Node::reached(None);
            node.own_value = own_value;
            node.visits = values.len() as u32;
            node.value_sum = values.iter().sum();
            node.square_sum = values.iter().map(|v| v * v).sum();
            node
        };
        // By hand for values 1, -1, 1 and an own value of -1: mean 0, squares 1, so the variance
        // is (2 * (0 + 0.16) + 4 * 1) / (2 + 4 - 1) = 0.864.
        let wide = spread_factor(&config, &node(-1.0, &[1.0, -1.0, 1.0]));
        assert!((wide - (1.0 + 0.85 * (0.864f32.sqrt() / 0.4 - 1.0))).abs() < 1e-6);
        // All alike at 0.5: (2 * (0.25 + 0.16) + 10 * 0.25) / 11 - 0.25 = 0.05181818.
        let narrow = spread_factor(&config, &node(0.5, &[0.5; 9]));
        assert!((narrow - (1.0 + 0.85 * (0.051_818_18f32.sqrt() / 0.4 - 1.0))).abs() < 1e-5);
        assert_eq!(spread_factor(&config, &node(0.5, &[])), 1.0, "nothing seen yet");
        let off = SearchConfig::default();
        assert_eq!(spread_factor(&off, &node(-1.0, &[1.0, -1.0, 1.0])), 1.0);
    }

    #[test]
    fn an_untried_move_may_lean_on_the_evaluators_own_value() {
        let config = SearchConfig { fpu_by_mass: true, ..SearchConfig::default() };
        let mut node = Node::reached(None);
        (node.own_value, node.visits, node.value_sum) = (0.6, 2, -0.6);
        // Mean 0; at a mass of 0.5 it counts a quarter: 0.25 * 0 + 0.75 * 0.6 = 0.45.
        let found = first_play(&config, &node, 0.2, 0.5);
        assert!((found - (0.45 - 0.2 * 0.5f32.sqrt())).abs() < 1e-6, "{found}");
        let plain = first_play(&SearchConfig::default(), &node, 0.2, 0.5);
        assert!((plain + 0.2 * 0.5f32.sqrt()).abs() < 1e-6, "{plain}");
    }

    #[test]
    fn proven_moves_are_taken_or_left() {
        let config = SearchConfig::default();
        let edge = |action, low, high, q: f32| Edge {
            visits: 10,
            value_sum: 10.0 * q,
            bounds: Bounds { low, high },
            ..Edge::new(action, 0.3)
        };
        let mut node = Node::reached(None);
        node.visits = 20;
        let lost = [edge(0, -1, -1, 0.9), edge(1, -1, 1, -0.9)];
        assert_eq!(puct(&node, &lost, &config, BELOW), Choice::Tried(1), "a loss is left");
        let won = [edge(0, -1, 1, 0.9), edge(1, 1, 1, -0.9)];
        assert_eq!(puct(&node, &won, &config, BELOW), Choice::Tried(1), "a win is taken");
        node.bounds = Bounds { low: -1, high: -1 };
        let all = [edge(0, -1, -1, -1.0), edge(1, -1, -1, -1.0)];
        assert_eq!(puct(&node, &all, &config, BELOW), Choice::Tried(0), "resisting all the same");
    }
}
