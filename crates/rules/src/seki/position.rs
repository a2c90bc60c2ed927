//! A finished position with its dead stones, and how far living stones reach.

use super::blocks;
use crate::geometry::Geometry;
use crate::{BoardSize, Color};

/// Stones on the board, and which of them are dead.
#[derive(Clone, Copy)]
pub(crate) struct Stones<'a> {
    pub geometry: &'a Geometry,
    pub stones: &'a [Option<Color>],
    pub dead: &'a [bool],
}

impl<'a> Stones<'a> {
    pub fn size(&self) -> BoardSize {
        self.geometry.size
    }

    /// The living stone at a point.
    pub fn alive(&self, point: usize) -> Option<Color> {
        self.stones[point].filter(|_| !self.dead[point])
    }

    /// The points beside a point.
    pub fn neighbours(&self, point: usize) -> impl Iterator<Item = usize> + use<'a> {
        let wall = self.stones.len();
        self.geometry.neighbours[point].into_iter().map(usize::from).filter(move |&n| n != wall)
    }
}

/// The stones, their blocks and their reach, which every later step looks at.
pub(super) struct Position<'a> {
    pub on: Stones<'a>,
    /// Points through which the opponent of this colour can't cut.
    pub blocks: Vec<Option<Color>>,
    /// `[colour][point]`: a path to a living stone of the colour meets no living opponent.
    pub reaches: [Vec<bool>; 2],
    /// The same, and no block of the opponent on the way.
    pub joins: [Vec<bool>; 2],
    /// Stones and empty points in connected pieces of one colour and one fate.
    pub piece: Vec<usize>,
    /// Empty points beside each piece, for pieces of stones.
    pub liberties: Vec<usize>,
}

impl<'a> Position<'a> {
    pub fn of(on: Stones<'a>) -> Position<'a> {
        let blocks = blocks::find(on);
        let none = vec![None; on.stones.len()];
        let reaches = Color::BOTH.map(|color| reach(on, color, &none));
        let joins = Color::BOTH.map(|color| reach(on, color, &blocks));
        let (piece, liberties) = pieces(on);
        Position { on, blocks, reaches, joins, piece, liberties }
    }

    pub fn area(&self) -> usize {
        self.on.stones.len()
    }

    pub fn alive(&self, point: usize) -> Option<Color> {
        self.on.alive(point)
    }

    pub fn is_empty(&self, point: usize) -> bool {
        self.on.stones[point].is_none()
    }

    pub fn holds(&self, point: usize, color: Color) -> bool {
        self.on.stones[point] == Some(color)
    }

    pub fn dead_color(&self, point: usize) -> Option<Color> {
        self.on.stones[point].filter(|_| self.on.dead[point])
    }

    pub fn neighbours(&self, point: usize) -> impl Iterator<Item = usize> + use<'a> {
        self.on.neighbours(point)
    }

    /// Whether `color` may play at a point, ko aside: beside something that is not a chain of the
    /// opponent with two liberties or more.
    pub fn may_play(&self, point: usize, color: Color) -> bool {
        let breathes =
            |n: usize| !self.holds(n, color.opponent()) || self.liberties[self.piece[n]] <= 1;
        self.is_empty(point) && self.neighbours(point).any(breathes)
    }
}

/// Fills from the living stones of a colour over all but living opponents, stopping at the
/// opponent's blocks, which are reached and not passed.
fn reach(on: Stones<'_>, color: Color, blocks: &[Option<Color>]) -> Vec<bool> {
    let mut reached: Vec<bool> = (0..on.stones.len()).map(|p| on.alive(p) == Some(color)).collect();
    let mut queue: Vec<usize> = (0..on.stones.len()).filter(|&p| reached[p]).collect();
    while let Some(point) = queue.pop() {
        if blocks[point] == Some(color.opponent()) {
            continue;
        }
        for n in on.neighbours(point) {
            let open = on.alive(n) != Some(color.opponent());
            if open && !std::mem::replace(&mut reached[n], true) {
                queue.push(n);
            }
        }
    }
    reached
}

fn pieces(on: Stones<'_>) -> (Vec<usize>, Vec<usize>) {
    let area = on.stones.len();
    let mut piece = vec![usize::MAX; area];
    let mut liberties = Vec::new();
    let mut last_seen = vec![usize::MAX; area];
    for start in 0..area {
        if piece[start] != usize::MAX {
            continue;
        }
        let id = liberties.len();
        let kind = (on.stones[start], on.dead[start]);
        let mut count = 0;
        let mut queue = vec![start];
        piece[start] = id;
        while let Some(point) = queue.pop() {
            for n in on.neighbours(point) {
                if (on.stones[n], on.dead[n]) == kind {
                    if piece[n] == usize::MAX {
                        piece[n] = id;
                        queue.push(n);
                    }
                } else if on.stones[n].is_none() && last_seen[n] != id {
                    last_seen[n] = id;
                    count += 1;
                }
            }
        }
        liberties.push(count);
    }
    (piece, liberties)
}
