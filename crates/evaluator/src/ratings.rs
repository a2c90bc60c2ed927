//! Ratings of many players from all their games at once (Bradley and Terry 1952).

use crate::elo::Z95;
use crate::linear::invert;
use crate::{MAX_ELO, score_of_elo};
use serde::{Deserialize, Serialize};

/// Games between two players: `(i, j, wins of i, losses of i, draws)`.
pub type Pairing = (usize, usize, u32, u32, u32);

/// Games between two players with known colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Results {
    /// Who had Black.
    pub black: usize,
    /// Who had White.
    pub white: usize,
    /// Games that Black won.
    pub black_wins: u32,
    /// Games that White won.
    pub white_wins: u32,
    /// Games without a winner; half a win each.
    pub draws: u32,
}

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

/// The most likely strengths, and how sure they are.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// Black's advantage in Elo with its 95 % interval; 0 where all games are colourless.
    pub black_advantage: Rating,
    /// Natural logarithm of odds, one a player, then Black's advantage.
    strength: Vec<f64>,
    covariance: Vec<Vec<f64>>,
}

/// Elo for one natural unit of the logistic scale.
const UNIT: f64 = 400.0 / std::f64::consts::LN_10;
/// Deviation of the prior on each strength, in Elo: wide enough to leave what games say alone, yet
/// clean sweeps and players without games get finite ratings.
const PRIOR_ELO: f64 = 3000.0;

/// Fits players `0..players` (more, if `results` name more) and Black's advantage by maximum
/// likelihood under a wide normal prior. Games of a player with itself are left out.
pub fn fit(players: usize, results: &[Results]) -> Fit {
    let colours: Vec<Term> = results
        .iter()
        .map(|r| Term {
            first: r.black,
            second: r.white,
            games: f64::from(r.black_wins) + f64::from(r.white_wins) + f64::from(r.draws),
            points: f64::from(r.black_wins) + f64::from(r.draws) / 2.0,
            colour: true,
        })
        .collect();
    fit_terms(players, &colours)
}

impl Fit {
    /// Strengths over `anchor`'s, with intervals of that lead from the curvature at the maximum.
    pub fn over(&self, anchor: usize) -> Vec<Rating> {
        (0..self.players()).map(|i| self.lead(i, anchor)).collect()
    }

    /// The lead of `i` over `j`.
    pub fn lead(&self, i: usize, j: usize) -> Rating {
        let c = |a: usize, b: usize| self.covariance[a][b];
        let spread = c(i, i) + c(j, j) - 2.0 * c(i, j);
        rating(self.strength[i] - self.strength[j], spread)
    }

    /// Players fitted.
    pub fn players(&self) -> usize {
        self.strength.len() - 1
    }

    /// The pairing whose next games would tell most: the pair whose lead is least sure, weighed by
    /// how open the game is (a game that one side nearly always wins tells little). `None` with
    /// fewer than two players.
    pub fn most_uncertain(&self) -> Option<(usize, usize)> {
        let information = |(i, j): (usize, usize)| {
            let lead = self.lead(i, j);
            let deviation = (lead.high - lead.low) / (2.0 * Z95 * UNIT);
            let expected = score_of_elo(lead.elo);
            // What one game takes off the variance of the lead, to first order.
            let game = expected * (1.0 - expected);
            let variance = deviation * deviation;
            variance * variance * game / (1.0 + variance * game)
        };
        let pairs = (0..self.players()).flat_map(|j| (0..j).map(move |i| (i, j)));
        pairs.max_by(|&a, &b| information(a).total_cmp(&information(b)))
    }
}

/// Rates players `0..players` (more, if `results` or the anchor name more) by maximum likelihood
/// under a wide normal prior; draws are half a win each, and colours are not looked at. Intervals
/// are of the lead over `anchor`.
pub fn ratings(players: usize, results: &[Pairing], anchor: usize) -> Vec<Rating> {
    let terms: Vec<Term> = results
        .iter()
        .map(|&(first, second, wins, losses, draws)| Term {
            first,
            second,
            games: f64::from(wins) + f64::from(losses) + f64::from(draws),
            points: f64::from(wins) + f64::from(draws) / 2.0,
            colour: false,
        })
        .collect();
    fit_terms(players.max(anchor + 1), &terms).over(anchor)
}

/// Games as the likelihood reads them.
struct Term {
    first: usize,
    second: usize,
    games: f64,
    points: f64,
    /// Whether `first` had Black in all of them.
    colour: bool,
}

fn fit_terms(players: usize, terms: &[Term]) -> Fit {
    let named = terms.iter().map(|t| t.first.max(t.second) + 1).max().unwrap_or(0);
    let n = named.max(players);
    let terms: Vec<&Term> = terms.iter().filter(|t| t.first != t.second).collect();
    let mut strength = vec![0.0; n + 1];
    let mut covariance = Vec::new();
    // Newton's method on a concave function; steps are bounded because sweeps start far out.
    for _ in 0..200 {
        let (gradient, information) = derivatives(&terms, &strength);
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
    let black_advantage = if terms.iter().any(|t| t.colour && t.games > 0.0) {
        rating(strength[n], covariance[n][n])
    } else {
        Rating { elo: 0.0, low: 0.0, high: 0.0 }
    };
    Fit { black_advantage, strength, covariance }
}

fn rating(lead: f64, variance: f64) -> Rating {
    let (elo, error) = (UNIT * lead, Z95 * UNIT * variance.max(0.0).sqrt());
    let bounded = |x: f64| x.clamp(-5.0 * MAX_ELO, 5.0 * MAX_ELO);
    Rating { elo: bounded(elo), low: bounded(elo - error), high: bounded(elo + error) }
}

/// Gradient and negative Hessian of the log posterior; the last unknown is Black's advantage.
fn derivatives(terms: &[&Term], strength: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let n = strength.len();
    let precision = (UNIT / PRIOR_ELO).powi(2);
    let mut gradient: Vec<f64> = strength.iter().map(|s| -s * precision).collect();
    let mut information = vec![vec![0.0; n]; n];
    for (i, row) in information.iter_mut().enumerate() {
        row[i] = precision;
    }
    for term in terms {
        let black = if term.colour { 1.0 } else { 0.0 };
        let signs = [(term.first, 1.0), (term.second, -1.0), (n - 1, black)];
        let lead: f64 = signs.iter().map(|&(i, sign)| sign * strength[i]).sum();
        let expected = score_of_elo(UNIT * lead);
        let surprise = term.points - term.games * expected;
        let weight = term.games * expected * (1.0 - expected);
        for &(i, a) in &signs {
            gradient[i] += a * surprise;
            for &(j, b) in &signs {
                information[i][j] += a * b * weight;
            }
        }
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

    #[test]
    fn black_s_advantage_is_not_taken_for_strength() {
        // Equals, and Black wins three games of four: 400 log10(3) Elo for the colour, none for
        // either player, although one had Black far more often.
        let games = |black, white, games| Results {
            black,
            white,
            black_wins: 3 * games,
            white_wins: games,
            draws: 0,
        };
        let fitted = fit(2, &[games(0, 1, 300), games(1, 0, 20)]);
        assert!(fitted.lead(0, 1).elo.abs() < 2.0, "{:?}", fitted.lead(0, 1));
        assert!((fitted.black_advantage.elo - 190.85).abs() < 1.0);
        let colourless = ratings(2, &[(0, 1, 905, 335, 0)], 1);
        assert!(colourless[0].elo > 150.0, "which colour-blind ratings would");
    }

    #[test]
    fn the_next_games_go_where_least_is_known() {
        let even = |black, white, games| Results {
            black,
            white,
            black_wins: games,
            white_wins: games,
            draws: 0,
        };
        let fitted = fit(4, &[even(0, 1, 200), even(1, 2, 200), even(2, 3, 4)]);
        let pair = fitted.most_uncertain().unwrap();
        assert!(pair.1 == 3, "player 3 has played least: {pair:?}");
        assert_eq!(fit(1, &[]).most_uncertain(), None);
        assert_eq!(fit(0, &[]).most_uncertain(), None);
    }
}
