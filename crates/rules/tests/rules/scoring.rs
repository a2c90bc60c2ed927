//! Counting by hand: dead stones, prisoners, neutral points, clicks.

use tengen_rules::{
    BoardSize, Color, GameState, Komi, Outcome, Point, Rules, propose_dead, propose_dead_with,
    score_position, toggle_dead,
};

fn game(rows: &[&str], rules: &str) -> GameState {
    let rules = Rules::by_name(rules).unwrap();
    GameState::from_text(rows, Color::Black, rules, Komi::default()).unwrap()
}

fn points(state: &GameState, names: &str) -> Vec<Point> {
    let mut points: Vec<Point> =
        names.split_whitespace().map(|name| state.size().parse_point(name).unwrap()).collect();
    points.sort_unstable();
    points
}

#[test]
fn half_and_half_of_the_neutral_points_is_tromp_taylors_result() {
    // The wall is open in the middle: three neutral points, shared one and a half each.
    let rows = ["..X.O", ".XX.O", "..X.O", ".XXOO", "..XO."];
    let state = game(&rows, "chinese");
    let sheet = score_position(&state, state.rules(), Komi::from_points(2.5).unwrap(), 0, &[]);
    assert_eq!((sheet.owned(Color::Black), sheet.owned(Color::White), sheet.neutral()), (15, 7, 3));
    let shared = |color| sheet.points(color) + f64::from(sheet.neutral()) / 2.0;
    assert_eq!(shared(Color::Black) - shared(Color::White), 5.5);
    assert_eq!(sheet.result_text(), "B+5.5");
    // Chinese counting: one side's area against half the board and half the komi.
    assert_eq!(shared(Color::Black) - (25.0 + 2.5) / 2.0, 5.5 / 2.0);
    assert_eq!(sheet.winner(), Some(Color::Black));
    assert_eq!(sheet.black_lead_half_points(), 11);
}

#[test]
fn a_dead_stone_is_a_prisoner_and_a_point() {
    let rows = ["..XO.", "O.XO.", "..XOX", "..XO.", "..XO."];
    let state = game(&rows, "japanese");
    let dead = points(&state, "A4 E3");
    let sheet = score_position(&state, state.rules(), Komi::default(), 0, &dead);
    assert_eq!(sheet.prisoners, [1, 1]);
    assert_eq!((sheet.black_half_points, sheet.white_half_points), (2 * 11, 2 * 6));
    assert_eq!(sheet.dead, dead);
    let chinese = Rules::by_name("chinese").unwrap();
    let sheet = score_position(&state, chinese, Komi::default(), 0, &dead);
    assert_eq!((sheet.black_half_points, sheet.white_half_points), (2 * 15, 2 * 10));
}

#[test]
fn captured_stones_count_under_territory_scoring() {
    let mut state = game(&["OX.", "...", "..."], "japanese");
    state.play(state.size().parse_vertex("A2").unwrap()).unwrap();
    let sheet = score_position(&state, state.rules(), Komi::default(), 0, &[]);
    assert_eq!(sheet.prisoners, [1, 0]);
    assert_eq!(sheet.black_half_points, 2 * (7 + 1));
}

#[test]
fn dead_points_without_a_stone_and_off_the_board_are_passed_over() {
    let state = game(&["X..", "...", "..."], "japanese");
    let dead = [Point::from_index(1), Point::from_index(9), Point::from_index(70_000)];
    let sheet = score_position(&state, state.rules(), Komi::default(), 0, &dead);
    assert!(sheet.dead.is_empty());
    assert_eq!(sheet.result_text(), "B+8");
}

#[test]
fn all_stones_dead_is_nobodys_board() {
    let state = game(&["XO.", "...", "..."], "chinese");
    let dead = points(&state, "A3 B3");
    for rules in ["chinese", "japanese", "stone-scoring", "ancient-territory"] {
        let rules = Rules::by_name(rules).unwrap();
        let sheet = score_position(&state, rules, Komi::default(), 0, &dead);
        assert_eq!((sheet.outcome, sheet.neutral()), (Outcome::Draw, 9), "{rules}");
    }
}

#[test]
fn a_click_takes_every_stone_of_the_region_and_a_second_click_gives_it_back() {
    let rows = ["O..X.", "..XX.", "OOX..", "..X.O", "..XX."];
    let state = game(&rows, "chinese");
    let mut dead = Vec::new();
    let click = |name: &str| state.size().parse_point(name).unwrap();
    assert!(toggle_dead(&state, &mut dead, click("A3")));
    assert_eq!(dead, points(&state, "A5 A3 B3"), "three stones of one region, not the other's");
    assert!(toggle_dead(&state, &mut dead, click("E2")));
    assert_eq!(dead, points(&state, "A5 A3 B3 E2"));
    assert!(toggle_dead(&state, &mut dead, click("A5")));
    assert_eq!(dead, points(&state, "E2"));
    assert!(!toggle_dead(&state, &mut dead, click("A4")), "an empty point is no stone");
    assert!(!toggle_dead(&state, &mut dead, Point::from_index(999)));
}

#[test]
fn only_what_pass_alive_chains_enclose_is_proven_dead() {
    let rows = [".X.X.", "XXXX.", "XXX.O", "XXXXX", ".....", "O...."];
    let state = game(&rows, "chinese");
    assert_eq!(propose_dead(&state), points(&state, "E4"));
    // A1 has room for two eyes, so it takes an opinion to call it dead.
    let mut ownership = vec![1.0; 30];
    assert_eq!(propose_dead_with(&state, &ownership), points(&state, "E4 A1"));
    ownership[25] = 0.2;
    assert_eq!(propose_dead_with(&state, &ownership), points(&state, "E4"));
    ownership.fill(-1.0);
    assert_eq!(propose_dead_with(&state, &ownership), points(&state, "E4"), "proof beats opinion");
    ownership.fill(f32::NAN);
    assert_eq!(propose_dead_with(&state, &ownership), points(&state, "E4"));
    assert_eq!(propose_dead_with(&state, &[1.0]), points(&state, "E4"), "not of this board");
}

#[test]
fn dame_that_nobody_filled_leave_territory_as_it_is() {
    let rows = ["..X.O..", "..X.O..", ".XX.OO.", "..X.O..", "..X.O.."];
    let state = game(&rows, "japanese");
    let sheet = score_position(&state, state.rules(), Komi::from_points(6.5).unwrap(), 0, &[]);
    assert_eq!((sheet.owned(Color::Black), sheet.owned(Color::White)), (9, 9));
    assert_eq!(sheet.result_text(), "W+6.5");
}

#[test]
fn every_board_is_counted_without_a_panic() {
    for (w, h) in [(1, 1), (1, 2), (2, 1), (1, 25), (25, 1), (2, 2), (25, 25)] {
        let size = BoardSize::new(w, h).unwrap();
        for rules in ["tromp-taylor", "japanese", "stone-scoring", "aga-button"] {
            let rules = Rules::by_name(rules).unwrap();
            let state = GameState::new(size, rules, Komi::default());
            let sheet = score_position(&state, rules, Komi::default(), 0, &[]);
            assert_eq!(sheet.neutral() as usize, size.area());
        }
    }
}
