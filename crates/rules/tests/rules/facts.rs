//! Facts collected from other programs; skipped with a reason where the folder is absent.

use serde_json::Value as Json;
use tengen_rules::{
    BoardSize, Color, GameState, HandicapBonus, IllegalMove, Komi, Move, Point, Rules, pass_alive,
    perft,
};

fn facts(name: &str) -> Vec<Json> {
    let path = format!("{}/../../../shared/facts/{name}", env!("CARGO_MANIFEST_DIR"));
    match std::fs::read_to_string(&path) {
        Ok(text) => serde_json::from_str(&text).unwrap(),
        Err(error) => {
            println!("skipped: {name}: {error}");
            Vec::new()
        }
    }
}

fn texts(json: &Json) -> Vec<&str> {
    json.as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect()
}

fn color(letter: &str) -> Color {
    if letter.starts_with('B') { Color::Black } else { Color::White }
}

fn board(input: &Json, to_play: Color, rules: Rules) -> GameState {
    if let Some(n) = input["board_size"].as_u64() {
        return GameState::new(BoardSize::square(n as usize).unwrap(), rules, Komi::default());
    }
    let komi = Komi::from_points(input["komi"].as_f64().unwrap_or(0.0)).unwrap();
    GameState::from_text(&texts(&input["board_top_row_first"]), to_play, rules, komi).unwrap()
}

fn rules_of(case: &Json) -> Rules {
    let ko = case["rules"]["ko"].as_str().unwrap_or("simple");
    let suicide = case["rules"]["multi_stone_suicide"].as_bool().unwrap_or(false);
    Rules::by_name(&format!("ko={ko},suicide={suicide}")).unwrap()
}

fn ko_forbidden(state: &GameState) -> Vec<String> {
    let size = state.size();
    let moves = size.points().map(Move::Play);
    let barred = moves
        .filter(|&mv| matches!(state.check(mv), Err(IllegalMove::Ko(_) | IllegalMove::Superko(_))));
    let mut names: Vec<_> = barred.map(|mv| size.vertex(mv)).collect();
    names.sort();
    names
}

#[test]
fn ko_and_superko_bar_exactly_the_known_points() {
    for case in facts("rules.json") {
        let Some(checkpoints) = case["expected"]["ko_forbidden_checkpoints"].as_array() else {
            continue;
        };
        let first = color(case["input"]["first_to_play"].as_str().unwrap());
        let mut state = board(&case["input"], first, rules_of(&case));
        for (i, text) in texts(&case["input"]["moves"]).into_iter().enumerate() {
            for point in checkpoints.iter().filter(|c| c["after_moves"] == i) {
                assert_eq!(
                    ko_forbidden(&state),
                    texts(&point["ko_forbidden"]),
                    "{} {i}",
                    case["id"]
                );
            }
            let vertex = text.split(' ').nth(1).unwrap();
            let mv = state.size().parse_vertex(vertex).unwrap();
            if text.contains("illegal here") {
                assert!(state.check(mv).is_err(), "{} {text}", case["id"]);
                break;
            }
            state.play(mv).unwrap();
        }
    }
}

#[test]
fn games_and_positions_of_other_programs_are_judged_alike() {
    for case in facts("rules.json") {
        let (input, expected) = (&case["input"], &case["expected"]);
        if let Some(legal) = expected["legal"].as_array() {
            let state = board(input, color(input["to_play"].as_str().unwrap()), rules_of(&case));
            let is_legal = |v: &Json| {
                state.check(state.size().parse_vertex(v.as_str().unwrap()).unwrap()).is_ok()
            };
            assert!(legal.iter().all(is_legal), "{}", case["id"]);
            assert!(
                !expected["illegal"].as_array().unwrap().iter().any(is_legal),
                "{}",
                case["id"]
            );
        }
        if expected["all_moves_legal_simple_ko"] == true {
            let mut state = board(input, Color::Black, rules_of(&case));
            for text in texts(&input["moves"]) {
                let mv = state.size().parse_vertex(text.split(' ').nth(1).unwrap()).unwrap();
                state.play(mv).unwrap();
            }
            assert_eq!(ko_forbidden(&state), [""; 0]);
            let rows = texts(&expected["final_board"]).join("\n") + "\n";
            assert_eq!(state.to_string(), rows, "{}", case["id"]);
        }
        if let Some(count) = expected["legal_moves_incl_pass_no_suicide"].as_u64() {
            let state = board(input, Color::Black, rules_of(&case));
            assert_eq!(state.legal_moves().count() as u64, count);
        }
        if let Some(name) = input["ruleset"].as_str() {
            let rules = Rules::parse_any(name).unwrap();
            let bonus = match rules.handicap_bonus {
                HandicapBonus::Zero => "0",
                HandicapBonus::N => "N",
                HandicapBonus::NMinusOne => "N-1",
            };
            assert_eq!(bonus, expected["white_handicap_bonus"].as_str().unwrap());
            assert_eq!(rules.suicide, expected["multi_stone_suicide"].as_bool().unwrap());
            let word = |value: &dyn std::fmt::Debug| format!("{value:?}").to_uppercase();
            assert_eq!(word(&rules.ko), expected["ko"].as_str().unwrap());
            assert_eq!(word(&rules.scoring), expected["scoring"].as_str().unwrap());
            assert_eq!(word(&rules.tax), expected["tax"].as_str().unwrap());
        }
    }
}

fn drawn_pass_alive(state: &GameState, under: &[&str]) -> String {
    let maps = Color::BOTH.map(|c| pass_alive(state, c));
    let width = state.size().width();
    let mut drawing = String::new();
    for (i, below) in under.concat().chars().enumerate() {
        drawing.push(if maps[0][i] {
            'X'
        } else if maps[1][i] {
            'O'
        } else {
            below
        });
        if (i + 1) % width == 0 {
            drawing.push('\n');
        }
    }
    drawing
}

#[test]
fn pass_alive_maps_match_those_of_minigo_and_katago() {
    for case in facts("passalive.json") {
        let rows = texts(&case["input"]["board_top_row_first"]);
        let empty: Vec<String> = rows.iter().map(|row| ".".repeat(row.len())).collect();
        let empty: Vec<&str> = empty.iter().map(String::as_str).collect();
        for (key, suicide, under) in [
            ("board_after_overlaying_pass_alive_stones_and_territory", false, &rows),
            ("pass_alive_map_no_suicide", false, &empty),
            ("pass_alive_map_suicide_allowed", true, &empty),
        ] {
            if case["expected"][key].is_null() {
                continue;
            }
            let rules = Rules { suicide, ..Rules::tromp_taylor() };
            let state = board(&case["input"], Color::Black, rules);
            let expected = texts(&case["expected"][key]).join("\n") + "\n";
            assert_eq!(drawn_pass_alive(&state, under), expected, "{} {key}", case["id"]);
        }
    }
}

#[test]
fn move_paths_are_as_many_as_elsewhere() {
    check_paths(250_000);
}

#[test]
#[ignore = "deep: ten seconds"]
fn long_move_paths_are_as_many_as_elsewhere() {
    check_paths(u64::MAX);
}

/// Compares every count below `limit`.
fn check_paths(limit: u64) {
    for case in facts("counts.json").iter().filter(|case| case["kind"] == "perft") {
        let input = &case["input"];
        let side = |key: &str| input[key].as_u64().unwrap() as usize;
        let size = BoardSize::new(side("width"), side("height")).unwrap();
        let ko = input["ko"].as_str().unwrap().split([' ', '-']).next().unwrap();
        let suicide = input["multi_stone_suicide_allowed"].as_bool().unwrap();
        let rules = Rules::by_name(&format!("ko={ko},suicide={suicide}")).unwrap();
        let expected = case["expected"].as_object().unwrap();
        let depth = (1..)
            .take_while(|d| {
                expected.get(&d.to_string()).is_some_and(|n| n.as_u64().unwrap() < limit)
            })
            .last()
            .unwrap_or(0);
        let counts = perft(&GameState::new(size, rules, Komi::default()), depth);
        for (d, &count) in counts.iter().enumerate().skip(1) {
            assert_eq!(Some(count), expected[&d.to_string()].as_u64(), "{} {d}", case["id"]);
        }
    }
}

/// Plays moves of either colour; a colour that moves twice lets the other pass in between.
fn play_any(state: &mut GameState, moves: &Json) {
    for text in texts(moves) {
        play_one(state, text);
    }
}

fn play_one(state: &mut GameState, text: &str) {
    let (letter, vertex) = text.split_once(' ').unwrap();
    if state.to_play() != color(letter) {
        state.play(Move::Pass).unwrap();
    }
    state.play(state.size().parse_vertex(vertex).unwrap()).unwrap();
}

fn drawing(rows: &Json) -> String {
    texts(rows).join("\n") + "\n"
}

fn points(state: &GameState, names: &Json) -> Vec<Point> {
    texts(names).into_iter().map(|name| state.size().parse_point(name).unwrap()).collect()
}

/// The point that simple ko alone forbids to the player to move.
fn ko_point(state: &GameState) -> Option<String> {
    ko_forbidden(state).pop()
}

#[test]
fn stones_die_and_kos_stand_as_on_sgfmills_and_minigos_boards() {
    for case in facts("rules.json") {
        let (input, expected) = (&case["input"], &case["expected"]);
        let moves = &input["moves_any_colour_order"];
        if moves.is_null() {
            continue;
        }
        let rules = Rules::by_name("ko=simple,suicide=true").unwrap();
        let mut state = board(input, Color::Black, rules);
        if let Some(kos) = expected["simple_ko_point_after_each_move"].as_array() {
            for ((text, ko), rows) in texts(moves)
                .into_iter()
                .zip(kos)
                .zip(expected["top_two_rows_after_each_move"].as_array().unwrap())
            {
                play_one(&mut state, text);
                assert_eq!(ko_point(&state).as_deref(), ko.as_str(), "{} {text}", case["id"]);
                assert!(state.to_string().starts_with(&drawing(rows)), "{} {text}", case["id"]);
            }
            continue;
        }
        play_any(&mut state, moves);
        assert_eq!(state.to_string(), drawing(&expected["final_board_top_row_first"]));
        assert_eq!(
            ko_point(&state).as_deref(),
            expected["simple_ko_point_after_last_move"].as_str()
        );
        let owners = state.area_owner();
        let owned = |c| owners.iter().filter(|&&o| o == Some(c)).count() as i64;
        let lead = owned(Color::Black) - owned(Color::White);
        assert_eq!(Some(lead), expected["area_B_minus_W"].as_i64(), "{}", case["id"]);
    }
}

#[test]
fn captures_suicides_and_the_corner_ko_are_told_as_elsewhere() {
    for case in facts("rules.json") {
        let (input, expected) = (&case["input"], &case["expected"]);
        if !expected["captured"].is_null() {
            let mut state = board(input, Color::Black, rules_of(&case));
            let captured = points(&state, &expected["captured"]);
            play_one(&mut state, input["play"].as_str().unwrap());
            assert!(captured.iter().all(|&p| state.stone(p).is_none()));
            assert_eq!(state.captures(Color::Black) as usize, captured.len());
            assert_eq!(state.to_string(), drawing(&expected["board_after"]));
            for (name, chain) in expected["chain_size_and_liberties_after"].as_object().unwrap() {
                let point = state.size().parse_point(name).unwrap();
                assert_eq!(
                    [state.chain_size(point), state.liberties(point)],
                    [chain[0].as_u64().unwrap() as usize, chain[1].as_u64().unwrap() as usize]
                );
            }
        }
        if let Some(allowed) = expected.get("suicide_allowed") {
            let size = BoardSize::square(input["board_size"].as_u64().unwrap() as usize).unwrap();
            let empty = GameState::new(size, Rules::tromp_taylor(), Komi::default());
            let [black, white] = ["black", "white"].map(|key| points(&empty, &input[key]));
            for suicide in [false, true] {
                let rules = Rules { suicide, ..Rules::tromp_taylor() };
                let komi = Komi::default();
                let mut state =
                    GameState::with_setup(size, rules, komi, &black, &white, Color::White).unwrap();
                let (_, vertex) = input["play"].as_str().unwrap().split_once(' ').unwrap();
                let played = state.play(size.parse_vertex(vertex).unwrap());
                assert_eq!(played.is_ok(), suicide);
                if suicide {
                    let removed = points(&state, &allowed["removed"]);
                    assert!(removed.iter().all(|&p| state.stone(p).is_none()));
                    assert_eq!(state.captures(Color::Black), 2);
                }
            }
        }
        if let Some(illegal) = expected["illegal_after"].as_object() {
            let mut state = board(input, Color::Black, rules_of(&case));
            let legal_after = expected["legal_after"].as_object().unwrap();
            for (i, text) in (1..).zip(texts(&input["moves"])) {
                play_one(&mut state, text);
                if state.is_over() {
                    state.resume();
                }
                for (when, legal) in [(illegal, false), (legal_after, true)] {
                    for text in when.get(&i.to_string()).map_or(Vec::new(), texts) {
                        let vertex = text.split_once(' ').unwrap().1;
                        let mv = state.size().parse_vertex(vertex).unwrap();
                        assert_eq!(state.check(mv).is_ok(), legal, "{} {text}", case["id"]);
                    }
                }
            }
        }
    }
}

#[test]
fn a_pass_never_repeats() {
    for ko in ["simple", "positional", "situational"] {
        let rules = Rules::by_name(&format!("ko={ko}")).unwrap();
        let size = BoardSize::square(3).unwrap();
        let mut state = GameState::new(size, rules, Komi::default());
        play_any(&mut state, &serde_json::json!(["B B2", "W pass", "B A1"]));
        assert!(state.check(Move::Pass).is_ok());
    }
}
