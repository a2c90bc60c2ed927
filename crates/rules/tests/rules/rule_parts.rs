//! Every part of the rules played: cycles, passes, the button, taxes and compensation.

use tengen_rules::{
    BoardSize, Color, GameState, IllegalMove, Komi, Outcome, Rules, Scoring, Tax, score_position,
};

fn game(rows: &[&str], to_play: Color, rules: &str) -> GameState {
    let rules = Rules::by_name(rules).unwrap();
    GameState::from_text(rows, to_play, rules, Komi::default()).unwrap()
}

fn play(state: &mut GameState, vertices: &str) {
    for vertex in vertices.split_whitespace() {
        let mv = state.size().parse_vertex(vertex).unwrap();
        state.play(mv).unwrap_or_else(|e| panic!("{e}\n{state}"));
    }
}

/// Three kos, two of them White's.
const TRIPLE_KO: [&str; 9] =
    [".XO.", "XO.O", ".XO.", ".XO.", "XO.O", ".XO.", ".XO.", "X.XO", ".XO."];
/// Six captures after which the board is as before, Black to move.
const ROUND: &str = "C8 B2 C5 B8 C2 B5";

#[test]
fn a_triple_ko_has_no_result_under_simple_ko_when_the_board_is_back_for_the_third_time() {
    for rules in ["chinese", "japanese", "korean", "stone-scoring"] {
        let mut state = game(&TRIPLE_KO, Color::Black, rules);
        let start = state.to_string();
        play(&mut state, ROUND);
        assert_eq!(state.to_string(), start);
        assert!(!state.is_over(), "{rules}: the second time is allowed");
        play(&mut state, ROUND);
        assert_eq!(state.outcome(), Some(Outcome::NoResult), "{rules}");
        assert_eq!(state.legal_moves().count(), 0);
        state.resume();
        assert!(!state.is_over());
        play(&mut state, ROUND);
        assert!(!state.is_over(), "counted anew");
    }
}

#[test]
fn superko_forbids_what_closes_a_triple_ko() {
    for rules in ["tromp-taylor", "chinese-ogs", "ing", "aga", "new-zealand", "cgos"] {
        let mut state = game(&TRIPLE_KO, Color::Black, rules);
        play(&mut state, "C8 B2 C5 B8 C2");
        let last = state.size().parse_vertex("B5").unwrap();
        assert_eq!(state.check(last), Err(IllegalMove::Superko("B5".to_owned())), "{rules}");
    }
}

#[test]
fn sending_two_returning_one_is_barred_by_positional_superko_alone() {
    // White sends a second stone, Black takes both, White takes one back: the same board, and the
    // other player to move.
    for (rules, legal) in [("ko=simple", true), ("ko=situational", true), ("ko=positional", false)]
    {
        let mut state = game(&[".O.X", "OXXX", "O.X.", "XX.."], Color::White, rules);
        let before = state.to_string();
        play(&mut state, "C4 A4");
        let back = state.size().parse_vertex("B4").unwrap();
        assert_eq!(state.check(back).is_ok(), legal, "{rules}");
        if legal {
            state.play(back).unwrap();
            assert_eq!((state.to_string(), state.to_play()), (before, Color::Black));
        }
    }
}

#[test]
fn suicide_is_a_flag_apart_from_superko_and_scoring() {
    // An engine set to Tromp–Taylor lost games on CGOS, where the rest of the rules is the same.
    for (rules, legal) in [
        ("tromp-taylor", true),
        ("new-zealand", true),
        ("ing", true),
        ("cgos", false),
        ("chinese-ogs", false),
        ("aga", false),
        ("japanese", false),
    ] {
        let state = game(&[".OX", "XX.", "..."], Color::White, rules);
        let suicide = state.size().parse_vertex("A3").unwrap();
        assert_eq!(state.check(suicide).is_ok(), legal, "{rules}");
        assert_eq!(state.legal_moves().contains(0), legal, "{rules}");
    }
}

#[test]
fn a_pass_starts_the_count_of_a_long_cycle_anew() {
    let mut state = game(&TRIPLE_KO, Color::Black, "chinese");
    play(&mut state, ROUND);
    // Black passes, White does not, and the three kos come round with passes between.
    play(&mut state, "pass B2 C8 pass C2 B8");
    assert!(!state.is_over());
    play(&mut state, "C5 B2 C8 B5 C2 B8");
    assert!(!state.is_over(), "the board is back for the second time since the last pass");
}

#[test]
fn a_second_pass_in_one_position_ends_a_simple_ko_game_with_a_score() {
    let mut state = game(&TRIPLE_KO, Color::Black, "chinese");
    play(&mut state, "pass B2 C8 pass C2 B8 pass");
    assert_eq!(state.consecutive_passes(), 1);
    assert!(matches!(state.outcome(), Some(Outcome::Score { .. } | Outcome::Draw)));
}

#[test]
fn the_first_pass_takes_the_button_and_does_not_count_as_a_pass() {
    let mut state = game(&["...", "...", "..."], Color::Black, "aga-button");
    assert_eq!(state.score_now().result_text(), "B+0.5", "untaken, it is the next player's");
    play(&mut state, "pass");
    assert_eq!((state.first_passer(), state.consecutive_passes()), (Some(Color::Black), 0));
    play(&mut state, "pass");
    assert!(!state.is_over());
    play(&mut state, "pass");
    assert_eq!(state.outcome().unwrap().result_text(), "B+0.5");

    let mut state = game(&["...", "...", "..."], Color::Black, "aga-button");
    play(&mut state, "B2 pass pass pass");
    assert_eq!(state.outcome().unwrap().result_text(), "B+8.5");
}

#[test]
fn the_button_makes_a_half_point_komi_a_possible_draw_and_an_even_one_never() {
    let size = BoardSize::square(3).unwrap();
    let rules = Rules::by_name("aga-button").unwrap();
    for (komi, result) in [(0.5, "0"), (7.0, "W+6.5")] {
        let mut state = GameState::new(size, rules, Komi::from_points(komi).unwrap());
        play(&mut state, "pass pass pass");
        assert_eq!(state.outcome().unwrap().result_text(), result);
    }
}

#[test]
fn taking_the_button_lifts_the_bans_of_superko() {
    for (rules, legal) in [("chinese-ogs", false), ("chinese-ogs,button=true", true)] {
        let mut state = game(&TRIPLE_KO, Color::Black, rules);
        play(&mut state, "C8 B2 C5 B8 C2 pass pass");
        assert_eq!(state.is_over(), !legal, "the first pass took the button, if there was one");
        state.resume();
        let closing = state.size().parse_vertex("B5").unwrap();
        assert_eq!(state.check(closing).is_ok(), legal, "{rules}");
    }
}

#[test]
fn situations_with_and_without_the_button_differ() {
    let start = game(&["...", "...", "..."], Color::Black, "aga-button");
    let (mut black, mut white) = (start.clone(), start.clone());
    play(&mut black, "pass B2 C2");
    play(&mut white, "B2 pass C2");
    assert_ne!(black.first_passer(), white.first_passer());
    assert_ne!(black.situation_hash(), white.situation_hash());
}

/// Two living groups: Black has 8 stones and two eyes, White 12 stones and three points.
const ALIVE: [&str; 5] = [".X.XO", "XXXXO", "XXOOO", "OOO.O", ".OO.O"];

#[test]
fn scoring_and_tax_decide_what_a_point_is() {
    for (scoring, tax, black, white) in [
        (Scoring::Area, Tax::None, 10, 15),
        (Scoring::Area, Tax::Seki, 10, 15),
        (Scoring::Area, Tax::All, 8, 13),
        (Scoring::Territory, Tax::None, 2, 3),
        (Scoring::Territory, Tax::Seki, 2, 3),
        (Scoring::Territory, Tax::All, 0, 1),
    ] {
        let rules = Rules { scoring, tax, ..Rules::tromp_taylor() };
        let state = game(&ALIVE, Color::Black, "chinese");
        let sheet = score_position(&state, rules, Komi::default(), 0, &[]);
        let totals = (sheet.black_half_points, sheet.white_half_points);
        assert_eq!(totals, (2 * black, 2 * white), "{rules}");
    }
}

#[test]
fn eyes_in_seki_count_only_where_nothing_taxes_them() {
    let rows = [".X.O.", "XX.OO"];
    for (rules, each) in [
        ("scoring=area,tax=none", 4),
        ("scoring=area,tax=seki", 3),
        ("scoring=area,tax=all", 3),
        ("scoring=territory,tax=none", 1),
        ("scoring=territory,tax=seki", 0),
        ("scoring=territory,tax=all", 0),
    ] {
        let state = game(&rows, Color::Black, rules);
        let sheet = score_position(&state, state.rules(), Komi::default(), 0, &[]);
        assert_eq!(sheet.black_half_points, 2 * each, "{rules}");
        assert_eq!(sheet.white_half_points, 2 * each, "{rules}");
    }
}

#[test]
fn white_is_paid_for_handicap_stones_as_the_rules_say() {
    let size = BoardSize::square(9).unwrap();
    let stones = tengen_rules::fixed_handicap(size, 4).unwrap();
    for (rules, stated, bonus) in [
        ("chinese", 4, 4),
        ("aga", 4, 3),
        ("japanese", 4, 0),
        ("tromp-taylor", 4, 0),
        ("new-zealand", 4, 0),
        ("chinese", 1, 0),
        ("aga", 0, 0),
    ] {
        let rules = Rules::by_name(rules).unwrap();
        let komi = Komi::from_points(0.5).unwrap();
        let state = GameState::with_setup(size, rules, komi, &stones, &[], Color::White).unwrap();
        let sheet = score_position(&state, rules, komi, stated, &[]);
        assert_eq!(sheet.white_half_points, 1 + 2 * bonus, "{rules} {stated}");
    }
}

#[test]
fn nine_handicap_stones_cost_nine_points_under_chinese_rules() {
    // The report: 9 stones, komi 11.5, and engines that differ by the compensation alone.
    let size = BoardSize::square(19).unwrap();
    let stones = tengen_rules::fixed_handicap(size, 9).unwrap();
    let rules = Rules::by_name("chinese").unwrap();
    let komi = Komi::from_points(11.5).unwrap();
    let state = GameState::with_setup(size, rules, komi, &stones, &[], Color::White).unwrap();
    let result = |stones| score_position(&state, rules, komi, stones, &[]).result_text();
    assert_eq!((result(9), result(0)), ("B+340.5".to_owned(), "B+349.5".to_owned()));
}

#[test]
fn friendly_rules_take_what_is_proven_dead_and_tromp_taylor_takes_nothing() {
    let rows = [".X.X.", "XXXX.", "XXX.O", "XXXXX", "....."];
    let ends = |rules: &str| {
        let mut state = game(&rows, Color::White, rules);
        play(&mut state, "pass pass");
        state.outcome().unwrap().result_text()
    };
    assert_eq!(ends("chinese"), "B+25");
    assert_eq!(ends("tromp-taylor"), "B+20");
    assert_eq!(ends("japanese"), "B+12");
}
