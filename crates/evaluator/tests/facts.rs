//! Statistics against other programs' numbers; skipped with a reason where the folder is absent.

#![allow(clippy::unwrap_used, reason = "a test stops at its first surprise")]

use serde_json::Value as Json;
use tengen_evaluator::{
    Counts, SprtModel, elo_of_score, elo_with_interval, likelihood_of_superiority, llr, ratings,
    sprt_bounds,
};

fn facts() -> Vec<Json> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/facts/elo.json");
    match std::fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text).unwrap(),
        Err(error) => {
            println!("skipped: elo.json: {error}");
            Vec::new()
        }
    }
}

fn near(found: f64, expected: &Json, tolerance: f64, id: &Json) {
    let expected = expected.as_f64().unwrap();
    assert!((found - expected).abs() <= tolerance, "{id}: {found}, not {expected}");
}

#[test]
fn likelihood_ratios_bounds_and_elo_match_other_programs() {
    for case in facts() {
        let (input, expected, id) = (&case["input"], &case["expected"], &case["id"]);
        let count = |key: &str| input[key].as_u64().unwrap_or(0) as u32;
        let number = |key: &str| input[key].as_f64().unwrap();
        let (w, l, d) = (count("wins"), count("losses"), count("draws"));
        let games = Counts::Games { wins: w, losses: l, draws: d };
        if !expected["llr_bernoulli"].is_null() {
            let found = llr(&games, number("elo0"), number("elo1"), SprtModel::Logistic);
            near(found.unwrap(), &expected["llr_bernoulli"], 1e-4, id);
        }
        if !expected["llr"].is_null() {
            let found = llr(&games, number("elo0"), number("elo1"), SprtModel::BayesElo).unwrap();
            near(found, &expected["llr"], expected["tolerance"].as_f64().unwrap(), id);
            near(found, &expected["llr_recomputed"], 1e-4, id);
        }
        if !expected["lower"].is_null() {
            let (lower, upper) = sprt_bounds(number("alpha"), number("beta"));
            near(lower, &expected["lower"], 1e-4, id);
            near(upper, &expected["upper"], 1e-4, id);
        }
        for (i, risks) in input["pairs"].as_array().into_iter().flatten().enumerate() {
            let (lower, upper) =
                sprt_bounds(risks[0].as_f64().unwrap(), risks[1].as_f64().unwrap());
            near(lower, &expected["lower_upper"][i][0], 1e-4, id);
            near(upper, &expected["lower_upper"][i][1], 1e-4, id);
        }
        if let Some(score) = input["score"].as_f64() {
            near(elo_of_score(score), &expected["elo"], 1e-4, id);
        }
        if !expected["error_95"].is_null() {
            let (elo, low, high) = elo_with_interval(w, l, d);
            near(elo, &expected["elo"], 1e-3, id);
            near((high - low) / 2.0, &expected["error_95"], 1e-2, id);
            let superior = 100.0 * likelihood_of_superiority(w, l);
            near(superior, &expected["LOS_percent"], 1e-3, id);
        }
    }
}

#[test]
fn ratings_order_players_as_other_programs_do() {
    for case in facts() {
        let Some(matrix) = case["input"]["win_matrix"].as_array() else { continue };
        let wins = |i: usize, j: usize| matrix[i][j].as_u64().unwrap() as u32;
        let mut results = Vec::new();
        for i in 0..matrix.len() {
            for j in 0..i {
                results.push((i, j, wins(i, j), wins(j, i), 0));
            }
        }
        let rated = ratings(matrix.len(), &results, matrix.len() - 1);
        let elo = |i: usize| rated[i].elo;
        match case["id"].as_str().unwrap() {
            "st-bt-2players" => {
                near(elo(0) - elo(1), &case["expected"]["rating_diff"], 0.5, &case["id"])
            }
            "st-bt-3players" => {
                assert!((elo(0) - elo(2)).abs() < 0.5 && elo(1) < elo(0), "{rated:?}");
            }
            "st-bt-3players-sco" => assert!(elo(0) > elo(2) && elo(2) > elo(1), "{rated:?}"),
            _ => {}
        }
    }
}

/// Ratios that fastchess's own tests assert to 1 % (app/tests/sprt_test.cpp, commit 0cbac49), and
/// that its authors compute with the same maximum-likelihood solver as fishtest.
#[test]
fn generalised_likelihood_ratios_match_fastchess() {
    use SprtModel::{Logistic, Normalized};
    let games = |wins, losses, draws| Counts::Games { wins, losses, draws };
    // fastchess lists lost pairs, lost and drawn, won and lost, twice drawn, won and drawn, won.
    let pairs = |ll, ld, wl: u32, dd: u32, wd, ww| Counts::Pairs([ll, ld, wl + dd, wd, ww]);
    for (counts, elo0, elo1, model, expected) in [
        (games(36433, 36027, 68692), 0.0, 2.0, Normalized, 0.92),
        (games(10871, 10650, 20431), -1.75, 0.25, Normalized, 2.30),
        (games(21404, 21184, 40708), 0.5, 2.5, Logistic, -1.57),
        (games(57433, 57030, 106593), 0.0, 2.0, Logistic, -2.59),
        (pairs(365, 16618, 36029, 200, 16974, 390), 0.0, 2.0, Normalized, 2.25),
        (pairs(127, 4883, 10311, 401, 5150, 104), -1.75, 0.25, Normalized, 3.01),
        (pairs(223, 9863, 20279, 1000, 10037, 246), 0.5, 2.5, Logistic, -3.07),
        (pairs(871, 26175, 55003, 980, 26678, 821), 0.0, 2.0, Logistic, -4.98),
    ] {
        let found = llr(&counts, elo0, elo1, model).unwrap();
        // The published numbers have two decimals.
        assert!((found - expected).abs() <= 0.0101, "{counts:?} {model}: {found}, not {expected}");
    }
    assert_eq!(llr(&pairs(1, 1, 1, 1, 1, 1), 0.0, 5.0, SprtModel::BayesElo), None);
}
