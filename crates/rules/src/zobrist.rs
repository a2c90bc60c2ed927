//! Zobrist keys computed from their index, so that a hash is the same on every machine and release.

/// The splitmix64 finaliser (Steele, Lea and Flood 2014): a bijection that mixes every bit.
pub(crate) fn mix(x: u64) -> u64 {
    let z = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The key of a stone.
pub(crate) fn stone_key(point: usize, color: usize) -> u64 {
    mix(0x5445_4E47_454E_0000 | (point as u64) << 1 | color as u64)
}

/// Folds a word into a running hash; the order of the words counts.
pub(crate) fn fold(hash: u64, word: u64) -> u64 {
    mix(hash.rotate_left(17) ^ word)
}
