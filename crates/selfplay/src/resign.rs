//! What resignation costs: measured on the games that were played on regardless.

use std::collections::VecDeque;

use rand::Rng;
use serde::Serialize;
use tengen_record::{EndReason, GameRecord};

use crate::SelfPlayConfig;
use crate::seed::game_stream;

/// The newest games that are measured; Minigo's number.
const MEASURED: usize = 500;
/// Games below which no threshold is drawn from them.
const ENOUGH: usize = 50;

/// Whether the game with this seed is played on regardless of what its players think. Drawn game
/// by game, so that the share holds whatever games a process happens to play.
pub(crate) fn plays_on(config: &SelfPlayConfig, seed: u64) -> bool {
    game_stream(seed).random::<f64>() < config.resign_disabled_fraction
}

/// Collects games that were played on regardless and says which threshold they allow.
#[derive(Debug, Clone)]
pub struct ResignStudy {
    config: SelfPlayConfig,
    /// Oldest first.
    games: VecDeque<Measured>,
}

/// The highest thresholds at which the two sides of a game would have resigned.
#[derive(Debug, Clone, Copy)]
struct Measured {
    winner: f32,
    loser: f32,
}

/// Where resignation stands.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ResignReport {
    /// The search value at or below which a side resigns; `None` while nobody does.
    pub threshold: Option<f32>,
    /// Games measured: played on regardless, with a winner; the newest 500.
    pub measured_games: usize,
    /// Those of them that a resignation would have ended.
    pub would_resign: usize,
    /// Those of these that the later winner would have resigned.
    pub false_positives: usize,
}

impl ResignStudy {
    /// An empty study of games played as `config` says.
    pub fn new(config: &SelfPlayConfig) -> Self {
        ResignStudy { config: config.clone(), games: VecDeque::new() }
    }

    /// Takes a finished game in, if it is one to measure: played on regardless, and won by
    /// somebody.
    pub fn add(&mut self, record: &GameRecord) {
        if !self.config.resign || !plays_on(&self.config, record.seed) {
            return;
        }
        let Some(winner) = record.outcome.winner() else { return };
        if record.end == EndReason::Resignation {
            return;
        }
        let level = |wins: bool| {
            let own = (0..record.turns.len()).filter(|&i| (record.color_at(i) == winner) == wins);
            let values = own.filter_map(|i| record.turns[i].search.as_ref()).map(|s| s.root_value);
            resign_level(&values.collect::<Vec<_>>(), self.config.resign_turns)
        };
        self.games.push_back(Measured { winner: level(true), loser: level(false) });
        if self.games.len() > MEASURED {
            self.games.pop_front();
        }
    }

    /// The threshold that games begun now should have; `None` while nobody is to resign.
    ///
    /// With [`resign_false_positives`](SelfPlayConfig::resign_false_positives) it is the highest,
    /// up to `resign_below`, at which no more than that share of the measured games would have
    /// been given up by their winner.
    pub fn threshold(&self) -> Option<f32> {
        let (config, games) = (&self.config, self.games.len());
        if !config.resign || config.resign_false_positives == 0.0 {
            return config.resign.then_some(config.resign_below);
        }
        if games < ENOUGH {
            return None;
        }
        let mut levels: Vec<f32> = self.games.iter().map(|game| game.winner).collect();
        levels.sort_unstable_by(f32::total_cmp);
        let allowed = (config.resign_false_positives * games as f64) as usize;
        // Just below the first winner that must not resign.
        Some(levels[allowed].next_down().clamp(-1.0, config.resign_below))
            .filter(|&threshold| threshold < levels[allowed])
    }

    /// The threshold and what it does to the measured games.
    pub fn report(&self) -> ResignReport {
        let threshold = self.threshold();
        let at = threshold.unwrap_or(f32::NEG_INFINITY);
        let count =
            |lost: fn(&Measured) -> f32| self.games.iter().filter(|game| lost(game) <= at).count();
        ResignReport {
            threshold,
            measured_games: self.games.len(),
            would_resign: count(|game| game.winner.min(game.loser)),
            false_positives: count(|game| game.winner),
        }
    }
}

/// The highest threshold at which a side with these search values, in order, would have resigned:
/// the least of the highest values of any `turns` in a row. Above 1 where there are fewer.
fn resign_level(values: &[f32], turns: usize) -> f32 {
    let highest = |run: &[f32]| run.iter().copied().fold(-1.0, f32::max);
    values.windows(turns.max(1)).map(highest).fold(f32::INFINITY, f32::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn study(rate: f64, winners: impl IntoIterator<Item = f32>) -> ResignStudy {
        let config = SelfPlayConfig {
            resign: true,
            resign_false_positives: rate,
            ..SelfPlayConfig::default()
        };
        let mut study = ResignStudy::new(&config);
        study.games = winners.into_iter().map(|winner| Measured { winner, loser: -1.0 }).collect();
        study
    }

    #[test]
    fn a_side_resigns_at_the_best_value_of_its_worst_stretch() {
        let values = [0.1, -0.95, -0.8, -0.99, -0.97, 0.5];
        assert_eq!(resign_level(&values, 1), -0.99);
        assert_eq!(resign_level(&values, 2), -0.97);
        assert_eq!(resign_level(&values, 3), -0.8);
        assert!(resign_level(&values, 7) > 1.0);
    }

    #[test]
    fn the_threshold_lets_through_the_share_of_errors_asked_for() {
        // Of 100 games the winners' worst values were -0.99, -0.98, … , 0.
        let study = study(0.05, (0..100).map(|i| -0.01 * (99 - i) as f32));
        let report = study.report();
        assert_eq!((report.measured_games, report.false_positives), (100, 5), "{report:?}");
        assert_eq!(report.would_resign, 100);
        let threshold = report.threshold.unwrap();
        assert!((-0.95..-0.94).contains(&threshold), "just below the sixth: {threshold}");
    }

    #[test]
    fn nobody_resigns_before_enough_is_measured_or_when_winners_look_lost() {
        assert_eq!(study(0.05, vec![0.5; ENOUGH - 1]).threshold(), None);
        assert_eq!(study(0.05, vec![0.5; ENOUGH]).threshold(), Some(-0.9), "never above the key");
        assert_eq!(study(0.05, vec![-1.0; ENOUGH]).threshold(), None, "-1 is reached by winners");
        assert_eq!(study(0.05, vec![-1.0; ENOUGH]).report().false_positives, 0);
    }

    #[test]
    fn without_a_rate_the_key_is_the_threshold() {
        assert_eq!(study(0.0, vec![]).threshold(), Some(-0.9));
        let off = ResignStudy::new(&SelfPlayConfig::default());
        assert_eq!(off.threshold(), None);
    }
}
