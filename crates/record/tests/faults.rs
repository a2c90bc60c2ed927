//! Faults that other programs had with game files, each pinned here by name.
#![allow(clippy::unwrap_used)]

use tengen_record::sgf::{
    SgfError, SgfGame, SgfSummary, check_tree, parse_collection, parse_trees,
};
use tengen_rules::{Color, Komi, Rules};

fn game(text: &str) -> SgfGame {
    parse_collection(text.as_bytes()).remove(0).unwrap()
}

fn summary(text: &str) -> SgfSummary {
    SgfSummary::from_tree(&parse_trees(text.as_bytes()).remove(0).unwrap()).unwrap()
}

/// KataGo#911: a GUI went on with its own board after the engine had refused a move of the file.
#[test]
fn a_file_is_never_read_on_past_an_illegal_move() {
    let text = "(;SZ[5]RU[Japanese];B[cb];W[db];B[bc];W[ec];B[cd];W[dd];B[dc];W[cc];B[dc];W[aa])";
    let game = game(text);
    let rules = game.rules.unwrap();
    let error = game.position(rules, Komi::default(), usize::MAX).unwrap_err();
    assert!(error.to_string().contains("move 9 (B D3)"), "{error}");
    // Up to there it is fine, and a summary marks the place.
    assert!(game.position(rules, Komi::default(), 8).is_ok());
    let marked = summary(text).illegal.unwrap();
    assert_eq!((marked.line, marked.column as usize), (1, 1 + text.rfind("B[dc]").unwrap()));
}

/// minigo#587: a tail of TW and TB, and properties after blank lines.
#[test]
fn a_tail_of_territory_and_blank_lines_keeps_moves_and_properties() {
    let text = "(;SZ[9];B[aa];W[bb];\nTW[cc]\nTB[ee]\n\nOS[x])";
    assert_eq!(summary(text).moves, ["B A9", "W B8"]);
    let tree = parse_trees(text.as_bytes()).remove(0).unwrap();
    assert!(tree.to_text().contains("TW[cc]TB[ee]OS[x]"));
}

/// Sabaki#687.
#[test]
fn an_unescaped_bracket_is_an_error_with_its_place() {
    let error = parse_trees(b"(;US[Matsuyama[3d]];B[aa])").remove(0).unwrap_err();
    assert_eq!((error.place().line, error.place().column), (1, 19));
}

/// SabakiHQ/sgf#3.
#[test]
fn the_bytes_that_hung_another_program_are_refused() {
    assert!(matches!(parse_trees(b";;)")[..], [Err(SgfError::NoGame)]));
    assert!(matches!(parse_trees(b"")[..], [Err(SgfError::NoGame)]));
}

/// katrain#177: komi in odd units, HA[0] and HA[1], a wrong charset label.
#[test]
fn fox_files_are_read_with_their_quirks() {
    let fox = summary("(;SZ[19]KM[375]HA[0]RU[chinese]AP[foxwq];B[dd])");
    assert_eq!((fox.komi, fox.handicap, fox.rules.as_deref()), (7.5, 0, Some("chinese")));
    assert!(fox.notes.iter().any(|note| note.contains("KM[375]")), "{:?}", fox.notes);
    assert_eq!(summary("(;KM[0]HA[1]AP[foxwq];B[dd])").handicap, 0);
    let label = "(;CA[gb2312]PB[柯洁九段]PW[申真谞];B[dd])";
    assert_eq!(summary(label).players.black, "柯洁九段");
    // The other way round: labelled UTF-8, written in GBK, with a "]" inside a character.
    let (gbk, _, _) =
        encoding_rs::GBK.encode("(;CA[UTF-8]PB[柯洁九段]PW[申真谞]C[黑中盘胜,昞];B[dd])");
    let tree = parse_trees(&gbk).remove(0).unwrap();
    assert_eq!(tree.nodes[0].text("PB").as_deref(), Some("柯洁九段"));
    assert_eq!(tree.nodes.len(), 2);
}

/// kaya#156.
#[test]
fn rectangles_keep_both_sides_and_rewriting_loses_nothing() {
    let rect = summary("(;SZ[9:13];B[am])");
    assert_eq!((rect.size, rect.moves), ([9, 13], vec!["B A1".to_owned()]));
    let text = "(;SZ[9:13]C[ two  spaces ];;B[am](;)(;W[aa]C[\\]]))\n";
    assert_eq!(parse_trees(text.as_bytes()).remove(0).unwrap().to_text(), text);
}

/// sgf-parse#19.
#[test]
fn upper_case_coordinates_go_on_after_lower_case() {
    let large = summary("(;SZ[52];B[ZZ];W[zA])");
    assert_eq!(
        (large.size, large.moves),
        ([52, 52], vec!["B BB1".to_owned(), "W AA26".to_owned()])
    );
    let error = parse_collection(b"(;SZ[52];B[ZZ])").remove(0).unwrap_err();
    assert!(error.to_string().contains("1 to 25"), "{error}");
}

/// littlego#325.
#[test]
fn the_stones_are_the_handicap_not_their_stated_number() {
    let game = game("(;SZ[19]HA[7]AB[aa:na];W[dd])");
    assert_eq!((game.setup_black.len(), game.handicap_stones()), (14, 14));
    assert!(game.notes.iter().any(|n| n.contains("HA[7]") && n.contains("14")), "{:?}", game.notes);
}

/// ELF#157: well-known collections hold illegal moves.
#[test]
fn an_illegal_move_costs_its_own_game_only() {
    let text = "(;SZ[9];B[aa];W[bb]) (;SZ[9];B[aa];W[aa]) (;SZ[9];B[cc])";
    let rules = Rules::by_name("chinese").unwrap();
    let records: Vec<_> = parse_collection(text.as_bytes())
        .into_iter()
        .map(|game| game.and_then(|game| game.to_record(rules)))
        .collect();
    assert!(records[0].is_ok() && records[2].is_ok());
    assert!(records[1].as_ref().unwrap_err().to_string().contains("A9 is occupied"));
}

/// KataGo#1100: after stones are set up, the board right after counts for superko, earlier do not.
#[test]
fn superko_begins_anew_where_stones_are_set_up() {
    let rules = Rules::by_name("ko=positional,suicide=false").unwrap();
    // White E2 takes D2; Black would retake and bring back the board set up.
    let ko = "AB[cb][bc][cd]AW[dd][db][cc][ec]";
    let set_up = format!("(;SZ[5]{ko}PL[B];B[dc];W[cc])");
    let error = game(&set_up).position(rules, Komi::default(), 9).unwrap_err();
    assert!(error.to_string().contains("move 2"), "{error}");
    // Set up again between the two, the repetition is forgotten.
    let edited = format!("(;SZ[5]{ko}PL[B];B[dc];AB[ee]PL[W];AE[ee]PL[W];W[cc])");
    assert!(game(&edited).position(rules, Komi::default(), 9).is_ok());
}

#[test]
fn moves_after_two_passes_and_a_colour_that_moves_twice_are_played() {
    let game = game("(;SZ[9];B[aa];W[];B[];W[cc];W[dd];B[];W[];B[];B[ee])");
    let position = game.position(Rules::tromp_taylor(), Komi::default(), usize::MAX).unwrap();
    let (state, size) = (position.state(), position.state().size());
    let stone = |name: &str| state.stone(size.parse_point(name).unwrap());
    assert_eq!(stone("C7"), Some(Color::White));
    assert_eq!((stone("D6"), stone("E5")), (Some(Color::White), Some(Color::Black)));
}

#[test]
fn every_variation_is_checked_and_each_problem_has_its_node() {
    let text =
        "(;SZ[5](;B[aa];W[aa];B[bb])(;B[bb](;W[bb])(;W[cc];AB[cc]AW[cb][bc][dc][cd];B[ee])))";
    let tree = parse_trees(text.as_bytes()).remove(0).unwrap();
    let found = check_tree(&tree, Rules::tromp_taylor()).unwrap();
    let nodes: Vec<_> = found
        .problems
        .iter()
        .map(|problem| match problem {
            SgfError::Illegal { node, number, .. } => (*node, *number),
            SgfError::Setup { node, .. } => (*node, 0),
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!((nodes, found.moves), (vec![(2, 2), (5, 2), (7, 0)], 3));
    let deep = format!("(;SZ[9]{}{}", "(;B[aa];W[]".repeat(2), ")".repeat(3));
    let tree = parse_trees(deep.as_bytes()).remove(0).unwrap();
    assert_eq!(check_tree(&tree, Rules::tromp_taylor()).unwrap().problems.len(), 1);
}

#[test]
fn prisoners_made_before_stones_are_set_up_still_count() {
    let game = game("(;SZ[3];B[ba];W[aa];B[ab];AE[cc];W[];B[])");
    let rules = Rules::by_name("japanese").unwrap();
    let position = game.position(rules, Komi::default(), usize::MAX).unwrap();
    assert_eq!(position.captures(Color::Black), 1);
    let all = position.score(rules, Komi::default(), 0, &[]);
    let since = tengen_rules::score_position(position.state(), rules, Komi::default(), 0, &[]);
    assert_eq!((all.prisoners, since.prisoners), ([1, 0], [0, 0]));
    assert_eq!(all.black_half_points, since.black_half_points + 2);
    let area = Rules::tromp_taylor();
    assert_eq!(position.score(area, Komi::default(), 0, &[]).black_half_points, 18);
}

/// `j2B` without its lower-case letters began with a digit, and was written as what no reader takes.
/// Found by the fuzzer.
#[test]
fn a_property_never_gets_a_name_that_begins_with_a_digit() {
    let tree = parse_trees(b"(;j2B[dd]CoPyright[x]ko[])").remove(0).unwrap();
    let names: Vec<&str> = tree.nodes[0].properties.iter().map(|p| &*p.name).collect();
    assert_eq!(names, ["J2B", "CP", "KO"]);
    assert_eq!(parse_trees(tree.to_text().as_bytes()).remove(0).unwrap(), tree);
}
