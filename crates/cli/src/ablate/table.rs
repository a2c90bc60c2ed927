//! An ablation in words.

use std::fmt::Write as _;

use serde_json::Value;

use super::variants::Variant;

/// The switches that would be tried, and what turns each off.
pub fn of_switches(variants: &[Variant]) -> String {
    variants.iter().fold(String::new(), |mut text, variant| {
        let _ = writeln!(text, "{:<16} {}", variant.name, variant.change);
        text
    })
}

/// The result as a markdown table.
pub fn markdown(result: &Value) -> String {
    let words = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Null => "-".to_owned(),
        other => other.to_string(),
    };
    let mut text = format!(
        "{} each; matches of {} games at {} visits a move against the baseline's best net.\n\n\
         | variant | change | games | steps | minutes | promotions | won-lost-drawn | Elo [95 %] |\n\
         |---|---|---:|---:|---:|---:|---:|---:|\n",
        words(&result["budget"]),
        words(&result["match_games"]),
        words(&result["match_visits"]),
    );
    for row in result["variants"].as_array().into_iter().flatten() {
        let (run, game) = (&row["run"], &row["match"]);
        let elo = |key: &str| game[key].as_f64().unwrap_or(f64::NAN);
        let score = match game.is_null() {
            true => {
                ["-".to_owned(), if row["name"] == "baseline" { "0".into() } else { "-".into() }]
            }
            false => [
                format!("{}-{}-{}", game["wins"], game["losses"], game["draws"]),
                format!("{:+.0} [{:+.0}, {:+.0}]", elo("elo"), elo("elo_low"), elo("elo_high")),
            ],
        };
        let _ = writeln!(
            text,
            "| {} | `{}` | {} | {} | {:.1} | {} | {} | {} |",
            words(&row["name"]),
            words(&row["change"]),
            words(&run["games"]),
            words(&run["steps"]),
            row["minutes"].as_f64().unwrap_or(0.0),
            words(&run["promotions"]),
            score[0],
            score[1],
        );
    }
    text.push_str("\nBelow 0, the variant is weaker: what was switched off helps.\n");
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_row_for_each_variant_finished_or_not() {
        let result = json!({
            "budget": "9 games", "match_games": 4, "match_visits": 8,
            "variants": [
                { "name": "baseline", "change": "the config as it is", "minutes": 1.0,
                  "run": { "games": 9, "steps": 3, "promotions": 1 } },
                { "name": "reuse", "change": "selfplay.reuse_tree=false", "minutes": 2.25,
                  "run": { "games": 9, "steps": 3, "promotions": 0 },
                  "match": { "wins": 1, "losses": 2, "draws": 1, "elo": -88.7, "elo_low": -400.0,
                             "elo_high": 150.2 } },
                { "name": "noise", "change": "x", "minutes": 0.0, "run": null },
            ],
        });
        let text = markdown(&result);
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| ")).collect();
        assert_eq!(rows.len(), 4);
        assert_eq!(rows[1], "| baseline | `the config as it is` | 9 | 3 | 1.0 | 1 | - | 0 |");
        assert!(rows[2].ends_with("| 9 | 3 | 2.2 | 0 | 1-2-1 | -89 [-400, +150] |"), "{}", rows[2]);
        assert!(rows[3].ends_with("| - | - | 0.0 | - | - | - |"), "{}", rows[3]);
    }
}
