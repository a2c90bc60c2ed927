//! SGF in and out.
#![allow(clippy::unwrap_used)]

mod common;

use common::{cases, random_game};
use proptest::prelude::*;
use tengen_record::sgf::{SgfError, SgfGame, SgfTree, parse_collection, parse_trees, to_sgf};
use tengen_record::{EndReason, GameRecord, SearchRecord};
use tengen_rules::{Color, Move, Rules};

fn tree(text: &str) -> SgfTree {
    parse_trees(text.as_bytes()).remove(0).unwrap()
}

fn game(text: &str) -> SgfGame {
    parse_collection(text.as_bytes()).remove(0).unwrap()
}

fn refusal(text: &str) -> String {
    parse_collection(text.as_bytes()).remove(0).unwrap_err().to_string()
}

fn vertices(game: &SgfGame) -> Vec<String> {
    game.moves.iter().map(|&(c, mv)| format!("{} {}", c.letter(), game.size.vertex(mv))).collect()
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn a_written_game_reads_back(seed: u64, w in 1usize..8, h in 1usize..8) {
        let record = random_game(seed, w, h, 60);
        let read = game(&to_sgf(&record));
        // A komi beyond the area is the one thing worth a note here.
        prop_assert!(read.notes.is_empty() || size_is_tiny(w, h), "{:?}", read.notes);
        let back = read.to_record(Rules::tromp_taylor()).unwrap();
        let moves = |r: &GameRecord| r.turns.iter().map(|t| t.mv).collect::<Vec<_>>();
        prop_assert_eq!(moves(&back), moves(&record));
        prop_assert_eq!(back.size, record.size);
        prop_assert_eq!(back.komi, record.komi);
        prop_assert_eq!(back.rules, record.rules);
        prop_assert_eq!(back.players, record.players);
        prop_assert_eq!(back.setup_black, record.setup_black);
        prop_assert_eq!(back.first_to_play, record.first_to_play);
        prop_assert_eq!(back.outcome, record.outcome);
    }

    #[test]
    fn any_text_parses_or_is_refused(text in "[();A-C\\[\\]\\\\a-c: \n]{0,60}") {
        for tree in parse_trees(text.as_bytes()).into_iter().flatten() {
            let again = parse_trees(tree.to_text().as_bytes()).remove(0).unwrap();
            prop_assert_eq!(again, tree);
        }
        let _ = parse_collection(text.as_bytes());
    }

    #[test]
    fn any_bytes_parse_or_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let _ = parse_collection(&[b"(;CA[gbk]C[".as_slice(), &bytes].concat());
    }
}

#[test]
fn a_written_game_shows_win_rate_visits_and_network() {
    let mut record = random_game(1, 5, 5, 20);
    let search = |root_value, visits| SearchRecord {
        policy: vec![(0, 1)],
        root_value,
        visits,
        is_target: true,
        weight: 1.0,
    };
    record.first_to_play = Color::Black;
    for (turn, found) in record.turns.iter_mut().zip([search(0.5, 80), search(0.5, 90)]) {
        turn.search = Some(found);
    }
    record.turns[2].search = None;
    let tree = parse_trees(to_sgf(&record).as_bytes()).remove(0).unwrap();
    let nodes: Vec<_> = tree.main_line().take(3).collect();
    assert_eq!(nodes[1].text("C").unwrap(), "win rate 75.0 %, 80 visits, network ab12");
    assert!(nodes[2].text("C").unwrap().starts_with("win rate 75.0 %, 90 visits, network net ]"));
    // The graph is Black's, of the board the search was made on: the one before its move.
    assert_eq!(nodes[0].text("SBKV").as_deref(), Some("75.00"));
    assert_eq!(nodes[1].text("SBKV").as_deref(), Some("25.00"));
    assert_eq!(nodes[2].text("SBKV"), None);
}

#[test]
fn variations_and_unknown_properties_survive_a_rewrite() {
    let text = "(;FF[4]ZZ[keep \\] me]C[ two  spaces ];(;B[aa](;W[bb])(;W[cc];))(;B[dd]))\n";
    assert_eq!(tree(text).to_text(), text);
    let deep = format!("{};{}", "(;B[aa]".repeat(100_000), ")".repeat(100_000));
    assert_eq!(tree(&deep).nodes.len(), 100_001);
}

#[test]
fn a_syntax_error_names_its_line_and_column() {
    assert!(refusal("(;SZ[9]\n;B[aa]\n---\n;W[bb])").starts_with("line 3, column 1:"));
    assert!(refusal("(;SZ[9]\r\n  ;C[柯]B[zz])").starts_with("line 2, column 8: B[zz]: off a 9x9"));
    assert!(refusal("(;C[no end").starts_with("line 1, column 3: C has a value without"));
    assert!(refusal("(;SZ[9];B[aa]\n").starts_with("line 2, column 1: the file ends"));
    assert!(refusal("(;B;W[aa])").starts_with("line 1, column 3: B has no value"));
    assert!(refusal("(;GM[2])").starts_with("line 1, column 3: not a game of Go"));
}

#[test]
fn a_broken_game_does_not_hide_its_neighbours() {
    let ok = |text: &str| -> Vec<bool> {
        parse_collection(text.as_bytes()).iter().map(Result::is_ok).collect()
    };
    let games = "(;SZ[9];B[aa]) (;SZ[9];B[zz](;W[])) (;SZ[9]--) (;SZ[9];B[bb])";
    assert_eq!(ok(games), [true, false, false, true]);
    // One that is never closed ends where the next one's root begins.
    let unclosed = "(;GM[1];B[aa](;W[bb])\n(;GM[1];B[cc])\n(;FF[4];B[dd])";
    assert_eq!(ok(unclosed), [false, true, true]);
    assert!(refusal(unclosed).starts_with("line 2, column 1: another game begins"));
    assert_eq!(ok("(;GM[1]--\n(;GM[1];B[cc])"), [false, true]);
    // Unclosed games by the thousand take no longer than their text.
    assert_eq!(ok(&"(;SZ[9];B[aa](;W[bb]".repeat(50_000)).len(), 50_000);
}

#[test]
fn coordinates_are_column_then_row_from_the_top() {
    assert_eq!(vertices(&game("(;SZ[9]B[bh];W[df])")), ["B B2", "W D4"]);
    let wide = game("(;SZ[9:13];B[am];W[])");
    assert_eq!((wide.size.width(), wide.size.height()), (9, 13));
    assert_eq!(vertices(&wide), ["B A1", "W pass"]);
    assert!(refusal("(;SZ[18];B[ss])").contains("off a 18x18 board"));
    assert!(refusal("(;SZ[19];B[Aa])").contains("off a 19x19 board"));
    assert!(refusal("(;SZ[37];B[HH])").contains("SZ[37]"));
    for size in ["0", "53", "-9", "x", "9:", "9:99999999999999999999"] {
        assert!(refusal(&format!("(;SZ[{size}];B[aa])")).contains("SZ["), "{size}");
    }
    assert_eq!(game("(;FF[3]SiZe[9]PlayerBlack[me];Black[bh])").players[0], "me");
}

#[test]
fn tt_is_a_pass_only_where_it_is_no_point() {
    assert_eq!(game("(;SZ[19];B[tt])").moves, [(Color::Black, Move::Pass)]);
    assert_eq!(vertices(&game("(;SZ[21];B[tt])")), ["B U2"]);
}

#[test]
fn komi_reads_in_all_its_forms() {
    for (text, points) in [
        ("6.5", 6.5),
        ("6,5", 6.5),
        ("+0.50", 0.5),
        ("-6.5", -6.5),
        (" 7 ", 7.0),
        ("5.5目", 5.5),
        ("6.5 points", 6.5),
    ] {
        let read = game(&format!("(;KM[{text}];B[dd])"));
        assert_eq!((read.komi.unwrap().points(), read.notes), (points, vec![]), "KM[{text}]");
    }
    for (text, points) in [("375", 7.5), ("650", 6.5), ("3.75", 7.5), ("2.75", 5.5), ("325", 6.5)] {
        let read = game(&format!("(;KM[{text}];B[dd])"));
        assert_eq!((read.komi.unwrap().points(), read.notes.len()), (points, 1), "KM[{text}]");
    }
    assert_eq!(game("(;KM[-200.0];B[dd])").komi.unwrap().points(), -200.0);
    for text in ["", "NaN", "inf", "5.3", "6.25", "six", "1e300", "99999999"] {
        let read = game(&format!("(;KM[{text}];B[dd])"));
        assert_eq!((read.komi, read.notes.is_empty()), (None, false), "KM[{text}]");
    }
}

#[test]
fn an_illegal_move_stops_the_import_with_its_number() {
    // Black takes the ko at C3 with move 7, White takes back at once.
    let text = "(;SZ[5]RU[chinese];B[cb];W[db];B[bc];W[ec];B[cd];W[dd];B[dc];W[cc];B[dc])";
    let read = game(text);
    let error = read.to_record(Rules::tromp_taylor()).unwrap_err();
    assert!(matches!(error, SgfError::Illegal { number: 9, node: 9, .. }), "{error}");
    assert_eq!(error.place().column as usize, 1 + text.rfind("B[dc]").unwrap());
    assert!(error.to_string().contains("move 9 (B D3) in node 9"), "{error}");
}

#[test]
fn handicap_comes_from_the_stones_and_the_first_move_from_the_file() {
    let read = game("(;SZ[19]HA[7]AB[dd:de][pp];W[pd])");
    assert_eq!((read.setup_black.len(), read.handicap_stones()), (3, 3));
    assert!(read.notes.iter().any(|note| note.contains("HA[7]")), "{:?}", read.notes);
    assert_eq!(read.to_record(Rules::tromp_taylor()).unwrap().first_to_play, Color::White);
    assert_eq!(vertices(&game("(;SZ[19]AB[dd];B[pd];W[pp])")), ["B Q16", "W Q4"]);
    // HA alone places nothing: that is how the format defines it. White moves first all the same.
    let bare = game("(;SZ[19]HA[4])");
    assert_eq!((bare.setup_black.len(), bare.handicap_stones()), (0, 4));
    assert_eq!(bare.first_to_play(), Color::White);
    assert_eq!(game("(;HA[1];B[dd])").handicap_stones(), 0);
    assert_eq!(game("(;AB[dd][pp];W[dp])").handicap_stones(), 2);
    assert_eq!(game("(;AB[dd][pp]AW[dp];W[pd])").handicap_stones(), 0);
    assert_eq!(game("(;SZ[9]AB[aa:bi][ca:ce]AE[aa])").setup_black.len(), 22);
}

#[test]
fn a_colour_that_moves_twice_means_a_pass_between() {
    let record = game("(;SZ[9];B[aa];B[bb])").to_record(Rules::tromp_taylor()).unwrap();
    assert_eq!(record.turns.len(), 3);
    assert_eq!(record.turns[1].mv, Move::Pass);
    let late = game("(;SZ[9];B[aa];PL[B];AW[cc];W[bb])");
    assert_eq!((late.late_setup(), late.edits.len()), (Some(1), 2));
    assert!(matches!(
        game("(;SZ[9];B[aa];AW[cc];W[bb])").to_record(Rules::tromp_taylor()),
        Err(SgfError::LateSetup(1))
    ));
}

fn size_is_tiny(width: usize, height: usize) -> bool {
    width * height < 8
}

#[test]
fn a_result_is_kept_with_the_trust_it_deserves() {
    let ends = [
        ("(;SZ[3]RE[B+9];B[bb];W[];B[])", EndReason::TwoPasses),
        ("(;SZ[3];B[bb];W[];B[];W[])", EndReason::TwoPasses),
        ("(;SZ[3]RE[W+2];B[bb];W[];B[])", EndReason::Reported),
        ("(;SZ[3]RE[W+R];B[bb];W[];B[])", EndReason::Reported),
        ("(;SZ[3]RE[W+R];B[bb])", EndReason::Resignation),
        ("(;SZ[3]RE[W+T];B[bb])", EndReason::Time),
        ("(;SZ[3]RE[?];B[bb])", EndReason::Reported),
        ("(;SZ[3]RE[B+];B[bb])", EndReason::Reported),
    ];
    for (text, end) in ends {
        let record = game(text).to_record(Rules::tromp_taylor()).unwrap();
        assert_eq!(record.end, end, "{text}");
        record.validate().unwrap();
    }
}

#[test]
fn a_name_beyond_all_measure_is_cut_between_characters() {
    let named = game(&format!("(;SZ[5]PB[x{}];B[aa])", "é".repeat(2_000)));
    let record = named.to_record(Rules::tromp_taylor()).unwrap();
    record.validate().unwrap();
    assert_eq!(record.players[0], format!("x{}", "é".repeat(511)));
}

#[test]
fn a_handicap_that_is_none_is_told() {
    for text in ["-3", "99999999999999999999", "two"] {
        let read = game(&format!("(;SZ[9]KM[0]HA[{text}];B[cc])"));
        assert_eq!(read.handicap, None);
        assert!(read.notes.iter().any(|note| note.starts_with("HA[")), "{text}: {:?}", read.notes);
    }
}
