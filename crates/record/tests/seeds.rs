//! The seeds of the fuzz targets, and whatever those ever found, read again on every test run.
#![allow(clippy::unwrap_used)]

#[path = "../../../fuzz/seeds.rs"]
mod fuzz_seeds;

use fuzz_seeds::seeds;
use tengen_record::sgf::{SgfGame, SgfSummary, check_tree, parse_trees, to_sgf};
use tengen_record::{decode, encode};
use tengen_rules::Rules;

#[test]
fn sgf_seeds_read_without_panic_and_rewrite_to_themselves() {
    for (file, bytes) in seeds("sgf") {
        for tree in parse_trees(&bytes).into_iter().flatten() {
            let text = tree.to_text();
            let again = parse_trees(format!("\u{feff}{text}").as_bytes()).remove(0).unwrap();
            assert_eq!(again.to_text(), text, "{file}");
            let _ = SgfSummary::from_tree(&tree);
            let _ = check_tree(&tree, Rules::tromp_taylor());
            let Ok(game) = SgfGame::from_tree(&tree) else { continue };
            let _ = game.position(Rules::tromp_taylor(), game.komi.unwrap_or_default(), 9_999);
            let Ok(record) = game.to_record(Rules::tromp_taylor()) else { continue };
            record.validate().unwrap_or_else(|e| panic!("{file}: {e}"));
            let back = parse_trees(to_sgf(&record).as_bytes()).remove(0).unwrap();
            let back = SgfGame::from_tree(&back).unwrap().to_record(Rules::tromp_taylor()).unwrap();
            assert_eq!((back.turns, back.outcome), (record.turns, record.outcome), "{file}");
        }
    }
}

#[test]
fn codec_seeds_decode_or_are_refused() {
    let mut decoded = 0;
    for (file, bytes) in seeds("game_codec") {
        let Ok(record) = decode(&bytes) else { continue };
        assert_eq!(encode(&decode(&encode(&record)).unwrap()), encode(&record), "{file}");
        decoded += usize::from(record.validate().is_ok());
    }
    assert!(decoded >= 2, "the honest seeds are games");
}
