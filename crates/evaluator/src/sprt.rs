//! Sequential probability ratio tests (Wald 1945) of an Elo lead.

use std::fmt;
use std::str::FromStr;

use crate::likelihood::{Hypothesis, log_ratio};
use crate::score_of_elo;

/// Normalised Elo for a lead of one standard deviation of a game's score.
const NORMALIZED_UNIT: f64 = 800.0 / std::f64::consts::LN_10;

/// What a hypothesis of "so many Elo" fixes; the rest is estimated from the games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SprtModel {
    /// Logistic Elo: the mean score, whatever the draws. Without draws this is the Bernoulli test
    /// of Leela Zero's `validation`; with pairs it is fishtest's.
    Logistic,
    /// BayesElo, as cutechess tests it: win and loss from the lead and a draw rate that the games
    /// give. Games only: a pair's five results do not tell won and lost from drawn and drawn.
    BayesElo,
    /// Normalised Elo: the mean score in units of the deviation, so that 1 means the same effort
    /// of testing at any draw rate.
    Normalized,
}

impl SprtModel {
    /// Every model.
    pub const ALL: [SprtModel; 3] =
        [SprtModel::Logistic, SprtModel::BayesElo, SprtModel::Normalized];
}

impl fmt::Display for SprtModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SprtModel::Logistic => "logistic",
            SprtModel::BayesElo => "bayeselo",
            SprtModel::Normalized => "normalized",
        })
    }
}

impl FromStr for SprtModel {
    type Err = String;

    fn from_str(text: &str) -> Result<SprtModel, String> {
        SprtModel::ALL.into_iter().find(|model| model.to_string() == text).ok_or_else(|| {
            format!("{text:?} is no model; there are logistic, bayeselo, normalized")
        })
    }
}

/// What a match has shown, from the candidate's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// Single games.
    Games {
        /// Won.
        wins: u32,
        /// Lost.
        losses: u32,
        /// Without a winner.
        draws: u32,
    },
    /// Pairs by the points of both games: 0, 0.5, 1, 1.5, 2.
    Pairs([u32; 5]),
}

/// The log-likelihood ratios `(lower, upper)` at which `elo0` and `elo1` are accepted; `alpha` is
/// the chance of accepting `elo1` where `elo0` holds, `beta` that of the opposite mistake.
pub fn sprt_bounds(alpha: f64, beta: f64) -> (f64, f64) {
    ((beta / (1.0 - alpha)).ln(), ((1.0 - beta) / alpha).ln())
}

/// The log-likelihood ratio of a lead of `elo1` against one of `elo0`; always finite, 0 without
/// games. `None` where the model does not apply: [`SprtModel::BayesElo`] on pairs.
pub fn llr(counts: &Counts, elo0: f64, elo1: f64, model: SprtModel) -> Option<f64> {
    let mean = |elo| Hypothesis::Mean(score_of_elo(elo));
    // A pair's deviation is that of a game over the square root of two.
    let standardised =
        |elo: f64, games: f64| Hypothesis::Standardised(elo / NORMALIZED_UNIT * games.sqrt());
    match (*counts, model) {
        (Counts::Games { wins, losses, draws }, SprtModel::BayesElo) => {
            Some(llr_bayeselo(wins, losses, draws, elo0, elo1))
        }
        (Counts::Pairs(_), SprtModel::BayesElo) => None,
        (Counts::Games { wins, losses, draws }, SprtModel::Logistic) => {
            Some(log_ratio([losses, draws, wins], mean(elo0), mean(elo1)))
        }
        (Counts::Games { wins, losses, draws }, SprtModel::Normalized) => {
            let (h0, h1) = (standardised(elo0, 1.0), standardised(elo1, 1.0));
            Some(log_ratio([losses, draws, wins], h0, h1))
        }
        (Counts::Pairs(pairs), SprtModel::Logistic) => {
            Some(log_ratio(pairs, mean(elo0), mean(elo1)))
        }
        (Counts::Pairs(pairs), SprtModel::Normalized) => {
            Some(log_ratio(pairs, standardised(elo0, 2.0), standardised(elo1, 2.0)))
        }
    }
}

/// The log-likelihood ratio under the BayesElo model with draws, as cutechess computes it: the
/// draw rate is estimated from the games, each count raised by a half so that none is zero.
fn llr_bayeselo(wins: u32, losses: u32, draws: u32, elo0: f64, elo1: f64) -> f64 {
    if wins + losses + draws == 0 {
        return 0.0;
    }
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
