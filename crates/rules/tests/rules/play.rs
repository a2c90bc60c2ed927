//! Positions drawn by hand, each named as a player would tell its story.

use tengen_rules::{BoardSize, Color, GameState, IllegalMove, Komi, Move, Outcome, Point, Rules};

fn game(rows: &[&str], to_play: Color, rules: &str) -> GameState {
    let rules = Rules::by_name(rules).unwrap();
    GameState::from_text(rows, to_play, rules, Komi::default()).unwrap()
}

fn at(state: &GameState, vertex: &str) -> Move {
    state.size().parse_vertex(vertex).unwrap()
}

fn play(state: &mut GameState, vertices: &str) {
    for vertex in vertices.split_whitespace() {
        state.play(at(state, vertex)).unwrap();
    }
}

fn refused(state: &GameState, vertex: &str) -> IllegalMove {
    let mut copy = state.clone();
    let error = copy.play(at(state, vertex)).unwrap_err();
    assert_eq!(copy.situation_hash(), state.situation_hash(), "a refused move changed the state");
    error
}

#[test]
fn two_stones_die_in_the_corner() {
    let mut state = game(&["OOX", "X..", "..."], Color::Black, "chinese");
    play(&mut state, "B2");
    assert_eq!(state.to_string(), "..X\nXX.\n...\n");
    assert_eq!(state.captures(Color::Black), 2);
    assert_eq!(state.liberties(state.size().parse_point("A2").unwrap()), 5);
}

#[test]
fn a_ko_may_be_retaken_after_a_threat_but_not_at_once() {
    for (rules, last) in [("ko=simple", "A1"), ("ko=positional", "A1"), ("ko=situational", "A1")] {
        let mut state = game(&[".XO.", "XO.O", ".XO.", "...."], Color::Black, rules);
        play(&mut state, "C3");
        assert_eq!(refused(&state, "B3"), IllegalMove::Ko("B3".to_owned()), "{rules}");
        play(&mut state, "D1");
        play(&mut state, last);
        play(&mut state, "B3");
        assert_eq!(state.captures(Color::White), 1);
    }
}

#[test]
fn a_suicide_that_repeats_nothing_is_a_move_under_superko() {
    let setup = ["O.X.", "XXX.", "....", "...."];
    let strict = game(&setup, Color::White, "chinese");
    assert_eq!(refused(&strict, "B4"), IllegalMove::Suicide("B4".to_owned()));
    let mut free = game(&setup, Color::White, "tromp-taylor");
    play(&mut free, "B4");
    assert_eq!(free.to_string(), "..X.\nXXX.\n....\n....\n");
}

#[test]
fn suicide_of_two_is_a_move_only_where_the_rules_say_so() {
    let rows = [".OX", "XX.", "..."];
    let strict = game(&rows, Color::White, "chinese");
    assert_eq!(refused(&strict, "A3"), IllegalMove::Suicide("A3".to_owned()));
    let mut free = game(&rows, Color::White, "tromp-taylor");
    play(&mut free, "A3");
    assert_eq!(free.to_string(), "..X\nXX.\n...\n");
    assert_eq!((free.captures(Color::Black), free.captures(Color::White)), (2, 0));
}

#[test]
fn suicide_of_one_is_never_a_move() {
    let state = game(&[".X", "X."], Color::White, "tromp-taylor");
    assert_eq!(refused(&state, "A2"), IllegalMove::Suicide("A2".to_owned()));
}

#[test]
fn a_board_set_up_at_the_start_may_not_come_back() {
    // On 1x3, Black takes A1 by B1's answer: O.X -> White B1 takes nothing, so the setup is kept.
    let mut state = game(&["O.X"], Color::Black, "tromp-taylor");
    play(&mut state, "B1");
    assert_eq!(state.to_string(), ".XX\n");
    play(&mut state, "A1");
    assert_eq!(state.to_string(), "O..\n");
    assert_eq!(refused(&state, "C1"), IllegalMove::Superko("C1".to_owned()));
}

#[test]
fn occupied_and_off_board_points_are_refused_by_name() {
    let state = game(&["X..", "...", "..."], Color::White, "chinese");
    assert_eq!(refused(&state, "A3").to_string(), "A3 is occupied");
    let far = BoardSize::square(19).unwrap().parse_vertex("T1").unwrap();
    assert!(matches!(state.check(far), Err(IllegalMove::OffBoard(_))));
}

#[test]
fn one_pass_does_not_end_a_players_game() {
    let mut state = game(&["...", "...", "..."], Color::Black, "tromp-taylor");
    play(&mut state, "pass");
    assert!(!state.is_over() && state.outcome().is_none());
    play(&mut state, "B2 pass");
    assert!(!state.is_over(), "passes with a stone between do not end the game");
    play(&mut state, "pass");
    assert_eq!(state.outcome().unwrap().result_text(), "W+9");
    assert_eq!(state.legal_moves().count(), 0);
    assert!(matches!(refused(&state, "pass"), IllegalMove::GameOver(_)));
}

#[test]
fn komi_decides_the_winner() {
    let rows = [".X.O.", ".X.O.", ".X.O.", ".X.O.", ".X.OX"];
    let lead = |komi: f64| {
        let komi = Komi::from_points(komi).unwrap();
        GameState::from_text(&rows, Color::Black, Rules::tromp_taylor(), komi).unwrap().score_now()
    };
    // Black 10 stones' area and a lone stone at E1; White 5 stones, its column is shared.
    assert_eq!(lead(0.0).result_text(), "B+6");
    assert_eq!(lead(5.5).result_text(), "B+0.5");
    assert_eq!(lead(6.0), Outcome::Draw);
    assert_eq!(lead(6.5).result_text(), "W+0.5");
    assert_eq!(lead(-3.5).result_text(), "B+9.5");
}

#[test]
fn a_setup_that_cannot_be_is_refused() {
    let rules = Rules::tromp_taylor();
    for rows in [&["OX", "X."][..], &["XXX", "XX"], &["X#"], &[]] {
        let made = GameState::from_text(rows, Color::Black, rules, Komi::default());
        assert!(made.is_err(), "{rows:?}");
    }
    let size = BoardSize::square(3).unwrap();
    let p = size.point(1, 1);
    let twice =
        GameState::with_setup(size, rules, Komi::default(), &[p], &[p], Color::Black).unwrap_err();
    assert_eq!(twice.to_string(), "two stones are set up on B2");
}

#[test]
fn the_past_is_seen_eight_boards_back() {
    let mut state =
        GameState::new(BoardSize::square(5).unwrap(), Rules::default(), Komi::default());
    let first = state.size().parse_point("A1").unwrap();
    play(&mut state, "A1 B2");
    assert_eq!(state.history_len(), 3);
    assert_eq!(state.past_stone(1, first), Some(Color::Black));
    assert_eq!(state.past_stone(2, first), None);
    play(&mut state, "C3 pass D4 E5 A3 A5 C1");
    assert_eq!(state.history_len(), 8);
    assert_eq!(state.past_stone(7, first), Some(Color::Black));
    assert_eq!(state.past_stone(8, first), None);
    assert_eq!(state.last_move(), Some(at(&state, "C1")));
}

#[test]
fn the_situation_tells_apart_what_the_board_does_not() {
    let empty = GameState::new(BoardSize::square(5).unwrap(), Rules::default(), Komi::default());
    let mut passed = empty.clone();
    play(&mut passed, "pass");
    assert_eq!(empty.hash(), passed.hash());
    assert_ne!(empty.situation_hash(), passed.situation_hash());
    let komi = Komi::from_points(7.5).unwrap();
    let other = GameState::new(empty.size(), Rules::default(), komi);
    assert_ne!(empty.situation_hash(), other.situation_hash());
}

#[test]
fn points_off_the_board_hold_no_stone() {
    let state = game(&["X..", "...", "..."], Color::White, "chinese");
    for index in [9, 10, 625, 65_535, usize::MAX] {
        let point = Point::from_index(index);
        assert_eq!((state.stone(point), state.past_stone(0, point)), (None, None));
        assert_eq!((state.liberties(point), state.chain_size(point)), (0, 0));
        assert!(state.chain(point).is_empty() && state.check(Move::Play(point)).is_err());
    }
}
