//! A closer look at some games: their searches once more, by a process that is trusted.
//!
//! What a record keeps of a search is its *result*: the root's value after all visits and the policy
//! target. The network's raw value and priors are not kept, so they cannot be compared; instead the
//! search is made again, from the same position with the same number of visits, and both results
//! compared. They are not equal for honest games either: noise, symmetries and what was left of the
//! tree before differ. Means over some positions are close all the same, and far apart for a game
//! whose numbers another network gave, or nobody's.

use std::collections::HashMap;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use tengen_inference::{EvalError, LeafEvaluator};
use tengen_record::GameRecord;
use tengen_search::{Tree, policy_target, run_search};

use crate::Plan;

/// Weight of a move that one of two policies lacks: half a visit, so that no divergence is infinite.
const HALF_A_VISIT: f64 = 0.5;

/// How far a game's searches are from the same searches made again, over the positions looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Recheck {
    /// Training targets looked at.
    pub positions: usize,
    /// Mean distance of the root's values, from 0 to 2.
    pub value_gap: f64,
    /// Mean Kullback-Leibler divergence of the search made again from the one stored, in nats. 0 where the
    /// root is Gumbel's: which moves it tries, and so its policy, hangs on a draw that is not made again.
    pub policy_gap: f64,
}

/// Makes up to `positions` of a sound game's full searches again with `evaluator`, which is of the
/// network that played it.
///
/// # Errors
/// The evaluator's.
pub fn recheck(
    record: &GameRecord,
    plan: &Plan,
    evaluator: &mut dyn LeafEvaluator,
    positions: usize,
) -> Result<Recheck, EvalError> {
    let searches = record.turns.iter().map(|turn| turn.search.as_ref()).enumerate();
    let targets: Vec<_> = searches
        .filter_map(|(turn, search)| Some((turn, search?)))
        .filter(|(_, search)| search.is_target)
        .collect();
    // Evenly over the game.
    let every = targets.len().div_ceil(positions.max(1)).max(1);
    let mut chosen = targets.into_iter().step_by(every).peekable();
    let mut found = Recheck::default();
    let Ok(mut state) = record.initial_state() else { return Ok(found) };
    for (index, turn) in record.turns.iter().enumerate() {
        if let Some((_, stored)) = chosen.next_if(|(at, _)| *at == index) {
            let mut tree = Tree::new(state.clone(), &plan.search);
            let mut rng = ChaCha8Rng::seed_from_u64(record.seed ^ index as u64);
            run_search(&mut tree, evaluator, plan.search.visits, &mut rng)?;
            let root = tree.root();
            let again = policy_target(&root, &plan.search);
            found.positions += 1;
            found.value_gap += f64::from((stored.root_value - root.value.get()).abs());
            if !plan.search.gumbel {
                found.policy_gap += divergence(&stored.policy, &again);
            }
        }
        if state.play(turn.mv).is_err() {
            break;
        }
    }
    let looked_at = found.positions.max(1) as f64;
    found.value_gap /= looked_at;
    found.policy_gap /= looked_at;
    Ok(found)
}

/// KL(stored ‖ again) over the moves of both, each smoothed by half a visit.
fn divergence(stored: &[(u16, u16)], again: &[(u16, u16)]) -> f64 {
    let mut weights: HashMap<u16, [f64; 2]> = HashMap::new();
    for (side, policy) in [stored, again].into_iter().enumerate() {
        for &(action, weight) in policy {
            let entry = weights.entry(action).or_insert([HALF_A_VISIT; 2]);
            entry[side] += f64::from(weight);
        }
    }
    let sums = weights.values().fold([0.0; 2], |sum, w| [sum[0] + w[0], sum[1] + w[1]]);
    let parts = weights.values().map(|w| {
        let (p, q) = (w[0] / sums[0], w[1] / sums[1]);
        p * (p / q).ln()
    });
    parts.sum::<f64>().max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_is_at_no_distance_from_itself_and_far_from_another() {
        let policy = [(0, 30), (4, 10), (9, 1)];
        assert_eq!(divergence(&policy, &policy), 0.0);
        let near = divergence(&policy, &[(0, 28), (4, 12), (9, 1)]);
        let far = divergence(&policy, &[(1, 30), (2, 10)]);
        assert!(near < 0.01 && far > 2.0, "{near} {far}");
        assert!(divergence(&[], &policy).is_finite());
    }
}
