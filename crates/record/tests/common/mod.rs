//! Random games with made-up searches, the same for the same seed.
#![allow(dead_code)] // each test file uses its part

use tengen_record::{EndReason, GameRecord, SearchRecord, Turn};
use tengen_rules::{BoardSize, Color, GameState, Komi, Outcome, Rules};

/// SplitMix64: enough chance for tests, and no dependency.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % below as u64) as usize
    }
}

/// A legal game of at most `limit` moves on a `width`×`height` board.
pub fn random_game(seed: u64, width: usize, height: usize, limit: usize) -> GameRecord {
    let mut dice = Dice(seed);
    let size = BoardSize::new(width, height).unwrap();
    let komi = Komi::from_half_points(dice.roll(31) as i32 - 15).unwrap();
    let rules = Rules::tromp_taylor();
    let setup_black: Vec<_> = if dice.roll(3) == 0 && size.area() > 4 {
        vec![size.point(0, 0), size.point(width - 1, height - 1)]
    } else {
        Vec::new()
    };
    let first_to_play = if setup_black.is_empty() { Color::Black } else { Color::White };
    let mut state =
        GameState::with_setup(size, rules, komi, &setup_black, &[], first_to_play).unwrap();
    let mut turns = Vec::new();
    while !state.is_over() && turns.len() < limit {
        let legal: Vec<usize> = state.legal_moves().iter().collect();
        let action = legal[dice.roll(legal.len())];
        let search = (dice.roll(4) > 0).then(|| SearchRecord {
            policy: legal.iter().map(|&a| (a as u16, 1 + dice.roll(999) as u16)).collect(),
            root_value: dice.roll(2001) as f32 / 1000.0 - 1.0,
            visits: dice.roll(800) as u32,
            is_target: dice.roll(2) == 0,
            weight: dice.roll(3) as f32 / 2.0,
        });
        let mv = size.move_at(action);
        state.play(mv).unwrap();
        turns.push(Turn { mv, search });
    }
    let (outcome, end) = match state.outcome() {
        Some(outcome) => (outcome, EndReason::TwoPasses),
        None => (Outcome::NoResult, EndReason::MoveLimit),
    };
    GameRecord {
        size,
        rules,
        komi,
        setup_black,
        setup_white: Vec::new(),
        first_to_play,
        seed,
        players: ["ab12".to_owned(), "net ] \\ [ 柯洁".to_owned()],
        config_digest: "d1ge57".to_owned(),
        turns,
        outcome,
        end,
    }
}

/// A property test's settings: the same cases on every run, nothing written to the tree.
pub fn cases(cases: u32) -> proptest::test_runner::Config {
    proptest::test_runner::Config {
        cases,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(20_160_127),
        ..Default::default()
    }
}

/// SHA-1 in lower-case hexadecimal: the hash that the manifest of real files names boards by.
pub fn sha1(bytes: &[u8]) -> String {
    let mut message = bytes.to_vec();
    message.push(0x80);
    message.resize(message.len().next_multiple_of(64), 0);
    if message.len() - bytes.len() < 9 {
        message.resize(message.len() + 64, 0);
    }
    let end = message.len() - 8;
    message[end..].copy_from_slice(&(8 * bytes.len() as u64).to_be_bytes());
    let mut hash: [u32; 5] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0];
    for block in message.chunks_exact(64) {
        let mut w: Vec<u32> =
            block.chunks_exact(4).map(|c| u32::from_be_bytes([c[0], c[1], c[2], c[3]])).collect();
        for i in 16..80 {
            w.push((w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16]).rotate_left(1));
        }
        let [mut a, mut b, mut c, mut d, mut e] = hash;
        for (i, word) in w.iter().enumerate() {
            let (f, k) = match i / 20 {
                0 => ((b & c) | (!b & d), 0x5A82_7999),
                1 => (b ^ c ^ d, 0x6ED9_EBA1),
                2 => ((b & c) | (b & d) | (c & d), 0x8F1B_BCDC),
                _ => (b ^ c ^ d, 0xCA62_C1D6_u32),
            };
            let next = a
                .rotate_left(5)
                .wrapping_add(f)
                .wrapping_add(e)
                .wrapping_add(k)
                .wrapping_add(*word);
            (a, b, c, d, e) = (next, a, b.rotate_left(30), c, d);
        }
        for (h, v) in hash.iter_mut().zip([a, b, c, d, e]) {
            *h = h.wrapping_add(v);
        }
    }
    hash.iter().map(|word| format!("{word:08x}")).collect()
}
