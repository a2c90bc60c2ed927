//! Tables of one board size, shared by all states of a game.

use std::cell::RefCell;
use std::sync::Arc;

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
    /// All points, those with a point to their left, and those with one to their right, as bits.
    pub board: Box<[u64]>,
    pub has_left: Box<[u64]>,
    pub has_right: Box<[u64]>,
}

/// Words that hold the points of any board.
pub(crate) const MAX_WORDS: usize = (BoardSize::MAX_SIDE * BoardSize::MAX_SIDE).div_ceil(64);

thread_local! {
    /// The tables last asked for: one game after another is mostly of one size, and making them
    /// takes as long as dozens of moves.
    static LAST: RefCell<Option<Arc<Geometry>>> = const { RefCell::new(None) };
}

impl Geometry {
    /// The tables of a size, those made last where they fit.
    pub fn shared(size: BoardSize) -> Arc<Geometry> {
        LAST.with_borrow_mut(|last| match last {
            Some(known) if known.size == size => Arc::clone(known),
            _ => Arc::clone(last.insert(Arc::new(Geometry::new(size)))),
        })
    }

    fn new(size: BoardSize) -> Geometry {
        let wall = size.area() as u16;
        let neighbours = size.points().map(|point| neighbours(size, point, wall)).collect();
        let diagonals = size.points().map(|point| diagonals(size, point, wall)).collect();
        let keys = (0..size.area()).map(|i| [stone_key(i, 0), stone_key(i, 1)]).collect();
        let (first, last) = (0, size.width() - 1);
        Geometry {
            size,
            neighbours,
            diagonals,
            keys,
            board: bits(size, |_| true),
            has_left: bits(size, |p| size.col(p) != first),
            has_right: bits(size, |p| size.col(p) != last),
        }
    }

    /// The points of `set` beside a point of `set`.
    pub fn adjoining(&self, set: &[u64; MAX_WORDS]) -> [u64; MAX_WORDS] {
        let width = self.size.width();
        let mut beside = [0; MAX_WORDS];
        for i in 0..self.board.len() {
            let before = if i == 0 { 0 } else { set[i - 1] };
            let after = if i + 1 == MAX_WORDS { 0 } else { set[i + 1] };
            // The bits of the set moved to higher and to lower points by so many places.
            let up = |by: usize| set[i] << by | before >> (64 - by);
            let down = |by: usize| set[i] >> by | after << (64 - by);
            let sides = up(1) & self.has_left[i] | down(1) & self.has_right[i];
            beside[i] = set[i] & (sides | up(width) | down(width));
        }
        beside
    }
}

fn bits(size: BoardSize, has: impl Fn(Point) -> bool) -> Box<[u64]> {
    let mut words = vec![0; size.area().div_ceil(64)];
    for point in size.points().filter(|&point| has(point)) {
        words[point.index() / 64] |= 1 << (point.index() % 64);
    }
    words.into_boxed_slice()
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
