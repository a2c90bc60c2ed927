//! Score and ownership by random games: real numbers where a network has no head for them.

use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tengen_rules::{Color, GameState, Playouts};

/// What random games from a position came to, by area and with every stone left alive.
#[derive(Clone, Debug)]
pub(crate) struct Estimate {
    games: u32,
    lead_sum: f64,
    lead_squares: f64,
    /// Games in which Black owned a point, less those in which White did.
    owned: Vec<i32>,
}

impl Estimate {
    /// Plays `games` games from `state`, seeded by the position: the same answer every time.
    pub fn of(state: &GameState, games: u32, seed: u64) -> Estimate {
        let mut estimate = Estimate {
            games: 0,
            lead_sum: 0.0,
            lead_squares: 0.0,
            owned: vec![0; state.size().area()],
        };
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ state.situation_hash());
        let mut playouts = Playouts::new(state);
        let komi = state.komi().points();
        for _ in 0..games.max(1) {
            let lead = f64::from(playouts.run(|| rng.next_u32()).black_lead) - komi;
            estimate.games += 1;
            estimate.lead_sum += lead;
            estimate.lead_squares += lead * lead;
            for (owned, point) in estimate.owned.iter_mut().zip(state.size().points()) {
                *owned += match playouts.owner(point) {
                    Some(Color::Black) => 1,
                    Some(Color::White) => -1,
                    None => 0,
                };
            }
        }
        estimate
    }

    /// Black's mean lead in points, komi counted.
    pub fn lead(&self) -> f64 {
        self.lead_sum / f64::from(self.games)
    }

    /// The standard deviation of the lead in points.
    pub fn deviation(&self) -> f64 {
        let mean = self.lead();
        (self.lead_squares / f64::from(self.games) - mean * mean).max(0.0).sqrt()
    }

    /// Black's ownership of each point in [-1, 1], row by row from the top left.
    pub fn ownership(&self) -> impl Iterator<Item = f64> {
        self.owned.iter().map(|&owned| f64::from(owned) / f64::from(self.games))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tengen_rules::{Komi, Rules};

    #[test]
    fn a_settled_board_is_estimated_exactly() {
        let rows = [".X.XO", "XXXXO", "XXXOO", "XXOO.", "XXO.O"];
        let komi = Komi::from_points(0.5).unwrap();
        let state = GameState::from_text(&rows, Color::Black, Rules::tromp_taylor(), komi).unwrap();
        let estimate = Estimate::of(&state, 40, 1);
        let black = state.area_owner().iter().filter(|o| **o == Some(Color::Black)).count() as f64;
        assert_eq!(estimate.lead(), 2.0 * black - 25.0 - 0.5);
        assert_eq!(estimate.deviation(), 0.0);
        let sum: f64 = estimate.ownership().sum();
        assert_eq!(sum - 0.5, estimate.lead());
    }
}
