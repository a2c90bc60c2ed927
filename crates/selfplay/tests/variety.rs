//! Openings that differ, and what a run has come to.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::BTreeMap;
use std::sync::Arc;

use common::*;
use tengen_record::{GameRecord, decode, encode};
use tengen_rules::{Color, Move, Rules};
use tengen_selfplay::{
    Conditions, GameDefinition, GameSettings, SelfPlayConfig, SelfPlayPool, StartError,
    StartPosition, game_seed, play_game, play_under,
};

fn play(config: &SelfPlayConfig, seed: u64) -> GameRecord {
    play_game(&mut hashed(), config, &search(), &settings(5), seed, players()).unwrap()
}

fn moves(text: &str) -> Vec<Move> {
    let size = settings(5).size;
    text.split_whitespace().map(|word| size.parse_vertex(word).unwrap()).collect()
}

fn under(config: &SelfPlayConfig, conditions: Conditions, seed: u64) -> GameRecord {
    let game = GameDefinition::new(config, &search(), &settings(5)).under(conditions).unwrap();
    play_under(&mut hashed(), Arc::new(game), seed, players()).unwrap()
}

#[test]
fn the_komi_varies_by_whole_points_around_the_plain_one() {
    let config = SelfPlayConfig { komi_stdev: 2.0, max_moves_factor: 0.2, ..config() };
    let mut counts = BTreeMap::new();
    for seed in 0..200 {
        let game = play(&config, seed);
        game.validate().unwrap();
        *counts.entry(game.komi.half_points()).or_insert(0) += 1;
    }
    let plain = settings(5).komi.half_points();
    assert!(counts.keys().all(|komi| (komi - plain) % 2 == 0), "{counts:?}");
    assert!(counts[&plain] > 100, "half of them on purpose, some by chance: {counts:?}");
    assert!(counts.len() >= 6, "{counts:?}");
    let lean: i32 = counts.iter().map(|(komi, games)| (komi - plain) * games).sum();
    assert!(lean.abs() < 200, "no drift: {counts:?}");
    assert_eq!(play(&config, 7), play(&config, 7));
}

#[test]
fn switches_of_the_beginning_leave_plain_games_as_they_were() {
    let varied = SelfPlayConfig {
        komi_stdev: 3.0,
        fork_fraction: 1.0,
        plain_komi_fraction: 1.0,
        ..config()
    };
    assert_eq!(play(&varied, 3), play(&config(), 3), "nothing to fork, the plain komi");
}

#[test]
fn games_begin_from_the_positions_given() {
    let start = StartPosition {
        setup_black: moves("A1 B1").iter().map(|mv| point(*mv)).collect(),
        setup_white: moves("E5").iter().map(|mv| point(*mv)).collect(),
        first_to_play: Color::White,
        moves: moves("C3 D4"),
    };
    let conditions = Conditions { starts: Arc::from([start.clone()]), ..Conditions::default() };
    let config = SelfPlayConfig { opening_policy_moves: 5, ..config() };
    let mut begun = 0;
    for seed in 0..40 {
        let game = under(&config, conditions.clone(), seed);
        game.validate().unwrap();
        assert_eq!(decode(&encode(&game)).unwrap(), game);
        if !game.setup_black.is_empty() {
            begun += 1;
            assert_eq!(game.first_to_play, Color::White);
            let first: Vec<Move> = game.turns[..2].iter().map(|turn| turn.mv).collect();
            assert_eq!(first, start.moves);
            assert!(game.turns[..2].iter().all(|turn| turn.search.is_none()));
            assert!(game.turns[2].search.is_some(), "no drawn opening on top of a given one");
        }
    }
    assert!((10..31).contains(&begun), "about half: {begun}");
}

fn point(mv: Move) -> tengen_rules::Point {
    match mv {
        Move::Play(point) => point,
        Move::Pass => panic!("a pass is no stone"),
    }
}

#[test]
fn a_fork_leaves_an_earlier_game_for_another_move() {
    let earlier = play(&config(), 99);
    let source = StartPosition::of_game(&earlier, &settings(5)).unwrap();
    let conditions = Conditions { forks: Arc::from([source.clone()]), ..Conditions::default() };
    let config = SelfPlayConfig { fork_fraction: 1.0, fork_moves: 6, ..config() };
    let mut left_at = BTreeMap::new();
    for seed in 0..60 {
        let game = under(&config, conditions.clone(), seed);
        game.validate().unwrap();
        let same = game.turns.iter().zip(&source.moves).take_while(|(t, mv)| t.mv == **mv).count();
        assert!(same < 6, "seed {seed}");
        assert_ne!(game.turns[same].mv, Move::Pass, "seed {seed}");
        assert!(game.turns[..=same].iter().all(|turn| turn.search.is_none()));
        assert!(game.turns[same + 1].search.is_some(), "from there on it is an ordinary game");
        *left_at.entry(same).or_insert(0) += 1;
    }
    assert_eq!(left_at.len(), 6, "every early move is tried: {left_at:?}");
    assert_eq!(under(&config, conditions.clone(), 4), under(&config, conditions, 4));
}

#[test]
fn a_start_that_cannot_be_is_refused_by_name() {
    let game = GameDefinition::new(&config(), &search(), &settings(5));
    let refusal = |start: StartPosition| {
        let conditions = Conditions { starts: Arc::from([start]), ..Conditions::default() };
        game.under(conditions).unwrap_err()
    };
    let twice = refusal(StartPosition::of_moves(moves("C3 C3")));
    assert!(matches!(&twice, StartError::Move { number: 2, .. }), "{twice}");
    assert!(twice.to_string().contains("C3"), "{twice}");
    assert_eq!(refusal(StartPosition::of_moves(moves("pass pass"))), StartError::Over);
    let stone = vec![point(moves("C3")[0])];
    let both = StartPosition {
        setup_black: stone.clone(),
        setup_white: stone,
        ..StartPosition::of_moves(Vec::new())
    };
    assert!(matches!(refusal(both), StartError::Setup(_)));
    let other = StartPosition::of_game(&play(&config(), 1), &settings(4));
    assert!(other.unwrap_err().to_string().contains("5x5"));
}

#[test]
fn visits_grow_with_the_games_of_the_run() {
    let config = SelfPlayConfig {
        first_visits: 0.5,
        visits_growth_games: 100,
        reuse_tree: false,
        max_moves_factor: 0.5,
        ..config()
    };
    for (games, full, cheap) in [(0, 6, 2), (50, 9, 3), (100, 12, 4), (5_000, 12, 4)] {
        let game = under(&config, Conditions { games, ..Conditions::default() }, 5);
        for search in game.turns.iter().filter_map(|turn| turn.search.as_ref()) {
            assert_eq!(search.visits, if search.is_target { full } else { cheap }, "{games}");
        }
    }
}

#[test]
fn games_in_flight_keep_the_conditions_they_began_under() {
    let config = SelfPlayConfig {
        first_visits: 0.5,
        visits_growth_games: 10,
        reuse_tree: false,
        full_search_fraction: 1.0,
        ..config()
    };
    let mut pool = SelfPlayPool::new(&settings(4), &config, &search(), 0, 77);
    let mut games = BTreeMap::new();
    let mut evaluators = boxed(hashed());
    pool.run(&mut evaluators, "net", 1, &never, &mut |k, g| drop(games.insert(k, g))).unwrap();
    let begun_before = pool.next_counter();
    pool.set_conditions(Conditions { games: 10, ..Conditions::default() }).unwrap();
    pool.run(&mut evaluators, "net", 12, &never, &mut |k, g| drop(games.insert(k, g))).unwrap();
    for (counter, game) in games {
        let visits = if counter < begun_before { 6 } else { 12 };
        let first = game.turns[0].search.as_ref().unwrap();
        assert_eq!(first.visits, visits, "game {counter}");
        assert_eq!(game.seed, game_seed(77, counter));
    }
    let broken = StartPosition::of_moves(vec![Move::Pass, Move::Pass]);
    let conditions = Conditions { starts: Arc::from([broken]), ..Conditions::default() };
    assert!(pool.set_conditions(conditions).is_err());
}

#[test]
fn boards_rules_and_komi_are_mixed_by_their_shares() {
    let [small, wide] = [4, 6].map(settings);
    let chinese = GameSettings { rules: Rules::by_name("chinese").unwrap(), ..wide };
    let short = SelfPlayConfig { max_moves_factor: 0.2, ..config() };
    let mixed = GameDefinition::new(&short, &search(), &settings(5))
        .with_others(&[(0.25, small), (0.5, chinese)]);
    let mixed = Arc::new(mixed);
    let mut counts = BTreeMap::new();
    for seed in 0..300 {
        let game = play_under(&mut hashed(), Arc::clone(&mixed), seed, players()).unwrap();
        game.validate().unwrap();
        let side = game.size.width();
        let expected = if side == 6 { chinese.rules } else { small.rules };
        assert_eq!(game.rules, expected);
        assert!(game.turns.len() <= short.move_limit(side * side), "a limit of its own board");
        if side == 5 {
            assert_eq!(game, play(&short, seed), "the others leave the main game as it was");
        }
        *counts.entry(side).or_insert(0) += 1;
    }
    for (side, share) in [(4, 0.25), (5, 0.25), (6, 0.5)] {
        let (found, wanted) = (f64::from(counts[&side]), 300.0 * share);
        assert!((found - wanted).abs() < 30.0, "{counts:?}");
    }
}

#[test]
fn what_the_run_has_come_to_reaches_every_board() {
    let growing = SelfPlayConfig { first_visits: 0.25, visits_growth_games: 1000, ..config() };
    let mixed =
        GameDefinition::new(&growing, &search(), &settings(5)).with_others(&[(0.99, settings(4))]);
    let starts = Arc::from([StartPosition::of_moves(moves("C3 B2"))]);
    let late = mixed.under(Conditions { games: 1000, starts, ..Conditions::default() }).unwrap();
    let visits = |game: &GameDefinition| {
        let game = play_under(&mut hashed(), Arc::new(game.clone()), 5, players()).unwrap();
        assert_eq!(game.size.width(), 4, "starts of 5x5 are no matter here");
        game.turns.iter().filter_map(|turn| turn.search.as_ref()).map(|s| s.visits).max().unwrap()
    };
    assert!(visits(&late) > visits(&mixed));
}

#[test]
fn uneven_games_begin_with_black_stones_and_white_to_move() {
    let uneven = SelfPlayConfig {
        handicap_fraction: 0.5,
        handicap_stones: 4,
        max_moves_factor: 0.2,
        ..config()
    };
    let mut counts = BTreeMap::new();
    for seed in 0..200 {
        let game = play(&uneven, seed);
        game.validate().unwrap();
        let stones = game.setup_black.len();
        let first = if stones == 0 { Color::Black } else { Color::White };
        assert_eq!((game.first_to_play, game.setup_white.len()), (first, 0));
        *counts.entry(stones).or_insert(0) += 1;
    }
    assert_eq!(counts.keys().copied().collect::<Vec<_>>(), [0, 2, 3, 4]);
    assert!(counts[&0] > 70 && counts[&2] > 15 && counts[&4] > 15, "{counts:?}");
}
