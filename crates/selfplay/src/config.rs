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
    /// Above 0, the threshold follows the games played on regardless: the highest one, up to
    /// `resign_below`, at which at most this share of the newest 500 of them would have been given
    /// up by their later winner; nobody resigns before 50 are measured. 0 (default) keeps to
    /// `resign_below`; AGZ 0.05.
    pub resign_false_positives: f64,
    /// Play one-sided games on with fewer visits and less weight, in place of resigning: their
    /// labels stay whole. Default false; KataGo true.
    pub soft_resign: bool,
    /// Search value, for the side ahead, from which a game counts as one-sided. At it nothing
    /// changes; at 1 a full search has `cheap_visits` and the target `soft_resign_weight`, in
    /// proportion between. Default 0.9, KataGo's 95 % win rate.
    pub soft_resign_above: f32,
    /// Searches in a row, of both players, that must all say so; the least sure one counts.
    /// Default 5, as KataGo.
    pub soft_resign_turns: usize,
    /// Weight of a target in a wholly one-sided position. Default 0.1, as KataGo.
    pub soft_resign_weight: f32,
    /// Share of a game's weight that its targets get in proportion to how much the search surprised
    /// the network, KL(target ‖ prior); the rest is shared evenly. See `trainer.draw_by_weight`.
    /// Default 0 (AGZ); KataGo 0.5.
    pub surprise_weight: f64,
    /// End a game as soon as every point is pass-alive for one side; its score is then the one
    /// that playing on would give. Needs area scoring without tax or button. Default false;
    /// KataGo true.
    pub end_when_settled: bool,
    /// Standard deviation of a game's komi around `rules.komi`, in points; changed by whole points.
    /// Needs a network that sees the komi, as labels would contradict each other otherwise.
    /// Default 0 (AGZ); KataGo 1.
    pub komi_stdev: f64,
    /// Share of games that keep `rules.komi` all the same. Default 0.5.
    pub plain_komi_fraction: f64,
    /// File of positions to begin from: SGF (`.sgf`, the end of each main line), else an opening a
    /// line as GTP vertices. Relative to the working directory. Default none.
    pub start_positions: String,
    /// Share of games that begin from one of them. Default 0.5.
    pub start_fraction: f64,
    /// Share of games that begin as one of the run's newest games, leave it at one of its first
    /// `fork_moves` moves for another move drawn from the raw policy, and go on from there.
    /// Default 0 (AGZ); KataGo 0.04.
    pub fork_fraction: f64,
    /// The latest move of a game that a fork may replace. Default 12.
    pub fork_moves: usize,
    /// Share of games that begin with handicap stones, Black's, on a free board and with White to move;
    /// the komi stays. Games that begin from a given position have none. Default 0 (AGZ).
    pub handicap_fraction: f64,
    /// The most stones; their number is drawn evenly from 2 to it. Default 2.
    pub handicap_stones: usize,
    /// Share of the visits (`search.visits`, `cheap_visits`) that the run's first games have.
    /// Default 1; KataGo 0.6.
    pub first_visits: f64,
    /// Games of the run over which the share rises to 1, evenly. Default 0: from the start.
    pub visits_growth_games: u64,
    /// Evaluations that each worker remembers; a position is asked for again only through another
    /// symmetry or with another history. About 5 bytes an action each. Never changes a game. Default
    /// 0: none.
    pub cache_positions: usize,
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
            resign_false_positives: 0.0,
            soft_resign: false,
            soft_resign_above: 0.9,
            soft_resign_turns: 5,
            soft_resign_weight: 0.1,
            surprise_weight: 0.0,
            end_when_settled: false,
            komi_stdev: 0.0,
            plain_komi_fraction: 0.5,
            start_positions: String::new(),
            start_fraction: 0.5,
            fork_fraction: 0.0,
            fork_moves: 12,
            handicap_fraction: 0.0,
            handicap_stones: 2,
            first_visits: 1.0,
            visits_growth_games: 0,
            cache_positions: 0,
        }
    }
}

impl SelfPlayConfig {
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

    /// `visits` as the game after `games` games of the run has them; at least 1.
    pub fn grown_visits(&self, visits: u32, games: u64) -> u32 {
        if self.visits_growth_games == 0 {
            return visits.max(1);
        }
        let progress = (games as f64 / self.visits_growth_games as f64).min(1.0);
        let share = self.first_visits + (1.0 - self.first_visits) * progress;
        ((f64::from(visits) * share).round() as u32).max(1)
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

    #[test]
    fn visits_grow_evenly_over_the_games_asked_for() {
        let plain = SelfPlayConfig { first_visits: 0.25, ..SelfPlayConfig::default() };
        assert_eq!(plain.grown_visits(80, 0), 80, "no growth unless games are given");
        let config = SelfPlayConfig { visits_growth_games: 100, ..plain };
        let grown = [0, 50, 99, 100, 9_999].map(|games| config.grown_visits(80, games));
        assert_eq!(grown, [20, 50, 79, 80, 80]);
        assert_eq!(config.grown_visits(1, 0), 1);
    }
}
