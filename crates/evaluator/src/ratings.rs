//! Ratings of many players from all their games at once (Bradley and Terry 1952).

use crate::elo::Z95;
use crate::linear::invert;
use crate::{MAX_ELO, score_of_elo};
use serde::{Deserialize, Serialize};

/// Games between two players: `(i, j, wins of i, losses of i, draws)`.
pub type Pairing = (usize, usize, u32, u32, u32);

/// A player's strength over the anchor's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rating {
    /// Elo over the anchor; 0 for the anchor itself.
    pub elo: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Elo for one natural unit of the logistic scale.
const UNIT: f64 = 400.0 / std::f64::consts::LN_10;
/// Deviation of the prior on each strength, in Elo: wide enough to leave what games say alone, yet
/// clean sweeps and players without games get finite ratings.
const PRIOR_ELO: f64 = 3000.0;

/// Rates players `0..players` (more, if `results` or the anchor name more) by maximum likelihood
/// under a wide normal prior; draws are half a win each. Intervals are of the lead over
/// `anchor`, from the curvature at the maximum. Pairings of a player with itself are left out.
pub fn ratings(players: usize, results: &[Pairing], anchor: usize) -> Vec<Rating> {
    let named = results.iter().map(|r| r.0.max(r.1)).max().unwrap_or(0).max(anchor) + 1;
    let n = named.max(players);
    let mut strength = vec![0.0; n];
    let mut covariance = Vec::new();
    // Newton's method on a concave function; steps are bounded because sweeps start far out.
    for _ in 0..200 {
        let (gradient, information) = derivatives(results, &strength);
        covariance = invert(information);
        let mut largest: f64 = 0.0;
        for (s, row) in strength.iter_mut().zip(&covariance) {
            let step: f64 = row.iter().zip(&gradient).map(|(c, g)| c * g).sum();
            let step = step.clamp(-1.0, 1.0);
            *s += step;
            largest = largest.max(step.abs());
        }
        if largest < 1e-10 {
            break;
        }
    }
    let variance = |i: usize, j: usize| covariance[i][j];
    (0..n)
        .map(|i| {
            let elo = UNIT * (strength[i] - strength[anchor]);
            let spread = variance(i, i) + variance(anchor, anchor) - 2.0 * variance(i, anchor);
            let error = Z95 * UNIT * spread.max(0.0).sqrt();
            let bounded = |x: f64| x.clamp(-5.0 * MAX_ELO, 5.0 * MAX_ELO);
            Rating { elo: bounded(elo), low: bounded(elo - error), high: bounded(elo + error) }
        })
        .collect()
}

/// Gradient and negative Hessian of the log posterior.
fn derivatives(results: &[Pairing], strength: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let n = strength.len();
    let precision = (UNIT / PRIOR_ELO).powi(2);
    let mut gradient: Vec<f64> = strength.iter().map(|s| -s * precision).collect();
    let mut information = vec![vec![0.0; n]; n];
    for (i, row) in information.iter_mut().enumerate() {
        row[i] = precision;
    }
    for &(i, j, wins, losses, draws) in results.iter().filter(|r| r.0 != r.1) {
        let games = f64::from(wins) + f64::from(losses) + f64::from(draws);
        let expected = score_of_elo(UNIT * (strength[i] - strength[j]));
        let surprise = f64::from(wins) + f64::from(draws) / 2.0 - games * expected;
        gradient[i] += surprise;
        gradient[j] -= surprise;
        let weight = games * expected * (1.0 - expected);
        information[i][i] += weight;
        information[j][j] += weight;
        information[i][j] -= weight;
        information[j][i] -= weight;
    }
    (gradient, information)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_anchor_is_zero_and_sweeps_stay_finite() {
        let rated = ratings(4, &[(0, 1, 50, 0, 0), (1, 2, 0, 0, 10), (2, 2, 5, 5, 5)], 0);
        assert_eq!(rated[0], Rating { elo: 0.0, low: 0.0, high: 0.0 });
        assert!(rated[1].elo < -400.0 && rated[1].elo.is_finite());
        assert!((rated[1].elo - rated[2].elo).abs() < 30.0, "a drawn match: equals");
        assert!(rated[2].high - rated[2].low > rated[1].high - rated[1].low);
        assert_eq!(rated.len(), 4, "a player without games is rated too");
        assert_eq!(ratings(0, &[], 1).len(), 2);
    }

    #[test]
    fn more_games_narrow_the_interval() {
        let width = |k: u32| {
            let r = ratings(2, &[(0, 1, 6 * k, 4 * k, 0)], 0)[1];
            r.high - r.low
        };
        assert!((width(1) / width(100) - 10.0).abs() < 0.5);
    }
}
