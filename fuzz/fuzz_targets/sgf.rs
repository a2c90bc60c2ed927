//! Any bytes as an SGF file: every reader of the crate, none of which may panic, hang or eat memory.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tengen_record::sgf::{SgfGame, SgfSummary, check_tree, parse_trees, to_sgf};
use tengen_rules::Rules;

fuzz_target!(|bytes: &[u8]| {
    for tree in parse_trees(bytes) {
        let tree = match tree {
            Ok(tree) => tree,
            Err(error) => {
                let place = error.place();
                assert!(place.line > 0 && place.column > 0 && !error.message().is_empty());
                continue;
            }
        };
        let text = tree.to_text();
        // The mark says UTF-8, whatever charset the text itself may seem to name.
        let marked = format!("\u{feff}{text}");
        let again = parse_trees(marked.as_bytes()).remove(0).expect("what was written reads");
        assert_eq!(again.to_text(), text, "rewriting changed the tree");
        let _ = SgfSummary::from_tree(&tree);
        let _ = check_tree(&tree, Rules::tromp_taylor());
        let Ok(game) = SgfGame::from_tree(&tree) else { continue };
        let rules = game.rules.unwrap_or_default();
        let _ = game.position(rules, game.komi.unwrap_or_default(), usize::MAX);
        let Ok(record) = game.to_record(rules) else { continue };
        record.validate().expect("what is imported is a game");
        let back = parse_trees(to_sgf(&record).as_bytes()).remove(0).expect("our own file");
        let back = SgfGame::from_tree(&back).and_then(|game| game.to_record(rules));
        let back = back.expect("our own game");
        assert_eq!((&back.turns, back.outcome), (&record.turns, record.outcome));
    }
});
