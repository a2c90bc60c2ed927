//! Values that name points: SGF's letters on boards up to 52×52, and GTP's vertices.

use tengen_rules::{BoardSize, Color, Move, Point};

use super::text::compose;

/// The longest side that SGF has letters for.
pub(crate) const MAX_SIDE: usize = 52;

/// A board as SGF knows it: up to 52×52, more than [`BoardSize`] plays on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    pub width: usize,
    pub height: usize,
}

/// A point of a [`Grid`], counted from its upper left corner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    pub col: u8,
    pub row: u8,
}

impl Grid {
    /// `SZ`'s value: `19`, `9:13` (columns, rows); `9x13` is seen too.
    pub(crate) fn parse(text: &str) -> Result<Grid, String> {
        let (width, height) = text.split_once([':', 'x', 'X']).unwrap_or((text, text));
        let side = |part: &str| match part.trim().parse() {
            Ok(side @ 1..=MAX_SIDE) => Ok(side),
            _ => Err(format!("a side must be a number from 1 to {MAX_SIDE}")),
        };
        Ok(Grid { width: side(width)?, height: side(height)? })
    }

    pub(crate) fn area(self) -> usize {
        self.width * self.height
    }

    /// The board that the rules play on.
    pub(crate) fn board(self) -> Result<BoardSize, String> {
        BoardSize::new(self.width, self.height).map_err(|e| e.to_string())
    }

    /// Row-major from the upper left corner, as a [`Point`] of [`board`](Self::board) is.
    pub(crate) fn index(self, spot: Spot) -> usize {
        usize::from(spot.row) * self.width + usize::from(spot.col)
    }

    pub(crate) fn mv(self, spot: Option<Spot>) -> Move {
        spot.map_or(Move::Pass, |spot| Move::Play(Point::from_index(self.index(spot))))
    }

    /// GTP's name. Beyond its 25 columns two letters go on, as KataGo writes them: `Z`, `AA`, `AB`.
    pub(crate) fn vertex(self, spot: Option<Spot>) -> String {
        const LETTERS: &[u8; 25] = b"ABCDEFGHJKLMNOPQRSTUVWXYZ";
        let Some(Spot { col, row }) = spot else { return "pass".to_owned() };
        let (col, row) = (usize::from(col), usize::from(row));
        let letter = |i: usize| char::from(LETTERS[i % 25]);
        let first = (col >= 25).then(|| letter(col / 25 - 1));
        format!(
            "{}{}{}",
            first.map(String::from).unwrap_or_default(),
            letter(col),
            self.height - row
        )
    }

    /// A move; `None` is a pass: nothing, or `tt` where that is no point.
    pub(crate) fn read_move(self, raw: &str) -> Result<Option<Spot>, String> {
        let raw = raw.trim();
        let small = self.width <= 19 && self.height <= 19;
        if raw.is_empty() || (raw == "tt" && small) {
            return Ok(None);
        }
        self.read_spot(raw).map(Some)
    }

    /// Column, then row from the top: `a`–`z` are 0–25 and `A`–`Z` 26–51.
    fn read_spot(self, raw: &str) -> Result<Spot, String> {
        let coordinate = |byte: u8| match byte {
            b'a'..=b'z' => Some(byte - b'a'),
            b'A'..=b'Z' => Some(byte - b'A' + 26),
            _ => None,
        };
        let (col, row) = match raw.trim().as_bytes() {
            &[col, row] => (coordinate(col), coordinate(row)),
            _ => (None, None),
        };
        let (Some(col), Some(row)) = (col, row) else {
            return Err("not a point of two letters".to_owned());
        };
        if usize::from(col) >= self.width || usize::from(row) >= self.height {
            return Err(format!("off a {}x{} board", self.width, self.height));
        }
        Ok(Spot { col, row })
    }

    /// A point, or `aa:cc`, the rectangle between two corners in either order.
    pub(crate) fn read_rectangle(self, raw: &str) -> Result<impl Iterator<Item = Spot>, String> {
        let (first, last) = compose(raw);
        let a = self.read_spot(first)?;
        let b = if last.is_empty() { a } else { self.read_spot(last)? };
        let columns = a.col.min(b.col)..=a.col.max(b.col);
        let rows = a.row.min(b.row)..=a.row.max(b.row);
        Ok(rows.flat_map(move |row| columns.clone().map(move |col| Spot { col, row })))
    }
}

/// `PL`'s value: `B`, `black`, `1`, ….
pub(crate) fn read_color(raw: &str) -> Option<Color> {
    match raw.trim().chars().next()? {
        'B' | 'b' | '1' => Some(Color::Black),
        'W' | 'w' | '2' => Some(Color::White),
        _ => None,
    }
}
