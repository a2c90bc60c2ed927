//! The Gumbel root: sequential halving over moves drawn without replacement, and the improved
//! policy (Danihelka et al., "Policy improvement by planning with Gumbel", ICLR 2022; the schedule
//! is that of the mctx library).
//!
//! With few simulations this improves the policy where PUCT's visit counts would not, because the
//! target is computed from values and priors, not from where the visits happened to go.

use rand::Rng;

use crate::tree::{Edge, Node, ROOT, RootEdge};
use crate::{ChildStats, RootStats, SearchConfig, Tree};

/// A move as the formulas of the paper see it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arm {
    pub prior: f32,
    pub visits: u32,
    /// Mean value in [0, 1] for the player to move; without meaning at 0 visits.
    pub q: f32,
}

/// From [-1, 1] to the [0, 1] in which the paper's constants are given.
fn unit(value: f32) -> f32 {
    0.5 * (value + 1.0)
}

fn logit(prior: f32) -> f32 {
    prior.max(f32::MIN_POSITIVE).ln()
}

/// For each of `length` simulations the number of visits that the next move to visit must have,
/// when `planned` simulations are to be halved over `considered` moves: every round visits the
/// moves left equally often and keeps the better half, down to two.
pub(crate) fn considered_visits(considered: usize, planned: usize, length: usize) -> Vec<u32> {
    if considered <= 1 {
        return (0..length as u32).collect();
    }
    let rounds = considered.next_power_of_two().ilog2() as usize;
    let mut sequence = Vec::with_capacity(length + considered);
    let mut visits = 0;
    let mut left = considered;
    while sequence.len() < length {
        for _ in 0..(planned / (rounds * left)).max(1) {
            sequence.extend(std::iter::repeat_n(visits, left));
            visits += 1;
        }
        left = (left / 2).max(2);
    }
    sequence.truncate(length);
    sequence
}

/// The value of every arm, times `c_scale * (c_visit + max visits)`: what is added to the logits.
/// An arm without visits counts as the mix of the position's own value and its visited arms'.
pub(crate) fn scaled_values(arms: &[Arm], own_value: f32, config: &SearchConfig) -> Vec<f32> {
    let visits: u32 = arms.iter().map(|a| a.visits).sum();
    let most = arms.iter().map(|a| a.visits).max().unwrap_or(0);
    let visited = arms.iter().filter(|a| a.visits > 0);
    let (mass, weighted) = visited.fold((0.0, 0.0), |(mass, sum), arm| {
        let prior = arm.prior.max(f32::MIN_POSITIVE);
        (mass + prior, sum + prior * arm.q)
    });
    let mean = if mass > 0.0 { weighted / mass } else { 0.0 };
    let mixed = (own_value + visits as f32 * mean) / (1 + visits) as f32;
    let scale = config.c_scale * (config.c_visit + most as f32);
    arms.iter().map(|arm| scale * if arm.visits > 0 { arm.q } else { mixed }).collect()
}

/// `softmax(logits + scaled values)`: the paper's improved policy.
pub(crate) fn improved_policy(arms: &[Arm], own_value: f32, config: &SearchConfig) -> Vec<f32> {
    let mut policy = scaled_values(arms, own_value, config);
    for (p, arm) in policy.iter_mut().zip(arms) {
        *p += logit(arm.prior);
    }
    let top = policy.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    policy.iter_mut().for_each(|p| *p = (*p - top).exp());
    let sum: f32 = policy.iter().sum();
    policy.iter_mut().for_each(|p| *p /= sum);
    policy
}

/// The improved policy of a searched root, by the evaluator's own priors.
pub(crate) fn target(root: &RootStats, config: &SearchConfig) -> Vec<f32> {
    let arm = |c: &ChildStats| Arm { prior: c.raw_prior, visits: c.visits, q: unit(c.q.get()) };
    let arms: Vec<Arm> = root.children.iter().map(arm).collect();
    improved_policy(&arms, unit(root.raw_value.get()), config)
}

impl Tree {
    /// Draws the Gumbel variable of every root move.
    pub(crate) fn draw_gumbels(&mut self, rng: &mut impl Rng) {
        for edge in &mut self.root_edges {
            let uniform = rng.random::<f64>().max(f64::MIN_POSITIVE);
            edge.gumbel = -(-uniform.ln()).ln() as f32;
        }
    }

    /// The root edge for the next simulation of the halving, leaves in flight counted.
    pub(crate) fn halving_edge(&self) -> usize {
        let index = (self.simulations + self.nodes[ROOT as usize].in_flight) as usize;
        let considered = (self.config.gumbel_considered as usize).min(self.root_edges.len());
        let planned = self.config.visits as usize;
        let wanted = match self.schedule.get(index) {
            Some(&visits) => visits,
            // Past the plan the halving goes on between the two moves left.
            None => considered_visits(considered, planned, index + 1)[index],
        };
        self.best_with_visits(|visits| visits == wanted)
            .or_else(|| self.best_with_visits(|_| true))
            .expect("an expanded root has at least the pass")
    }

    /// The move that won the halving: the best by draw, prior and value of those visited most in
    /// this search.
    pub(crate) fn halving_winner(&self) -> Option<usize> {
        let visits = |(edge, extra): (&Edge, &RootEdge)| edge.visits - extra.inherited;
        let most = self.edges_of(ROOT).iter().zip(&self.root_edges).map(visits).max()?;
        let winner = self.best_with_visits(|visits| visits == most)?;
        Some(self.edges_of(ROOT)[winner].action as usize)
    }

    fn best_with_visits(&self, eligible: impl Fn(u32) -> bool) -> Option<usize> {
        let edges = self.edges_of(ROOT);
        let node = &self.nodes[ROOT as usize];
        let values = scaled_values(&self.arms(node), unit(node.own_value), &self.config);
        let mut best: Option<(usize, f32)> = None;
        for (i, (edge, extra)) in edges.iter().zip(&self.root_edges).enumerate() {
            if eligible(edge.visits + edge.in_flight - extra.inherited) {
                let score = extra.gumbel + logit(edge.prior) + values[i];
                if best.is_none_or(|(_, top)| score > top) {
                    best = Some((i, score));
                }
            }
        }
        best.map(|(i, _)| i)
    }

    /// Below the root: the edge whose share of visits lags its improved probability the most.
    pub(crate) fn lagging_edge(&self, node: u32) -> usize {
        let node = &self.nodes[node as usize];
        let edges = &self.edges[node.edge_range()];
        let policy = improved_policy(&self.arms(node), unit(node.own_value), &self.config);
        let total = (1 + node.visits + node.in_flight) as f32;
        let mut best = (0, f32::NEG_INFINITY);
        for (i, (edge, probability)) in edges.iter().zip(policy).enumerate() {
            let lag = probability - (edge.visits + edge.in_flight) as f32 / total;
            if lag > best.1 {
                best = (i, lag);
            }
        }
        best.0
    }

    fn arms(&self, node: &Node) -> Vec<Arm> {
        let arm =
            |edge: &Edge| Arm { prior: edge.prior, visits: edge.visits, q: unit(edge.q_or(0.0)) };
        self.edges[node.edge_range()].iter().map(arm).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Option<Vec<serde_json::Value>> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/facts/search.json");
        let Ok(text) = std::fs::read_to_string(path) else {
            println!("skipped: no table of published cases at {path}");
            return None;
        };
        Some(serde_json::from_str(&text).unwrap())
    }

    #[test]
    fn the_halving_visits_in_the_published_order() {
        let published = [
            (8, 24, "000000001111222233445566"),
            (7, 24, "000000011122233445566778"),
            (16, 32, "00000000000000001111111122223333"),
            (16, 1, "0"),
        ];
        for (considered, planned, digits) in published {
            let found = considered_visits(considered, planned, planned);
            let text: String = found.iter().map(u32::to_string).collect();
            assert_eq!(text, digits, "{considered} moves, {planned} simulations");
        }
        assert_eq!(considered_visits(1, 4, 4), [0, 1, 2, 3]);
    }

    #[test]
    fn the_halving_agrees_with_every_tabled_case() {
        let Some(cases) = facts() else { return };
        let mut checked = 0;
        for case in &cases {
            let number = |key: &str| case["input"][key].as_u64().map(|n| n as usize);
            let expected = &case["expected"]["considered_visit_counts_in_order"];
            let (Some(planned), Some(considered), Some(expected)) =
                (number("num_simulations"), number("max_considered_actions"), expected.as_array())
            else {
                continue;
            };
            let expected: Vec<u32> = expected.iter().map(|v| v.as_u64().unwrap() as u32).collect();
            assert_eq!(considered_visits(considered, planned, planned), expected, "{}", case["id"]);
            checked += 1;
        }
        assert!(checked >= 7, "{checked} cases");
    }

    #[test]
    fn the_improved_policy_agrees_with_mctx() {
        // mctx policies_test: a bandit of rewards 20, 3, -1, 10, rescaled to [0, 1], the most
        // visited arm with 7 visits, value_scale 0.05 and maxvisit_init 60.
        let config = SearchConfig { c_visit: 60.0, c_scale: 0.05, ..SearchConfig::default() };
        let logits: [f32; 4] = [0.0, -1.0, 2.0, 3.0];
        let sum: f32 = logits.iter().map(|l| l.exp()).sum();
        let rewards = [20.0, 3.0, -1.0, 10.0];
        let visits = [6, 2, 2, 7];
        let arms: Vec<Arm> = (0..4)
            .map(|i| Arm {
                prior: logits[i].exp() / sum,
                visits: visits[i],
                q: (rewards[i] + 1.0) / 21.0,
            })
            .collect();
        let policy = improved_policy(&arms, 0.0, &config);
        let expected = [0.186_628_9, 0.004_559_5, 0.048_381_7, 0.760_429_9];
        for (found, wanted) in policy.iter().zip(expected) {
            assert!((found - wanted).abs() < 1e-5, "{policy:?}");
        }
    }

    #[test]
    fn moves_never_tried_count_as_the_mixed_value() {
        let config = SearchConfig { c_visit: 1.0, c_scale: 1.0, ..SearchConfig::default() };
        let arm = |prior, visits, q| Arm { prior, visits, q };
        let arms = [arm(0.2, 2, 0.9), arm(0.6, 1, 0.1), arm(0.2, 0, 0.0)];
        // Visited mean by prior: (0.2 * 0.9 + 0.6 * 0.1) / 0.8 = 0.3; mixed with the own value
        // 0.7 as one visit of four: (0.7 + 3 * 0.3) / 4 = 0.4; all times 1 + 2 visits.
        let values = scaled_values(&arms, 0.7, &config);
        for (found, wanted) in values.iter().zip([2.7, 0.3, 1.2]) {
            assert!((found - wanted).abs() < 1e-6, "{values:?}");
        }
        let untouched = [arm(0.25, 0, 0.0), arm(0.75, 0, 0.0)];
        let policy = improved_policy(&untouched, 0.7, &config);
        assert!((policy[0] - 0.25).abs() < 1e-6, "without visits the priors stand");
    }
}
