//! What a search has to say, as plain numbers.

use tengen_rules::Value;

/// A root after (or during) a search.
#[derive(Debug, Clone, PartialEq)]
pub struct RootStats {
    /// Visits of all children together, those inherited from an earlier search included. The
    /// evaluation of the root itself is not a visit.
    pub visits: u32,
    /// Mean value of the evaluation of the root and all visits below it, for the root's player.
    pub value: Value,
    /// The evaluator's own value of the root, for the root's player.
    pub raw_value: Value,
    /// One a legal move, by ascending action.
    pub children: Vec<ChildStats>,
    /// The action that leads the sequential halving; `None` under PUCT.
    pub winner: Option<usize>,
    /// Whether this search was given root noise (or Gumbel draws).
    pub noised: bool,
}

/// A move at the root.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChildStats {
    /// The action index.
    pub action: usize,
    /// N: simulations that began with this move.
    pub visits: u32,
    /// Q: their mean value for the root's player; 0 without a visit.
    pub q: Value,
    /// P as the search used it: temperature and noise included.
    pub prior: f32,
    /// P as the evaluator gave it.
    pub raw_prior: f32,
}

impl RootStats {
    /// The most visited child: ties go to the higher q, then to the lower action. `None` only
    /// where there are no children.
    pub fn best(&self) -> Option<&ChildStats> {
        self.children.iter().reduce(|best, child| {
            let better = child
                .visits
                .cmp(&best.visits)
                .then(child.q.get().total_cmp(&best.q.get()))
                .then(child.prior.total_cmp(&best.prior));
            if better.is_gt() { child } else { best }
        })
    }
}
