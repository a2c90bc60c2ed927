//! Rules as text: a name, parts, or what KataGo writes.

use crate::rule_names::{name_of, rules_of};
use crate::rule_set::{HandicapBonus, KoRule, Rules, RulesError, Scoring, Tax};
use std::fmt;
use std::str::FromStr;

/// The parts, in the order they are written.
pub(crate) const KEYS: [&str; 7] =
    ["ko", "scoring", "tax", "suicide", "button", "handicap_bonus", "friendly_pass"];

pub(crate) const KO: [(&str, KoRule); 3] = [
    ("simple", KoRule::Simple),
    ("positional", KoRule::Positional),
    ("situational", KoRule::Situational),
];
pub(crate) const SCORING: [(&str, Scoring); 2] =
    [("area", Scoring::Area), ("territory", Scoring::Territory)];
pub(crate) const TAX: [(&str, Tax); 3] =
    [("none", Tax::None), ("seki", Tax::Seki), ("all", Tax::All)];
pub(crate) const BONUS: [(&str, HandicapBonus); 3] =
    [("0", HandicapBonus::Zero), ("n", HandicapBonus::N), ("n-1", HandicapBonus::NMinusOne)];

impl Rules {
    /// Reads a name (`tromp-taylor`, `chinese`, `aga`, …) or parts: `ko=simple,suicide=false`,
    /// each missing part as in Tromp–Taylor (under territory scoring, the tax as in Japan); a name
    /// may come first (`chinese,ko=positional`).
    ///
    /// # Errors
    /// When a name, key or value is unknown.
    pub fn by_name(text: &str) -> Result<Rules, RulesError> {
        let mut parts = text.split(',').map(str::trim).peekable();
        let mut rules = Rules::tromp_taylor();
        let mut tax_stated = false;
        if let Some(name) = parts.next_if(|part| !part.contains('=')) {
            rules =
                rules_of(name).ok_or_else(|| RulesError::UnknownName { name: name.to_owned() })?;
            tax_stated = true;
        }
        for part in parts {
            let (key, value) = part
                .split_once('=')
                .ok_or_else(|| RulesError::UnknownName { name: part.to_owned() })?;
            rules.set_part(key.trim(), value.trim())?;
            tax_stated |= key.trim() == "tax";
        }
        Ok(if tax_stated { rules } else { rules.with_usual_tax() })
    }

    /// Changes one part by its key, ours (`button`) or KataGo's (`hasButton`), case aside.
    ///
    /// # Errors
    /// When the key or the value is unknown; the rules then stay as they were.
    pub fn set_part(&mut self, key: &str, value: &str) -> Result<(), RulesError> {
        let bad = || RulesError::UnknownValue { key: key.to_owned(), value: value.to_owned() };
        let flag = || match value.to_ascii_lowercase().as_str() {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err(bad()),
        };
        match key {
            "ko" => self.ko = word(&KO, value).ok_or_else(bad)?,
            "scoring" | "score" => self.scoring = word(&SCORING, value).ok_or_else(bad)?,
            "tax" => self.tax = word(&TAX, value).ok_or_else(bad)?,
            "suicide" => self.suicide = flag()?,
            "button" | "hasButton" => self.button = flag()?,
            "handicap_bonus" | "whiteHandicapBonus" => {
                self.handicap_bonus = word(&BONUS, value).ok_or_else(bad)?;
            }
            "friendly_pass" | "friendlyPassOk" => self.friendly_pass = flag()?,
            _ => return Err(RulesError::UnknownKey { key: key.to_owned() }),
        }
        Ok(())
    }

    /// The tax that goes with the scoring where none is stated.
    pub(crate) fn with_usual_tax(self) -> Rules {
        let tax = match self.scoring {
            Scoring::Area => Tax::None,
            Scoring::Territory => Tax::Seki,
        };
        Rules { tax, ..self }
    }
}

fn word<T: Copy>(words: &[(&str, T)], text: &str) -> Option<T> {
    words.iter().find(|(w, _)| w.eq_ignore_ascii_case(text)).map(|&(_, value)| value)
}

/// The word of a value; every value has one.
pub(crate) fn word_of<T: Copy + PartialEq>(words: &[(&'static str, T)], value: T) -> &'static str {
    words.iter().find(|(_, v)| *v == value).map_or("", |(w, _)| w)
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = name_of(self) {
            return f.write_str(name);
        }
        write!(
            f,
            "ko={},scoring={},tax={},suicide={},button={},handicap_bonus={},friendly_pass={}",
            word_of(&KO, self.ko),
            word_of(&SCORING, self.scoring),
            word_of(&TAX, self.tax),
            self.suicide,
            self.button,
            word_of(&BONUS, self.handicap_bonus),
            self.friendly_pass
        )
    }
}

impl FromStr for Rules {
    type Err = RulesError;

    fn from_str(text: &str) -> Result<Rules, RulesError> {
        Rules::by_name(text)
    }
}

impl TryFrom<String> for Rules {
    type Error = RulesError;

    fn try_from(text: String) -> Result<Rules, RulesError> {
        Rules::by_name(&text)
    }
}

impl From<Rules> for String {
    fn from(rules: Rules) -> String {
        rules.to_string()
    }
}

/// Every combination of parts, for the tests of each form.
#[cfg(test)]
pub(crate) fn every_combination() -> Vec<Rules> {
    let mut all = Vec::new();
    for (_, ko) in KO {
        for (_, scoring) in SCORING {
            for (_, tax) in TAX {
                for (_, handicap_bonus) in BONUS {
                    for flags in 0..8 {
                        all.push(Rules {
                            ko,
                            scoring,
                            tax,
                            handicap_bonus,
                            suicide: flags & 1 > 0,
                            button: flags & 2 > 0,
                            friendly_pass: flags & 4 > 0,
                        });
                    }
                }
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_reads_back() {
        for rules in every_combination() {
            assert_eq!(rules.to_string().parse(), Ok(rules));
        }
    }

    #[test]
    fn names_and_parts_mix_and_mistakes_are_named() {
        let rules = Rules::by_name("Chinese, ko=positional").unwrap();
        assert_eq!(rules.to_string(), "chinese-ogs");
        assert_eq!(Rules::by_name("scoring=territory").unwrap().tax, Tax::Seki);
        assert_eq!(Rules::by_name("scoring=territory,tax=none").unwrap().tax, Tax::None);
        for (text, message) in [
            ("chess", "chess"),
            ("ko=none", "none"),
            ("komi=7", "komi"),
            ("ko=simple,aga", "aga"),
            ("", "\"\""),
        ] {
            let error = Rules::by_name(text).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn only_the_button_with_territory_is_refused() {
        for rules in every_combination() {
            let refused = rules.button && rules.scoring == Scoring::Territory;
            assert_eq!(rules.playable().is_err(), refused, "{rules}");
        }
    }
}
