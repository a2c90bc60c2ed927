//! Tables of one board size, shared by all states of a game.

use crate::zobrist::stone_key;
use crate::{BoardSize, Point};

/// Neighbours and hash keys of a board size.
#[derive(Debug)]
pub(crate) struct Geometry {
    pub size: BoardSize,
    /// Four neighbours a point; those off the board are `area`, the index of the wall cell.
    pub neighbours: Box<[[u16; 4]]>,
    /// Four diagonal neighbours a point, in the same way.
    pub diagonals: Box<[[u16; 4]]>,
    /// `[point][colour]`.
    pub keys: Box<[[u64; 2]]>,
}

impl Geometry {
    pub fn new(size: BoardSize) -> Geometry {
        let wall = size.area() as u16;
        let neighbours = size.points().map(|point| neighbours(size, point, wall)).collect();
        let diagonals = size.points().map(|point| diagonals(size, point, wall)).collect();
        let keys = (0..size.area()).map(|i| [stone_key(i, 0), stone_key(i, 1)]).collect();
        Geometry { size, neighbours, diagonals, keys }
    }
}

fn neighbours(size: BoardSize, point: Point, wall: u16) -> [u16; 4] {
    let mut four = [wall; 4];
    for (slot, neighbour) in four.iter_mut().zip(size.neighbours(point)) {
        *slot = neighbour.index() as u16;
    }
    four
}

fn diagonals(size: BoardSize, point: Point, wall: u16) -> [u16; 4] {
    let (col, row) = (size.col(point), size.row(point));
    // A column or row of usize::MAX is off every board.
    let (left, up) = (col.wrapping_sub(1), row.wrapping_sub(1));
    [(left, up), (col + 1, up), (left, row + 1), (col + 1, row + 1)].map(|(col, row)| {
        let inside = col < size.width() && row < size.height();
        if inside { size.point(col, row).index() as u16 } else { wall }
    })
}
