//! What game is played: the `[rules]` section and what it means.

use serde::{Deserialize, Serialize};
use tengen_rules::{BoardSize, GameState, Komi, Rules};
use thiserror::Error;

/// The board of a config: `6` is a square, `[9, 7]` is 9 columns by 7 rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum BoardSpec {
    /// A square board, its side in points.
    Square(usize),
    /// Width and height in points.
    Rectangle([usize; 2]),
}

/// The `[rules]` section: the game a run learns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RulesConfig {
    /// Board in points: a side, or `[width, height]`. Default 6; AGZ 19.
    pub board: BoardSpec,
    /// A rule set by name or by parts (`"ko=positional,scoring=area"`). Default `"tromp-taylor"`;
    /// AGZ played Chinese scoring with superko, which is Tromp–Taylor without suicide.
    pub rules: String,
    /// Points given to White, a multiple of 0.5. Default 3.5; AGZ 7.5 on 19×19.
    pub komi: f64,
}

impl Default for RulesConfig {
    fn default() -> Self {
        RulesConfig { board: BoardSpec::Square(6), rules: "tromp-taylor".into(), komi: 3.5 }
    }
}

/// What kind of game: everything that holds for all games of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GameSettings {
    /// The board.
    pub size: BoardSize,
    /// The rule set.
    pub rules: Rules,
    /// Points for White.
    pub komi: Komi,
}

/// A `[rules]` section that names no game.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}", .problems.join("; "))]
pub struct SettingsError {
    /// Every problem, each naming its key.
    pub problems: Vec<String>,
}

impl RulesConfig {
    /// Every problem of the section, each naming its key; empty when it can be played.
    pub fn validate(&self) -> Vec<String> {
        self.settings().err().map(|e| e.problems).unwrap_or_default()
    }

    /// The settings this section describes.
    ///
    /// # Errors
    /// All problems at once: a board out of range, a rule set that is unknown or that no finished
    /// game can be scored under, a komi that is no half.
    pub fn settings(&self) -> Result<GameSettings, SettingsError> {
        let size = match self.board {
            BoardSpec::Square(side) => BoardSize::square(side),
            BoardSpec::Rectangle([width, height]) => BoardSize::new(width, height),
        };
        let size = size.map_err(|e| format!("rules.board: {e}"));
        let rules = Rules::by_name(&self.rules)
            .and_then(|rules| rules.playable().map(|()| rules))
            .map_err(|e| format!("rules.rules: {e}"));
        let komi = Komi::from_points(self.komi).map_err(|e| format!("rules.komi: {e}"));
        match (size, rules, komi) {
            (Ok(size), Ok(rules), Ok(komi)) => Ok(GameSettings { size, rules, komi }),
            (size, rules, komi) => Err(SettingsError {
                problems: [size.err(), rules.err(), komi.err()].into_iter().flatten().collect(),
            }),
        }
    }
}

impl GameSettings {
    /// The position a game starts from.
    pub fn initial_state(&self) -> GameState {
        GameState::new(self.size, self.rules, self.komi)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_board_is_a_side_or_a_pair() {
        let square: RulesConfig = toml::from_str("board = 7\nkomi = 8.5").unwrap();
        assert_eq!(square.settings().unwrap().size, BoardSize::square(7).unwrap());
        let wide: RulesConfig = toml::from_str("board = [5, 3]").unwrap();
        let settings = wide.settings().unwrap();
        assert_eq!((settings.size.width(), settings.size.height()), (5, 3));
        assert_eq!(settings.komi, Komi::from_points(3.5).unwrap());
        assert_eq!(settings.rules, Rules::tromp_taylor());
    }

    #[test]
    fn every_problem_is_named() {
        let bad: RulesConfig =
            toml::from_str("board = 99\nrules = \"calvinball\"\nkomi = 0.3").unwrap();
        let problems = bad.validate();
        assert_eq!(problems.len(), 3, "{problems:?}");
        for (problem, key) in problems.iter().zip(["rules.board", "rules.rules", "rules.komi"]) {
            assert!(problem.starts_with(key), "{problem}");
        }
        let odd = RulesConfig { rules: "japanese,button=true".into(), ..RulesConfig::default() };
        assert_eq!(odd.validate().len(), 1, "no rule set has a button under territory scoring");
        assert!(RulesConfig::default().validate().is_empty());
        assert!(toml::from_str::<RulesConfig>("bord = 9").is_err());
    }
}
