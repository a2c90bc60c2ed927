//! The `[gate]` section.

use serde::{Deserialize, Serialize};

/// How a match reaches its verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GateMode {
    /// All pairs, or until the remaining games cannot change the result.
    Fixed,
    /// Wald's sequential test between `elo0` and `elo1`, at most all pairs.
    #[default]
    Sprt,
}

/// How a candidate must prove itself against the best network. The defaults are the cheapest gate
/// known that promotes 90 % of +35 Elo, and at most 5 % of equals and of -35 Elo
/// (docs/judging.md).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GateConfig {
    /// `"fixed"` or `"sprt"`. Default sprt; the paper's is fixed.
    pub mode: GateMode,
    /// Pairs of games at most, each opening once with either colour; twice as many games. Default
    /// 800, of which about 225 are played; the paper plays 400 games.
    pub pairs: u32,
    /// The share of points that promotes, reached or passed, where all pairs are played; no winner
    /// counts half. Default 0.525; the paper asks for more than 0.55.
    pub threshold: f64,
    /// Simulations per move for either side. Default 200; the paper 1600.
    pub visits: u32,
    /// Moves of each opening, drawn from the mean of both networks' priors. Default 4; the paper
    /// has none.
    pub opening_moves: u32,
    /// Temperature of that draw: priors are raised to 1 / this. Default 1.
    pub opening_temperature: f64,
    /// Games played side by side, at most. Default 64.
    pub games_in_flight: usize,
    /// A game is scored as it stands after this times the board's area in moves. Default 2, the
    /// paper's 722 moves on 19x19.
    pub max_moves_factor: f64,
    /// The Elo lead that `sprt` rejects. Default 0.
    pub elo0: f64,
    /// The Elo lead that `sprt` accepts. Default 35, near 55 %.
    pub elo1: f64,
    /// Chance of promoting at `elo0`. Default 0.04.
    pub alpha: f64,
    /// Chance of rejecting at `elo1`. Default 0.08.
    pub beta: f64,
}

impl Default for GateConfig {
    fn default() -> GateConfig {
        GateConfig {
            mode: GateMode::Sprt,
            pairs: 800,
            threshold: 0.525,
            visits: 200,
            opening_moves: 4,
            opening_temperature: 1.0,
            games_in_flight: 64,
            max_moves_factor: 2.0,
            elo0: 0.0,
            elo1: 35.0,
            alpha: 0.04,
            beta: 0.08,
        }
    }
}

impl GateConfig {
    /// Games of a whole match: two a pair.
    pub fn games(&self) -> u32 {
        self.pairs.saturating_mul(2)
    }

    /// Every problem with the section, each naming its key; empty when it can be used.
    pub fn validate(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let mut need = |ok: bool, key: &str, found: &dyn std::fmt::Display, wanted: &str| {
            if !ok {
                problems.push(format!("gate.{key} is {found}, but must be {wanted}"));
            }
        };
        let pairs = (1..=1_000_000).contains(&self.pairs);
        need(pairs, "pairs", &self.pairs, "1 to 1000000");
        let threshold = self.threshold > 0.0 && self.threshold <= 1.0;
        need(threshold, "threshold", &self.threshold, "above 0 and at most 1");
        need(self.visits > 0, "visits", &self.visits, "at least 1");
        need(self.games_in_flight > 0, "games_in_flight", &self.games_in_flight, "at least 1");
        let temperature = self.opening_temperature;
        let ok = temperature.is_finite() && temperature > 0.0;
        need(ok, "opening_temperature", &temperature, "finite and above 0");
        let factor = (0.1..=10.0).contains(&self.max_moves_factor);
        need(factor, "max_moves_factor", &self.max_moves_factor, "0.1 to 10");
        let lead = |elo: f64| (-1000.0..=1000.0).contains(&elo);
        need(lead(self.elo0), "elo0", &self.elo0, "-1000 to 1000");
        need(lead(self.elo1), "elo1", &self.elo1, "-1000 to 1000");
        need(self.elo1 > self.elo0, "elo1", &self.elo1, "above gate.elo0");
        for (key, risk) in [("alpha", self.alpha), ("beta", self.beta)] {
            need(risk > 0.0 && risk < 0.5, key, &risk, "above 0 and below 0.5");
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_sound_and_every_problem_is_listed() {
        assert_eq!(GateConfig::default().validate(), Vec::<String>::new());
        let bad = GateConfig {
            pairs: 0,
            threshold: f64::NAN,
            elo1: -1.0,
            beta: 0.7,
            ..GateConfig::default()
        };
        let problems = bad.validate();
        assert_eq!(problems.len(), 4, "{problems:?}");
        assert!(problems.iter().all(|p| p.starts_with("gate.")));
    }

    #[test]
    fn unknown_keys_are_refused() {
        assert!(serde_json::from_str::<GateConfig>(r#"{"mode": "sprt", "pairs": 10}"#).is_ok());
        assert!(serde_json::from_str::<GateConfig>(r#"{"games": 10}"#).is_err());
    }
}
