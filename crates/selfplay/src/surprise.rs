//! How much a target is worth: what the search found out that the network did not know.

use tengen_search::RootStats;

/// KL(target ‖ prior) in nats: `target` as stored, the prior as the evaluator gave it, without
/// noise or temperature. At least 0.
pub(crate) fn surprise(root: &RootStats, target: &[(u16, u16)]) -> f64 {
    let total: f64 = target.iter().map(|&(_, weight)| f64::from(weight)).sum();
    let divergence = target.iter().filter(|&&(_, weight)| weight > 0).map(|&(action, weight)| {
        let at = root.children.binary_search_by_key(&usize::from(action), |child| child.action);
        // Where the prior is as good as 0, one that a float can still tell from it.
        let prior = at.map_or(0.0, |i| f64::from(root.children[i].raw_prior)).max(1e-9);
        let share = f64::from(weight) / total;
        share * (share / prior).ln()
    });
    divergence.sum::<f64>().max(0.0)
}

/// Shares out the weight of a game's targets anew: of the sum, `share` in proportion to weight times
/// surprise, the rest as it was. The sum stays, and where nothing surprised everything does.
pub(crate) fn share_out(weights: &mut [f32], surprises: &[f64], share: f64) {
    let weighted: Vec<f64> =
        weights.iter().zip(surprises).map(|(&w, s)| f64::from(w) * s).collect();
    let sum: f64 = weights.iter().map(|&w| f64::from(w)).sum();
    let surprise: f64 = weighted.iter().sum();
    if !(share > 0.0 && surprise > 0.0 && surprise.is_finite()) {
        return;
    }
    for (weight, part) in weights.iter_mut().zip(weighted) {
        let even = f64::from(*weight);
        *weight = ((1.0 - share) * even + share * sum * part / surprise) as f32;
    }
}

#[cfg(test)]
mod tests {
    use tengen_rules::Value;
    use tengen_search::ChildStats;

    use super::*;

    fn root(priors: &[f32]) -> RootStats {
        let child = |(action, &raw_prior): (usize, &f32)| ChildStats {
            action: 2 * action,
            visits: 0,
            q: Value::new(0.0),
            result: Value::new(0.0),
            q_stdev: 0.0,
            prior: 0.5,
            raw_prior,
            proven: None,
        };
        RootStats {
            visits: 0,
            value: Value::new(0.0),
            raw_value: Value::new(0.0),
            children: priors.iter().enumerate().map(child).collect(),
            winner: None,
            noised: true,
            proven: None,
        }
    }

    #[test]
    fn surprise_by_hand() {
        // Actions 0, 2, 4. 3/4 ln(3/4 : 1/4) + 1/4 ln(1/4 : 1/2) = 0.75 ln 3 - 0.25 ln 2.
        let found = surprise(&root(&[0.25, 0.5, 0.25]), &[(0, 3), (2, 1)]);
        assert!((found - (0.75 * 3f64.ln() - 0.25 * 2f64.ln())).abs() < 1e-9, "{found}");
        assert_eq!(surprise(&root(&[0.25, 0.75]), &[(0, 10), (2, 30)]), 0.0);
        let stunned = surprise(&root(&[0.0, 1.0]), &[(0, 5)]);
        assert!((stunned - 1e9f64.ln()).abs() < 1e-6, "a prior of 0 stays finite: {stunned}");
    }

    #[test]
    fn half_even_half_by_surprise_and_the_sum_stays() {
        let mut weights = [1.0f32; 4];
        share_out(&mut weights, &[0.0, 0.1, 0.1, 0.6], 0.5);
        for (found, expected) in weights.iter().zip([0.5, 0.75, 0.75, 2.0]) {
            assert!((found - expected).abs() < 1e-6, "{weights:?}");
        }
        // A position that soft resignation made light stays light, however surprising.
        let mut weights = [1.0f32, 0.1];
        share_out(&mut weights, &[0.2, 0.2], 0.5);
        assert!((weights[0] - 1.0).abs() < 1e-6 && (weights[1] - 0.1).abs() < 1e-6, "{weights:?}");
    }

    #[test]
    fn without_surprise_or_share_nothing_changes() {
        for (surprises, share) in
            [([0.0, 0.0], 0.5), ([0.3, 0.1], 0.0), ([f64::INFINITY, 1.0], 0.5)]
        {
            let mut weights = [1.0f32, 0.25];
            share_out(&mut weights, &surprises, share);
            assert_eq!(weights, [1.0, 0.25]);
        }
    }
}
