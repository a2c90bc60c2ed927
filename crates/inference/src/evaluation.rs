//! The answer, and the one way from raw network output to it.

use tengen_rules::{BoardSize, GameState, Symmetry, Value};

use crate::{EvalError, Leaf, masked_softmax};

/// How far a sum of priors may stray from 1: rounding of 626 `f32` additions, with room.
const SUM_TOLERANCE: f32 = 1e-3;

/// What an evaluator thinks of a position.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// `[actions]` prior probabilities over the legal moves, sum 1, illegal moves exactly 0, in
    /// the board's own orientation.
    pub policy: Vec<f32>,
    /// Expected result for the player to move.
    pub value: Value,
}

impl Evaluation {
    /// Reads a network's output for `leaf`: `logits` (`[actions]`) over the board **as turned by
    /// the leaf's symmetry**, and `value` for the player to move.
    ///
    /// # Errors
    /// When the length does not fit the board or a number is not finite.
    pub fn from_logits(leaf: &Leaf<'_>, logits: &[f32], value: f32) -> Result<Self, EvalError> {
        let size = leaf.state.size();
        if logits.len() != size.actions() {
            return Err(EvalError::WrongLength { expected: size.actions(), found: logits.len() });
        }
        if let Some(&bad) = logits.iter().find(|l| !l.is_finite()) {
            return Err(EvalError::NotFinite { what: "logit", value: bad });
        }
        if !value.is_finite() {
            return Err(EvalError::NotFinite { what: "value", value });
        }
        let own = Self::turn_back(size, leaf.symmetry, logits);
        Ok(Evaluation {
            policy: masked_softmax(&own, &leaf.state.legal_moves()),
            value: Value::new(value),
        })
    }

    /// A vector over the actions of the board turned by `symmetry`, read back into the board's own
    /// orientation: the entry of action `a` is found at `symmetry.apply_action(a)`.
    pub fn turn_back(size: BoardSize, symmetry: Symmetry, turned: &[f32]) -> Vec<f32> {
        (0..size.actions()).map(|a| turned[symmetry.apply_action(size, a)]).collect()
    }

    /// Checks the promises of the seam for the position `state`.
    ///
    /// # Errors
    /// The first promise broken.
    pub fn check(&self, state: &GameState) -> Result<(), EvalError> {
        let expected = state.size().actions();
        if self.policy.len() != expected {
            return Err(EvalError::WrongLength { expected, found: self.policy.len() });
        }
        let legal = state.legal_moves();
        for (action, &prior) in self.policy.iter().enumerate() {
            if !prior.is_finite() {
                return Err(EvalError::NotFinite { what: "prior", value: prior });
            }
            if prior != 0.0 && !legal.contains(action) {
                return Err(EvalError::IllegalPrior { action, prior });
            }
        }
        let sum: f32 = self.policy.iter().sum();
        let negative = self.policy.iter().any(|&p| p < 0.0);
        if negative || (sum - 1.0).abs() > SUM_TOLERANCE {
            return Err(EvalError::NotNormalised { sum });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tengen_rules::{Komi, Move, Rules};

    use super::*;

    fn corner_stone() -> GameState {
        let size = BoardSize::square(3).unwrap();
        let komi = Komi::from_points(0.5).unwrap();
        let mut state = GameState::new(size, Rules::tromp_taylor(), komi);
        state.play(Move::Play(size.point(1, 0))).unwrap();
        state
    }

    #[test]
    fn priors_of_a_symmetric_leaf_are_mapped_back() {
        let state = corner_stone();
        let size = state.size();
        // A network that wants (2, 1) on the board as it lies must be understood to want it
        // however the board was turned before the look.
        let wanted = size.action(Move::Play(size.point(2, 1)));
        for symmetry in Symmetry::all() {
            let mut logits = vec![0.0; size.actions()];
            logits[symmetry.apply_action(size, wanted)] = 5.0;
            logits[size.pass_action()] = 3.0;
            let leaf = Leaf { state: &state, symmetry };
            let answer = Evaluation::from_logits(&leaf, &logits, 0.25).unwrap();
            answer.check(&state).unwrap();
            let best = (0..size.actions())
                .max_by(|&a, &b| answer.policy[a].total_cmp(&answer.policy[b]))
                .unwrap();
            assert_eq!(best, wanted, "{symmetry:?}");
            let pass_ratio = answer.policy[size.pass_action()] / answer.policy[wanted];
            assert!((pass_ratio - (-2.0f32).exp()).abs() < 1e-5, "pass never moves");
        }
    }

    #[test]
    fn numbers_that_are_not_finite_are_refused() {
        let state = corner_stone();
        let leaf = Leaf::new(&state);
        let logits = vec![0.0; state.size().actions()];
        assert!(Evaluation::from_logits(&leaf, &logits, f32::NAN).is_err());
        let mut bad = logits.clone();
        bad[4] = f32::INFINITY;
        assert!(Evaluation::from_logits(&leaf, &bad, 0.0).is_err());
        assert!(Evaluation::from_logits(&leaf, &logits[1..], 0.0).is_err());
    }
}
