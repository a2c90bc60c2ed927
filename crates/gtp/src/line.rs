//! A line of GTP in, an answer out: ids, comments and control characters.

use std::fmt::Display;

/// A command as it came.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// Digits before the command, echoed as they came: an id has no largest value.
    pub id: String,
    /// The command's name; empty when only an id came.
    pub name: String,
    /// The words behind it.
    pub args: Vec<String>,
}

impl Line {
    /// Reads a line, or `None` when nothing is left of it after the draft's preprocessing: control
    /// characters go, tabs become spaces, `#` starts a comment.
    pub fn parse(text: &str) -> Option<Line> {
        let clean: String = text
            .chars()
            .map(|c| if c == '\t' { ' ' } else { c })
            .filter(|c| !c.is_control())
            .take_while(|&c| c != '#')
            .collect();
        let mut words = clean.split_whitespace().map(str::to_owned).peekable();
        words.peek()?;
        let is_id = |word: &String| word.bytes().all(|b| b.is_ascii_digit());
        let id = words.next_if(is_id).unwrap_or_default();
        let name = words.next().unwrap_or_default();
        Some(Line { id, name, args: words.collect() })
    }

    /// The answer's text with its terminating empty line.
    pub fn answer<E: Display>(&self, result: &Result<String, E>) -> String {
        let (mark, body) = match result {
            Ok(body) => ('=', body.clone()),
            Err(error) => ('?', error.to_string()),
        };
        // An empty line inside would end the answer early.
        let lines: Vec<&str> =
            body.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        let space = if lines.is_empty() { "" } else { " " };
        format!("{mark}{}{space}{}\n\n", self.id, lines.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_control_characters_go() {
        let line = Line::parse("\u{7}12\tplay  b\u{1} D4 # a joseki\r\n").unwrap();
        assert_eq!((line.id.as_str(), line.name.as_str()), ("12", "play"));
        assert_eq!(line.args, ["b", "D4"]);
        assert_eq!(Line::parse("  # nothing \n"), None);
        assert_eq!(Line::parse("\r\n"), None);
    }

    #[test]
    fn an_answer_has_its_id_and_one_empty_line() {
        let line = Line::parse("18446744073709551616 name").unwrap();
        let answer = line.answer::<&str>(&Ok("Tengen".into()));
        assert_eq!(answer, "=18446744073709551616 Tengen\n\n");
        let line = Line::parse("quit").unwrap();
        assert_eq!(line.answer::<&str>(&Ok(String::new())), "=\n\n");
        assert_eq!(line.answer(&Err("illegal move")), "? illegal move\n\n");
        assert_eq!(line.answer::<&str>(&Ok("\na\n\nb\n".into())), "= a\nb\n\n");
    }
}
