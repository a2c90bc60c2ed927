//! What a gate lets through and what it costs, by simulation.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{GateConfig, Tally, Verdict, decide, score_of_elo};

/// How often a gate passes a candidate of a given strength, and how many games that takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GateRates {
    /// Share of the simulated matches that promoted.
    pub pass_rate: f64,
    /// Games a match, on average.
    pub mean_games: f64,
    /// Matches that never came to a verdict; always 0, shown so that anyone can see it.
    pub undecided: u32,
}

/// Plays `matches` simulated matches of a candidate that is `true_elo` stronger and judges each as
/// a real one: pair by pair through [`decide`]. Games are independent; a share `draw_rate` has no
/// winner. The same seed gives the same answer.
pub fn simulate_gate(
    config: &GateConfig,
    true_elo: f64,
    draw_rate: f64,
    matches: u32,
    seed: u64,
) -> GateRates {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let draws = draw_rate.clamp(0.0, 1.0);
    // Draws leave the expected score as it is as long as both other results stay possible.
    let wins = (score_of_elo(true_elo) - draws / 2.0).clamp(0.0, 1.0 - draws);
    let (mut passed, mut games, mut undecided) = (0u32, 0u64, 0u32);
    for _ in 0..matches {
        let mut tally = Tally::default();
        let mut verdict = decide(&tally, config);
        while verdict == Verdict::Undecided && tally.games() < config.games() {
            let mut half_points = 0;
            for _ in 0..2 {
                let draw: f64 = rng.random();
                if draw < wins {
                    tally.wins += 1;
                    half_points += 2;
                } else if draw < wins + draws {
                    tally.draws += 1;
                    half_points += 1;
                } else {
                    tally.losses += 1;
                }
            }
            tally.pairs[half_points] += 1;
            verdict = decide(&tally, config);
        }
        games += u64::from(tally.games());
        passed += u32::from(verdict == Verdict::Promote);
        undecided += u32::from(verdict == Verdict::Undecided);
    }
    let share = |n: f64| if matches == 0 { 0.0 } else { n / f64::from(matches) };
    GateRates { pass_rate: share(f64::from(passed)), mean_games: share(games as f64), undecided }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GateMode;

    /// 55 % of 400 as in the paper; the binomial sums say 0.026 for equals and 0.52 at +35.
    #[test]
    fn the_papers_gate_rejects_half_the_real_gains() {
        let paper = GateConfig {
            mode: GateMode::Fixed,
            pairs: 200,
            threshold: 0.55,
            ..GateConfig::default()
        };
        let equal = simulate_gate(&paper, 0.0, 0.0, 2000, 1);
        assert!((equal.pass_rate - 0.026).abs() < 0.012, "{equal:?}");
        let better = simulate_gate(&paper, 34.86, 0.0, 2000, 2);
        assert!((better.pass_rate - 0.52).abs() < 0.04, "{better:?}");
        assert!(better.mean_games < 400.0, "decided early");
        assert_eq!(equal.undecided + better.undecided, 0);
    }

    #[test]
    fn two_identical_nets_are_called_equal_in_at_least_95_of_100_gates() {
        let sprt = GateConfig::default();
        let equal = simulate_gate(&sprt, 0.0, 0.0, 200, 3);
        assert!(equal.pass_rate <= 0.05, "{equal:?}");
        let worse = simulate_gate(&sprt, -35.0, 0.0, 200, 4);
        assert!(worse.pass_rate == 0.0 && worse.mean_games < 250.0, "{worse:?}");
        let better = simulate_gate(&sprt, 35.0, 0.0, 400, 7);
        assert!(better.pass_rate >= 0.9, "{better:?}");
    }

    /// The cheapest recipe, if equals may pass, of `tengen gate simulate`: 0.91 at +35 and 0.04 at -35 (exact sums over
    /// a random walk of independent games).
    #[test]
    fn the_cheap_sequential_gate_tells_35_elo_up_from_35_down() {
        let cheap = GateConfig {
            mode: GateMode::Sprt,
            pairs: 200,
            threshold: 0.5,
            elo0: -35.0,
            alpha: 0.05,
            beta: 0.1,
            ..GateConfig::default()
        };
        let better = simulate_gate(&cheap, 35.0, 0.0, 400, 5);
        let worse = simulate_gate(&cheap, -35.0, 0.0, 400, 6);
        assert!(better.pass_rate > 0.87 && worse.pass_rate < 0.07, "{better:?} {worse:?}");
        assert!(better.mean_games < 200.0 && worse.mean_games < 200.0);
    }

    #[test]
    fn drawn_games_alone_promote_nobody() {
        for mode in [GateMode::Fixed, GateMode::Sprt] {
            let config = GateConfig { mode, ..GateConfig::default() };
            assert_eq!(simulate_gate(&config, 0.0, 1.0, 20, 5).pass_rate, 0.0);
        }
    }
}
