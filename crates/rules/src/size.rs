//! Board sizes, points, moves and the action index: every `usize` action in the house is made here.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The side lengths of a board, 1 to 25 each; not necessarily square.
///
/// Serialised as `[width, height]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "[usize; 2]", into = "[usize; 2]")]
pub struct BoardSize {
    width: u8,
    height: u8,
}

/// A side length outside 1 to 25.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a board of {width}x{height} is not playable: each side must be 1 to {max}", max = BoardSize::MAX_SIDE)]
pub struct SizeError {
    /// The refused width.
    pub width: usize,
    /// The refused height.
    pub height: usize,
}

/// A point of a board, row-major from the top-left corner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Point(u16);

/// What a player does on a turn. Resignation is not a move: it is an [`Outcome`](crate::Outcome).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Move {
    /// Gives the turn away; always legal until the game is over.
    Pass,
    /// Places a stone.
    Play(Point),
}

impl Point {
    /// The row-major index, 0 at the top-left corner.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// The point of a row-major index; indices beyond any board become a point on no board.
    pub fn from_index(index: usize) -> Point {
        Point(u16::try_from(index).unwrap_or(u16::MAX))
    }
}

impl BoardSize {
    /// The longest side: as many columns as GTP has letters without I.
    pub const MAX_SIDE: usize = 25;

    /// A board of `width` columns and `height` rows.
    ///
    /// # Errors
    /// When a side is not 1 to 25.
    pub fn new(width: usize, height: usize) -> Result<BoardSize, SizeError> {
        let side = |n: usize| {
            u8::try_from(n).ok().filter(|&n| (1..=Self::MAX_SIDE).contains(&usize::from(n)))
        };
        match (side(width), side(height)) {
            (Some(w), Some(h)) => Ok(BoardSize { width: w, height: h }),
            _ => Err(SizeError { width, height }),
        }
    }

    /// A square board.
    ///
    /// # Errors
    /// When `side` is not 1 to 25.
    pub fn square(side: usize) -> Result<BoardSize, SizeError> {
        BoardSize::new(side, side)
    }

    /// Columns.
    pub fn width(self) -> usize {
        usize::from(self.width)
    }

    /// Rows.
    pub fn height(self) -> usize {
        usize::from(self.height)
    }

    /// Number of points.
    pub fn area(self) -> usize {
        self.width() * self.height()
    }

    /// Number of actions: one a point, and the pass.
    pub fn actions(self) -> usize {
        self.area() + 1
    }

    /// The action of a pass: the last one.
    pub fn pass_action(self) -> usize {
        self.area()
    }

    /// The action of a move: a point's index, or [`pass_action`](Self::pass_action).
    pub fn action(self, mv: Move) -> usize {
        match mv {
            Move::Pass => self.pass_action(),
            Move::Play(point) => point.index(),
        }
    }

    /// The move of an action; every action from the area on is a pass.
    pub fn move_at(self, action: usize) -> Move {
        if action < self.area() { Move::Play(Point::from_index(action)) } else { Move::Pass }
    }

    /// The point at a column (0 = left) and a row (0 = top).
    ///
    /// # Panics
    /// When the column or row is off the board.
    pub fn point(self, col: usize, row: usize) -> Point {
        assert!(col < self.width() && row < self.height(), "({col}, {row}) is off a {self} board");
        Point::from_index(row * self.width() + col)
    }

    /// The column of a point, 0 = left.
    pub fn col(self, point: Point) -> usize {
        point.index() % self.width()
    }

    /// The row of a point, 0 = top.
    pub fn row(self, point: Point) -> usize {
        point.index() / self.width()
    }

    /// All points in index order.
    pub fn points(self) -> impl Iterator<Item = Point> {
        (0..self.area()).map(Point::from_index)
    }

    /// Whether the point lies on this board.
    pub fn contains(self, point: Point) -> bool {
        point.index() < self.area()
    }

    /// The points beside a point, at most four.
    pub fn neighbours(self, point: Point) -> impl Iterator<Item = Point> {
        let (col, row) = (self.col(point), self.row(point));
        let (w, h, i) = (self.width(), self.height(), point.index());
        let up = (row > 0).then(|| i - w);
        let left = (col > 0).then(|| i - 1);
        let right = (col + 1 < w).then_some(i + 1);
        let down = (row + 1 < h).then_some(i + w);
        [up, left, right, down].into_iter().flatten().map(Point::from_index)
    }
}

impl std::fmt::Display for BoardSize {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

impl TryFrom<[usize; 2]> for BoardSize {
    type Error = SizeError;

    fn try_from([width, height]: [usize; 2]) -> Result<BoardSize, SizeError> {
        BoardSize::new(width, height)
    }
}

impl From<BoardSize> for [usize; 2] {
    fn from(size: BoardSize) -> [usize; 2] {
        [size.width(), size.height()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_outside_1_to_25_are_refused() {
        assert!(BoardSize::new(0, 9).is_err() && BoardSize::new(9, 26).is_err());
        assert_eq!(BoardSize::new(3, 300), Err(SizeError { width: 3, height: 300 }));
        assert_eq!(BoardSize::square(25).unwrap().area(), 625);
    }

    #[test]
    fn actions_are_points_then_pass() {
        let size = BoardSize::new(4, 3).unwrap();
        assert_eq!((size.actions(), size.pass_action()), (13, 12));
        for action in 0..size.actions() {
            assert_eq!(size.action(size.move_at(action)), action);
        }
        let corner = size.point(3, 2);
        assert_eq!((size.col(corner), size.row(corner), corner.index()), (3, 2, 11));
    }
}
