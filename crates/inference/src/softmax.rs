//! Logits to priors: the one owner of the legal mask's meaning.

use tengen_rules::LegalMask;

/// Softmax over the legal actions alone; illegal actions get exactly 0.
///
/// `logits` is `[actions]`; entries of illegal actions are never looked at. The largest legal
/// logit is subtracted first, so large logits do not overflow; should no legal logit be finite,
/// the legal actions share the mass evenly.
pub fn masked_softmax(logits: &[f32], legal: &LegalMask) -> Vec<f32> {
    let mut policy = vec![0.0; logits.len()];
    let top = legal.iter().map(|a| logits[a]).fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0f32;
    if top.is_finite() {
        for a in legal.iter() {
            policy[a] = (logits[a] - top).exp();
            sum += policy[a];
        }
    }
    if sum.is_finite() && sum > 0.0 {
        let scale = sum.recip();
        policy.iter_mut().for_each(|p| *p *= scale);
    } else {
        let share = 1.0 / legal.count() as f32;
        policy.fill(0.0);
        legal.iter().for_each(|a| policy[a] = share);
    }
    policy
}

#[cfg(test)]
mod tests {
    use tengen_rules::{BoardSize, GameState, Komi, Move, Rules};

    use super::*;

    /// 1x3, stones on two points: the third and pass stay legal or not as the rules say.
    fn state() -> GameState {
        let size = BoardSize::new(3, 1).unwrap();
        let komi = Komi::from_points(0.0).unwrap();
        let mut state = GameState::new(size, Rules::tromp_taylor(), komi);
        state.play(Move::Play(size.point(1, 0))).unwrap();
        state
    }

    #[test]
    fn illegal_actions_get_exactly_nothing_and_large_logits_do_not_overflow() {
        let legal = state().legal_moves();
        assert!(!legal.contains(1), "the occupied point");
        let policy = masked_softmax(&[1_000_000.0, 9e9, 1_000_001.0, -100.0], &legal);
        assert_eq!(policy[1], 0.0);
        let sum: f32 = policy.iter().sum();
        assert!((sum - 1.0).abs() < 1e-6);
        if legal.contains(0) && legal.contains(2) {
            assert!((policy[0] - 0.268_941_43).abs() < 1e-6);
            assert!((policy[2] - 0.731_058_6).abs() < 1e-6);
        }
    }

    #[test]
    fn hopeless_logits_fall_back_to_an_even_share() {
        let legal = state().legal_moves();
        let policy = masked_softmax(&[f32::NEG_INFINITY; 4], &legal);
        let share = 1.0 / legal.count() as f32;
        for (a, &p) in policy.iter().enumerate() {
            assert_eq!(p, if legal.contains(a) { share } else { 0.0 });
        }
    }
}
