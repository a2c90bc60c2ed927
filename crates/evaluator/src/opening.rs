//! Openings that both games of a pair begin with.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tengen_inference::{EvalError, Leaf, LeafEvaluator, evaluate_in_batches};
use tengen_rules::{GameState, Move};

use crate::GateConfig;

/// Streams of a match's generator: games take the low numbers, openings these.
const OPENING_STREAM: u64 = 1 << 63;

/// The seed of match number `match_id` of the run seeded `run_seed`: whoever plays a slot of the match,
/// on whatever machine, plays the same game.
#[must_use]
pub fn match_seed(run_seed: u64, match_id: i64) -> u64 {
    run_seed ^ match_id.cast_unsigned().wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// The generator of one stream of a match; the same whatever else is played.
pub(crate) fn stream(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream);
    rng
}

/// Draws the openings of the `pairs` numbered, each from the mean of both networks' priors, so that neither steers it.
/// Passes are left out: an opening never ends a game.
///
/// # Errors
/// The evaluators'.
pub fn draw_openings(
    candidate: &mut dyn LeafEvaluator,
    base: &mut dyn LeafEvaluator,
    start: &GameState,
    config: &GateConfig,
    seed: u64,
    pairs: &[u32],
) -> Result<Vec<Vec<Move>>, EvalError> {
    let mut lines: Vec<Line> = pairs
        .iter()
        .map(|&pair| Line {
            state: start.clone(),
            rng: stream(seed, OPENING_STREAM | u64::from(pair)),
            moves: Vec::new(),
        })
        .collect();
    for _ in 0..config.opening_moves {
        let states: Vec<Leaf<'_>> = lines.iter().map(|line| Leaf::new(&line.state)).collect();
        let ours = evaluate_in_batches(candidate, &states)?;
        let theirs = evaluate_in_batches(base, &states)?;
        for (line, (a, b)) in lines.iter_mut().zip(ours.iter().zip(&theirs)) {
            line.extend(&a.policy, &b.policy, config.opening_temperature);
        }
    }
    Ok(lines.into_iter().map(|line| line.moves).collect())
}

struct Line {
    state: GameState,
    rng: ChaCha8Rng,
    moves: Vec<Move>,
}

impl Line {
    fn extend(&mut self, a: &[f32], b: &[f32], temperature: f64) {
        let size = self.state.size();
        let legal = self.state.legal_moves();
        let weights: Vec<(usize, f64)> = legal
            .iter()
            .filter(|&action| action != size.pass_action())
            .map(|action| {
                let mean = f64::from(a[action] + b[action]) / 2.0;
                (action, mean.max(0.0).powf(temperature.recip()))
            })
            .collect();
        let mut left = self.rng.random::<f64>() * weights.iter().map(|(_, w)| w).sum::<f64>();
        let drawn = weights.iter().find(|(_, weight)| {
            left -= weight;
            left < 0.0
        });
        // No stone can be placed, or none has any prior: the opening ends here.
        let Some(&(action, _)) = drawn else { return };
        let mv = size.move_at(action);
        self.state.play(mv).expect("drawn from the legal moves");
        self.moves.push(mv);
    }
}
