//! Evaluations per second of the native evaluator, on one thread:
//! `cargo run --release -p tengen-network --example native_speed -- [board] [blocks] [channels] [batch]`

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use tengen_inference::{Leaf, LeafEvaluator};
use tengen_network::{HostTensor, NativeEvaluator, NetworkConfig, Weights};
use tengen_rules::{BoardSize, GameState, Komi, Rules, Symmetry};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut shape = [6, 4, 32, 64];
    for (to, argument) in shape.iter_mut().zip(std::env::args().skip(1)) {
        *to = argument.parse()?;
    }
    let [board, blocks, channels, batch] = shape;
    let config = NetworkConfig { blocks, channels, ..NetworkConfig::default() };
    // The numbers don't matter to the clock, as long as none is denormal.
    let tensors = config.tensors()?.into_iter();
    let weights = Weights(
        tensors.map(|(name, shape)| (name, HostTensor::full(&shape, 1.0 / 256.0))).collect(),
    );
    let max = NonZeroUsize::new(batch).ok_or("a batch of nothing")?;
    let mut evaluator = NativeEvaluator::new(&config, &weights, max)?;

    // A game that fills the board in a stride, so that most planes hold stones.
    let size = BoardSize::square(board)?;
    let mut state = GameState::new(size, Rules::tromp_taylor(), Komi::from_points(7.5)?);
    let mut states = vec![state.clone()];
    for k in 1.. {
        if states.len() >= batch {
            break;
        }
        let legal: Vec<usize> = state.legal_moves().iter().collect();
        state.play(size.move_at(legal[k * 7 % legal.len()]))?;
        if state.is_over() {
            state = states[0].clone();
        }
        states.push(state.clone());
    }
    let leaves: Vec<Leaf<'_>> = states
        .iter()
        .zip(Symmetry::all().into_iter().cycle())
        .map(|(state, symmetry)| Leaf { state, symmetry })
        .collect();

    evaluator.evaluate(&leaves)?;
    let (start, busy) = (Instant::now(), busy_seconds());
    let mut batches = 0;
    while start.elapsed() < Duration::from_secs(2) {
        evaluator.evaluate(&leaves)?;
        batches += 1;
    }
    // Time on the core where the system tells it: what else runs here then does not count.
    let seconds = match (busy, busy_seconds()) {
        (Some(before), Some(after)) => after - before,
        _ => start.elapsed().as_secs_f64(),
    };
    let per_second = (batches * batch) as f64 / seconds;

    let convolutions = 2 * blocks * channels * channels * 9
        + channels * 17 * 9
        + channels * (config.policy_channels + config.value_channels);
    let flops = 2.0 * (convolutions * size.area()) as f64;
    println!(
        "{board}x{board}, {blocks} blocks of {channels}, batch {batch}: \
         {per_second:.0} evaluations/s, {:.1} GFLOP/s",
        per_second * flops / 1e9
    );
    Ok(())
}

/// Seconds that this thread has spent on a core.
fn busy_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? / 1e9)
}
