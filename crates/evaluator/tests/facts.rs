//! Statistics against other programs' numbers; skipped with a reason where the folder is absent.

#![allow(clippy::unwrap_used, reason = "a test stops at its first surprise")]

use serde_json::Value as Json;
use tengen_evaluator::{
    elo_of_score, elo_with_interval, likelihood_of_superiority, llr_bayeselo, llr_logistic,
    ratings, sprt_bounds,
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
        if !expected["llr_bernoulli"].is_null() {
            let llr = llr_logistic(f64::from(w), f64::from(l), number("elo0"), number("elo1"));
            near(llr, &expected["llr_bernoulli"], 1e-5, id);
        }
        if !expected["llr"].is_null() {
            let llr = llr_bayeselo(w, l, d, number("elo0"), number("elo1"));
            near(llr, &expected["llr"], 0.01, id);
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
