//! Openings from a file.

use thiserror::Error;

use tengen_rules::{GameState, Move};

/// An opening that cannot be played.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BookError {
    /// A word that is no vertex of the board.
    #[error("line {line}: {reason}")]
    Vertex {
        /// Line of the file, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A move the rules forbid, or one that ends the game.
    #[error("line {line}: {vertex} cannot be played: {reason}")]
    Move {
        /// Line of the file, from 1.
        line: usize,
        /// The move.
        vertex: String,
        /// The rule it breaks.
        reason: String,
    },
    /// No opening at all.
    #[error("no openings: give one a line, as vertices (`D4 F3 pass C6`)")]
    Empty,
}

/// Reads openings, one a line: GTP vertices, colours alternating from the player to move in
/// `start`. Blank lines and what follows a `#` are skipped.
///
/// # Errors
/// [`BookError`], at the first line that cannot be played.
pub fn parse_openings(text: &str, start: &GameState) -> Result<Vec<Vec<Move>>, BookError> {
    let mut book = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let words = text.split('#').next().unwrap_or_default().split_whitespace();
        let (mut state, mut moves) = (start.clone(), Vec::new());
        for word in words {
            let vertex = state.size().parse_vertex(word);
            let mv = vertex.map_err(|e| BookError::Vertex { line, reason: e.to_string() })?;
            let refused = |reason: String| BookError::Move { line, vertex: word.into(), reason };
            state.play(mv).map_err(|e| refused(e.to_string()))?;
            if state.is_over() {
                return Err(refused("the game would be over".into()));
            }
            moves.push(mv);
        }
        if !moves.is_empty() {
            book.push(moves);
        }
    }
    if book.is_empty() { Err(BookError::Empty) } else { Ok(book) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tengen_rules::{BoardSize, Komi, Rules};

    #[test]
    fn openings_are_played_before_they_are_believed() {
        let komi = Komi::from_points(7.5).unwrap();
        let start = GameState::new(BoardSize::square(5).unwrap(), Rules::tromp_taylor(), komi);
        let book = parse_openings("C3 B2 # centre\n\nb4 pass d4\n", &start).unwrap();
        assert_eq!(book.iter().map(Vec::len).collect::<Vec<_>>(), [2, 3]);
        for (text, line) in [("C3\nC3 C3", 2), ("Z9", 1), ("pass pass", 1)] {
            let error = parse_openings(text, &start).unwrap_err().to_string();
            assert!(error.starts_with(&format!("line {line}")), "{error}");
        }
        assert_eq!(parse_openings("# nothing\n", &start), Err(BookError::Empty));
    }
}
