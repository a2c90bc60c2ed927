//! Sequential likelihood ratio tests (Wald 1945) of an Elo lead.

use crate::score_of_elo;

/// The log-likelihood ratios `(lower, upper)` at which `elo0` and `elo1` are accepted; `alpha` is
/// the chance of accepting `elo1` where `elo0` holds, `beta` that of the opposite mistake.
pub fn sprt_bounds(alpha: f64, beta: f64) -> (f64, f64) {
    ((beta / (1.0 - alpha)).ln(), ((1.0 - beta) / alpha).ln())
}

/// The log-likelihood ratio of a lead of `elo1` against one of `elo0` for won and lost games
/// (Bernoulli, logistic Elo; Leela Zero's test). A game without a winner is half of each.
pub fn llr_logistic(wins: f64, losses: f64, elo0: f64, elo1: f64) -> f64 {
    let (p0, p1) = (score_of_elo(elo0), score_of_elo(elo1));
    wins * (p1 / p0).ln() + losses * ((1.0 - p1) / (1.0 - p0)).ln()
}

/// The log-likelihood ratio under the BayesElo model with draws, as cutechess computes it: the
/// draw rate is estimated from the games, each count raised by a half so that none is zero.
pub fn llr_bayeselo(wins: u32, losses: u32, draws: u32, elo0: f64, elo1: f64) -> f64 {
    let [w, l, d] = [wins, losses, draws].map(|n| f64::from(n) + 0.5);
    let total = w + l + d;
    let (pw, pl) = (w / total, l / total);
    let draw_elo = 200.0 * ((1.0 - pl) / pl * (1.0 - pw) / pw).log10();
    let x = 10f64.powf(-draw_elo / 400.0);
    let scale = 4.0 * x / (1.0 + x).powi(2);
    let of = |elo: f64| {
        let bayes = elo / scale;
        let win = 1.0 / (1.0 + 10f64.powf((draw_elo - bayes) / 400.0));
        let loss = 1.0 / (1.0 + 10f64.powf((draw_elo + bayes) / 400.0));
        [win, loss, 1.0 - win - loss]
    };
    let (p0, p1) = (of(elo0), of(elo1));
    [w, l, d].iter().zip(p0.iter().zip(p1)).map(|(n, (p0, p1))| n * (p1 / p0).ln()).sum()
}
