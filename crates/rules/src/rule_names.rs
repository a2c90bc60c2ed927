//! The names that people know rule sets by.

use crate::rule_set::{HandicapBonus, KoRule, Rules, Scoring, Tax};

/// Names and what they stand for, as KataGo understands them; a set of rules is written with the
/// first name that fits.
const NAMES: [(&str, Rules); 13] = {
    let area = Rules::tromp_taylor();
    let chinese = Rules {
        ko: KoRule::Simple,
        suicide: false,
        handicap_bonus: HandicapBonus::N,
        friendly_pass: true,
        ..area
    };
    let chinese_ogs = Rules { ko: KoRule::Positional, ..chinese };
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
        ("chinese-ogs", chinese_ogs),
        ("chinese-kgs", chinese_ogs),
        ("aga", aga),
        ("aga-button", Rules { button: true, ..aga }),
        ("new-zealand", Rules { suicide: true, handicap_bonus: HandicapBonus::Zero, ..aga }),
        ("ing", Rules { friendly_pass: true, ..area }),
        ("japanese", japanese),
        ("korean", japanese),
        ("stone-scoring", Rules { tax: Tax::All, handicap_bonus: HandicapBonus::Zero, ..chinese }),
        ("ancient-territory", Rules { tax: Tax::All, ..japanese }),
    ]
};

/// Other words for the same rules, without blanks and hyphens.
const ALIASES: [(&str, &str); 6] = [
    ("bga", "aga"),
    ("french", "aga"),
    ("nz", "newzealand"),
    ("goe", "ing"),
    ("ancientarea", "stonescoring"),
    ("tt", "tromptaylor"),
];

/// The names, for messages.
pub(crate) fn known() -> String {
    NAMES.map(|(name, _)| name).join(", ")
}

/// The rules of a name; case, blanks, hyphens and underscores don't count.
pub(crate) fn rules_of(text: &str) -> Option<Rules> {
    let plain = |text: &str| -> String {
        let kept = text.chars().filter(|c| !matches!(c, ' ' | '-' | '_'));
        kept.map(|c| c.to_ascii_lowercase()).collect()
    };
    let text = plain(text);
    let name = ALIASES.iter().find(|(alias, _)| *alias == text).map_or(&*text, |(_, name)| name);
    NAMES.iter().find(|(known, _)| plain(known) == name).map(|&(_, rules)| rules)
}

/// The first name of the rules, if they have one.
pub(crate) fn name_of(rules: &Rules) -> Option<&'static str> {
    NAMES.iter().find(|(_, named)| named == rules).map(|&(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_that_katago_takes_is_taken() {
        for (spellings, name) in [
            ("tromp-taylor tromp_taylor TrompTaylor", "tromp-taylor"),
            ("chinese Chinese", "chinese"),
            (
                "chineseogs chinese_ogs chinese-ogs chinesekgs chinese_kgs chinese-kgs",
                "chinese-ogs",
            ),
            ("japanese korean", "japanese"),
            ("ancientarea ancient-area stonescoring stone_scoring stone-scoring", "stone-scoring"),
            ("ancientterritory ancient-territory", "ancient-territory"),
            ("agabutton aga-button aga_button", "aga-button"),
            ("aga bga french", "aga"),
            ("nz newzealand new-zealand new_zealand", "new-zealand"),
            ("goe ing", "ing"),
        ] {
            for spelling in spellings.split(' ') {
                let rules = rules_of(spelling).unwrap();
                assert_eq!(name_of(&rules), Some(name), "{spelling}");
            }
        }
        assert_eq!(rules_of("New Zealand"), rules_of("nz"));
        assert_eq!(rules_of(""), None);
    }

    #[test]
    fn the_names_differ_in_what_their_books_differ_in() {
        let of = |name: &str| rules_of(name).unwrap();
        assert!(of("new-zealand").suicide && of("ing").suicide && !of("aga").suicide);
        assert_eq!(of("chinese").ko, KoRule::Simple);
        assert_eq!(of("chinese-kgs").ko, KoRule::Positional);
        assert_eq!(of("aga").handicap_bonus, HandicapBonus::NMinusOne);
        assert_eq!(of("chinese").handicap_bonus, HandicapBonus::N);
        assert_eq!(
            (of("stone-scoring").scoring, of("stone-scoring").tax),
            (Scoring::Area, Tax::All)
        );
        assert!(of("aga-button").button && !of("aga").button);
    }
}
