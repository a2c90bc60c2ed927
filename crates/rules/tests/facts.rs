//! Facts collected from other programs; skipped with a reason where the folder is absent.

#![allow(clippy::unwrap_used, reason = "a test stops at its first surprise")]

use serde_json::Value as Json;
use tengen_rules::{
    BoardSize, Color, GameState, IllegalMove, Komi, Move, Outcome, Rules, pass_alive, perft,
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
            let rules = Rules::by_name(name).unwrap();
            assert_eq!(rules.suicide, expected["multi_stone_suicide"].as_bool().unwrap());
            let word = |value: &dyn std::fmt::Debug| format!("{value:?}").to_uppercase();
            assert_eq!(word(&rules.ko), expected["ko"].as_str().unwrap());
            assert_eq!(word(&rules.scoring), expected["scoring"].as_str().unwrap());
            assert_eq!(word(&rules.tax), expected["tax"].as_str().unwrap());
        }
    }
}

#[test]
fn areas_are_counted_as_elsewhere() {
    for case in facts("scoring.json").iter().filter(|case| case["method"] == "area") {
        let (input, expected) = (&case["input"], &case["expected"]);
        if input["board_top_row_first"].is_null() || input["dead"] != Json::Array(Vec::new()) {
            continue;
        }
        let state = board(input, Color::Black, Rules::tromp_taylor());
        let owners = state.area_owner();
        for (key, color) in [("B_area", Color::Black), ("W_area", Color::White)] {
            if let Some(area) = expected[key].as_u64() {
                let counted = owners.iter().filter(|&&o| o == Some(color)).count();
                assert_eq!(counted as u64, area, "{} {key}", case["id"]);
            }
        }
        if let Some(lead) = expected["B_minus_W_minus_komi"].as_f64() {
            assert_eq!(state.score_now(), Outcome::from_black_lead((2.0 * lead) as i32));
        }
        if let Some(text) = expected["RE"].as_str() {
            assert_eq!(state.score_now().result_text(), text);
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
