//! Score and ownership: the network's word where it has heads for them, else that of random games.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tengen_inference::{Evaluation, Leaf, LeafEvaluator, evaluate_in_batches};
use tengen_rules::{Color, GameState, Playouts};

/// How a position will end, by area and with every stone left alive.
#[derive(Clone, Debug)]
pub(crate) struct Estimate {
    lead: f64,
    deviation: f64,
    owned: Vec<f64>,
    /// Whether a network says so.
    by_network: bool,
}

impl Estimate {
    /// What the network said about `state`, if it has both heads.
    fn of_evaluation(state: &GameState, said: &Evaluation) -> Option<Estimate> {
        let (score, ownership) = (said.score?, said.ownership.as_ref()?);
        let sign = if state.to_play() == Color::Black { 1.0 } else { -1.0 };
        let owned: Vec<f64> = ownership.iter().map(|&owned| sign * f64::from(owned)).collect();
        // A network says nothing of how sure it is of the score: as if each point fell by itself.
        let variance: f64 = owned.iter().map(|owned| 1.0 - owned * owned).sum();
        let (lead, deviation) = (sign * f64::from(score), variance.max(0.0).sqrt());
        Some(Estimate { lead, deviation, owned, by_network: true })
    }

    /// Plays `games` games from `state`, seeded by the position: the same answer every time.
    pub fn of_games(state: &GameState, games: u32, seed: u64) -> Estimate {
        let games = games.max(1);
        let (mut sum, mut squares) = (0.0, 0.0);
        let mut owned = vec![0; state.size().area()];
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ state.situation_hash());
        let mut playouts = Playouts::new(state);
        let komi = state.komi().points();
        for _ in 0..games {
            let lead = f64::from(playouts.run(|| rng.next_u32()).black_lead) - komi;
            sum += lead;
            squares += lead * lead;
            for (owned, point) in owned.iter_mut().zip(state.size().points()) {
                *owned += match playouts.owner(point) {
                    Some(Color::Black) => 1,
                    Some(Color::White) => -1,
                    None => 0,
                };
            }
        }
        let games = f64::from(games);
        let lead = sum / games;
        Estimate {
            lead,
            deviation: (squares / games - lead * lead).max(0.0).sqrt(),
            owned: owned.into_iter().map(|owned| f64::from(owned) / games).collect(),
            by_network: false,
        }
    }

    /// Black's expected lead in points, komi counted.
    pub fn lead(&self) -> f64 {
        self.lead
    }

    /// The standard deviation of the lead in points.
    pub fn deviation(&self) -> f64 {
        self.deviation
    }

    /// Black's ownership of each point in [-1, 1], row by row from the top left.
    pub fn ownership(&self) -> impl Iterator<Item = f64> {
        self.owned.iter().copied()
    }

    /// Who says so, as `scoreSource` names it.
    pub fn source(&self) -> &'static str {
        if self.by_network { "network" } else { "rollouts" }
    }
}

/// Who is asked for estimates.
pub(crate) struct Judge<'a> {
    pub evaluator: &'a mut dyn LeafEvaluator,
    /// Random games for a position whose network has no heads for score and ownership.
    pub games: u32,
    pub seed: u64,
}

impl Judge<'_> {
    /// Judges one position thoroughly.
    pub fn position(&mut self, state: &GameState) -> Estimate {
        let said = self.ask_network(&[state]).and_then(|mut said| said.pop());
        said.unwrap_or_else(|| Estimate::of_games(state, self.games.saturating_mul(4), self.seed))
    }

    /// What the network says about positions; `None` where it can't.
    fn ask_network(&mut self, states: &[&GameState]) -> Option<Vec<Estimate>> {
        if states.iter().any(|state| state.is_over()) {
            return None;
        }
        let leaves: Vec<Leaf<'_>> = states.iter().map(|state| Leaf::new(state)).collect();
        let said = evaluate_in_batches(self.evaluator, &leaves).ok()?;
        states.iter().zip(&said).map(|(state, said)| Estimate::of_evaluation(state, said)).collect()
    }
}

/// Estimates of a position and its moves, each made once.
#[derive(Default)]
pub(crate) struct Estimates {
    pub root: Option<Estimate>,
    /// By action.
    pub moves: HashMap<usize, Estimate>,
}

impl Estimates {
    /// Judges `state`, then those of its `moves` (action, random games) that are missing, as far as
    /// `time` goes.
    pub fn add(
        &mut self,
        state: &GameState,
        moves: impl Iterator<Item = (usize, u32)>,
        judge: &mut Judge<'_>,
        time: Option<Duration>,
    ) {
        let began = Instant::now();
        let by_network = self.root.get_or_insert_with(|| judge.position(state)).by_network;
        let mut missing = Vec::new();
        for (action, games) in moves.filter(|(action, _)| !self.moves.contains_key(action)) {
            let mut after = state.clone();
            if after.play(after.size().move_at(action)).is_ok() {
                missing.push((action, games, after));
            }
        }
        if by_network {
            let (over, open): (Vec<_>, Vec<_>) =
                missing.into_iter().partition(|(.., after)| after.is_over());
            let states: Vec<&GameState> = open.iter().map(|(.., after)| after).collect();
            let said = judge.ask_network(&states).unwrap_or_default();
            self.moves.extend(open.iter().map(|(action, ..)| *action).zip(said));
            missing = over;
        }
        for (action, games, after) in missing {
            if time.is_some_and(|time| began.elapsed() > time) {
                break;
            }
            self.moves.insert(action, Estimate::of_games(&after, games, judge.seed));
        }
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
        let estimate = Estimate::of_games(&state, 40, 1);
        let black = state.area_owner().iter().filter(|o| **o == Some(Color::Black)).count() as f64;
        assert_eq!(estimate.lead(), 2.0 * black - 25.0 - 0.5);
        assert_eq!(estimate.deviation(), 0.0);
        let sum: f64 = estimate.ownership().sum();
        assert_eq!(sum - 0.5, estimate.lead());
    }
}
