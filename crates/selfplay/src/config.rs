//! The `[selfplay]` section.

use std::thread::available_parallelism;

use serde::{Deserialize, Serialize};

/// How games are generated.
///
/// "AGZ" is Silver et al. 2017, *Mastering the game of Go without human knowledge*; "KataGo" is
/// Wu 2019, *Accelerating self-play learning in Go*.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SelfPlayConfig {
    /// Threads that play, each with an evaluator of its own; 0 = one a core. Default 0.
    pub workers: usize,
    /// Games that each worker has in flight: its batch, in games. Default 32.
    pub games_in_flight: usize,
    /// Leaves a game gives to each batch. More fills a device from fewer games, but leaves chosen
    /// side by side are chosen worse. Part of the game's definition. Default 1; AGZ 8 a search.
    pub leaves_per_step: usize,
    /// Show each leaf to the network through a random one of the board's symmetries.
    /// Default true, as AGZ.
    pub symmetry: bool,
    /// Fraction of moves that get a full search of `search.visits`; only those are training
    /// targets, and only those explore with noise (KataGo's playout cap randomisation).
    /// Default 0.25, as KataGo; AGZ 1.
    pub full_search_fraction: f64,
    /// Visits of the other searches. Default 16; KataGo 100 of 600, then 200 of 1000.
    pub cheap_visits: u32,
    /// Keep the subtree of the move played for the next search. Default true, as AGZ.
    pub reuse_tree: bool,
    /// Moves are drawn in proportion to visits^(1/temperature) in the opening. Default 1, as AGZ.
    pub temperature: f32,
    /// Length of that opening in moves of both players. Default 12; AGZ 30 on 19×19.
    pub temperature_moves: usize,
    /// Temperature after it; 0 plays the most visited move. Default 0, as AGZ.
    pub final_temperature: f32,
    /// A game opens with up to this many moves, the number drawn evenly from 0 to it, played
    /// straight from the raw policy without search. Default 0, as AGZ; KataGo 0.04 × area on
    /// average.
    pub opening_policy_moves: usize,
    /// A game is scored as it stands after this many moves, in areas of the board. Default 2,
    /// as AGZ.
    pub max_moves_factor: f64,
    /// Whether a side that is losing may resign. Default false, so that games show their ends;
    /// AGZ true.
    pub resign: bool,
    /// A search value in [−1, 1] at or below which a side counts the game as lost.
    /// Default −0.9; AGZ chose it for fewer than 5 % false resignations.
    pub resign_below: f32,
    /// How many of its own searches in a row must say so. Default 3; AGZ 1.
    pub resign_turns: usize,
    /// Fraction of games that are played on regardless, to measure false resignations.
    /// Default 0.1, as AGZ.
    pub resign_disabled_fraction: f64,
}

impl Default for SelfPlayConfig {
    fn default() -> Self {
        SelfPlayConfig {
            workers: 0,
            games_in_flight: 32,
            leaves_per_step: 1,
            symmetry: true,
            full_search_fraction: 0.25,
            cheap_visits: 16,
            reuse_tree: true,
            temperature: 1.0,
            temperature_moves: 12,
            final_temperature: 0.0,
            opening_policy_moves: 0,
            max_moves_factor: 2.0,
            resign: false,
            resign_below: -0.9,
            resign_turns: 3,
            resign_disabled_fraction: 0.1,
        }
    }
}

impl SelfPlayConfig {
    /// Every problem of the section, each naming its key; empty when games can be played.
    pub fn validate(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let mut refuse = |bad: bool, key: &str, value: &dyn std::fmt::Display, want: &str| {
            if bad {
                problems.push(format!("selfplay.{key} = {value}: must be {want}"));
            }
        };
        let fraction = |x: f64| !(0.0..=1.0).contains(&x);
        let temperature = |t: f32| !(0.0..=100.0).contains(&t);
        refuse(self.workers > 4096, "workers", &self.workers, "at most 4096");
        let games = self.games_in_flight;
        refuse(!(1..=65_536).contains(&games), "games_in_flight", &games, "from 1 to 65536");
        let leaves = self.leaves_per_step;
        refuse(!(1..=256).contains(&leaves), "leaves_per_step", &leaves, "from 1 to 256");
        let full = self.full_search_fraction;
        refuse(
            fraction(full) || full == 0.0,
            "full_search_fraction",
            &full,
            "above 0 and at most 1, or there is nothing to learn from",
        );
        let cheap = self.cheap_visits;
        refuse(!(1..=1_000_000).contains(&cheap), "cheap_visits", &cheap, "from 1 to 1000000");
        let t = self.temperature;
        refuse(temperature(t), "temperature", &t, "from 0 to 100");
        let t = self.final_temperature;
        refuse(temperature(t), "final_temperature", &t, "from 0 to 100");
        let factor = self.max_moves_factor;
        refuse(!(factor > 0.0 && factor <= 16.0), "max_moves_factor", &factor, "above 0, up to 16");
        let below = self.resign_below;
        refuse(!(-1.0..=0.0).contains(&below), "resign_below", &below, "from -1 to 0");
        refuse(self.resign_turns == 0, "resign_turns", &self.resign_turns, "at least 1");
        let disabled = self.resign_disabled_fraction;
        refuse(fraction(disabled), "resign_disabled_fraction", &disabled, "from 0 to 1");
        problems
    }

    /// The number of workers meant: `workers`, or one a core where that is 0.
    pub fn worker_count(&self) -> usize {
        match self.workers {
            0 => available_parallelism().map_or(1, |n| n.get()),
            n => n,
        }
    }

    /// The length in moves at which a game on a board of `area` points is scored as it stands.
    pub fn move_limit(&self, area: usize) -> usize {
        ((self.max_moves_factor * area as f64).ceil() as usize).max(1)
    }

    /// The temperature of a searched move after `moves` moves of both players.
    pub fn temperature_at(&self, moves: usize) -> f32 {
        if moves < self.temperature_moves { self.temperature } else { self.final_temperature }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_sound_and_survive_toml() {
        let config = SelfPlayConfig::default();
        assert!(config.validate().is_empty());
        let text = toml::to_string(&config).unwrap();
        assert_eq!(toml::from_str::<SelfPlayConfig>(&text).unwrap(), config);
        assert!(toml::from_str::<SelfPlayConfig>("games_in_fligt = 3").is_err());
    }

    #[test]
    fn every_problem_is_listed() {
        let bad = SelfPlayConfig {
            games_in_flight: 0,
            full_search_fraction: f64::NAN,
            cheap_visits: 0,
            temperature: -1.0,
            max_moves_factor: 0.0,
            resign_below: 0.5,
            ..SelfPlayConfig::default()
        };
        let problems = bad.validate();
        assert_eq!(problems.len(), 6, "{problems:?}");
        assert!(problems.iter().all(|p| p.starts_with("selfplay.")));
    }

    #[test]
    fn the_move_limit_rounds_up_and_the_temperature_drops_after_the_opening() {
        let config = SelfPlayConfig {
            max_moves_factor: 1.5,
            temperature_moves: 2,
            final_temperature: 0.25,
            ..SelfPlayConfig::default()
        };
        assert_eq!(config.move_limit(9), 14);
        assert_eq!([0, 1, 2, 3].map(|m| config.temperature_at(m)), [1.0, 1.0, 0.25, 0.25]);
    }
}
