//! Rules as KataGo's GTP extensions write them: a name, or a JSON object of its own keys.

use serde_json::{Value, json};
use tengen_rules::{HandicapBonus, KoRule, Rules, Scoring, Tax};

use crate::error::GtpError;

/// Reads the words behind `kata-set-rules`.
///
/// # Errors
/// On unknown rules, and on rules that contradict themselves.
pub(crate) fn parse(text: &str) -> Result<Rules, GtpError> {
    let name = match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(parts)) => {
            let part = |(key, value): (&String, &Value)| {
                let word = value.as_str().map_or_else(|| value.to_string(), str::to_lowercase);
                match key.as_str() {
                    "hasButton" => format!("button={word}"),
                    "friendlyPassOk" => format!("friendly_pass={word}"),
                    "whiteHandicapBonus" => format!("handicap_bonus={word}"),
                    key => format!("{key}={word}"),
                }
            };
            parts.iter().map(part).collect::<Vec<_>>().join(",")
        }
        // Clients write `stone_scoring` and `new zealand` too.
        _ if !text.contains('=') => text.trim().to_lowercase().replace([' ', '_'], "-"),
        _ => text.trim().to_lowercase(),
    };
    let rules = Rules::by_name(&name).map_err(|e| GtpError::Rules(e.to_string()))?;
    rules.playable().map_err(|e| GtpError::Rules(e.to_string()))?;
    Ok(rules)
}

/// `rules` with one part changed, by KataGo's name of it.
///
/// # Errors
/// As [`parse`].
pub(crate) fn with_part(rules: Rules, key: &str, value: &str) -> Result<Rules, GtpError> {
    let mut parts: serde_json::Map<String, Value> =
        serde_json::from_str(&to_json(rules)).map_err(|e| GtpError::Rules(e.to_string()))?;
    if !parts.contains_key(key) {
        return Err(GtpError::Rules(key.chars().take(40).collect()));
    }
    parts.insert(key.to_owned(), Value::String(value.to_owned()));
    parse(&Value::Object(parts).to_string())
}

/// The answer to `kata-get-rules`.
pub(crate) fn to_json(rules: Rules) -> String {
    let ko = match rules.ko {
        KoRule::Simple => "SIMPLE",
        KoRule::Positional => "POSITIONAL",
        KoRule::Situational => "SITUATIONAL",
    };
    let scoring = match rules.scoring {
        Scoring::Area => "AREA",
        Scoring::Territory => "TERRITORY",
    };
    let tax = match rules.tax {
        Tax::None => "NONE",
        Tax::Seki => "SEKI",
        Tax::All => "ALL",
    };
    let bonus = match rules.handicap_bonus {
        HandicapBonus::Zero => "0",
        HandicapBonus::N => "N",
        HandicapBonus::NMinusOne => "N-1",
    };
    json!({
        "ko": ko, "scoring": scoring, "tax": tax, "suicide": rules.suicide,
        "hasButton": rules.button, "whiteHandicapBonus": bonus,
        "friendlyPassOk": rules.friendly_pass,
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_answered_reads_back() {
        for name in ["tromp-taylor", "chinese", "aga", "new-zealand", "ko=simple,suicide=true"] {
            let Ok(rules) = parse(name) else { continue };
            assert_eq!(parse(&to_json(rules)).unwrap(), rules, "{name}");
        }
        assert_eq!(parse("Tromp-Taylor").unwrap(), Rules::tromp_taylor());
    }

    #[test]
    fn rules_that_cannot_be_scored_are_refused() {
        assert!(matches!(parse("japanese,button=true"), Err(GtpError::Rules(_))));
        assert!(matches!(parse("marsian"), Err(GtpError::Rules(_))));
        assert!(matches!(parse("{\"ko\":3}"), Err(GtpError::Rules(_))));
    }
}
