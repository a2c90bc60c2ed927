//! Soft resignation: games that are as good as decided are played on at less cost.

use std::collections::VecDeque;

use tengen_rules::Color;

use crate::SelfPlayConfig;

/// What the newest searches of a game said, as far as soft resignation asks.
#[derive(Debug, Default)]
pub(crate) struct OneSided {
    /// Root values for Black, newest last; at most `soft_resign_turns` of them.
    for_black: VecDeque<f32>,
}

impl OneSided {
    /// Takes note of a search that `value` was found by, for `player`.
    pub fn note(&mut self, config: &SelfPlayConfig, player: Color, value: f32) {
        let black = if player == Color::Black { value } else { -value };
        self.for_black.push_back(black);
        while self.for_black.len() > config.soft_resign_turns {
            self.for_black.pop_front();
        }
    }

    /// How one-sided the game is: 0 where soft resignation changes nothing, 1 where it does all it
    /// can. It lasts no longer than the searches say so.
    pub fn extent(&self, config: &SelfPlayConfig) -> f32 {
        if !config.soft_resign || self.for_black.len() < config.soft_resign_turns {
            return 0.0;
        }
        let least = |sign: f32| self.for_black.iter().map(|v| sign * v).fold(1.0, f32::min);
        let sure = least(1.0).max(least(-1.0));
        let above = config.soft_resign_above;
        ((sure - above) / (1.0 - above)).clamp(0.0, 1.0)
    }
}

/// A full search's visits in a game one-sided to this extent: down to those of a cheap one.
pub(crate) fn reduced_visits(full: u32, cheap: u32, extent: f32) -> u32 {
    let least = cheap.min(full);
    full - ((full - least) as f32 * extent).round() as u32
}

/// A target's weight in such a game.
pub(crate) fn reduced_weight(config: &SelfPlayConfig, extent: f32) -> f32 {
    1.0 - (1.0 - config.soft_resign_weight) * extent
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> SelfPlayConfig {
        SelfPlayConfig { soft_resign: true, soft_resign_turns: 3, ..SelfPlayConfig::default() }
    }

    /// The extent after searches by Black and White in turn, each value for its own player.
    fn after(config: &SelfPlayConfig, values: &[f32]) -> f32 {
        let mut game = OneSided::default();
        for (&value, player) in values.iter().zip([Color::Black, Color::White].iter().cycle()) {
            game.note(config, *player, value);
        }
        game.extent(config)
    }

    #[test]
    fn the_least_sure_of_the_newest_searches_counts() {
        let found = after(&config(), &[0.2, -0.97, 0.95, -0.99]);
        assert!((found - 0.5).abs() < 1e-5, "0.95 is half way from 0.9 to 1: {found}");
        assert_eq!(after(&config(), &[1.0, -1.0, 1.0]), 1.0);
        assert_eq!(after(&config(), &[-1.0, 1.0, -1.0]), 1.0, "White ahead all the same");
    }

    #[test]
    fn it_takes_enough_searches_that_agree() {
        assert_eq!(after(&config(), &[1.0, -1.0]), 0.0, "too few");
        assert_eq!(after(&config(), &[1.0, 1.0, 1.0]), 0.0, "each sure of his own win");
        assert_eq!(after(&config(), &[1.0, -0.9, 1.0]), 0.0);
        assert_eq!(after(&config(), &[1.0, -1.0, 1.0, 0.3]), 0.0, "it ends with the doubt");
        let off = SelfPlayConfig { soft_resign: false, ..config() };
        assert_eq!(after(&off, &[1.0, -1.0, 1.0]), 0.0);
    }

    #[test]
    fn visits_and_weight_go_down_together() {
        let visits = [0.0, 0.5, 1.0].map(|extent| reduced_visits(100, 20, extent));
        assert_eq!(visits, [100, 60, 20]);
        assert_eq!(reduced_visits(8, 16, 1.0), 8, "cheap searches may be the longer ones");
        let weights = [0.0, 0.5, 1.0].map(|extent| reduced_weight(&config(), extent));
        for (found, expected) in weights.iter().zip([1.0, 0.55, 0.1]) {
            assert!((found - expected).abs() < 1e-6, "{weights:?}");
        }
    }
}
