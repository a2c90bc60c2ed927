//! The gate: the one place that decides about promotion.

use crate::{Counts, GateConfig, GateMode, SprtModel, Tally, llr, sprt_bounds};
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

/// Judges the complete pairs counted so far.
///
/// `fixed`: the candidate needs `threshold` of the points of the whole match; the match is decided
/// as soon as the games to come cannot change that. `sprt`: the first bound that the likelihood
/// ratio of the pairs reaches decides ([`SprtModel::Logistic`]); a match that reaches neither within
/// its pairs is decided by the threshold.
///
/// Games left out of the tally (repeats, faults) shorten the match: the threshold is a share of the
/// games that count. A match none of whose games count is a rejection.
pub fn decide(tally: &Tally, config: &GateConfig) -> Verdict {
    let planned = config.games().saturating_sub(tally.left_out()).max(tally.games());
    if config.mode == GateMode::Sprt && tally.games() > 0 {
        let counts = Counts::Pairs(tally.pairs);
        let (lower, upper) = sprt_bounds(config.alpha, config.beta);
        match llr(&counts, config.elo0, config.elo1, SprtModel::Logistic) {
            Some(ratio) if ratio >= upper => return Verdict::Promote,
            Some(ratio) if ratio <= lower => return Verdict::Reject,
            _ if tally.games() < planned => return Verdict::Undecided,
            _ => {}
        }
    }
    if planned == 0 {
        return Verdict::Reject;
    }
    let to_come = f64::from(planned - tally.games());
    // 0.55 of 20 is a hair above 11 in binary; half points are far coarser than this allowance.
    let needed = config.threshold * f64::from(planned) - 1e-6;
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

    /// AlphaGo Zero's threshold over half its games, and a test of the usual risks.
    fn paper() -> GateConfig {
        GateConfig {
            mode: GateMode::Fixed,
            pairs: 100,
            threshold: 0.55,
            alpha: 0.05,
            beta: 0.05,
            ..GateConfig::default()
        }
    }

    /// Pairs of decided games: both lost, split, both won.
    fn of_pairs(lost: u32, split: u32, won: u32) -> Tally {
        Tally { pairs: [lost, 0, split, 0, won], ..tally(2 * won + split, 2 * lost + split, 0) }
    }

    #[test]
    fn a_fixed_match_is_decided_at_the_threshold_and_no_later_than_needed() {
        use Verdict::{Promote, Reject, Undecided};
        let config = GateConfig { pairs: 200, ..paper() };
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
        let small = GateConfig { pairs: 10, ..paper() };
        assert_eq!(decide(&tally(11, 9, 0), &small), Promote, "0.55 of 20 is 11");
        assert_eq!(decide(&tally(10, 9, 1), &small), Reject);
    }

    #[test]
    fn games_without_a_result_count_as_draws() {
        let config = GateConfig { pairs: 1, threshold: 0.5, ..paper() };
        let tally = Tally { no_results: 2, ..Tally::default() };
        assert_eq!(decide(&tally, &config), Verdict::Promote);
    }

    #[test]
    fn a_sequential_match_stops_at_its_bounds_and_falls_back_to_the_threshold() {
        use Verdict::{Promote, Reject, Undecided};
        let config = GateConfig { mode: GateMode::Sprt, pairs: 500, ..paper() };
        for (pairs, verdict) in [
            ((0, 0, 0), Undecided),
            ((31, 60, 20), Reject),
            ((60, 100, 40), Reject),
            ((30, 40, 30), Undecided),
            ((5, 20, 25), Promote),
        ] {
            assert_eq!(decide(&of_pairs(pairs.0, pairs.1, pairs.2), &config), verdict, "{pairs:?}");
        }
        let capped = GateConfig { pairs: 50, ..config };
        assert_eq!(decide(&of_pairs(20, 5, 25), &capped), Promote, "55 of 100 at the cap");
        assert_eq!(decide(&of_pairs(21, 4, 25), &capped), Reject, "54 of 100");
    }

    #[test]
    fn an_all_draw_match_is_no_promotion() {
        let drawn = Tally { pairs: [0, 0, 100, 0, 0], ..tally(0, 0, 200) };
        for mode in [GateMode::Fixed, GateMode::Sprt] {
            let config = GateConfig { mode, ..paper() };
            assert_eq!(decide(&drawn, &config), Verdict::Reject);
        }
    }

    #[test]
    fn repeats_and_faults_shorten_the_match() {
        let config = GateConfig { pairs: 10, ..paper() };
        let few = Tally { repeats: 14, faults: 2, ..of_pairs(0, 0, 2) };
        assert_eq!(decide(&few, &config), Verdict::Promote, "4 of the 4 that count");
        let split = Tally { repeats: 18, ..of_pairs(0, 1, 0) };
        assert_eq!(decide(&split, &config), Verdict::Reject, "one game, played ten times");
        let none = Tally { faults: 20, ..Tally::default() };
        assert_eq!(decide(&none, &config), Verdict::Reject);
    }

    #[test]
    fn an_early_verdict_is_that_of_the_whole_match() {
        let config = GateConfig { pairs: 6, ..paper() };
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
