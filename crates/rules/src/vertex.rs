//! GTP vertices: `D4`, `pass`; the letter I is left out and rows count from the bottom.

use crate::{BoardSize, Move, Point};
use thiserror::Error;

const LETTERS: &[u8; BoardSize::MAX_SIDE] = b"ABCDEFGHJKLMNOPQRSTUVWXYZ";

/// Text that names no point of the board.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum VertexError {
    /// Not a letter and a number, nor `pass`.
    #[error("{0:?} is not a vertex such as D4 or pass")]
    Malformed(String),
    /// A vertex that lies outside this board.
    #[error("{vertex} is off a {size} board")]
    OffBoard {
        /// The vertex as given.
        vertex: String,
        /// The board it was read for.
        size: BoardSize,
    },
}

impl BoardSize {
    /// The GTP name of a move, in capitals: `D4`, or `pass`.
    pub fn vertex(self, mv: Move) -> String {
        match mv {
            Move::Pass => "pass".to_owned(),
            Move::Play(point) if self.contains(point) => {
                let letter = char::from(LETTERS[self.col(point)]);
                format!("{letter}{}", self.height() - self.row(point))
            }
            Move::Play(point) => format!("#{}", point.index()),
        }
    }

    /// Reads a GTP vertex in either case.
    ///
    /// # Errors
    /// When the text is no vertex, or names a point outside this board.
    pub fn parse_vertex(self, text: &str) -> Result<Move, VertexError> {
        if text.eq_ignore_ascii_case("pass") {
            return Ok(Move::Pass);
        }
        let malformed = || VertexError::Malformed(text.chars().take(20).collect());
        let letter = text.bytes().next().ok_or_else(malformed)?.to_ascii_uppercase();
        let col = LETTERS.iter().position(|&l| l == letter).ok_or_else(malformed)?;
        let digits = &text[1..];
        if digits.is_empty() || digits.len() > 3 || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(malformed());
        }
        let number: usize = digits.parse().map_err(|_| malformed())?;
        if col >= self.width() || !(1..=self.height()).contains(&number) {
            return Err(VertexError::OffBoard { vertex: text.to_owned(), size: self });
        }
        Ok(Move::Play(self.point(col, self.height() - number)))
    }

    /// A point by its GTP name, for tests and texts that never pass.
    ///
    /// # Errors
    /// As [`parse_vertex`](Self::parse_vertex); a pass is malformed here.
    pub fn parse_point(self, text: &str) -> Result<Point, VertexError> {
        match self.parse_vertex(text)? {
            Move::Play(point) => Ok(point),
            Move::Pass => Err(VertexError::Malformed(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_vertex_reads_back_and_i_is_left_out() {
        let size = BoardSize::new(25, 7).unwrap();
        for action in 0..size.actions() {
            let mv = size.move_at(action);
            assert_eq!(size.parse_vertex(&size.vertex(mv).to_lowercase()), Ok(mv));
        }
        assert_eq!(size.vertex(Move::Play(size.point(8, 6))), "J1");
        assert!(size.parse_vertex("I3").is_err());
    }

    #[test]
    fn nonsense_is_refused_with_its_text() {
        let size = BoardSize::square(9).unwrap();
        for text in ["", "A", "A0", "A10", "K1", "44", "A-1", "é4", "A1x", "A99999"] {
            assert!(size.parse_vertex(text).is_err(), "{text:?}");
        }
    }
}
