//! Scores that other programs give, in `scoring.json`; skipped with a reason where it is absent.

use serde_json::Value as Json;
use tengen_rules::{
    BoardSize, Color, GameState, Komi, Outcome, Point, Rules, ScoreSheet, score_position,
};

fn facts() -> Vec<Json> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/facts/scoring.json");
    match std::fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text).unwrap(),
        Err(error) => {
            println!("skipped: scoring.json: {error}");
            Vec::new()
        }
    }
}

fn texts(json: &Json) -> Vec<&str> {
    json.as_array().map_or(Vec::new(), |a| a.iter().map(|v| v.as_str().unwrap()).collect())
}

fn komi(case: &Json) -> Komi {
    Komi::from_points(case["input"]["komi"].as_f64().unwrap_or(0.0)).unwrap()
}

/// The position of a case: drawn, or played from the empty board. `None` where it is a game file.
fn position(case: &Json, rules: Rules) -> Option<GameState> {
    let input = &case["input"];
    if let Some(side) = input["board_size"].as_u64() {
        let size = BoardSize::square(side as usize).unwrap();
        let mut state = GameState::new(size, rules, komi(case));
        for text in texts(&input["moves"]) {
            state.play(size.parse_vertex(text.split(' ').nth(1).unwrap()).unwrap()).unwrap();
        }
        return Some(state);
    }
    let rows = texts(&input["board_top_row_first"]);
    let drawn = || GameState::from_text(&rows, Color::Black, rules, komi(case)).unwrap();
    (!rows.is_empty()).then(drawn)
}

fn dead(state: &GameState, case: &Json) -> Vec<Point> {
    let names = texts(&case["input"]["dead"]);
    names.into_iter().map(|name| state.size().parse_point(name).unwrap()).collect()
}

fn sheet(case: &Json, rules: &str) -> Option<(GameState, ScoreSheet)> {
    let rules = Rules::by_name(rules).unwrap();
    let state = position(case, rules)?;
    let sheet = score_position(&state, rules, komi(case), 0, &dead(&state, case));
    Some((state, sheet))
}

#[test]
fn areas_are_counted_as_elsewhere() {
    for case in facts().iter().filter(|case| case["method"] == "area") {
        let expected = &case["expected"];
        let Some((state, sheet)) = sheet(case, "tromp-taylor") else { continue };
        for (key, color) in [("B_area", Color::Black), ("W_area", Color::White)] {
            if let Some(area) = expected[key].as_u64() {
                assert_eq!(u64::from(sheet.owned(color)), area, "{} {key}", case["id"]);
            }
        }
        if let Some(lead) = expected["B_minus_W_minus_komi"].as_f64() {
            assert_eq!(state.score_now(), Outcome::from_black_lead((2.0 * lead) as i32));
            assert_eq!(f64::from(sheet.black_lead_half_points()), 2.0 * lead);
        }
        if let Some(text) = expected["RE"].as_str() {
            assert_eq!(sheet.result_text(), text);
        }
        if let Some(text) = expected["tromp_taylor_no_removal"].as_str() {
            assert_eq!(sheet.result_text(), text);
            let removed = text_after_removal(&state, "F5");
            assert_eq!(Some(&*removed), expected["chinese_with_dead_F5_removed"].as_str());
        }
    }
}

fn text_after_removal(state: &GameState, dead: &str) -> String {
    let dead = [state.size().parse_point(dead).unwrap()];
    let rules = Rules::by_name("chinese").unwrap();
    score_position(state, rules, Komi::default(), 0, &dead).result_text()
}

#[test]
fn territory_of_played_games_is_counted_as_elsewhere() {
    for case in facts().iter().filter(|case| case["method"] == "territory") {
        let expected = &case["expected"];
        for rules in ["japanese", "japanese,tax=none"] {
            let Some((state, sheet)) = sheet(case, rules) else { continue };
            assert_eq!(u64::from(sheet.owned(Color::Black)), expected["B_territory"]);
            assert_eq!(u64::from(sheet.owned(Color::White)), expected["W_territory"]);
            assert_eq!(sheet.result_text(), expected["RE"].as_str().unwrap());
            assert_eq!(state.outcome(), Some(sheet.outcome));
        }
    }
}

#[test]
fn seki_and_false_eyes_are_judged_as_by_goscorer() {
    for case in facts().iter().filter(|case| case["tier"] == "advanced-japanese") {
        let expected = &case["expected"];
        let Some((state, sheet)) = sheet(case, "japanese") else { continue };
        let width = state.size().width();
        let letter = |owner: &Option<Color>| owner.map_or('.', Color::letter);
        let map: Vec<String> =
            sheet.owner.chunks(width).map(|row| row.iter().map(letter).collect()).collect();
        assert_eq!(map, texts(&expected["territory_map"]), "{}", case["id"]);
        for (color, territory, lost) in [
            (Color::Black, "B_territory_points", "W_dead_stones_marked"),
            (Color::White, "W_territory_points", "B_dead_stones_marked"),
        ] {
            assert_eq!(u64::from(sheet.owned(color)), expected[territory], "{}", case["id"]);
            assert_eq!(u64::from(sheet.prisoners[color.index()]), expected[lost]);
        }
    }
}
