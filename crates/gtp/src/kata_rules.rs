//! Rules as controllers write them: a name, KataGo's JSON object or its shorthand.

use serde_json::{Map, Value};
use tengen_rules::Rules;

use crate::error::GtpError;

/// Reads rules in any form, names in any case and with blanks or underscores too.
///
/// # Errors
/// On unknown rules, and on rules that contradict themselves.
pub(crate) fn parse(text: &str) -> Result<Rules, GtpError> {
    let spoken = text.trim().to_lowercase().replace([' ', '_'], "-");
    let rules = Rules::parse_any(text).or_else(|error| Rules::by_name(&spoken).map_err(|_| error));
    let rules = rules.map_err(|e| GtpError::Rules(e.to_string()))?;
    rules.playable().map_err(|e| GtpError::Rules(e.to_string()))?;
    Ok(rules)
}

/// `rules` with one part changed, by KataGo's name of it.
///
/// # Errors
/// As [`parse`].
pub(crate) fn with_part(rules: Rules, key: &str, value: &str) -> Result<Rules, GtpError> {
    let mut parts: Map<String, Value> = serde_json::from_str(&rules.to_katago_json())
        .map_err(|e| GtpError::Rules(e.to_string()))?;
    if !parts.contains_key(key) {
        return Err(GtpError::Rules(key.chars().take(40).collect()));
    }
    let value = value.parse().map_or_else(|_| Value::from(value), Value::Bool);
    parts.insert(key.to_owned(), value);
    parse(&Value::Object(parts).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_in_any_dress() {
        for text in ["new zealand", "New_Zealand", "stone_scoring", "Tromp-Taylor", "japanese"] {
            parse(text).unwrap();
        }
        assert!(matches!(parse("marsian"), Err(GtpError::Rules(_))));
        assert!(matches!(parse("{\"ko\":3}"), Err(GtpError::Rules(_))));
    }

    #[test]
    fn one_part_changes_alone() {
        let rules = parse("chinese").unwrap();
        let changed = with_part(rules, "suicide", "true").unwrap();
        assert_eq!(changed, Rules { suicide: true, ..rules });
        assert!(with_part(rules, "hasButton", "maybe").is_err());
    }
}
