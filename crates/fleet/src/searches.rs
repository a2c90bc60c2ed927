//! What the searches of a game must show: visits and weights that self-play under the run's
//! configuration gives.

use tengen_record::{GameRecord, SearchRecord};

use crate::Plan;
use crate::check::Unsound;

/// Visits above which a policy's weights may be scaled, to fit into 16 bits.
const WHOLE: u32 = u16::MAX as u32;
/// What rounding may add to the sum of a game's weights, as a share of it.
const ROUNDING: f64 = 1e-3;

/// Checks the searches of a game that replays.
///
/// # Errors
/// The first thing that no self-play under `plan` does.
pub(crate) fn check_searches(record: &GameRecord, plan: &Plan) -> Result<(), Unsound> {
    let (selfplay, full) = (&plan.selfplay, plan.search.visits);
    // Visits may grow in the course of a run, and one-sided positions have fewer.
    let least = selfplay.grown_visits(full, 0).min(match selfplay.soft_resign {
        true => selfplay.cheap_visits,
        false => u32::MAX,
    });
    let most = full.max(selfplay.cheap_visits);
    let (mut weight, mut targets) = (0.0, 0.0);
    let searches = record.turns.iter().map(|turn| turn.search.as_ref()).enumerate();
    for (turn, search) in searches.filter_map(|(turn, search)| Some((turn, search?))) {
        let unsound = |what| Err(Unsound::Search { turn, what });
        let visits = search.visits;
        if search.is_target && visits < least {
            return unsound(format!("a target of {visits} visits, {least} at least"));
        }
        // A search goes on with the subtree of the moves played: it has what they left, and its own.
        let searches = if selfplay.reuse_tree { turn + 1 } else { 1 };
        let most = u64::from(most) * searches as u64;
        if u64::from(visits) > most {
            return unsound(format!("{visits} visits, {most} at most"));
        }
        if let Some(what) = policy_fault(search, plan) {
            return unsound(what);
        }
        if search.is_target {
            weight += f64::from(search.weight);
            targets += 1.0;
        }
    }
    // Targets share their weights out among each other; none begins with more than 1.
    if weight > targets * (1.0 + ROUNDING) {
        let (turn, what) = (record.turns.len(), format!("{targets} targets of weight {weight}"));
        return Err(Unsound::Search { turn, what });
    }
    Ok(())
}

/// A policy is the visits of the root's moves, less those that noise forced upon it.
fn policy_fault(search: &SearchRecord, plan: &Plan) -> Option<String> {
    let visits = search.visits;
    if plan.search.gumbel || visits > WHOLE || (visits == 0 && plan.search.solve) {
        return None;
    }
    let sum: u32 = search.policy.iter().map(|&(_, weight)| u32::from(weight)).sum();
    let pruned = plan.search.forced_playouts > 0.0;
    let fits = if pruned { sum <= visits } else { sum == visits };
    (!fits).then(|| format!("a policy of {sum} visits in a search of {visits}"))
}
