//! Elo arithmetic on the logistic scale: 400 points are odds of ten to one.

/// Elo leads are kept within this, so that a clean sweep stays a number.
pub const MAX_ELO: f64 = 2000.0;

/// The 97.5 % quantile of the normal distribution: two-sided 95 % intervals.
pub(crate) const Z95: f64 = 1.959_963_984_540_054;

/// The Elo lead at which `score`, a share of points in `[0, 1]`, is expected; at most
/// [`MAX_ELO`] either way.
pub fn elo_of_score(score: f64) -> f64 {
    if score.is_nan() {
        return 0.0;
    }
    let odds = 1.0 / score.clamp(0.0, 1.0) - 1.0;
    // Adding zero makes an even score 0 rather than -0.
    (-400.0 * odds.log10()).clamp(-MAX_ELO, MAX_ELO) + 0.0
}

/// The share of points expected at an Elo lead.
pub fn score_of_elo(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// The Elo lead of a score with its 95 % interval `(elo, low, high)`; every number is finite.
///
/// The interval is that of the mean score under its sampled variance (as cutechess reports it);
/// where all games ended alike that variance is zero, and Wilson's interval takes its place.
/// Without games the lead is 0 and the interval the whole scale.
pub fn elo_with_interval(wins: u32, losses: u32, draws: u32) -> (f64, f64, f64) {
    let (w, l, d) = (f64::from(wins), f64::from(losses), f64::from(draws));
    let n = w + l + d;
    if n == 0.0 {
        return (0.0, -MAX_ELO, MAX_ELO);
    }
    let mean = (w + d / 2.0) / n;
    let variance = (w * (1.0 - mean).powi(2) + l * mean.powi(2) + d * (0.5 - mean).powi(2)) / n;
    let (low, high) = if variance > 0.0 {
        let error = Z95 * (variance / n).sqrt();
        (mean - error, mean + error)
    } else {
        wilson(mean, n)
    };
    (elo_of_score(mean), elo_of_score(low), elo_of_score(high))
}

/// [`elo_with_interval`] for whole pairs, counted by their points 0, 0.5, 1, 1.5, 2: the interval of
/// the mean of pairs, narrower than that of single games where both games of an opening tend to go
/// to the same colour.
pub fn elo_of_pairs(pairs: [u32; 5]) -> (f64, f64, f64) {
    let n: f64 = pairs.iter().map(|&n| f64::from(n)).sum();
    if n == 0.0 {
        return (0.0, -MAX_ELO, MAX_ELO);
    }
    let classes = || pairs.iter().enumerate().map(|(i, &n)| (i as f64 / 4.0, f64::from(n)));
    let mean = classes().map(|(score, n)| score * n).sum::<f64>() / n;
    let variance = classes().map(|(score, n)| n * (score - mean).powi(2)).sum::<f64>() / n;
    let (low, high) = if variance > 0.0 {
        let error = Z95 * (variance / n).sqrt();
        (mean - error, mean + error)
    } else {
        wilson(mean, n)
    };
    (elo_of_score(mean), elo_of_score(low), elo_of_score(high))
}

fn wilson(mean: f64, n: f64) -> (f64, f64) {
    let z2 = Z95 * Z95;
    let centre = mean + z2 / (2.0 * n);
    let spread = Z95 * (mean * (1.0 - mean) / n + z2 / (4.0 * n * n)).sqrt();
    ((centre - spread) / (1.0 + z2 / n), (centre + spread) / (1.0 + z2 / n))
}

/// The chance that the winner of more games is the stronger one, draws aside: `Phi` of the lead
/// over its deviation. A half without decided games.
pub fn likelihood_of_superiority(wins: u32, losses: u32) -> f64 {
    let (w, l) = (f64::from(wins), f64::from(losses));
    if w + l == 0.0 { 0.5 } else { normal_cdf((w - l) / (w + l).sqrt()) }
}

/// Abramowitz and Stegun 7.1.26; absolute error below 2e-7.
fn normal_cdf(x: f64) -> f64 {
    let z = x.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let poly = t
        * (0.254_829_592
            + t * (-0.284_496_736
                + t * (1.421_413_741 + t * (-1.453_152_027 + t * 1.061_405_429))));
    let tail = 0.5 * poly * (-z * z).exp();
    if x >= 0.0 { 1.0 - tail } else { tail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_and_leads_convert_both_ways() {
        for elo in [-300.0, 0.0, 35.0, 800.0] {
            assert!((elo_of_score(score_of_elo(elo)) - elo).abs() < 1e-6);
        }
        assert_eq!((elo_of_score(1.0), elo_of_score(0.0)), (MAX_ELO, -MAX_ELO));
        assert_eq!(elo_of_score(f64::NAN), 0.0);
    }

    #[test]
    fn clean_sweeps_and_no_games_stay_finite() {
        for (w, l, d) in [(10, 0, 0), (0, 10, 0), (0, 0, 10), (0, 0, 0), (1, 0, 0)] {
            let (elo, low, high) = elo_with_interval(w, l, d);
            assert!(low <= elo && elo <= high && low < high, "{w} {l} {d}: {low} {elo} {high}");
            assert!(low.is_finite() && high.is_finite());
        }
    }
}
