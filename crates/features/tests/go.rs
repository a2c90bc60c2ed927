//! The planes and numbers of `go-1`: laws on random games, and drawn.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Chance, play};
use tengen_features::{FeatureSet, encode, encode_globals, encode_nhwc};
use tengen_rules::{
    BoardSize, Color, GameState, IllegalMove, KoRule, Komi, LadderReader, Move, Rules, Scoring,
    Symmetry, Tax, pass_alive,
};

const SET: FeatureSet = FeatureSet::Go;

fn planes_of(state: &GameState, symmetry: Symmetry) -> Vec<f32> {
    let mut planes = vec![f32::NAN; SET.planes() * state.size().area()];
    encode(SET, state, symmetry, &mut planes);
    planes
}

fn globals_of(state: &GameState) -> Vec<f32> {
    let mut globals = vec![f32::NAN; SET.globals()];
    encode_globals(SET, state, &mut globals);
    globals
}

/// The first plane or number called `name`.
fn index(name: &str) -> usize {
    let mut at = 0;
    for input in SET.plane_table().iter().chain(SET.global_table()) {
        if input.name == name {
            let planes = SET.planes() - SET.globals();
            return if at < planes { at } else { at - planes };
        }
        at += input.count;
    }
    panic!("{name}");
}

/// The points of a plane as `#`, rows from the top.
fn draw(state: &GameState, plane: usize) -> String {
    let (planes, size) = (planes_of(state, Symmetry::IDENTITY), state.size());
    planes[plane * size.area()..][..size.area()]
        .chunks(size.width())
        .map(|row| row.iter().map(|&x| if x == 1.0 { '#' } else { '.' }).collect::<String>())
        .collect::<Vec<_>>()
        .join("/")
}

fn drawn(state: &GameState, name: &str) -> String {
    draw(state, index(name))
}

/// The vertices of a plane.
fn vertices(state: &GameState, name: &str) -> Vec<String> {
    let size = state.size();
    let planes = planes_of(state, Symmetry::IDENTITY);
    let plane = &planes[index(name) * size.area()..][..size.area()];
    size.points().filter(|p| plane[p.index()] == 1.0).map(|p| size.vertex(Move::Play(p))).collect()
}

fn position(rows: &[&str], to_play: Color) -> GameState {
    let komi = Komi::from_points(0.5).unwrap();
    GameState::from_text(rows, to_play, Rules::tromp_taylor(), komi).unwrap()
}

fn rules_of(round: usize) -> Rules {
    let ko = [KoRule::Simple, KoRule::Positional, KoRule::Situational][round % 3];
    Rules { ko, suicide: round.is_multiple_of(2), ..Rules::tromp_taylor() }
}

/// Random games, each with its twin under `image`: `look` sees both after every move.
fn walk(
    sides: &[(usize, usize)],
    games: usize,
    twin_of: impl Fn(BoardSize, Rules, usize) -> (GameState, Symmetry),
    mut look: impl FnMut(&GameState, &GameState, Symmetry),
) {
    let mut chance = Chance(5);
    for game in 0..games {
        let (width, height) = sides[game % sides.len()];
        let size = BoardSize::new(width, height).unwrap();
        let rules = rules_of(game);
        let mut state = GameState::new(size, rules, Komi::from_points(6.5).unwrap());
        let (mut twin, symmetry) = twin_of(size, rules, game);
        for _ in 0..2 * size.area() {
            let legal: Vec<usize> = state.legal_moves().iter().collect();
            let action = legal[chance.below(legal.len())];
            state.play(size.move_at(action)).unwrap();
            twin.play(size.move_at(symmetry.apply_action(size, action))).unwrap();
            if state.is_over() {
                break;
            }
            look(&state, &twin, symmetry);
        }
    }
}

#[test]
fn every_plane_turns_with_the_board() {
    let turned = |size, rules, game| {
        let all: Vec<_> = Symmetry::all().into_iter().filter(|s| s.valid_for(size)).collect();
        let state = GameState::new(size, rules, Komi::from_points(6.5).unwrap());
        (state, all[game % all.len()])
    };
    walk(&[(5, 5), (3, 7), (7, 7), (9, 9)], 40, turned, |state, twin, symmetry| {
        let (plain, area) = (planes_of(state, Symmetry::IDENTITY), state.size().area());
        let encoded = planes_of(state, symmetry);
        let there = planes_of(twin, Symmetry::IDENTITY);
        let differ = (0..encoded.len()).filter(|&i| encoded[i] != there[i]);
        let differ: Vec<_> = differ.map(|i| (i / area, i % area)).collect();
        assert!(differ.is_empty(), "{symmetry:?} plane, point {differ:?}\n{state}");
        for point in state.size().points() {
            let to = symmetry.apply(state.size(), point).index();
            for plane in 0..SET.planes() {
                assert_eq!(encoded[plane * area + to], plain[plane * area + point.index()]);
            }
        }
        assert_eq!(globals_of(state), globals_of(twin));
        let mut last = vec![f32::NAN; plain.len()];
        encode_nhwc(SET, state, symmetry, &mut last);
        let planes = SET.planes();
        let back: Vec<f32> =
            (0..last.len()).map(|i| last[(i % area) * planes + i / area]).collect();
        assert!(back == encoded, "the two layouts differ");
    });
}

#[test]
fn colours_swapped_and_komi_turned_round_nothing_changes() {
    let mirrored = |size, rules, _| {
        let komi = Komi::from_points(-6.5).unwrap();
        let state = GameState::with_setup(size, rules, komi, &[], &[], Color::White).unwrap();
        (state, Symmetry::IDENTITY)
    };
    walk(&[(5, 5), (7, 7)], 20, mirrored, |state, twin, symmetry| {
        assert!(planes_of(state, symmetry) == planes_of(twin, symmetry), "{state}");
        assert_eq!(globals_of(state), globals_of(twin));
    });
}

#[test]
fn planes_say_what_the_rules_say_point_by_point() {
    let same = |size, rules, _| {
        (GameState::new(size, rules, Komi::from_points(6.5).unwrap()), Symmetry::IDENTITY)
    };
    let mut seen = [0; 6];
    walk(&[(2, 2), (3, 3), (5, 5), (7, 7)], 80, same, |state, _, symmetry| {
        let (planes, size) = (planes_of(state, symmetry), state.size());
        let (player, legal) = (state.to_play(), state.legal_moves());
        let alive = [player, player.opponent()].map(|color| pass_alive(state, color));
        let mut reader = LadderReader::new(state);
        let globals = globals_of(state);
        for (global, plane) in globals.iter().zip(planes[45 * size.area()..].chunks(size.area())) {
            assert!(plane.iter().all(|x| x == global), "a global is repeated on every point");
        }
        for point in size.points() {
            let at = |name: &str, offset: usize| {
                planes[(index(name) + offset) * size.area() + point.index()] == 1.0
            };
            assert!(at("board", 0));
            assert_eq!(at("legal", 0), legal.contains(point.index()));
            for ago in 0..8 {
                let stone = state.past_stone(ago, point);
                assert_eq!(at("own", ago), stone == Some(player));
                assert_eq!(at("opponent", ago), stone == Some(player.opponent()));
                assert!(ago == 0 || at("known", ago - 1) == (ago < state.history_len()));
            }
            let liberties = state.liberties(point);
            for count in 1..=4 {
                assert_eq!(at("liberties", count - 1), liberties.min(4) == count);
            }
            let own = state.stone(point) == Some(player);
            assert_eq!(at("own atari", 0), own && liberties == 1);
            assert_eq!(at("opponent atari", 0), !own && liberties == 1);
            let refusal = state.check(Move::Play(point)).err();
            assert_eq!(at("ko", 0), matches!(refusal, Some(IllegalMove::Ko(_))));
            let superko = matches!(refusal, Some(IllegalMove::Superko(_)));
            assert!(at("superko", 0) == superko || state.rules().suicide);
            assert_eq!(at("own alive", 0), alive[0][point.index()]);
            assert_eq!(at("opponent alive", 0), alive[1][point.index()]);
            let lost = liberties == 1 && reader.is_lost(point, 5_000) == Some(true);
            assert_eq!(at("own lost", 0), own && lost);
            assert_eq!(at("opponent lost", 0), !own && lost);
            for (count, holds) in [
                at("ko", 0),
                superko,
                alive[0][point.index()],
                lost,
                at("catching", 0),
                at("own threatened", 0),
            ]
            .into_iter()
            .enumerate()
            {
                seen[count] += usize::from(holds);
            }
        }
    });
    assert!(seen.iter().all(|&count| count > 5), "{seen:?}");
}

#[test]
fn a_ladder_from_both_sides() {
    let rows = [".......", ".......", "..X....", ".XO....", ".X.....", ".......", "......."];
    let attacker = position(&rows, Color::Black);
    assert_eq!(vertices(&attacker, "opponent caught"), ["C4"]);
    assert_eq!(vertices(&attacker, "catching"), ["D4"]);
    assert!(vertices(&attacker, "own threatened").is_empty());
    let defender = position(&rows, Color::White);
    assert_eq!(vertices(&defender, "own threatened"), ["C4"]);
    assert!(vertices(&defender, "catching").is_empty());
    let mut chased = attacker.clone();
    play(&mut chased, "D4");
    assert_eq!(vertices(&chased, "own lost"), ["C4"]);
    assert_eq!(vertices(&chased, "own atari"), ["C4"]);
    play(&mut chased, "pass");
    assert_eq!(vertices(&chased, "opponent lost"), ["C4"]);
    // A friend on the way saves it.
    let helped = [".......", ".......", "..X....", ".XO....", ".X.....", "...O...", "......."];
    assert!(vertices(&position(&helped, Color::Black), "opponent caught").is_empty());
}

#[test]
fn a_ko_is_drawn_where_it_must_not_be_retaken() {
    let mut state = position(&[".XO..", "XO.O.", ".XO..", ".....", "....."], Color::Black);
    assert_eq!(drawn(&state, "ko"), "...../...../...../...../.....");
    play(&mut state, "C4");
    assert_eq!(drawn(&state, "ko"), "...../.#.../...../...../.....");
    assert_eq!(drawn(&state, "legal"), "...##/....#/#..##/#####/#####");
    assert_eq!(draw(&state, index("opponent") + 1), ".#.../#..../.#.../...../.....");
}

#[test]
fn liberties_last_moves_and_living_chains_are_drawn() {
    let mut state = position(&[".X.X.", "XXXXX", ".....", ".....", "....O"], Color::White);
    assert_eq!(drawn(&state, "opponent alive"), "#####/#####/...../...../.....");
    assert_eq!(drawn(&state, "own alive"), "...../...../...../...../.....");
    play(&mut state, "D1 A1 pass B1");
    assert_eq!(drawn(&state, "opponent alive"), "#####/#####/...../...../.....", "White again");
    let moves: Vec<String> = (0..5).map(|ago| draw(&state, index("moves") + ago)).collect();
    let nothing = "...../...../...../...../.....";
    let row = |stone: &str| format!("...../...../...../...../{stone}");
    assert_eq!(moves, [&row(".#..."), nothing, &row("#...."), &row("...#."), nothing]);
    let passes = &globals_of(&state)[index("passes")..][..5];
    assert_eq!(passes, [0.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(draw(&state, index("liberties")), nothing);
    // White D1 E1: C1, D2, E2. Black A1 B1: A2, B2, C1. Black's wall has nine.
    assert_eq!(draw(&state, index("liberties") + 2), row("##.##"));
    assert_eq!(draw(&state, index("liberties") + 3), ".#.#./#####/...../...../.....");
    for (ago, known) in [(1, true), (4, true), (5, false)] {
        let plane = draw(&state, index("known") + ago - 1);
        assert_eq!(plane == "#####/#####/#####/#####/#####", known, "{ago}");
    }
}

#[test]
fn numbers_are_the_player_to_moves() {
    let size = BoardSize::square(5).unwrap();
    let new = |rules, komi| GameState::new(size, rules, Komi::from_points(komi).unwrap());
    let mut state = new(Rules::tromp_taylor(), 7.5);
    let komi = |state: &GameState| globals_of(state)[index("komi")] * 20.0;
    assert_eq!(komi(&state), -7.5, "Black gives komi");
    let flags = |state: &GameState| {
        let globals = globals_of(state);
        [
            "territory",
            "tax seki",
            "tax all",
            "suicide",
            "positional",
            "situational",
            "button",
            "pass ends",
        ]
        .map(|name| globals[index(name)])
    };
    assert_eq!(flags(&state), [0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
    play(&mut state, "pass");
    assert_eq!(komi(&state), 7.5);
    assert_eq!(flags(&state)[7], 1.0, "a pass now ends the game");

    let rules = Rules {
        ko: KoRule::Situational,
        scoring: Scoring::Territory,
        tax: Tax::Seki,
        suicide: false,
        ..Rules::tromp_taylor()
    };
    let mut state = new(rules, 0.5);
    assert_eq!(flags(&state), [1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    play(&mut state, "B1 A1 A2");
    assert_eq!(komi(&state), 0.5 - 1.0, "Black has a prisoner, White is to move");
    let mut area = new(Rules::tromp_taylor(), 0.5);
    play(&mut area, "B1 A1 A2");
    assert_eq!(komi(&area), 0.5, "prisoners count under territory scoring alone");

    let button = Rules { button: true, ..Rules::tromp_taylor() };
    let mut state = new(button, 6.5);
    assert_eq!((komi(&state), flags(&state)[6], flags(&state)[7]), (-6.5, 1.0, 0.0));
    play(&mut state, "pass");
    assert_eq!((komi(&state), flags(&state)[6]), (6.0, 0.0), "Black took the button");
    assert_eq!(komi(&new(Rules::tromp_taylor(), 150.0)), -45.0, "area and 20 at most");
}

#[test]
fn the_documentation_has_the_tables_as_they_are() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/features.md");
    let page = std::fs::read_to_string(path).unwrap();
    for set in FeatureSet::ALL {
        let table = set.markdown();
        assert!(
            page.contains(&table),
            "docs/features.md lacks this, under {}:\n{table}",
            set.name()
        );
    }
}
