//! How many samples a second the trainer takes on this machine:
//! `cargo run --release -p tengen-trainer --example train_speed -- BOARD BLOCKS CHANNELS BATCH STEPS`
//! (defaults 6 4 32 128 30).

use tengen_network::{DeviceKind, NetworkConfig};
use tengen_rules::{BoardSize, GameState, Komi, Rules};
use tengen_trainer::{TrainerConfig, bench};

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
    let (size, komi) = (BoardSize::square(board)?, Komi::from_points(0.5)?);
    let start = GameState::new(size, Rules::tromp_taylor(), komi);
    let folder = std::env::temp_dir().join(format!("tengen-train-speed-{}", std::process::id()));
    let found = bench(&network, &config, DeviceKind::Cpu, &start, 1, steps as u64, &folder)?;
    std::fs::remove_dir_all(&folder)?;
    println!(
        "{board}x{board}, {} blocks x {} channels, batch {batch_size}: {:.0} samples/s, \
         median step {:.1} ms, {:.2} % waiting",
        network.blocks,
        network.channels,
        found.samples_per_s,
        1e3 * batch_size as f64 / found.median_samples_per_s,
        1e2 * found.waiting_share,
    );
    // The same on every run of one machine: the signature of the arithmetic.
    println!("signature: {} after {} steps", found.signature, found.steps + 1);
    Ok(())
}
