//! The Gumbel root: sequential halving over moves drawn without replacement, and the improved
//! policy (Danihelka et al., "Policy improvement by planning with Gumbel", ICLR 2022; the schedule
//! is that of the mctx library).
//!
//! With few simulations this improves the policy where PUCT's visit counts would not, because the
//! target is computed from values and priors, not from where the visits happened to go.

use rand::Rng;

use crate::arena::{Edge, NO_ACTION, ROOT};
use crate::puct::Choice;
use crate::tree::{RootMove, Scratch};
use crate::{ChildStats, RootStats, SearchConfig, Tree};

/// A move as the formulas of the paper see it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arm {
    pub action: u16,
    /// The ordinal of its edge; [`NO_ACTION`] while it has none.
    pub edge: u16,
    pub prior: f32,
    pub visits: u32,
    pub in_flight: u32,
    /// Mean value in [0, 1] for the player to move; without meaning at 0 visits.
    pub q: f32,
}

impl Arm {
    fn choice(&self) -> Choice {
        match self.edge {
            NO_ACTION => Choice::Untried(self.action),
            edge => Choice::Tried(edge),
        }
    }
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
pub(crate) fn scaled_values(
    arms: &[Arm],
    own_value: f32,
    config: &SearchConfig,
    values: &mut Vec<f32>,
) {
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
    values.clear();
    values.extend(arms.iter().map(|arm| scale * if arm.visits > 0 { arm.q } else { mixed }));
}

/// `softmax(logits + scaled values)`: the paper's improved policy.
pub(crate) fn improved_policy(
    arms: &[Arm],
    own_value: f32,
    config: &SearchConfig,
    policy: &mut Vec<f32>,
) {
    scaled_values(arms, own_value, config, policy);
    for (p, arm) in policy.iter_mut().zip(arms) {
        *p += logit(arm.prior);
    }
    let top = policy.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    policy.iter_mut().for_each(|p| *p = (*p - top).exp());
    let sum: f32 = policy.iter().sum();
    policy.iter_mut().for_each(|p| *p /= sum);
}

/// The improved policy of a searched root, by the evaluator's own priors.
pub(crate) fn target(root: &RootStats, config: &SearchConfig) -> Vec<f32> {
    let arm = |c: &ChildStats| Arm {
        action: c.action as u16,
        edge: NO_ACTION,
        prior: c.raw_prior,
        visits: c.visits,
        in_flight: 0,
        q: unit(c.q.get()),
    };
    let arms: Vec<Arm> = root.children.iter().map(arm).collect();
    let mut policy = Vec::new();
    improved_policy(&arms, unit(root.raw_value.get()), config, &mut policy);
    policy
}

impl Tree {
    /// Draws the Gumbel variable of every root move.
    pub(crate) fn draw_gumbels(&mut self, rng: &mut impl Rng) {
        for mv in &mut self.root_moves {
            let uniform = rng.random::<f64>().max(f64::MIN_POSITIVE);
            mv.gumbel = -(-uniform.ln()).ln() as f32;
        }
    }

    /// The root move for the next simulation of the halving, leaves in flight counted.
    pub(crate) fn halving_choice(&mut self) -> Choice {
        let index = (self.simulations + self.arena.node(ROOT).in_flight) as usize;
        let considered = (self.config.gumbel_considered as usize).min(self.root_moves.len());
        let planned = self.config.visits as usize;
        while self.schedule.len() <= index {
            // Past the plan the halving goes on between the two moves left.
            let length = 2 * (index + 1);
            self.schedule = considered_visits(considered, planned, length);
        }
        let wanted = self.schedule[index];
        let mut arms = std::mem::take(&mut self.scratch.arms);
        let mut values = std::mem::take(&mut self.scratch.values);
        self.list_root_arms(&mut arms);
        let node = self.arena.node(ROOT);
        scaled_values(&arms, unit(node.own_value), &self.config, &mut values);
        let best = self
            .best_with_visits(&arms, &values, |visits| visits == wanted)
            .or_else(|| self.best_with_visits(&arms, &values, |_| true))
            .expect("an expanded root has at least the pass");
        let choice = arms[best].choice();
        self.scratch.arms = arms;
        self.scratch.values = values;
        choice
    }

    /// The move that won the halving: the best by draw, prior and value of those visited most in
    /// this search.
    pub(crate) fn halving_winner(&self) -> Option<usize> {
        let (mut arms, mut values) = (Vec::new(), Vec::new());
        self.list_root_arms(&mut arms);
        let node = self.arena.node(ROOT);
        scaled_values(&arms, unit(node.own_value), &self.config, &mut values);
        let visits = |(arm, mv): (&Arm, &RootMove)| arm.visits - mv.inherited;
        let most = arms.iter().zip(&self.root_moves).map(visits).max()?;
        let winner = self.best_with_visits(&arms, &values, |visits| visits == most)?;
        Some(arms[winner].action as usize)
    }

    fn best_with_visits(
        &self,
        arms: &[Arm],
        values: &[f32],
        eligible: impl Fn(u32) -> bool,
    ) -> Option<usize> {
        let mut best: Option<(usize, f32)> = None;
        for (i, (arm, mv)) in arms.iter().zip(&self.root_moves).enumerate() {
            if eligible(arm.visits + arm.in_flight - mv.inherited) {
                let score = mv.gumbel + logit(arm.prior) + values[i];
                if best.is_none_or(|(_, top)| score > top) {
                    best = Some((i, score));
                }
            }
        }
        best.map(|(i, _)| i)
    }

    fn list_root_arms(&self, arms: &mut Vec<Arm>) {
        arms.clear();
        arms.extend(self.root_moves.iter().map(|mv| match self.root_edge(mv) {
            Some(edge) => edge.arm(mv.edge),
            None => Arm::untried(mv.action, mv.prior),
        }));
    }

    /// Below the root: the move whose share of visits lags its improved probability the most.
    pub(crate) fn lagging_choice(&mut self, node: u32) -> Choice {
        let Scratch { mut arms, mut values, mut ordinals, spare, legal } =
            std::mem::take(&mut self.scratch);
        self.list_arms(node, &mut ordinals, &mut arms);
        let here = self.arena.node(node);
        improved_policy(&arms, unit(here.own_value), &self.config, &mut values);
        let total = (1 + here.visits + here.in_flight) as f32;
        let mut best = (0, f32::NEG_INFINITY);
        for (i, (arm, probability)) in arms.iter().zip(&values).enumerate() {
            let lag = probability - (arm.visits + arm.in_flight) as f32 / total;
            if lag > best.1 {
                best = (i, lag);
            }
        }
        let choice = arms[best.0].choice();
        self.scratch = Scratch { arms, values, ordinals, spare, legal };
        choice
    }

    /// All moves of a node by ascending action.
    fn list_arms(&self, node: u32, ordinals: &mut Vec<u16>, arms: &mut Vec<Arm>) {
        let (row, edges) = (self.arena.prior_row(node), self.arena.edges_of(node));
        ordinals.clear();
        ordinals.resize(row.len(), NO_ACTION);
        for (edge, ordinal) in edges.iter().zip(0..) {
            ordinals[edge.action as usize] = ordinal;
        }
        arms.clear();
        for (action, (&prior, &ordinal)) in row.iter().zip(ordinals.iter()).enumerate() {
            if let Some(edge) = edges.get(ordinal as usize) {
                arms.push(edge.arm(ordinal));
            } else if prior >= 0.0 {
                arms.push(Arm::untried(action as u16, prior));
            }
        }
    }
}

impl Arm {
    fn untried(action: u16, prior: f32) -> Arm {
        Arm { action, edge: NO_ACTION, prior, visits: 0, in_flight: 0, q: 0.0 }
    }
}

impl Edge {
    fn arm(&self, edge: u16) -> Arm {
        let Edge { action, prior, visits, in_flight, .. } = *self;
        Arm { action, edge, prior, visits, in_flight, q: unit(self.q_or(0.0)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arm(prior: f32, visits: u32, q: f32) -> Arm {
        Arm { visits, q, ..Arm::untried(0, prior) }
    }

    fn policy_of(arms: &[Arm], own_value: f32, config: &SearchConfig) -> Vec<f32> {
        let mut policy = Vec::new();
        improved_policy(arms, own_value, config, &mut policy);
        policy
    }

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
            .map(|i| arm(logits[i].exp() / sum, visits[i], (rewards[i] + 1.0) / 21.0))
            .collect();
        let policy = policy_of(&arms, 0.0, &config);
        let expected = [0.186_628_9, 0.004_559_5, 0.048_381_7, 0.760_429_9];
        for (found, wanted) in policy.iter().zip(expected) {
            assert!((found - wanted).abs() < 1e-5, "{policy:?}");
        }
    }

    #[test]
    fn moves_never_tried_count_as_the_mixed_value() {
        let config = SearchConfig { c_visit: 1.0, c_scale: 1.0, ..SearchConfig::default() };
        let arms = [arm(0.2, 2, 0.9), arm(0.6, 1, 0.1), arm(0.2, 0, 0.0)];
        // Visited mean by prior: (0.2 * 0.9 + 0.6 * 0.1) / 0.8 = 0.3; mixed with the own value
        // 0.7 as one visit of four: (0.7 + 3 * 0.3) / 4 = 0.4; all times 1 + 2 visits.
        let mut values = Vec::new();
        scaled_values(&arms, 0.7, &config, &mut values);
        for (found, wanted) in values.iter().zip([2.7, 0.3, 1.2]) {
            assert!((found - wanted).abs() < 1e-6, "{values:?}");
        }
        let untouched = [arm(0.25, 0, 0.0), arm(0.75, 0, 0.0)];
        let policy = policy_of(&untouched, 0.7, &config);
        assert!((policy[0] - 0.25).abs() < 1e-6, "without visits the priors stand");
    }
}
