//! From visits to the move played and the target learned.

use rand::Rng;

use crate::gumbel;
use crate::puct::exploration;
use crate::{ChildStats, RootStats, SearchConfig};

/// The action to play: drawn by visits^(1/`temperature`), or the most visited move (ties: higher
/// q, then lower action) at temperature 0. A Gumbel root with draws has drawn already: its winner
/// is played at any temperature, and without draws at temperature 0. A root without visits is judged by its priors.
///
/// # Panics
/// When the root has no children: the game is over or the root was never evaluated.
pub fn choose_move(root: &RootStats, temperature: f32, rng: &mut impl Rng) -> usize {
    let best = root.best().expect("only a root that was evaluated has moves to choose from");
    if let Some(winner) = root.winner
        && (root.noised || temperature <= 0.0)
    {
        return winner;
    }
    if temperature <= 0.0 {
        return best.action;
    }
    // Where something else is open, a proven loss is not played.
    let lost = |child: &ChildStats| child.rank().is_lt() && !best.rank().is_lt();
    let weight = |child: &ChildStats| match child {
        child if lost(child) => 0.0,
        child if root.visits == 0 => child.prior,
        child => child.visits as f32,
    };
    let top = root.children.iter().map(weight).fold(0.0, f32::max);
    // Relative to the largest, so that a low temperature cannot overflow.
    let weights: Vec<f32> =
        root.children.iter().map(|c| (weight(c) / top).powf(temperature.recip())).collect();
    let mut left = rng.random::<f32>() * weights.iter().sum::<f32>();
    for (child, weight) in root.children.iter().zip(&weights) {
        if left < *weight {
            return child.action;
        }
        left -= weight;
    }
    best.action // the sum was rounded up
}

/// The action to play where strength is all that counts: [`choose_move`] at temperature 0, unless
/// [`lcb_stdevs`](SearchConfig::lcb_stdevs) is on. Then it is, of the moves with at least
/// [`lcb_min_share`](SearchConfig::lcb_min_share) of the most visited move's visits, the one of the
/// highest lower confidence bound (Leela Zero and KataGo play so).
///
/// # Panics
/// When the root has no children: the game is over or the root was never evaluated.
pub fn choose_best(root: &RootStats, config: &SearchConfig) -> usize {
    let best = root.best().expect("only a root that was evaluated has moves to choose from");
    if let Some(winner) = root.winner {
        return winner;
    }
    if config.lcb_stdevs <= 0.0 || !best.rank().is_eq() {
        return best.action;
    }
    let enough = config.lcb_min_share * best.visits as f32;
    let able = |c: &&ChildStats| c.visits as f32 >= enough && c.visits > 1 && c.rank().is_eq();
    let bound = |child: &ChildStats| child.lower_bound(config.lcb_stdevs);
    let safest = root.children.iter().filter(able).reduce(|top, child| {
        let better = bound(child).total_cmp(&bound(top)).then(child.visits.cmp(&top.visits));
        if better.is_gt() { child } else { top }
    });
    safest.unwrap_or(best).action
}

/// The training target: `(action, weight)` for every move with weight, weights proportional to
/// the probabilities. By PUCT these are the visits (pruned of forced ones where
/// [`forced_playouts`](SearchConfig::forced_playouts) is on), scaled down only if they do not fit.
/// A Gumbel root gives its improved policy. A root without visits gives its priors.
pub fn policy_target(root: &RootStats, config: &SearchConfig) -> Vec<(u16, u16)> {
    if config.gumbel {
        return quantise(root, &gumbel::target(root, config), false);
    }
    let mut weights: Vec<f32> = root.children.iter().map(|c| c.visits as f32).collect();
    if root.visits == 0 {
        weights = root.children.iter().map(|c| c.raw_prior).collect();
    } else if config.forced_playouts > 0.0 {
        prune_forced(root, config, &mut weights);
    }
    quantise(root, &weights, root.visits > 0)
}

/// Largest weight a target may hold.
const TOP_WEIGHT: f32 = u16::MAX as f32;

/// Weights as integers: whole visits stay as they are, anything else is scaled to fill 16 bits.
fn quantise(root: &RootStats, weights: &[f32], whole: bool) -> Vec<(u16, u16)> {
    let top = weights.iter().copied().fold(0.0, f32::max);
    if top <= 0.0 {
        return Vec::new();
    }
    let scale = if whole && top <= TOP_WEIGHT { 1.0 } else { TOP_WEIGHT / top };
    root.children
        .iter()
        .zip(weights)
        .map(|(child, weight)| (child.action as u16, (weight * scale).round() as u16))
        .filter(|&(_, weight)| weight > 0)
        .collect()
}

/// KataGo's policy target pruning (arXiv:1902.10565, section 3.2): every child but the most
/// visited gives up to `n_forced` visits back, as long as its PUCT score stays below the best
/// child's; one left with a single visit is dropped.
fn prune_forced(root: &RootStats, config: &SearchConfig, weights: &mut [f32]) {
    let Some(best) = root.best() else { return };
    let total = root.visits as f32;
    let scale = exploration(config, total) * total.sqrt();
    let best_score = best.q.get() + scale * best.prior / (1.0 + best.visits as f32);
    for (child, weight) in root.children.iter().zip(weights) {
        if child.action == best.action || child.visits == 0 {
            continue;
        }
        let forced = forced_visits(config.forced_playouts, child.prior, total);
        let floor = (*weight - forced.floor()).max(0.0);
        while *weight > floor && child.q.get() + scale * child.prior / *weight <= best_score {
            *weight -= 1.0; // the score with one visit less is P / (1 + n - 1)
        }
        if *weight <= 1.0 {
            *weight = 0.0;
        }
    }
}

/// `sqrt(k * P * N)`: the visits a root child is entitled to.
pub(crate) fn forced_visits(k: f32, prior: f32, total: f32) -> f32 {
    (k * prior * total).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forced_visits_agree_with_the_paper() {
        for (prior, expected) in [(0.01, 3.464_102), (0.1, 10.954_451), (0.3, 18.973_666)] {
            assert!((forced_visits(2.0, prior, 600.0) - expected).abs() < 1e-5);
        }
    }
}
