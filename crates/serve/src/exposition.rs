//! Prometheus's text format.

use std::fmt::{Display, Write};

/// The text of one metric after another; every name begins with `tengen_`.
#[derive(Clone, Debug, Default)]
pub struct Exposition(String);

impl Exposition {
    /// Begins a metric: `kind` is `counter` or `gauge`. Its lines follow.
    pub fn metric(&mut self, name: &str, kind: &str, help: &str) {
        self.line(format_args!("# HELP tengen_{name} {help}"));
        self.line(format_args!("# TYPE tengen_{name} {kind}"));
    }

    /// A metric of one value.
    pub fn one(&mut self, name: &str, kind: &str, help: &str, value: impl Display) {
        self.metric(name, kind, help);
        self.line(format_args!("tengen_{name} {value}"));
    }

    /// A line as it is.
    pub fn line(&mut self, line: impl Display) {
        writeln!(self.0, "{line}").expect("a string takes any text");
    }

    /// All of it.
    #[must_use]
    pub fn into_text(self) -> String {
        self.0
    }
}

/// A label's value as the format wants it.
#[must_use]
pub fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_cannot_end_its_label() {
        assert_eq!(escaped("a\"b\\c\nd"), r#"a\"b\\c\nd"#);
        let mut out = Exposition::default();
        out.one("games_total", "counter", "Games.", 3);
        assert_eq!(
            out.into_text(),
            "# HELP tengen_games_total Games.\n# TYPE tengen_games_total counter\ntengen_games_total 3\n"
        );
    }
}
