//! Random networks and positions, for the tests of every pass.

use tengen_rules::{BoardSize, GameState, Komi, Rules};

use crate::{HostTensor, NetworkConfig, Weights};

/// SplitMix64, the tests' chance.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
    /// Evenly from -1 to 1.
    fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }
}

/// Weights that keep activations near one, with a normalisation that is no identity.
pub(crate) fn random_weights(config: &NetworkConfig, seed: u64) -> Weights {
    let mut chance = Chance(seed);
    let mut weights = Weights::default();
    for (name, shape) in config.tensors().unwrap() {
        let mut tensor = HostTensor::full(&shape, 0.0);
        let fan_in: usize = shape[1..].iter().product();
        for x in &mut tensor.data {
            *x = match name.rsplit('.').next().unwrap() {
                "gamma" | "var" => 0.75 + 0.25 * chance.unit(),
                "beta" | "mean" | "bias" => 0.25 * chance.unit(),
                _ => 1.5 * chance.unit() / (fan_in as f32).sqrt(),
            };
        }
        weights.0.insert(name, tensor);
    }
    weights
}

/// `count` positions of one random game.
pub(crate) fn positions(width: usize, height: usize, count: usize, seed: u64) -> Vec<GameState> {
    let mut chance = Chance(seed);
    let size = BoardSize::new(width, height).unwrap();
    let start = GameState::new(size, Rules::tromp_taylor(), Komi::from_points(7.5).unwrap());
    let mut states = vec![start.clone()];
    while states.len() < count {
        let mut next = states.last().unwrap().clone();
        let legal: Vec<usize> = next.legal_moves().iter().collect();
        next.play(size.move_at(legal[chance.below(legal.len())])).unwrap();
        states.push(if next.is_over() { start.clone() } else { next });
    }
    states
}

/// A network of so many blocks and channels.
pub(crate) fn config(blocks: usize, channels: usize) -> NetworkConfig {
    NetworkConfig { blocks, channels, ..NetworkConfig::default() }
}

/// The same with every option: pooling in the second block (or the only one), all heads.
pub(crate) fn everything(config: NetworkConfig) -> NetworkConfig {
    NetworkConfig {
        pooling_blocks: config.blocks.checked_sub(1).map(|last| last.min(1)).into_iter().collect(),
        policy_pooling: true,
        ownership: true,
        score: true,
        opponent_policy: true,
        soft_policy: true,
        short_term_values: true,
        ..config
    }
}
