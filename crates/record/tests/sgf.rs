//! SGF in and out.
#![allow(clippy::unwrap_used)]

mod common;

use common::{cases, random_game};
use proptest::prelude::*;
use tengen_record::sgf::{SgfError, SgfGame, SgfTree, parse_collection, parse_trees, to_sgf};
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
        let moves = |r: &tengen_record::GameRecord| r.turns.iter().map(|t| t.mv).collect::<Vec<_>>();
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
fn variations_and_unknown_properties_survive_a_rewrite() {
    let text = "(;FF[4]ZZ[keep \\] me]C[ two  spaces ];(;B[aa](;W[bb])(;W[cc];))(;B[dd]))\n";
    assert_eq!(tree(text).to_text(), text);
    let deep = format!("{};{}", "(;B[aa]".repeat(100_000), ")".repeat(100_000));
    assert_eq!(tree(&deep).nodes.len(), 100_001);
}

#[test]
fn the_bytes_that_hung_another_program_are_refused() {
    assert!(matches!(parse_trees(b";;)")[..], [Err(SgfError::NoGame)]));
    assert!(matches!(parse_trees(b"")[..], [Err(SgfError::NoGame)]));
}

#[test]
fn a_syntax_error_names_its_line() {
    assert!(refusal("(;SZ[9]\n;B[aa]\n---\n;W[bb])").starts_with("line 3:"));
    assert!(refusal("(;US[Matsuyama[3d]];B[aa])").starts_with("line 1:"));
}

#[test]
fn a_broken_game_does_not_hide_its_neighbours() {
    let games = parse_collection(b"(;SZ[9];B[aa]) (;SZ[9];B[zz](;W[])) (;SZ[9]--) (;SZ[9];B[bb])");
    let ok: Vec<bool> = games.iter().map(Result::is_ok).collect();
    assert_eq!(ok, [true, false, false, true]);
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
    assert!(refusal("(;GM[2]SZ[8];B[D3])").contains("GM[2]"));
}

#[test]
fn tt_is_a_pass_only_where_it_is_no_point() {
    assert_eq!(game("(;SZ[19];B[tt])").moves, [(Color::Black, Move::Pass)]);
    assert_eq!(vertices(&game("(;SZ[21];B[tt])")), ["B U2"]);
}

#[test]
fn server_komi_is_never_taken_at_its_word() {
    for (text, points) in [("375", 7.5), ("650", 6.5), ("3.75", 7.5), ("325", 6.5), ("-6.5", -6.5)]
    {
        let read = game(&format!("(;KM[{text}];B[dd])"));
        assert_eq!(read.komi.unwrap().points(), points, "KM[{text}]");
        assert_eq!(read.notes.is_empty(), text == "-6.5");
    }
    assert!(refusal("(;KM[NaN])").contains("KM[NaN]"));
    assert_eq!(game("(;KM[])").komi, None);
}

#[test]
fn an_illegal_move_stops_the_import_with_its_number() {
    // Black takes the ko at C3 with move 9, White takes back at once.
    let text = "(;SZ[5]RU[chinese];B[ca];W[cd];B[bb];W[dc];B[db];W[bc];B[cc];W[cb];B[cc];W[cb])";
    let found = game(text).to_record(Rules::tromp_taylor());
    let text = match found {
        Err(error @ SgfError::Illegal { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    assert!(text.starts_with("move "), "{text}");
}

#[test]
fn handicap_comes_from_the_stones_and_the_first_move_from_the_file() {
    let read = game("(;SZ[19]HA[7]AB[dd:de][pp];W[pd])");
    assert_eq!((read.setup_black.len(), read.notes.len()), (3, 1));
    assert_eq!(read.to_record(Rules::tromp_taylor()).unwrap().first_to_play, Color::White);
    assert_eq!(vertices(&game("(;SZ[19]AB[dd];B[pd];W[pp])")), ["B Q16", "W Q4"]);
    assert_eq!(game("(;SZ[9]AB[aa:bi][ca:ce]AE[aa])").setup_black.len(), 22);
}

#[test]
fn a_colour_that_moves_twice_means_a_pass_between() {
    let record = game("(;SZ[9];B[aa];B[bb])").to_record(Rules::tromp_taylor()).unwrap();
    assert_eq!(record.turns.len(), 3);
    assert_eq!(record.turns[1].mv, Move::Pass);
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
    use tengen_record::EndReason;
    let ends = [
        ("(;SZ[3]RE[B+9];B[bb];W[];B[])", EndReason::TwoPasses),
        ("(;SZ[3];B[bb];W[];B[];W[])", EndReason::TwoPasses),
        ("(;SZ[3]RE[W+2];B[bb];W[];B[])", EndReason::Reported),
        ("(;SZ[3]RE[W+R];B[bb];W[];B[])", EndReason::Reported),
        ("(;SZ[3]RE[W+R];B[bb])", EndReason::Resignation),
        ("(;SZ[3]RE[W+T];B[bb])", EndReason::Time),
        ("(;SZ[3]RE[?];B[bb])", EndReason::Reported),
    ];
    for (text, end) in ends {
        let record = game(text).to_record(Rules::tromp_taylor()).unwrap();
        assert_eq!(record.end, end, "{text}");
        record.validate().unwrap();
    }
}
