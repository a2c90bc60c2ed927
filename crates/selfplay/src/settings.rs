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
    /// Other games that self-play plays too, each with its share of all games (`[[rules.also]]`); what
    /// is left is the share of the game above, which networks are judged by. Default none; KataGo
    /// trains on 9×9 to 19×19 and all its rules at once.
    pub also: Vec<OtherGame>,
}

/// A game that a run learns beside its main one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OtherGame {
    /// Its share of all games, above 0; all of them together stay below 1.
    pub share: f64,
    /// Board in points: a side, or `[width, height]`.
    pub board: BoardSpec,
    /// A rule set, as `rules.rules`; the main game's unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<String>,
    /// Points given to White; the main game's unless given. Half a board's worth of points differs
    /// from board to board, so it mostly is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub komi: Option<f64>,
}

impl Default for RulesConfig {
    fn default() -> Self {
        RulesConfig {
            board: BoardSpec::Square(6),
            rules: "tromp-taylor".into(),
            komi: 3.5,
            also: Vec::new(),
        }
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
        let main = self.settings().err().map(|e| e.problems).unwrap_or_default();
        let others = self.others().err().map(|e| e.problems).unwrap_or_default();
        main.into_iter().chain(others).collect()
    }

    /// The games beside the main one, each with its share of all games.
    ///
    /// # Errors
    /// All problems at once, as [`settings`](Self::settings) and with shares that are not above 0
    /// or leave nothing for the main game.
    pub fn others(&self) -> Result<Vec<(f64, GameSettings)>, SettingsError> {
        let (mut games, mut problems) = (Vec::new(), Vec::new());
        for (index, other) in self.also.iter().enumerate() {
            let key = format!("rules.also[{index}]");
            if !(other.share > 0.0 && other.share < 1.0) {
                problems
                    .push(format!("{key}.share = {}: must be above 0 and below 1", other.share));
            }
            let rules = other.rules.as_ref().unwrap_or(&self.rules);
            match settings(&key, other.board, rules, other.komi.unwrap_or(self.komi)) {
                Ok(settings) => games.push((other.share, settings)),
                Err(error) => problems.extend(error.problems),
            }
        }
        let shares: f64 = self.also.iter().map(|other| other.share).sum();
        if problems.is_empty() && shares >= 1.0 {
            problems.push(format!(
                "rules.also: the shares sum to {shares}, which leaves no game for the main board"
            ));
        }
        if problems.is_empty() { Ok(games) } else { Err(SettingsError { problems }) }
    }

    /// The settings of the main game.
    ///
    /// # Errors
    /// All problems at once: a board out of range, a rule set that is unknown or that no finished
    /// game can be scored under, a komi that is no half.
    pub fn settings(&self) -> Result<GameSettings, SettingsError> {
        settings("rules", self.board, &self.rules, self.komi)
    }
}

/// The settings that a section called `key` describes.
fn settings(
    key: &str,
    board: BoardSpec,
    rules: &str,
    komi: f64,
) -> Result<GameSettings, SettingsError> {
    let size = match board {
        BoardSpec::Square(side) => BoardSize::square(side),
        BoardSpec::Rectangle([width, height]) => BoardSize::new(width, height),
    };
    let size = size.map_err(|e| format!("{key}.board: {e}"));
    let rules = Rules::by_name(rules)
        .and_then(|rules| rules.playable().map(|()| rules))
        .map_err(|e| format!("{key}.rules: {e}"));
    let komi = Komi::from_points(komi).map_err(|e| format!("{key}.komi: {e}"));
    match (size, rules, komi) {
        (Ok(size), Ok(rules), Ok(komi)) => Ok(GameSettings { size, rules, komi }),
        (size, rules, komi) => Err(SettingsError {
            problems: [size.err(), rules.err(), komi.err()].into_iter().flatten().collect(),
        }),
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
    fn games_beside_the_main_one_inherit_what_they_do_not_say() {
        let text = "board = 7\nkomi = 8.5\n[[also]]\nshare = 0.25\nboard = [5, 4]\n\
                    [[also]]\nshare = 0.25\nboard = 9\nrules = \"chinese\"\nkomi = 7.0";
        let mixed: RulesConfig = toml::from_str(text).unwrap();
        let others = mixed.others().unwrap();
        let named = |index: usize| Rules::by_name(["tromp-taylor", "chinese"][index]).unwrap();
        assert_eq!(others.len(), 2);
        assert_eq!(others[0].1.komi, Komi::from_points(8.5).unwrap());
        assert_eq!((others[0].1.rules, others[1].1.rules), (named(0), named(1)));
        assert_eq!(others[1].1.size, BoardSize::square(9).unwrap());
        let again: RulesConfig = toml::from_str(&toml::to_string(&mixed).unwrap()).unwrap();
        assert_eq!(again, mixed);
    }

    #[test]
    fn shares_leave_something_for_the_main_game() {
        let text = "[[also]]\nshare = 0.5\nboard = 5\n[[also]]\nshare = 0.5\nboard = 99";
        let bad: RulesConfig = toml::from_str(text).unwrap();
        assert!(bad.validate()[0].starts_with("rules.also[1].board"), "{:?}", bad.validate());
        let full: RulesConfig = toml::from_str(&text.replace("99", "4")).unwrap();
        assert!(full.validate()[0].contains("leaves no game"), "{:?}", full.validate());
        let none: RulesConfig = toml::from_str("[[also]]\nshare = 0.0\nboard = 5").unwrap();
        assert_eq!(none.validate().len(), 1);
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
