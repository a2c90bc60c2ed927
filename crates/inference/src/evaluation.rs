//! The answer, and the one way from raw network output to it.

use tengen_rules::{BoardSize, GameState, Point, Symmetry, Value};

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
    /// Expected lead of the player to move in points, komi included; `None` from an evaluator that
    /// has no opinion.
    pub score: Option<f32>,
    /// `[H·W]` expected owner of each point at the end, 1 the player to move, -1 the opponent, in
    /// the board's own orientation; `None` from an evaluator that has no opinion.
    pub ownership: Option<Vec<f32>>,
}

impl Evaluation {
    /// Priors and a value, with no opinion about the score.
    pub fn new(policy: Vec<f32>, value: Value) -> Self {
        Evaluation { policy, value, score: None, ownership: None }
    }

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
        Ok(Evaluation::new(masked_softmax(&own, &leaf.state.legal_moves()), Value::new(value)))
    }

    /// The same with a network's `score` in points and `ownership` (`[H·W]`, -1 to 1), both for
    /// the player to move, the latter over the board **as turned by the leaf's symmetry**.
    ///
    /// # Errors
    /// When the length does not fit the board or a number is not finite.
    pub fn with_score(
        mut self,
        leaf: &Leaf<'_>,
        score: f32,
        ownership: &[f32],
    ) -> Result<Self, EvalError> {
        let size = leaf.state.size();
        let turned = |point: Point| ownership[leaf.symmetry.apply(size, point).index()];
        if ownership.len() != size.area() {
            return Err(EvalError::WrongLength { expected: size.area(), found: ownership.len() });
        }
        self.score = Some(score);
        self.ownership = Some(size.points().map(turned).collect());
        self.check_score(size)?;
        Ok(self)
    }

    fn check_score(&self, size: BoardSize) -> Result<(), EvalError> {
        if let Some(score) = self.score.filter(|score| !score.is_finite()) {
            return Err(EvalError::NotFinite { what: "score", value: score });
        }
        let Some(ownership) = &self.ownership else { return Ok(()) };
        if ownership.len() != size.area() {
            return Err(EvalError::WrongLength { expected: size.area(), found: ownership.len() });
        }
        match ownership.iter().find(|owner| !(-1.0..=1.0).contains(*owner)) {
            Some(&owner) if owner.is_finite() => Err(EvalError::Ownership { owner }),
            Some(&value) => Err(EvalError::NotFinite { what: "ownership", value }),
            None => Ok(()),
        }
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
        self.check_score(state.size())
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
    fn ownership_is_mapped_back_and_the_score_is_kept() {
        let state = corner_stone();
        let size = state.size();
        let owned = size.point(2, 1);
        for symmetry in Symmetry::all() {
            let leaf = Leaf { state: &state, symmetry };
            let mut turned = vec![-0.5; size.area()];
            turned[symmetry.apply(size, owned).index()] = 1.0;
            let logits = vec![0.0; size.actions()];
            let plain = Evaluation::from_logits(&leaf, &logits, 0.25).unwrap();
            let answer = plain.clone().with_score(&leaf, -3.5, &turned).unwrap();
            answer.check(&state).unwrap();
            assert_eq!(answer.score, Some(-3.5));
            let ownership = answer.ownership.unwrap();
            for point in size.points() {
                let expected = if point == owned { 1.0 } else { -0.5 };
                assert_eq!(ownership[point.index()], expected, "{symmetry:?}");
            }
            assert!(plain.clone().with_score(&leaf, f32::NAN, &turned).is_err());
            assert!(plain.clone().with_score(&leaf, 0.0, &turned[1..]).is_err());
            turned[0] = 1.5;
            let refused = plain.with_score(&leaf, 0.0, &turned);
            assert_eq!(refused, Err(EvalError::Ownership { owner: 1.5 }));
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
