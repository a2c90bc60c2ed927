//! What a `[selfplay]` section must keep to.

use tengen_rules::free_handicap;

use crate::{GameSettings, SelfPlayConfig};

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
        let rate = self.resign_false_positives;
        refuse(!(0.0..=0.5).contains(&rate), "resign_false_positives", &rate, "from 0 to 0.5");
        refuse(
            rate > 0.0 && disabled == 0.0,
            "resign_disabled_fraction",
            &disabled,
            "above 0 with selfplay.resign_false_positives, which is measured on those games",
        );
        let above = self.soft_resign_above;
        refuse(!(0.0..1.0).contains(&above), "soft_resign_above", &above, "from 0 to below 1");
        let turns = self.soft_resign_turns;
        refuse(!(1..=1000).contains(&turns), "soft_resign_turns", &turns, "from 1 to 1000");
        // At 0 a game might leave no weight at all.
        let weight = self.soft_resign_weight;
        refuse(
            !(weight > 0.0 && weight <= 1.0),
            "soft_resign_weight",
            &weight,
            "above 0, at most 1",
        );
        // A target that surprised nobody must not vanish: some evenness has to stay.
        let surprise = self.surprise_weight;
        refuse(!(0.0..=0.95).contains(&surprise), "surprise_weight", &surprise, "from 0 to 0.95");
        let stdev = self.komi_stdev;
        refuse(!(0.0..=50.0).contains(&stdev), "komi_stdev", &stdev, "from 0 to 50 points");
        for (key, share) in [
            ("plain_komi_fraction", self.plain_komi_fraction),
            ("start_fraction", self.start_fraction),
            ("fork_fraction", self.fork_fraction),
            ("handicap_fraction", self.handicap_fraction),
        ] {
            refuse(fraction(share), key, &share, "from 0 to 1");
        }
        let forks = self.fork_moves;
        refuse(!(1..=10_000).contains(&forks), "fork_moves", &forks, "from 1 to 10000");
        let stones = self.handicap_stones;
        refuse(!(2..=9).contains(&stones), "handicap_stones", &stones, "from 2 to 9");
        let first = self.first_visits;
        refuse(!(first > 0.0 && first <= 1.0), "first_visits", &first, "above 0, at most 1");
        refuse(
            self.cache_positions > 100_000_000,
            "cache_positions",
            &self.cache_positions,
            "at most 100000000",
        );
        problems
    }

    /// What of this section does not go with the game of `settings` and a network that sees the komi
    /// or (`sees_komi` false) does not; each naming its key.
    pub fn conflicts(&self, settings: &GameSettings, sees_komi: bool) -> Vec<String> {
        let (mut problems, rules) = (Vec::new(), &settings.rules);
        if self.handicap_fraction > 0.0
            && let Err(error) = free_handicap(settings.size, self.handicap_stones)
        {
            problems.push(format!(
                "selfplay.handicap_stones = {} on a board of {}x{}: {error}",
                self.handicap_stones,
                settings.size.width(),
                settings.size.height()
            ));
        }
        if self.komi_stdev > 0.0 && !sees_komi {
            problems.push(format!(
                "selfplay.komi_stdev = {}: the feature set has no komi among its planes, so the same \
                 input would be labelled won in one game and lost in another; leave it 0",
                self.komi_stdev
            ));
        }
        if self.end_when_settled && !rules.counts_area_alone() {
            problems.push(format!(
                "selfplay.end_when_settled = true: under {rules} more than the area counts, so no \
                 score is settled before the end"
            ));
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tengen_rules::{BoardSize, Komi, Rules, Tax};

    fn game(side: usize, rules: Rules) -> GameSettings {
        let size = BoardSize::square(side).unwrap();
        GameSettings { size, rules, komi: Komi::from_points(3.5).unwrap() }
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
    fn a_komi_that_the_network_cannot_see_is_not_varied() {
        let game = game(6, Rules::tromp_taylor());
        let varied = SelfPlayConfig { komi_stdev: 1.0, ..SelfPlayConfig::default() };
        assert!(varied.conflicts(&game, true).is_empty());
        let problems = varied.conflicts(&game, false);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].contains("komi_stdev = 1"), "{problems:?}");
        assert!(SelfPlayConfig::default().conflicts(&game, false).is_empty());
    }

    #[test]
    fn only_a_score_of_area_alone_can_be_settled_early() {
        let early = SelfPlayConfig { end_when_settled: true, ..SelfPlayConfig::default() };
        for (name, sound) in [("tromp-taylor", true), ("chinese", true), ("japanese", false)] {
            let game = game(6, Rules::by_name(name).unwrap());
            assert_eq!(early.conflicts(&game, true).is_empty(), sound, "{name}");
        }
        let taxed = Rules { tax: Tax::All, ..Rules::tromp_taylor() };
        assert_eq!(early.conflicts(&game(6, taxed), true).len(), 1);
    }

    #[test]
    fn a_board_without_room_for_the_stones_is_named() {
        let uneven = SelfPlayConfig { handicap_fraction: 0.1, ..SelfPlayConfig::default() };
        assert!(uneven.conflicts(&game(6, Rules::tromp_taylor()), false).is_empty());
        let uneven = SelfPlayConfig { handicap_stones: 9, ..uneven };
        let problems = uneven.conflicts(&game(2, Rules::tromp_taylor()), false);
        assert!(problems[0].contains("handicap_stones = 9 on a board of 2x2"), "{problems:?}");
    }
}
