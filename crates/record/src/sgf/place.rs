//! Where in a file something stands.

use std::fmt;

/// A place in a file's text, both counted from 1. A line ends with `\n`, `\r\n` or `\r`; columns
/// count characters, not bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The character in the line.
    pub column: u32,
}

impl Place {
    /// The first character of a file.
    pub const START: Place = Place { line: 1, column: 1 };
}

impl Default for Place {
    fn default() -> Place {
        Place::START
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Turns rising byte offsets into places, reading the text once.
#[derive(Clone)]
pub(crate) struct Tracker {
    at: usize,
    place: Place,
}

impl Tracker {
    pub(crate) fn new() -> Tracker {
        Tracker { at: 0, place: Place::START }
    }

    /// The place of byte `to`, which must not lie before an earlier one (then: the earlier's).
    pub(crate) fn place(&mut self, text: &str, to: usize) -> Place {
        let bytes = text.as_bytes();
        let end = to.min(bytes.len());
        while self.at < end {
            let byte = bytes[self.at];
            self.at += 1;
            let is_break =
                byte == b'\n' || (byte == b'\r' && bytes.get(self.at).is_none_or(|&b| b != b'\n'));
            if is_break {
                self.place.line = self.place.line.saturating_add(1);
                self.place.column = 1;
            } else if byte & 0xC0 != 0x80 {
                self.place.column = self.place.column.saturating_add(1);
            }
        }
        self.place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_three_ways_and_columns_count_characters() {
        let text = "ab\ncd\r\ne柯f\rg";
        let mut tracker = Tracker::new();
        let mut at = |needle: &str| {
            let place = tracker.place(text, text.find(needle).unwrap());
            (place.line, place.column)
        };
        assert_eq!(at("a"), (1, 1));
        assert_eq!(at("b"), (1, 2));
        assert_eq!(at("d"), (2, 2));
        assert_eq!(at("f"), (3, 3));
        assert_eq!(at("g"), (4, 1));
    }
}
