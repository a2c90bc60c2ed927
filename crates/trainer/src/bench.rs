//! How fast training is, beside a signature of what it computed.

use std::path::Path;
use std::time::Instant;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tengen_network::{DeviceKind, NetworkConfig};
use tengen_record::{EndReason, GameRecord, SearchRecord, Turn};
use tengen_rules::{Color, GameState};

use crate::{TrainError, Trainer, TrainerConfig, tensors};

/// Games that the bench trains on.
const GAMES: u64 = 40;

/// What [`bench()`] measured.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainBench {
    /// Steps measured.
    pub steps: u64,
    /// Samples per second over all of them.
    pub samples_per_s: f64,
    /// Median of the steps' own samples per second.
    pub median_samples_per_s: f64,
    /// Fraction of their time spent waiting for batches.
    pub waiting_share: f64,
    /// The loss of the last step.
    pub loss: f64,
    /// BLAKE3 of the weights after the last step, hexadecimal: the same on every run of a machine,
    /// whatever its threads.
    pub signature: String,
}

/// Trains the first network of `seed` for one step and then `steps` more that are measured, on
/// `device` and random games from `start`. `folder` is where the trainer keeps its checkpoints; it
/// must be empty, and is the caller's to remove.
///
/// # Errors
/// What the trainer refuses.
pub fn bench(
    network: &NetworkConfig,
    config: &TrainerConfig,
    device: DeviceKind,
    start: &GameState,
    seed: u64,
    steps: u64,
    folder: &Path,
) -> Result<TrainBench, TrainError> {
    let initial = network.init_weights(seed)?;
    let (mut trainer, _) = Trainer::open(folder, network, config, device, seed, &initial)?;
    for seq in 1..=GAMES {
        trainer.ingest(seq, random_game(start, seed.wrapping_add(seq)))?;
    }
    trainer.train_step()?;
    let (began, mut waiting, mut loss, mut rates) = (Instant::now(), 0.0, 0.0, Vec::new());
    for _ in 0..steps.max(1) {
        let report = trainer.train_step()?;
        waiting += report.waiting_share / report.samples_per_s;
        rates.push(report.samples_per_s);
        loss = report.loss;
    }
    let seconds = began.elapsed().as_secs_f64().max(1e-9);
    rates.sort_by(f64::total_cmp);
    let samples = config.batch_size as f64;
    let bytes = tensors::to_bytes(&trainer.weights())
        .map_err(|why| TrainError::Checkpoint { path: folder.to_owned(), why })?;
    Ok(TrainBench {
        steps: steps.max(1),
        samples_per_s: samples * rates.len() as f64 / seconds,
        median_samples_per_s: rates[rates.len() / 2],
        waiting_share: waiting * samples / seconds,
        loss,
        signature: blake3::hash(&bytes).to_hex().to_string(),
    })
}

/// A game of random moves from `start`, every position a target that spreads over all legal moves.
fn random_game(start: &GameState, seed: u64) -> GameRecord {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (mut state, size) = (start.clone(), start.size());
    let mut turns = Vec::new();
    while turns.len() < 2 * size.area() && !state.is_over() {
        let legal: Vec<usize> = state.legal_moves().iter().collect();
        let mv = size.move_at(legal[rng.random_range(0..legal.len() as u32) as usize]);
        let policy = legal.iter().map(|&action| (action as u16, 1)).collect();
        let search =
            SearchRecord { policy, root_value: 0.0, visits: 1, is_target: true, weight: 1.0 };
        turns.push(Turn { mv, search: Some(search) });
        if state.play(mv).is_err() {
            break;
        }
    }
    GameRecord {
        size,
        rules: start.rules(),
        komi: start.komi(),
        setup_black: Vec::new(),
        setup_white: Vec::new(),
        first_to_play: Color::Black,
        seed,
        players: ["random".to_owned(), "random".to_owned()],
        config_digest: String::new(),
        turns,
        outcome: state.score_now(),
        end: EndReason::MoveLimit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tengen_rules::{BoardSize, Komi, Rules};

    #[test]
    fn the_signature_is_that_of_the_work_and_not_of_the_clock() {
        let network = NetworkConfig { blocks: 1, channels: 8, ..NetworkConfig::default() };
        let config = TrainerConfig { batch_size: 8, ..TrainerConfig::default() };
        let start = GameState::new(
            BoardSize::square(4).unwrap(),
            Rules::tromp_taylor(),
            Komi::from_points(0.5).unwrap(),
        );
        let run = |seed, steps| {
            let folder = tempfile::tempdir().unwrap();
            bench(&network, &config, DeviceKind::Cpu, &start, seed, steps, folder.path()).unwrap()
        };
        let first = run(1, 3);
        assert_eq!(first.signature, run(1, 3).signature);
        assert_ne!(first.signature, run(1, 2).signature);
        assert_ne!(first.signature, run(2, 3).signature);
        assert!(first.samples_per_s > 0.0 && (0.0..=1.0).contains(&first.waiting_share));
    }
}
