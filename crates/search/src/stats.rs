//! What a search has to say, as plain numbers.

use std::cmp::Ordering;

use tengen_rules::Value;

use crate::arena::Edge;
use crate::tree::RootMove;

/// A root after (or during) a search.
#[derive(Debug, Clone, PartialEq)]
pub struct RootStats {
    /// Visits of all children together, those inherited from an earlier search included. The
    /// evaluation of the root itself is not a visit.
    pub visits: u32,
    /// Mean value of the evaluation of the root and all visits below it, for the root's player;
    /// the exact result once that is proven.
    pub value: Value,
    /// The evaluator's own value of the root, for the root's player.
    pub raw_value: Value,
    /// One a legal move, by ascending action.
    pub children: Vec<ChildStats>,
    /// The action that leads the sequential halving; `None` under PUCT.
    pub winner: Option<usize>,
    /// Whether this search was given root noise (or Gumbel draws).
    pub noised: bool,
    /// The result of the game with best play, for the root's player, once proven: see
    /// [`solve`](crate::SearchConfig::solve).
    pub proven: Option<Value>,
}

/// A move at the root.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChildStats {
    /// The action index.
    pub action: usize,
    /// N: simulations that began with this move.
    pub visits: u32,
    /// Q: their mean value for the root's player, what the search strives for; 0 without a visit.
    pub q: Value,
    /// Their mean result for the root's player: Q, unless points count too
    /// ([`score_utility`](crate::SearchConfig::score_utility)).
    pub result: Value,
    /// Standard deviation of those values, in [0, 1]; 0 below two visits.
    pub q_stdev: f32,
    /// P as the search used it: temperature and noise included.
    pub prior: f32,
    /// P as the evaluator gave it.
    pub raw_prior: f32,
    /// The result with best play after this move, for the root's player, once proven.
    pub proven: Option<Value>,
}

impl ChildStats {
    /// `result` where it is not Q.
    pub(crate) fn of(mv: &RootMove, edge: Option<&Edge>, result: Option<f32>) -> ChildStats {
        let (visits, q) = edge.map_or((0, 0.0), |e| (e.visits, e.q_or(0.0)));
        let spread = edge
            .filter(|e| e.visits > 1)
            .map_or(0.0, |e| (e.square_sum / e.visits as f32 - q * q).max(0.0).sqrt());
        ChildStats {
            action: mv.action as usize,
            visits,
            q: Value::new(q),
            result: Value::new(result.unwrap_or(q)),
            q_stdev: spread,
            prior: mv.prior,
            raw_prior: mv.raw_prior,
            proven: edge.and_then(|e| e.bounds.proven()).map(Value::new),
        }
    }

    /// A proven win before everything, a proven loss behind everything.
    pub(crate) fn rank(&self) -> Ordering {
        self.proven.map_or(Ordering::Equal, |value| value.get().total_cmp(&0.0))
    }

    /// The lower confidence bound `Q - stdevs * sqrt((sigma^2 + 1 / (1 + N^3)) / N)`; -1 below two
    /// visits. The second term is KataGo's: two equal values are no certainty.
    pub fn lower_bound(&self, stdevs: f32) -> f32 {
        if self.visits < 2 {
            return -1.0;
        }
        let n = self.visits as f32;
        let variance = self.q_stdev * self.q_stdev + 1.0 / (1.0 + n * n * n);
        self.q.get() - stdevs * (variance / n).sqrt()
    }
}

impl RootStats {
    /// The most visited child: ties go to the higher q, then to the higher prior, then to the
    /// lower action. A proven win goes before all others, a proven loss behind. `None` only where
    /// there are no children.
    pub fn best(&self) -> Option<&ChildStats> {
        self.children.iter().reduce(|best, child| {
            let better = child
                .rank()
                .cmp(&best.rank())
                .then(child.visits.cmp(&best.visits))
                .then(child.q.get().total_cmp(&best.q.get()))
                .then(child.prior.total_cmp(&best.prior));
            if better.is_gt() { child } else { best }
        })
    }
}
