//! Rules in KataGo's own forms: a JSON object, and the shorthand that its SGF files carry.

use crate::rule_set::{Rules, RulesError};
use crate::rule_text::{BONUS, KO, SCORING, TAX, word_of};
use serde_json::{Map, Value};

impl Rules {
    /// Reads rules in any form: a name or our parts as [`by_name`](Self::by_name), KataGo's JSON
    /// object (`{"ko":"SIMPLE","scoring":"AREA",…}`), or its shorthand (`koSIMPLEscoreAREA…`).
    ///
    /// In KataGo's forms a missing part is as in Tromp–Taylor, a missing tax as usual for the
    /// scoring. Komi is no part of the rules here and is refused by name, as is Spight ko.
    ///
    /// # Errors
    /// When the text is in none of these forms, or holds an unknown name, key or value.
    pub fn parse_any(text: &str) -> Result<Rules, RulesError> {
        let text = text.trim();
        if text.starts_with('{') {
            return parse_json(text);
        }
        match Rules::by_name(text) {
            Err(RulesError::UnknownName { .. }) if text.starts_with("ko") => parse_shorthand(text),
            read => read,
        }
    }

    /// KataGo's JSON object, its keys in alphabetical order as KataGo writes them.
    pub fn to_katago_json(&self) -> String {
        let upper = |word: &str| Value::from(word.to_ascii_uppercase());
        let mut parts = Map::new();
        parts.insert("friendlyPassOk".into(), self.friendly_pass.into());
        parts.insert("hasButton".into(), self.button.into());
        parts.insert("ko".into(), upper(word_of(&KO, self.ko)));
        parts.insert("scoring".into(), upper(word_of(&SCORING, self.scoring)));
        parts.insert("suicide".into(), self.suicide.into());
        parts.insert("tax".into(), upper(word_of(&TAX, self.tax)));
        parts.insert("whiteHandicapBonus".into(), upper(word_of(&BONUS, self.handicap_bonus)));
        Value::Object(parts).to_string()
    }

    /// KataGo's shorthand without komi: `koPOSITIONALscoreAREAtaxNONEsui1`, then `button1`, `whbN`
    /// and `fpok1` where they differ from Tromp–Taylor.
    pub fn to_katago_shorthand(&self) -> String {
        let upper = str::to_ascii_uppercase;
        let mut text = format!(
            "ko{}score{}tax{}sui{}",
            upper(word_of(&KO, self.ko)),
            upper(word_of(&SCORING, self.scoring)),
            upper(word_of(&TAX, self.tax)),
            u8::from(self.suicide)
        );
        if self.button {
            text += "button1";
        }
        let bonus = word_of(&BONUS, self.handicap_bonus);
        if bonus != "0" {
            text += &format!("whb{}", upper(bonus));
        }
        if self.friendly_pass {
            text += "fpok1";
        }
        text
    }
}

fn parse_json(text: &str) -> Result<Rules, RulesError> {
    let parts: Map<String, Value> =
        serde_json::from_str(text).map_err(|e| RulesError::NotJson(e.to_string()))?;
    let mut rules = Rules::tromp_taylor();
    for (key, value) in &parts {
        let word = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        rules.set_part(key, &word)?;
    }
    Ok(if parts.contains_key("tax") { rules } else { rules.with_usual_tax() })
}

/// Prefixes of the shorthand and the keys they stand for, longer ones before those they begin with.
const PREFIXES: [(&str, &str); 8] = [
    ("ko", "ko"),
    ("scoring", "scoring"),
    ("score", "scoring"),
    ("tax", "tax"),
    ("sui", "suicide"),
    ("button", "button"),
    ("whb", "handicap_bonus"),
    ("fpok", "friendly_pass"),
];

fn parse_shorthand(text: &str) -> Result<Rules, RulesError> {
    let mut rules = Rules::tromp_taylor();
    let mut tax_stated = false;
    let mut rest = text;
    while !rest.is_empty() {
        if rest.starts_with("komi") {
            return Err(RulesError::UnknownKey { key: "komi".to_owned() });
        }
        let unknown = || RulesError::UnknownName { name: text.to_owned() };
        let (prefix, key) =
            *PREFIXES.iter().find(|(prefix, _)| rest.starts_with(prefix)).ok_or_else(unknown)?;
        let tail = rest[prefix.len()..].trim_start();
        // Values are capitals and digits, keys small letters; `N-1` holds the only other sign.
        let end = tail
            .find(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-'))
            .unwrap_or(tail.len());
        rules.set_part(key, &tail[..end])?;
        tax_stated |= key == "tax";
        rest = tail[end..].trim_start();
    }
    Ok(if tax_stated { rules } else { rules.with_usual_tax() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule_text::every_combination;
    use crate::{KoRule, Scoring, Tax};

    #[test]
    fn every_combination_reads_back_from_both_forms() {
        for rules in every_combination() {
            assert_eq!(Rules::parse_any(&rules.to_katago_json()), Ok(rules));
            assert_eq!(Rules::parse_any(&rules.to_katago_shorthand()), Ok(rules));
            assert_eq!(Rules::parse_any(&rules.to_string()), Ok(rules));
        }
    }

    #[test]
    fn the_texts_are_those_that_katago_writes() {
        let rules = Rules::by_name("aga-button").unwrap();
        assert_eq!(
            rules.to_katago_json(),
            r#"{"friendlyPassOk":true,"hasButton":true,"ko":"SITUATIONAL","scoring":"AREA","suicide":false,"tax":"NONE","whiteHandicapBonus":"N-1"}"#
        );
        assert_eq!(
            rules.to_katago_shorthand(),
            "koSITUATIONALscoreAREAtaxNONEsui0button1whbN-1fpok1"
        );
    }

    #[test]
    fn missing_parts_are_those_of_tromp_taylor_and_the_usual_tax() {
        let rules = Rules::parse_any(r#" {"scoring":"TERRITORY","ko":"SIMPLE"} "#).unwrap();
        assert_eq!((rules.ko, rules.tax, rules.suicide), (KoRule::Simple, Tax::Seki, true));
        assert_eq!(Rules::parse_any("koSIMPLE scoreTERRITORY").unwrap().tax, Tax::Seki);
        assert_eq!(Rules::parse_any("{}"), Ok(Rules::tromp_taylor()));
        assert_eq!(Rules::parse_any(r#"{"score":"area"}"#).unwrap().scoring, Scoring::Area);
    }

    #[test]
    fn mistakes_in_either_form_are_named() {
        for (text, message) in [
            (r#"{"ko":"SPIGHT"}"#, "SPIGHT"),
            (r#"{"ko":3}"#, "3"),
            (r#"{"suicide":"yes"}"#, "yes"),
            (r#"{"komi":7.5}"#, "komi"),
            (r#"{"ko":"SIMPLE""#, "JSON"),
            ("{", "JSON"),
            ("koSIMPLEkomi7.5", "komi"),
            ("koSIMPLEscoreAREA!", "!"),
            ("koSPIGHTscoreAREA", "SPIGHT"),
            ("koé", "\"\""),
            ("marsian", "marsian"),
            ("", "\"\""),
        ] {
            let error = Rules::parse_any(text).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
