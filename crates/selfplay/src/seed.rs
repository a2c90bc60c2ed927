//! Where the randomness of a game comes from.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The seed of game number `counter` of the run seeded `run_seed`.
///
/// A bijection of `counter` for a fixed run, so no two games of a run share a seed.
pub fn game_seed(run_seed: u64, counter: u64) -> u64 {
    mix(mix(run_seed) ^ counter.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// The stream that every draw of the game with this seed comes from.
pub(crate) fn game_stream(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// The stream that a game's beginning is drawn from, where it is varied.
pub(crate) fn variety_stream(seed: u64) -> ChaCha8Rng {
    let mut rng = game_stream(seed);
    rng.set_stream(1);
    rng
}

/// The stream that says which of a run's several games this one is.
pub(crate) fn mixture_stream(seed: u64) -> ChaCha8Rng {
    let mut rng = game_stream(seed);
    rng.set_stream(2);
    rng
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014), a bijection with good avalanche.
fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn games_of_a_run_and_runs_of_a_game_have_seeds_of_their_own() {
        let seeds: HashSet<u64> =
            (0..50).flat_map(|run| (0..200).map(move |k| game_seed(run, k))).collect();
        assert_eq!(seeds.len(), 50 * 200);
    }

    #[test]
    fn the_first_output_of_splitmix64_is_the_published_one() {
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
    }
}
