//! The eight symmetries of the square; rectangles keep four.

use crate::{BoardSize, Point};

/// A symmetry of the board: an optional transposition, then optional flips.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symmetry(u8);

const FLIP_COLS: u8 = 1;
const FLIP_ROWS: u8 = 2;
const TRANSPOSE: u8 = 4;

impl Symmetry {
    /// Leaves the board as it is.
    pub const IDENTITY: Symmetry = Symmetry(0);

    /// All eight, by index.
    pub fn all() -> [Symmetry; 8] {
        [0, 1, 2, 3, 4, 5, 6, 7].map(Symmetry)
    }

    /// The symmetry of an index 0 to 7: bit 0 mirrors columns, bit 1 rows, bit 2 transposes first.
    pub fn from_index(index: usize) -> Option<Symmetry> {
        (index < 8).then_some(Symmetry(index as u8))
    }

    /// Its index, 0 to 7.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// Whether it maps the board onto itself: a rectangle has no transposition.
    pub fn valid_for(self, size: BoardSize) -> bool {
        size.width() == size.height() || self.0 & TRANSPOSE == 0
    }

    /// Where a point goes. Exact only where [`valid_for`](Self::valid_for) the size.
    pub fn apply(self, size: BoardSize, point: Point) -> Point {
        let (mut col, mut row) = (size.col(point), size.row(point));
        if self.0 & TRANSPOSE != 0 {
            (col, row) = (row, col);
        }
        if self.0 & FLIP_COLS != 0 {
            col = size.width() - 1 - col;
        }
        if self.0 & FLIP_ROWS != 0 {
            row = size.height() - 1 - row;
        }
        size.point(col, row)
    }

    /// Where an action goes; the pass stays.
    pub fn apply_action(self, size: BoardSize, action: usize) -> usize {
        if action >= size.area() {
            return action;
        }
        self.apply(size, Point::from_index(action)).index()
    }

    /// The symmetry that undoes this one.
    #[must_use]
    pub fn inverse(self) -> Symmetry {
        // A transposition turns the flips it passes into each other.
        if self.0 & TRANSPOSE != 0 { Symmetry(TRANSPOSE | swap_flips(self.0)) } else { self }
    }

    /// This symmetry, then the other.
    #[must_use]
    pub fn then(self, other: Symmetry) -> Symmetry {
        let flips = self.0 & (FLIP_COLS | FLIP_ROWS);
        let carried = if other.0 & TRANSPOSE != 0 { swap_flips(flips) } else { flips };
        Symmetry((self.0 & TRANSPOSE | carried) ^ other.0)
    }
}

fn swap_flips(bits: u8) -> u8 {
    (bits & FLIP_COLS) << 1 | (bits & FLIP_ROWS) >> 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_eight_form_a_group_that_permutes_points() {
        let size = BoardSize::square(5).unwrap();
        for g in Symmetry::all() {
            assert_eq!(Symmetry::from_index(g.index()), Some(g));
            assert_eq!(g.then(g.inverse()), Symmetry::IDENTITY);
            assert_eq!(g.apply_action(size, size.pass_action()), size.pass_action());
            for h in Symmetry::all() {
                for p in size.points() {
                    assert_eq!(g.then(h).apply(size, p), h.apply(size, g.apply(size, p)));
                }
            }
        }
    }

    #[test]
    fn rectangles_keep_the_four_without_transposition() {
        let size = BoardSize::new(4, 3).unwrap();
        let valid: Vec<_> = Symmetry::all().into_iter().filter(|g| g.valid_for(size)).collect();
        assert_eq!(valid.len(), 4);
        for g in valid {
            let mut images: Vec<_> = size.points().map(|p| g.apply(size, p)).collect();
            images.sort();
            assert!(images.into_iter().eq(size.points()));
        }
    }
}
