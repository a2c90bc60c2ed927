//! How many samples a second the trainer takes on this machine:
//! `cargo run --release -p tengen-trainer --example train_speed -- BOARD BLOCKS CHANNELS BATCH STEPS`
//! (defaults 6 4 32 128 30).

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tengen_network::{DeviceKind, NetworkConfig, init_seeded};
use tengen_record::{EndReason, GameRecord, SearchRecord, Turn};
use tengen_rules::{BoardSize, Color, GameState, Komi, Rules};
use tengen_trainer::{Trainer, TrainerConfig};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let asked: Vec<usize> =
        std::env::args().skip(1).map(|text| text.parse()).collect::<Result<_, _>>()?;
    let argument = |index: usize, default: usize| asked.get(index).copied().unwrap_or(default);
    let (board, batch_size, steps) = (argument(0, 6), argument(3, 128), argument(4, 30));
    let network = NetworkConfig {
        blocks: argument(1, 4),
        channels: argument(2, 32),
        ..NetworkConfig::default()
    };
    let config = TrainerConfig { batch_size, ..TrainerConfig::default() };
    let initial = init_seeded(&network, 1, &DeviceKind::Cpu.training_device())?.to_weights();
    let folder = std::env::temp_dir().join(format!("tengen-train-speed-{}", std::process::id()));
    let (mut trainer, _) = Trainer::open(&folder, &network, &config, 1, &initial)?;
    for seq in 1..=40 {
        trainer.ingest(seq, random_game(seq, board)?)?;
    }
    trainer.train_step()?;
    let started = std::time::Instant::now();
    let mut last = None;
    for _ in 0..steps {
        last = Some(trainer.train_step()?);
    }
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "{board}x{board}, {} blocks x {} channels, batch {batch_size}: {:.0} samples/s, {:.1} ms a step",
        network.blocks,
        network.channels,
        (steps * batch_size) as f64 / seconds,
        1e3 * seconds / steps as f64,
    );
    if let Some(report) = last {
        // The same on every run of one machine: the signature of the arithmetic.
        println!("signature: loss {:.9} after {} steps", report.loss, report.step);
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

/// A game of random moves, every position a target that spreads over all legal moves.
fn random_game(seed: u64, board: usize) -> Result<GameRecord, Box<dyn std::error::Error>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (size, rules, komi) =
        (BoardSize::square(board)?, Rules::tromp_taylor(), Komi::from_points(0.5)?);
    let mut state = GameState::new(size, rules, komi);
    let mut turns = Vec::new();
    while turns.len() < 2 * size.area() && !state.is_over() {
        let legal: Vec<usize> = state.legal_moves().iter().collect();
        let mv = size.move_at(legal[rng.random_range(0..legal.len() as u32) as usize]);
        let policy = legal.iter().map(|&action| (action as u16, 1)).collect();
        let search =
            SearchRecord { policy, root_value: 0.0, visits: 1, is_target: true, weight: 1.0 };
        turns.push(Turn { mv, search: Some(search) });
        state.play(mv)?;
    }
    Ok(GameRecord {
        size,
        rules,
        komi,
        setup_black: Vec::new(),
        setup_white: Vec::new(),
        first_to_play: Color::Black,
        seed,
        players: ["random".to_owned(), "random".to_owned()],
        config_digest: String::new(),
        turns,
        outcome: state.score_now(),
        end: EndReason::MoveLimit,
    })
}
