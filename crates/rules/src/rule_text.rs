//! Rules as text: names and parts, read and written.

use crate::rule_set::{HandicapBonus, KoRule, Rules, RulesError, Scoring, Tax};
use std::fmt;
use std::str::FromStr;

/// The parts, in the order they are written.
pub(crate) const KEYS: [&str; 7] =
    ["ko", "scoring", "tax", "suicide", "button", "handicap_bonus", "friendly_pass"];

const NAMES: [(&str, Rules); 8] = {
    let area = Rules::tromp_taylor();
    let chinese = Rules {
        ko: KoRule::Simple,
        suicide: false,
        handicap_bonus: HandicapBonus::N,
        friendly_pass: true,
        ..area
    };
    let aga =
        Rules { ko: KoRule::Situational, handicap_bonus: HandicapBonus::NMinusOne, ..chinese };
    let japanese = Rules {
        scoring: Scoring::Territory,
        tax: Tax::Seki,
        handicap_bonus: HandicapBonus::Zero,
        ..chinese
    };
    [
        ("tromp-taylor", area),
        ("cgos", Rules { suicide: false, ..area }),
        ("chinese", chinese),
        ("chinese-ogs", Rules { ko: KoRule::Positional, ..chinese }),
        ("aga", aga),
        ("new-zealand", Rules { suicide: true, handicap_bonus: HandicapBonus::Zero, ..aga }),
        ("japanese", japanese),
        ("stone-scoring", Rules { tax: Tax::All, handicap_bonus: HandicapBonus::Zero, ..chinese }),
    ]
};

/// Other spellings of the same rules.
const ALIASES: [(&str, &str); 7] = [
    ("trompTaylor", "tromp-taylor"),
    ("tromp_taylor", "tromp-taylor"),
    ("chinese-kgs", "chinese-ogs"),
    ("bga", "aga"),
    ("french", "aga"),
    ("nz", "new-zealand"),
    ("korean", "japanese"),
];

/// The names, for messages.
pub(crate) fn known() -> String {
    NAMES.map(|(name, _)| name).join(", ")
}

fn named(text: &str) -> Option<Rules> {
    let alias = ALIASES.iter().find(|(from, _)| from.eq_ignore_ascii_case(text));
    let name = alias.map_or(text, |(_, to)| to);
    NAMES.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|&(_, rules)| rules)
}

pub(crate) fn parse(text: &str) -> Result<Rules, RulesError> {
    let mut rules = Rules::tromp_taylor();
    for (i, part) in text.split(',').map(str::trim).enumerate() {
        match part.split_once('=') {
            Some((key, value)) => set(&mut rules, key.trim(), value.trim())?,
            None => {
                rules = (i == 0)
                    .then(|| named(part))
                    .flatten()
                    .ok_or_else(|| RulesError::UnknownName { name: part.to_owned() })?;
            }
        }
    }
    Ok(rules)
}

fn set(rules: &mut Rules, key: &str, value: &str) -> Result<(), RulesError> {
    let bad = || RulesError::UnknownValue { key: key.to_owned(), value: value.to_owned() };
    let flag = || value.parse::<bool>().map_err(|_| bad());
    match key {
        "ko" => rules.ko = word(&KO, value).ok_or_else(bad)?,
        "scoring" => rules.scoring = word(&SCORING, value).ok_or_else(bad)?,
        "tax" => rules.tax = word(&TAX, value).ok_or_else(bad)?,
        "suicide" => rules.suicide = flag()?,
        "button" => rules.button = flag()?,
        "handicap_bonus" => rules.handicap_bonus = word(&BONUS, value).ok_or_else(bad)?,
        "friendly_pass" => rules.friendly_pass = flag()?,
        _ => return Err(RulesError::UnknownKey { key: key.to_owned() }),
    }
    Ok(())
}

const KO: [(&str, KoRule); 3] = [
    ("simple", KoRule::Simple),
    ("positional", KoRule::Positional),
    ("situational", KoRule::Situational),
];
const SCORING: [(&str, Scoring); 2] = [("area", Scoring::Area), ("territory", Scoring::Territory)];
const TAX: [(&str, Tax); 3] = [("none", Tax::None), ("seki", Tax::Seki), ("all", Tax::All)];
const BONUS: [(&str, HandicapBonus); 3] =
    [("0", HandicapBonus::Zero), ("n", HandicapBonus::N), ("n-1", HandicapBonus::NMinusOne)];

fn word<T: Copy>(words: &[(&str, T)], text: &str) -> Option<T> {
    words.iter().find(|(w, _)| w.eq_ignore_ascii_case(text)).map(|&(_, value)| value)
}

fn word_of<T: Copy + PartialEq>(words: &[(&'static str, T)], value: T) -> &'static str {
    words.iter().find(|(_, v)| *v == value).map_or("", |(w, _)| w)
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((name, _)) = NAMES.iter().find(|(_, rules)| rules == self) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_reads_back() {
        for (_, ko) in KO {
            for (_, scoring) in SCORING {
                for (_, tax) in TAX {
                    for (_, handicap_bonus) in BONUS {
                        for flags in 0..8 {
                            let rules = Rules {
                                ko,
                                scoring,
                                tax,
                                handicap_bonus,
                                suicide: flags & 1 > 0,
                                button: flags & 2 > 0,
                                friendly_pass: flags & 4 > 0,
                            };
                            assert_eq!(rules.to_string().parse(), Ok(rules));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn names_and_parts_mix_and_mistakes_are_named() {
        let rules = Rules::by_name("Chinese, ko=positional").unwrap();
        assert_eq!(rules.to_string(), "chinese-ogs");
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
    fn rules_that_cannot_be_scored_are_refused() {
        assert_eq!(
            Rules::by_name("japanese").unwrap().playable(),
            Err(RulesError::TerritoryScoring)
        );
        assert_eq!(Rules::by_name("stone-scoring").unwrap().playable(), Err(RulesError::GroupTax));
        assert_eq!(Rules::by_name("button=true").unwrap().playable(), Err(RulesError::Button));
        assert_eq!(Rules::by_name("aga").unwrap().playable(), Ok(()));
    }
}
