//! What an evaluator must show before it plays a match.

use rand::Rng;
use tengen_inference::{EvalError, Evaluation, Leaf, LeafEvaluator, evaluate_in_batches};
use tengen_rules::{GameState, Move, Symmetry};
use thiserror::Error;

use crate::opening::stream;

/// Positions looked at: the start and some after this many random moves each.
const DEPTHS: [usize; 8] = [0, 1, 2, 4, 7, 11, 16, 24];
/// How far two answers to one question may lie apart: sums of floats in another order.
const TOLERANCE: f32 = 1e-3;

/// Why an evaluator may not play.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SanityError {
    /// It failed, or broke the promises of the seam: a number that is not finite, a prior on an
    /// illegal move, priors that do not sum to 1.
    #[error("after {moves} moves: {source}")]
    Evaluation {
        /// Moves played in the position.
        moves: usize,
        /// What is wrong.
        source: EvalError,
    },
    /// Looking at a position through a symmetry is not the same as looking at the turned position:
    /// the answer is turned back wrongly, or not at all.
    #[error(
        "symmetry {symmetry} after {moves} moves: {what} differs by {difference} from the answer for the turned position"
    )]
    Symmetry {
        /// The symmetry's index, 0 to 7.
        symmetry: usize,
        /// Moves played in the position.
        moves: usize,
        /// Priors or value.
        what: &'static str,
        /// By how much.
        difference: f32,
    },
    /// The value is the same everywhere.
    #[error("the value is {value} in all of {positions} positions, whoever is to move")]
    ConstantValue {
        /// The value.
        value: f32,
        /// Positions looked at.
        positions: usize,
    },
}

/// What was seen of an evaluator that passed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SanityReport {
    /// Positions looked at.
    pub positions: usize,
    /// Largest less smallest value.
    pub value_spread: f32,
    /// Mean distance of the values of one position through all symmetries from their mean: 0 for
    /// an evaluator that is symmetric itself. A network is so only as far as it has learnt it.
    pub value_asymmetry: f32,
}

/// Puts a fixed set of positions of the game that starts from `start` to `evaluator`.
///
/// Checked, each for every symmetry of the board: answers are finite, priors lie on legal moves
/// and sum to 1, and the answer to a position seen through a symmetry equals the answer to the
/// turned position, turned back. The last holds for any network, since both put the same planes to
/// it. Then: the value is not constant, unless `may_be_constant` (as the uniform evaluator's is).
///
/// # Errors
/// [`SanityError`], at the first position that fails.
pub fn check_sanity(
    evaluator: &mut dyn LeafEvaluator,
    start: &GameState,
    may_be_constant: bool,
) -> Result<SanityReport, SanityError> {
    let (mut values, mut asymmetry, mut looks) = (Vec::new(), 0.0, 0u32);
    let symmetries: Vec<Symmetry> =
        Symmetry::all().into_iter().filter(|s| s.valid_for(start.size())).collect();
    let mut positions = 0;
    for (index, &depth) in DEPTHS.iter().enumerate() {
        let moves = random_line(start, depth, index as u64);
        let turned: Vec<GameState> = symmetries.iter().map(|s| replay(start, &moves, *s)).collect();
        if turned[0].is_over() {
            continue;
        }
        positions += 1;
        let through: Vec<Leaf<'_>> =
            symmetries.iter().map(|&symmetry| Leaf { state: &turned[0], symmetry }).collect();
        let direct: Vec<Leaf<'_>> = turned.iter().map(Leaf::new).collect();
        let failed = |source| SanityError::Evaluation { moves: moves.len(), source };
        let seen = evaluate_in_batches(evaluator, &through).map_err(failed)?;
        let plain = evaluate_in_batches(evaluator, &direct).map_err(failed)?;
        for (i, symmetry) in symmetries.iter().enumerate() {
            seen[i].check(&turned[0]).map_err(failed)?;
            plain[i].check(&turned[i]).map_err(failed)?;
            compare(&seen[i], &plain[i], start, *symmetry, moves.len())?;
        }
        let mean = seen.iter().map(|e| e.value.get()).sum::<f32>() / seen.len() as f32;
        for answer in &seen {
            asymmetry += (answer.value.get() - mean).abs();
            looks += 1;
        }
        values.push(mean);
    }
    let largest = values.iter().copied().fold(f32::MIN, f32::max);
    let smallest = values.iter().copied().fold(f32::MAX, f32::min);
    let value_spread = if values.is_empty() { 0.0 } else { largest - smallest };
    if value_spread < 1e-6 && !may_be_constant && positions > 1 {
        return Err(SanityError::ConstantValue { value: largest, positions });
    }
    Ok(SanityReport { positions, value_spread, value_asymmetry: asymmetry / looks.max(1) as f32 })
}

fn compare(
    through: &Evaluation,
    plain: &Evaluation,
    start: &GameState,
    symmetry: Symmetry,
    moves: usize,
) -> Result<(), SanityError> {
    let size = start.size();
    let differs = |what, difference: f32| {
        Err(SanityError::Symmetry { symmetry: symmetry.index(), moves, what, difference })
    };
    let value = (through.value.get() - plain.value.get()).abs();
    if value > TOLERANCE {
        return differs("the value", value);
    }
    for action in 0..size.actions() {
        let back = symmetry.apply_action(size, action);
        let prior = (through.policy[action] - plain.policy[back]).abs();
        if prior > TOLERANCE {
            return differs("a prior", prior);
        }
    }
    Ok(())
}

/// Random legal stones, drawn from a stream that never changes.
fn random_line(start: &GameState, length: usize, number: u64) -> Vec<Move> {
    let (mut rng, mut state) = (stream(0x5A17, number), start.clone());
    let mut moves = Vec::new();
    for _ in 0..length {
        let pass = state.size().pass_action();
        let legal: Vec<usize> = state.legal_moves().iter().filter(|&a| a != pass).collect();
        if legal.is_empty() {
            break;
        }
        let mv = state.size().move_at(legal[rng.random_range(0..legal.len())]);
        state.play(mv).expect("drawn from the legal moves");
        moves.push(mv);
    }
    moves
}

/// The line with every move turned.
fn replay(start: &GameState, moves: &[Move], symmetry: Symmetry) -> GameState {
    let (mut state, size) = (start.clone(), start.size());
    for &mv in moves {
        let turned = size.move_at(symmetry.apply_action(size, size.action(mv)));
        state.play(turned).expect("a legal line stays legal when the board is turned");
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;
    use tengen_inference::{ScriptedEvaluator, UniformEvaluator};
    use tengen_rules::{BoardSize, Komi, Rules, Value};

    fn start() -> GameState {
        let komi = Komi::from_points(7.5).unwrap();
        GameState::new(BoardSize::square(5).unwrap(), Rules::tromp_taylor(), komi)
    }

    /// Prior on the first legal point as the board is seen, and a value that counts stones.
    fn scripted(
        turn_back: bool,
        value: impl Fn(usize) -> f32 + Send + 'static,
    ) -> impl LeafEvaluator {
        ScriptedEvaluator::new(move |leaf| {
            let size = leaf.state.size();
            let legal = leaf.state.legal_moves();
            let seen = |action: usize| leaf.symmetry.apply_action(size, action);
            let first = legal.iter().min_by_key(|&a| seen(a)).unwrap_or(size.pass_action());
            let wrong = legal.iter().next().unwrap_or(size.pass_action());
            let mut policy = vec![0.0; size.actions()];
            policy[if turn_back { first } else { wrong }] = 1.0;
            let value = Value::new(value(leaf.state.move_number()));
            Ok(Evaluation::new(policy, value))
        })
    }

    #[test]
    fn a_sound_evaluator_passes_and_the_uniform_one_may_be_constant() {
        let report = check_sanity(&mut scripted(true, |n| n as f32 / 100.0), &start(), false);
        assert!(report.unwrap().value_spread > 0.1);
        assert!(check_sanity(&mut UniformEvaluator, &start(), true).is_ok());
        let flat = check_sanity(&mut UniformEvaluator, &start(), false).unwrap_err();
        assert!(matches!(flat, SanityError::ConstantValue { .. }), "{flat}");
    }

    #[test]
    fn priors_of_a_rotated_leaf_that_are_not_rotated_back_are_caught() {
        let error = check_sanity(&mut scripted(false, |n| n as f32 / 100.0), &start(), false);
        let error = error.unwrap_err();
        assert!(matches!(error, SanityError::Symmetry { what: "a prior", .. }), "{error}");
    }

    #[test]
    fn numbers_that_are_not_finite_are_caught() {
        let mut broken = ScriptedEvaluator::new(|leaf| {
            let actions = leaf.state.size().actions();
            Ok(Evaluation::new(vec![f32::NAN; actions], Value::DRAW))
        });
        let error = check_sanity(&mut broken, &start(), false).unwrap_err();
        assert!(matches!(error, SanityError::Evaluation { .. }), "{error}");
    }
}
