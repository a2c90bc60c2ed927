//! The stored form: equal after a round trip, and never a panic on bytes from anywhere.
#![allow(clippy::unwrap_used)]

mod common;

use common::{cases, random_game};
use proptest::prelude::*;
use tengen_record::{
    CodecError, EndReason, FORMAT_VERSION, GameRecord, MAX_INFLATED_BYTES, SearchRecord, Turn,
    decode, encode,
};
use tengen_rules::{BoardSize, Color, Komi, Outcome, Rules};

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn a_game_reads_back_equal_and_valid(seed: u64, w in 1usize..8, h in 1usize..8) {
        let record = random_game(seed, w, h, 60);
        record.validate().unwrap();
        prop_assert_eq!(decode(&encode(&record)).unwrap(), record);
    }

    #[test]
    fn a_flipped_bit_is_noticed(seed: u64, place: prop::sample::Index, bit in 0u8..8) {
        let mut bytes = encode(&random_game(seed, 5, 5, 30));
        let at = place.index(bytes.len());
        bytes[at] ^= 1 << bit;
        prop_assert!(decode(&bytes).is_err());
    }

    #[test]
    fn noise_is_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(decode(&bytes).is_err());
    }
}

#[test]
fn every_truncation_is_refused() {
    let bytes = encode(&random_game(7, 5, 5, 30));
    for length in 0..bytes.len() {
        assert!(decode(&bytes[..length]).is_err(), "{length} of {} bytes", bytes.len());
    }
    let longer = [bytes.as_slice(), b"x"].concat();
    assert!(decode(&longer).is_err());
}

#[test]
fn a_newer_version_is_refused_by_name() {
    let mut bytes = encode(&random_game(7, 3, 3, 9));
    bytes[4] = FORMAT_VERSION + 1;
    assert!(matches!(decode(&bytes), Err(CodecError::Version { got: 2, known: 1 })));
}

/// A blob with a right checksum around whatever `packed` holds.
fn forge(length: u32, packed: &[u8]) -> Vec<u8> {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&[FORMAT_VERSION]);
    hasher.update(&length.to_le_bytes());
    hasher.update(packed);
    let crc = hasher.finalize();
    [b"TGNR".as_slice(), &[FORMAT_VERSION], &length.to_le_bytes(), &crc.to_le_bytes(), packed]
        .concat()
}

#[test]
fn a_zip_bomb_is_refused_before_it_inflates() {
    let bomb = zstd::bulk::compress(&vec![0u8; 64 << 20], 3).unwrap();
    let claimed = forge(64 << 20, &bomb);
    assert!(matches!(decode(&claimed), Err(CodecError::TooLarge { .. })));
    // One that lies about its length may not fill more than it claimed.
    assert!(matches!(decode(&forge(100, &bomb)), Err(CodecError::Malformed(_))));
    assert!(decode(&forge(MAX_INFLATED_BYTES as u32, &bomb)).is_err());
}

proptest! {
    #![proptest_config(cases(256))]

    /// A hostile worker can compute a checksum: the content must not panic either.
    #[test]
    fn forged_content_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let packed = zstd::bulk::compress(&bytes, 1).unwrap();
        let _ = decode(&forge(bytes.len() as u32, &packed));
    }

    #[test]
    fn edited_content_never_panics(seed: u64, place: prop::sample::Index, byte: u8) {
        let good = encode(&random_game(seed, 4, 4, 20));
        let mut plain = zstd::bulk::decompress(&good[13..], 1 << 20).unwrap();
        let at = place.index(plain.len());
        plain[at] = byte;
        let packed = zstd::bulk::compress(&plain, 1).unwrap();
        if let Ok(record) = decode(&forge(plain.len() as u32, &packed)) {
            let _ = record.validate();
            let _ = record.replay().count();
            let _ = tengen_record::sgf::to_sgf(&record);
        }
    }
}

/// A 3×3 game of four turns, one of them searched, as version 1 wrote it. Whoever changes the
/// layout raises the version and keeps reading this.
const GOLDEN: &str = "\
    54474e5201010100007e523a6428b52ffd600100b505004209232a90b5e9ebfdbbd3ef4ebf3b2d4bfaafda6e43\
    76ff66428d246da1109df86a8d7244c6e3cf7cfedfdbee14020782b1b07ea7b00e6fcb95b7e5cbd99567a1c2b5\
    23880437361f3043039a000408b0174ef8d9755d0394eec448a223b9a9c7251eade46c9869613b7223396bad1a\
    c734eef3d869d815752ca77c91ad6e99da07c9a626a48ee3f468faa674a6b510003e09b7844eea8e986500423c\
    042614f35206c805262935476a1161c3d522351cc1cc700044";

fn golden_record() -> GameRecord {
    let size = BoardSize::square(3).unwrap();
    let turn = |action| Turn { mv: size.move_at(action), search: None };
    let mut turns = vec![turn(4), turn(1), turn(9), turn(9)];
    turns[0].search = Some(SearchRecord {
        policy: vec![(0, 3), (4, 40), (9, 1)],
        root_value: 0.25,
        visits: 44,
        is_target: true,
        weight: 1.0,
    });
    GameRecord {
        size,
        rules: Rules::by_name("ko=simple,suicide=false").unwrap(),
        komi: Komi::from_half_points(-7).unwrap(),
        setup_black: vec![size.point(0, 2)],
        setup_white: vec![size.point(2, 2)],
        first_to_play: Color::White,
        seed: 0x0123_4567_89AB_CDEF,
        players: ["black".to_owned(), "white".to_owned()],
        config_digest: "cafe".to_owned(),
        turns,
        outcome: Outcome::Resignation { winner: Color::Black },
        end: EndReason::Resignation,
    }
}

#[test]
fn the_first_version_stays_readable() {
    let hex = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    let bytes: Vec<u8> = GOLDEN.as_bytes().chunks(2).map(hex).collect();
    assert_eq!(decode(&bytes).unwrap(), golden_record());
}
