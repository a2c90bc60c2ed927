//! Chains that live even if their owner always passes (Benson 1976), and what they enclose.

use crate::board::{Board, Cell};
use crate::{BoardSize, Color, GameState};

/// Cells of the largest board, the wall's included.
const CELLS: usize = BoardSize::MAX_SIDE * BoardSize::MAX_SIDE + 1;
/// In place of a chain: a point without a stone of the colour, and the wall.
const OPEN: u16 = u16::MAX;
const WALL: u16 = u16::MAX - 1;

/// The points of `color`'s pass-alive chains and of the regions that only they border and in
/// which the opponent can make at most one eye, by point index.
///
/// A region is vital to a chain when each of its empty points is a liberty of the chain. Where
/// the rules allow suicide the opponent can take its own stones off, so then every point of the
/// region must touch the chain.
pub fn pass_alive(state: &GameState, color: Color) -> Vec<bool> {
    let mut alive = vec![false; state.size().area()];
    mark_pass_alive(state, color, |point| alive[point] = true);
    alive
}

/// Calls `mark` with the index of each point that [`pass_alive`] says is so, chains first.
pub fn mark_pass_alive(state: &GameState, color: Color, mut mark: impl FnMut(usize)) {
    let board = &state.board;
    let area = state.size().area();
    let mut map = Map::of(board, area, color);
    map.find_regions(board, area, state.rules().suicide);
    if map.vital.len() < 2 {
        return;
    }
    let alive = map.drop_chains();
    for point in 0..area {
        let chain = map.chain_at[point];
        if chain != OPEN && alive[usize::from(chain)] {
            mark(point);
        }
    }
    for region in &map.regions {
        let borders = &map.borders[region.borders.0..region.borders.1];
        let enclosed = !borders.is_empty() && borders.iter().all(|&c| alive[usize::from(c)]);
        if enclosed && region.interior <= 1 {
            map.order[region.points.0..region.points.1].iter().for_each(|&p| mark(usize::from(p)));
        }
    }
}

/// A largest connected set of points without stones of the colour. Those without vital chains and
/// with more than one interior point are left out: they decide nothing.
struct Region {
    /// Its range in the map's `order`.
    points: (usize, usize),
    /// The range of the chains beside it in `borders`.
    borders: (usize, usize),
    /// The range of those it is vital to in `vital`.
    vital: (usize, usize),
    /// Points on which the opponent could make an eye: beside none of the chains.
    interior: usize,
}

/// Chains are named by the point of their head.
struct Map {
    chain_at: [u16; CELLS],
    /// The points of the regions, one region after the other.
    order: [u16; CELLS],
    regions: Vec<Region>,
    borders: Vec<u16>,
    vital: Vec<u16>,
}

impl Map {
    fn of(board: &Board, area: usize, color: Color) -> Map {
        let mut chain_at = [OPEN; CELLS];
        chain_at[area] = WALL;
        for (point, chain) in chain_at[..area].iter_mut().enumerate() {
            if board.cell(point) == Cell::Stone(color) {
                *chain = board.head(point) as u16;
            }
        }
        let order = [0; CELLS];
        Map { chain_at, order, regions: Vec::new(), borders: Vec::new(), vital: Vec::new() }
    }

    fn find_regions(&mut self, board: &Board, area: usize, suicide: bool) {
        let mut seen = [false; CELLS];
        let mut end = 0;
        for start in 0..area {
            if self.chain_at[start] != OPEN || seen[start] {
                continue;
            }
            let begin = end;
            let (borders, vital) = (self.borders.len(), self.vital.len());
            seen[start] = true;
            self.order[end] = start as u16;
            end += 1;
            let (mut next, mut interior, mut counted) = (begin, 0, false);
            while next < end {
                let point = usize::from(self.order[next]);
                next += 1;
                let (mut beside, mut chains) = ([OPEN; 4], 0);
                for n in board.neighbours(point) {
                    let at = usize::from(n);
                    match self.chain_at[at] {
                        WALL => {}
                        OPEN if seen[at] => {}
                        OPEN => {
                            seen[at] = true;
                            self.order[end] = n;
                            end += 1;
                        }
                        chain if beside[..chains].contains(&chain) => {}
                        chain => {
                            beside[chains] = chain;
                            chains += 1;
                        }
                    }
                }
                let beside = &beside[..chains];
                if suicide || board.cell(point) == Cell::Empty {
                    if counted {
                        let mut kept = vital;
                        for index in vital..self.vital.len() {
                            if beside.contains(&self.vital[index]) {
                                self.vital[kept] = self.vital[index];
                                kept += 1;
                            }
                        }
                        self.vital.truncate(kept);
                    } else {
                        self.vital.extend(beside);
                        counted = true;
                    }
                }
                interior += usize::from(beside.is_empty());
                if counted && self.vital.len() == vital && interior > 1 {
                    end = self.flood(board, next, end, &mut seen);
                    break;
                }
                for chain in beside {
                    if !self.borders[borders..].contains(chain) {
                        self.borders.push(*chain);
                    }
                }
            }
            if self.vital.len() == vital && interior > 1 {
                self.borders.truncate(borders);
                continue;
            }
            self.regions.push(Region {
                points: (begin, end),
                borders: (borders, self.borders.len()),
                vital: (vital, self.vital.len()),
                interior,
            });
        }
    }

    /// Fills up the region whose points from `next` to `end` have not been followed; its new end.
    fn flood(
        &mut self,
        board: &Board,
        mut next: usize,
        mut end: usize,
        seen: &mut [bool],
    ) -> usize {
        while next < end {
            let point = usize::from(self.order[next]);
            next += 1;
            for n in board.neighbours(point) {
                let at = usize::from(n);
                if self.chain_at[at] == OPEN && !seen[at] {
                    seen[at] = true;
                    self.order[end] = n;
                    end += 1;
                }
            }
        }
        end
    }

    /// Drops chains with fewer than two vital regions, and the regions they border, until nothing
    /// changes: by head, the chains that are left.
    fn drop_chains(&self) -> [bool; CELLS] {
        let mut alive = [true; CELLS];
        loop {
            let mut vital = [0u16; CELLS];
            for region in &self.regions {
                let borders = &self.borders[region.borders.0..region.borders.1];
                if borders.iter().all(|&chain| alive[usize::from(chain)]) {
                    for &chain in &self.vital[region.vital.0..region.vital.1] {
                        vital[usize::from(chain)] += 1;
                    }
                }
            }
            let mut dropped = false;
            for &head in self.chain_at.iter().filter(|&&head| usize::from(head) < CELLS) {
                let alive = &mut alive[usize::from(head)];
                let lives = *alive && vital[usize::from(head)] >= 2;
                dropped |= *alive && !lives;
                *alive = lives;
            }
            if !dropped {
                return alive;
            }
        }
    }
}
