//! The gate: the one place that decides about promotion.

use crate::{GateConfig, GateMode, Tally, llr_logistic, sprt_bounds};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a match says about its candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The candidate becomes the best network.
    Promote,
    /// It does not.
    Reject,
    /// More games are needed.
    Undecided,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Promote => "promote",
            Verdict::Reject => "reject",
            Verdict::Undecided => "undecided",
        })
    }
}

/// Judges the complete pairs played so far.
///
/// `fixed`: the candidate needs `threshold` of the points of the whole match; the match is decided
/// as soon as the games to come cannot change that. `sprt`: the first bound that the likelihood
/// ratio reaches decides, draws counting as half a win and half a loss; a match that reaches
/// neither within its pairs is decided by the threshold.
pub fn decide(tally: &Tally, config: &GateConfig) -> Verdict {
    if config.mode == GateMode::Sprt && tally.games() > 0 {
        let points = tally.points();
        let lost = f64::from(tally.games()) - points;
        let llr = llr_logistic(points, lost, config.elo0, config.elo1);
        let (lower, upper) = sprt_bounds(config.alpha, config.beta);
        if llr >= upper {
            return Verdict::Promote;
        }
        if llr <= lower {
            return Verdict::Reject;
        }
        if tally.games() < config.games() {
            return Verdict::Undecided;
        }
    }
    let to_come = f64::from(config.games().saturating_sub(tally.games()));
    // 0.55 of 20 is a hair above 11 in binary; half points are far coarser than this allowance.
    let needed = config.threshold * f64::from(config.games().max(tally.games())) - 1e-6;
    if tally.points() >= needed {
        Verdict::Promote
    } else if tally.points() + to_come < needed {
        Verdict::Reject
    } else {
        Verdict::Undecided
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(wins: u32, losses: u32, draws: u32) -> Tally {
        Tally { wins, losses, draws, ..Tally::default() }
    }

    #[test]
    fn a_fixed_match_is_decided_at_the_threshold_and_no_later_than_needed() {
        use Verdict::{Promote, Reject, Undecided};
        let config = GateConfig { pairs: 200, ..GateConfig::default() };
        for (wins, losses, draws, verdict) in [
            (0, 0, 0, Undecided),
            (220, 180, 0, Promote),
            (219, 181, 0, Reject),
            (219, 180, 1, Reject),
            (218, 178, 4, Promote),
            (220, 0, 0, Promote),
            (219, 0, 0, Undecided),
            (0, 180, 0, Undecided),
            (0, 181, 0, Reject),
            (0, 0, 400, Reject),
        ] {
            assert_eq!(
                decide(&tally(wins, losses, draws), &config),
                verdict,
                "{wins}-{losses}-{draws}"
            );
        }
        let small = GateConfig { pairs: 10, ..GateConfig::default() };
        assert_eq!(decide(&tally(11, 9, 0), &small), Promote, "0.55 of 20 is 11");
        assert_eq!(decide(&tally(10, 9, 1), &small), Reject);
    }

    #[test]
    fn games_without_a_result_count_as_draws() {
        let config = GateConfig { pairs: 1, threshold: 0.5, ..GateConfig::default() };
        let tally = Tally { no_results: 2, ..Tally::default() };
        assert_eq!(decide(&tally, &config), Verdict::Promote);
    }

    #[test]
    fn a_sequential_match_stops_at_its_bounds_and_falls_back_to_the_threshold() {
        use Verdict::{Promote, Reject, Undecided};
        let config = GateConfig { mode: GateMode::Sprt, pairs: 500, ..GateConfig::default() };
        assert_eq!(decide(&tally(0, 0, 0), &config), Undecided);
        assert_eq!(decide(&tally(114, 131, 0), &config), Reject);
        assert_eq!(decide(&tally(200, 200, 0), &config), Undecided);
        assert_eq!(decide(&tally(60, 20, 0), &config), Promote);
        let capped = GateConfig { pairs: 50, ..config };
        assert_eq!(decide(&tally(55, 45, 0), &capped), Promote);
        assert_eq!(decide(&tally(54, 46, 0), &capped), Reject);
    }

    #[test]
    fn an_early_verdict_is_that_of_the_whole_match() {
        let config = GateConfig { pairs: 6, ..GateConfig::default() };
        for wins in 0..=12u32 {
            for losses in 0..=12 - wins {
                let early = decide(&tally(wins, losses, 0), &config);
                let rest = 12 - wins - losses;
                let ends = [tally(wins + rest, losses, 0), tally(wins, losses + rest, 0)];
                let ends = ends.map(|end| decide(&end, &config));
                match early {
                    Verdict::Undecided => assert_ne!(ends[0], ends[1]),
                    verdict => assert_eq!(ends, [verdict; 2]),
                }
            }
        }
    }
}
