//! What a search strives for: the result, and where it is asked for a little of the points.
//!
//! With [`score_utility`](crate::SearchConfig::score_utility) above 0 the sums that choose moves are of
//! utilities; the results are then summed beside them, a pair of numbers a node, so that what the tree
//! says of winning stays about winning.

use std::f32::consts::FRAC_2_PI;

use tengen_inference::Evaluation;
use tengen_rules::{BoardSize, GameState};

use crate::SearchConfig;

/// What a position is worth for the player to move there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Worth {
    /// What the search strives for.
    pub utility: f32,
    /// The expected result alone.
    pub result: f32,
}

impl Worth {
    /// A result that is all there is to say.
    pub fn plain(result: f32) -> Worth {
        Worth { utility: result, result }
    }

    /// What an evaluator said of a position on a board of `size`.
    pub fn of_evaluation(config: &SearchConfig, size: BoardSize, said: &Evaluation) -> Worth {
        Worth::new(config, size, said.value.get(), said.score)
    }

    /// What a finished game is worth; `None` while it goes on.
    pub fn of_end(config: &SearchConfig, state: &GameState) -> Option<Worth> {
        let (outcome, player) = (state.outcome()?, state.to_play());
        let result = outcome.value_for(player).get();
        let points = outcome.lead_for(player).map(|half_points| half_points as f32 / 2.0);
        Some(Worth::new(config, state.size(), result, points))
    }

    fn new(config: &SearchConfig, size: BoardSize, result: f32, points: Option<f32>) -> Worth {
        let c = config.score_utility;
        if c == 0.0 {
            return Worth::plain(result);
        }
        // Nothing said of points is an even score.
        let side = (size.area() as f32).sqrt();
        let lead = points.map_or(0.0, |points| FRAC_2_PI * (points / side).atan());
        Worth { utility: (result + c * lead) / (1.0 + c), result }
    }

    /// The same seen by the opponent.
    pub fn turned(self) -> Worth {
        Worth { utility: -self.utility, result: -self.result }
    }
}

/// Sums of results, for the player to move at a node.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Results {
    /// The node's own evaluation.
    pub own: f32,
    /// All visits below.
    pub sum: f32,
}

impl Results {
    /// Mean over the own evaluation and `visits` below.
    pub fn mean(&self, visits: u32) -> f32 {
        (self.own + self.sum) / (1 + visits) as f32
    }
}

#[cfg(test)]
mod tests {
    use tengen_rules::{Komi, Move, Rules, Value};

    use super::*;

    fn config(score_utility: f32) -> SearchConfig {
        SearchConfig { score_utility, ..SearchConfig::default() }
    }

    #[test]
    fn the_formula_by_hand() {
        let size = BoardSize::square(9).unwrap();
        let said = |value: f32, score: Option<f32>| Evaluation {
            score,
            ..Evaluation::new(Vec::new(), Value::new(value))
        };
        let of =
            |c: f32, value: f32, score| Worth::of_evaluation(&config(c), size, &said(value, score));
        assert_eq!(of(0.0, 0.25, Some(40.0)), Worth::plain(0.25), "off");
        // atan(9 / 9) is a quarter of pi, so half of c: (0.2 + 0.25) / 1.5.
        let even = of(0.5, 0.2, Some(9.0));
        assert!((even.utility - 0.3).abs() < 1e-6 && even.result == 0.2, "{even:?}");
        assert_eq!(of(0.5, 0.2, Some(-9.0)).utility, of(0.5, -0.2, Some(9.0)).turned().utility);
        assert!((of(0.5, 0.6, None).utility - 0.4).abs() < 1e-6, "no opinion is an even score");
        for points in [f32::MAX, 1e9, 361.0] {
            assert!(of(0.5, 1.0, Some(points)).utility <= 1.0);
        }
    }

    #[test]
    fn a_finished_game_counts_its_very_points() {
        let size = BoardSize::square(4).unwrap();
        let komi = Komi::from_points(2.0).unwrap();
        let mut state = GameState::new(size, Rules::tromp_taylor(), komi);
        assert_eq!(Worth::of_end(&config(0.5), &state), None);
        for mv in [Move::Play(size.point(1, 1)), Move::Pass, Move::Pass] {
            state.play(mv).unwrap();
        }
        // Black has all 16 points, 14 after komi; White is to move.
        let worth = Worth::of_end(&config(0.5), &state).unwrap();
        let expected = -(1.0 + 0.5 * FRAC_2_PI * (14.0f32 / 4.0).atan()) / 1.5;
        assert!((worth.utility - expected).abs() < 1e-6 && worth.result == -1.0, "{worth:?}");
    }
}
