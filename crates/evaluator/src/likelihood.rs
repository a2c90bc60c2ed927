//! Maximum likelihood of a few outcome classes under one constraint on their scores.
//!
//! A match yields counts of classes (loss, draw, win; or the five results of a pair), each worth a
//! score. A hypothesis fixes the mean score, or the mean in units of its deviation, and leaves the
//! rest of the distribution to the data: the generalised likelihood ratio of M. Van den Bergh's
//! notes "A practical introduction to the GSPRT" and "Normalized Elo" (cantate.be/Fishtest).

/// Stands in for a class that never came, so that every hypothesis stays possible; the value that
/// fishtest and fastchess use.
const EMPTY_CLASS: f64 = 1e-3;

/// What a hypothesis says about the distribution of scores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Hypothesis {
    /// The mean score.
    Mean(f64),
    /// The mean's distance from a half, divided by the standard deviation.
    Standardised(f64),
}

/// The log-likelihood ratio of `h1` against `h0` for `counts` of classes whose scores rise from 0
/// to 1 in equal steps; 0 without games.
pub(crate) fn log_ratio<const N: usize>(counts: [u32; N], h0: Hypothesis, h1: Hypothesis) -> f64 {
    if counts.iter().all(|&n| n == 0) {
        return 0.0;
    }
    let counts = counts.map(|n| if n == 0 { EMPTY_CLASS } else { f64::from(n) });
    let total: f64 = counts.iter().sum();
    let seen = counts.map(|n| n / total);
    let (p0, p1) = (most_likely(&seen, h0), most_likely(&seen, h1));
    (0..N).map(|i| counts[i] * (p1[i] / p0[i]).ln()).sum()
}

/// The distribution that makes the frequencies `seen` most likely among those `hypothesis` allows.
fn most_likely<const N: usize>(seen: &[f64; N], hypothesis: Hypothesis) -> [f64; N] {
    let score = |i: usize| i as f64 / (N - 1) as f64;
    match hypothesis {
        Hypothesis::Mean(mean) => tilted(seen, &std::array::from_fn(|i| score(i) - mean)),
        // The constraint is not linear: linearise it at the last answer until that stands still.
        Hypothesis::Standardised(t) => {
            let mut p = [1.0 / N as f64; N];
            for _ in 0..100 {
                let mean: f64 = (0..N).map(|i| p[i] * score(i)).sum();
                let variance: f64 = (0..N).map(|i| p[i] * (score(i) - mean).powi(2)).sum();
                let deviation = variance.sqrt();
                let next = tilted(
                    seen,
                    &std::array::from_fn(|i| {
                        let z = (score(i) - mean) / deviation;
                        score(i) - 0.5 - t * deviation * (1.0 + z * z) / 2.0
                    }),
                );
                let moved = (0..N).map(|i| (next[i] - p[i]).abs()).fold(0.0, f64::max);
                p = next;
                if moved < 1e-12 {
                    break;
                }
            }
            p
        }
    }
}

/// The most likely distribution whose mean of `value` is 0: `seen / (1 + x value)`, where `x`
/// makes it so. `value` must take both signs.
fn tilted<const N: usize>(seen: &[f64; N], value: &[f64; N]) -> [f64; N] {
    let most = value.iter().fold(f64::MIN, |a, &b| a.max(b));
    let least = value.iter().fold(f64::MAX, |a, &b| a.min(b));
    if !(most > 0.0 && least < 0.0) {
        return *seen;
    }
    // The mean falls with x between the poles; halve the interval that holds its root.
    let (mut low, mut high) = (-1.0 / most, -1.0 / least);
    for _ in 0..100 {
        let x = (low + high) / 2.0;
        let mean: f64 = seen.iter().zip(value).map(|(p, v)| p * v / (1.0 + x * v)).sum();
        if mean > 0.0 {
            low = x;
        } else {
            high = x;
        }
        if high - low < 1e-14 * (1.0 + x.abs()) {
            break;
        }
    }
    let x = (low + high) / 2.0;
    std::array::from_fn(|i| seen[i] / (1.0 + x * value[i]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constrained_distribution_is_one_and_keeps_its_mean() {
        let seen = [0.1, 0.2, 0.3, 0.25, 0.15];
        for mean in [0.2, 0.5, 0.55, 0.9] {
            let p = most_likely(&seen, Hypothesis::Mean(mean));
            assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{p:?}");
            let found: f64 = p.iter().enumerate().map(|(i, p)| p * i as f64 / 4.0).sum();
            assert!((found - mean).abs() < 1e-9);
        }
        let t = 0.1;
        let p = most_likely(&seen, Hypothesis::Standardised(t));
        let mean: f64 = p.iter().enumerate().map(|(i, p)| p * i as f64 / 4.0).sum();
        let variance: f64 =
            p.iter().enumerate().map(|(i, p)| p * (i as f64 / 4.0 - mean).powi(2)).sum();
        assert!(((mean - 0.5) / variance.sqrt() - t).abs() < 1e-9);
    }

    #[test]
    fn one_sided_counts_stay_finite() {
        for counts in [[9, 0, 0, 0, 0], [0, 0, 9, 0, 0], [0, 0, 0, 0, 9], [0; 5]] {
            for (h0, h1) in [
                (Hypothesis::Mean(0.5), Hypothesis::Mean(0.55)),
                (Hypothesis::Standardised(0.0), Hypothesis::Standardised(0.1)),
            ] {
                assert!(log_ratio(counts, h0, h1).is_finite(), "{counts:?}");
            }
        }
    }
}
