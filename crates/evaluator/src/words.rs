//! A command line as words.

/// Splits at blanks; `'…'` and `"…"` keep theirs.
pub(crate) fn split(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in text.chars() {
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, _) if letter.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    match quote {
        Some(open) => Err(format!("a {open} is not closed")),
        None => {
            words.extend(word);
            Ok(words)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_keep_blanks_and_must_close() {
        assert_eq!(split("a  'b c' d\"e f\"").unwrap(), ["a", "b c", "de f"]);
        assert_eq!(split("  ").unwrap(), Vec::<String>::new());
        assert_eq!(split("''").unwrap(), [""]);
        assert!(split("sh -c 'echo").is_err());
    }
}
