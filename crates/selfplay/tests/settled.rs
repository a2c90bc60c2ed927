//! A game ended early has the label that playing it on would have given it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tengen_record::{EndReason, decode, encode};
use tengen_rules::{Color, GameState, Move, Point, Rules, pass_alive};
use tengen_selfplay::{GameSettings, SelfPlayConfig, play_game};

/// All neighbours are the player's own: a point that random players leave alone.
fn is_own_eye(state: &GameState, point: Point) -> bool {
    state.size().neighbours(point).all(|n| state.stone(n) == Some(state.to_play()))
}

/// A random legal move among `wanted` points, a pass if there is none.
fn random_move(
    state: &GameState,
    rng: &mut ChaCha8Rng,
    wanted: impl Fn(&GameState, Point) -> bool,
) -> Move {
    let points: Vec<Point> = state
        .size()
        .points()
        .filter(|&p| wanted(state, p) && state.check(Move::Play(p)).is_ok())
        .collect();
    match points.len() {
        0 => Move::Pass,
        n => Move::Play(points[rng.random_range(0..n)]),
    }
}

/// Plays a settled game on: both sides invade at random wherever they can for a while and never
/// fill what is their own; then each takes what stands in its area, stone by stone, and both pass.
fn played_on(mut state: GameState, rng: &mut ChaCha8Rng) -> GameState {
    let area = Color::BOTH.map(|color| pass_alive(&state, color));
    for _ in 0..rng.random_range(0..3 * state.size().area()) {
        let theirs = area[state.to_play().opponent().index()].clone();
        let mv = random_move(&state, rng, |_, p| theirs[p.index()]);
        if mv == Move::Pass && state.consecutive_passes() == 1 {
            break; // the second pass is for the end
        }
        state.play(mv).unwrap();
    }
    for owner in Color::BOTH {
        let own = &area[owner.index()];
        let intruders = |state: &GameState| -> Vec<Point> {
            let there = |p: &Point| own[p.index()] && state.stone(*p) == Some(owner.opponent());
            state.size().points().filter(there).collect()
        };
        while !intruders(&state).is_empty() {
            if state.to_play() != owner {
                state.play(Move::Pass).unwrap();
            }
            if state.is_over() {
                state.resume(); // the players do not agree yet on what is dead
            }
            // Any liberty of an intruder that is no suicide; captures where there are some.
            let mut options: Vec<(bool, Move)> = Vec::new();
            for point in state.size().points().filter(|&p| state.stone(p).is_none()) {
                let mut after = state.clone();
                let beside = state.size().neighbours(point);
                let beside: Vec<Point> = beside.filter(|n| intruders(&state).contains(n)).collect();
                if beside.is_empty() || after.play(Move::Play(point)).is_err() {
                    continue;
                }
                let captures = beside.iter().any(|&n| after.stone(n).is_none());
                if after.stone(point) == Some(owner) {
                    options.push((captures, Move::Play(point)));
                }
            }
            let any = options.iter().any(|&(captures, _)| captures);
            options.retain(|&(captures, _)| captures == any);
            state.play(options[rng.random_range(0..options.len())].1).unwrap();
        }
    }
    while !state.is_over() {
        state.play(Move::Pass).unwrap();
    }
    state
}

#[test]
fn a_settled_score_is_that_of_the_game_played_on() {
    let mut settled = 0;
    let mut with_dead_stones = 0;
    for seed in 0..600 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let side = 4 + seed as usize % 4;
        let rules = ["tromp-taylor", "ko=positional,suicide=false", "aga"][seed as usize % 3];
        let rules = Rules::by_name(rules).unwrap();
        let mut state = GameSettings { rules, ..settings(side) }.initial_state();
        while !state.is_over() && state.move_number() < 4 * side * side {
            if let Some(outcome) = state.settled() {
                settled += 1;
                with_dead_stones += u32::from(outcome != state.score_now());
                for _ in 0..3 {
                    let end = played_on(state.clone(), &mut rng);
                    assert_eq!(end.outcome(), Some(outcome), "seed {seed}");
                }
                break;
            }
            let mv = random_move(&state, &mut rng, |s, p| !is_own_eye(s, p));
            state.play(mv).unwrap();
        }
    }
    assert!(settled > 150, "only {settled} games were settled");
    assert!(with_dead_stones > 10, "only {with_dead_stones} had stones to be taken");
}

#[test]
fn nothing_is_settled_on_an_open_board_or_where_more_than_area_counts() {
    assert_eq!(settings(5).initial_state().settled(), None);
    let drawn = |rules: Rules, rows: &[&str]| {
        GameState::from_text(rows, Color::Black, rules, settings(5).komi).unwrap()
    };
    // The column between belongs to nobody yet.
    let open = [". X . O .", "X X . O O", ". X . O .", "X X . O O", ". X . O ."];
    assert_eq!(drawn(Rules::tromp_taylor(), &open).settled(), None);
    let closed = [". X X O .", "X X X O O", ". X X O .", "X X X O O", ". X X O ."];
    let text = |rules| drawn(rules, &closed).settled().map(|o| o.result_text());
    assert_eq!(text(Rules::tromp_taylor()).as_deref(), Some("B+4.5"));
    assert_eq!(text(Rules::by_name("japanese").unwrap()), None);
    assert_eq!(text(Rules { button: true, ..Rules::tromp_taylor() }), None);
}

#[test]
fn self_play_stops_there_and_the_record_proves_it() {
    let config = SelfPlayConfig { end_when_settled: true, temperature_moves: 60, ..config() };
    let mut early = 0;
    for seed in 0..60 {
        let play = |config: &SelfPlayConfig| {
            play_game(&mut hashed(), config, &search(), &settings(4), seed, players()).unwrap()
        };
        let game = play(&config);
        let last = game.validate().unwrap();
        assert_eq!(decode(&encode(&game)).unwrap(), game);
        let whole = play(&SelfPlayConfig { end_when_settled: false, ..config.clone() });
        assert_eq!(game.turns, whole.turns[..game.turns.len()], "the same game until then");
        if game.end == EndReason::Settled {
            early += 1;
            assert_eq!(last.settled(), Some(game.outcome));
            let mut false_result = game.clone();
            false_result.outcome = last.score_now();
            assert_eq!(false_result.validate().is_ok(), last.score_now() == game.outcome);
            let mut too_early = game.clone();
            too_early.turns.truncate(3);
            assert!(too_early.validate().is_err(), "an open board is not settled");
        }
    }
    assert!(early > 0, "no game was settled early");
}
