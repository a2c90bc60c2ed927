//! Stones in chains, kept up to date move by move.
//!
//! Each chain keeps the count, sum and sum of squares of its *pseudo-liberties* (one for each
//! adjacency of a stone to an empty point). They all name one point exactly when
//! `count * squares == sum * sum`, which tells atari without walking the chain.

use crate::geometry::Geometry;
use crate::{BoardSize, Color};
use std::sync::Arc;

/// What lies at a cell; the cell past the last point is the wall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    Empty,
    Stone(Color),
    Wall,
}

/// A stone's place in its chain, and at the chain's head the chain's totals.
#[derive(Clone, Copy, Debug, Default)]
struct Link {
    head: u16,
    /// The next stone of the chain, in a circle.
    next: u16,
    size: u16,
    liberties: u16,
    sum: u32,
    squares: u32,
}

/// What a placed stone did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Placed {
    pub captured: u32,
    /// Stones of the mover that died by suicide.
    pub lost: u32,
    /// The point to which a simple ko forbids the answer.
    pub ko: Option<u16>,
}

/// Who is told of each stone that comes or goes; `key` is its hash key.
pub(crate) trait Watch {
    fn placed(&mut self, point: usize, color: Color, key: u64);
    fn removed(&mut self, point: usize, color: Color, key: u64);
    /// What a point held before a change, for those who want to take it back.
    fn before(&mut self, _saved: Saved) {}
}

/// All that the board knows of a point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Saved {
    point: u16,
    cell: Cell,
    link: Link,
}

/// Remembers what a line of moves changed, the latest last.
impl Watch for Vec<Saved> {
    fn placed(&mut self, _: usize, _: Color, _: u64) {}
    fn removed(&mut self, _: usize, _: Color, _: u64) {}
    fn before(&mut self, saved: Saved) {
        self.push(saved);
    }
}

/// What a stone would do, without doing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Lives,
    Captures,
    /// Dies, with the friends it touches; a single stone has none.
    Suicide {
        friends: usize,
    },
}

#[derive(Debug)]
pub(crate) struct Board {
    pub geometry: Arc<Geometry>,
    cells: Box<[Cell]>,
    links: Box<[Link]>,
}

impl Clone for Board {
    fn clone(&self) -> Board {
        let geometry = Arc::clone(&self.geometry);
        Board { geometry, cells: self.cells.clone(), links: self.links.clone() }
    }

    fn clone_from(&mut self, source: &Board) {
        if !Arc::ptr_eq(&self.geometry, &source.geometry) {
            self.geometry = Arc::clone(&source.geometry);
        }
        self.cells.clone_from(&source.cells);
        self.links.clone_from(&source.links);
    }
}

impl Board {
    pub fn new(geometry: Arc<Geometry>) -> Board {
        let area = geometry.size.area();
        let mut cells = vec![Cell::Empty; area + 1].into_boxed_slice();
        cells[area] = Cell::Wall;
        Board { geometry, cells, links: vec![Link::default(); area].into_boxed_slice() }
    }

    /// Becomes the same as another board of the same size, without allocating.
    pub fn copy_from(&mut self, other: &Board) {
        self.cells.copy_from_slice(&other.cells);
        self.links.copy_from_slice(&other.links);
    }

    pub fn cell(&self, point: usize) -> Cell {
        self.cells[point]
    }

    pub fn neighbours(&self, point: usize) -> [u16; 4] {
        self.geometry.neighbours[point]
    }

    /// Stones in the chain of a stone.
    pub fn chain_size(&self, point: usize) -> usize {
        usize::from(self.links[self.head(point)].size)
    }

    /// The points of the chain of a stone.
    pub fn chain(&self, point: usize) -> impl Iterator<Item = usize> {
        let start = point;
        let mut at = Some(point);
        std::iter::from_fn(move || {
            let here = at?;
            let next = usize::from(self.links[here].next);
            at = (next != start).then_some(next);
            Some(here)
        })
    }

    /// The empty points beside the chain of a stone, each once.
    pub fn chain_liberties(&self, point: usize) -> usize {
        let mut seen = vec![false; self.links.len()];
        let mut count = 0;
        for stone in self.chain(point) {
            for n in self.neighbours(stone) {
                let n = usize::from(n);
                if self.cells[n] == Cell::Empty && !std::mem::replace(&mut seen[n], true) {
                    count += 1;
                }
            }
        }
        count
    }

    /// Writes the liberties of each stone's chain, at most `cap`, by point index; 0 where no stone
    /// lies.
    pub fn liberties_by_point(&self, cap: u8, out: &mut [u8]) {
        // The last chain that counted each empty point, by its number.
        let mut counted_by = [0u16; BoardSize::MAX_SIDE * BoardSize::MAX_SIDE];
        let mut chains = 0;
        for (point, liberties) in out.iter_mut().enumerate() {
            *liberties = 0;
            if !matches!(self.cells[point], Cell::Stone(_)) || self.head(point) != point {
                continue;
            }
            chains += 1;
            'chain: for stone in self.chain(point) {
                for n in self.neighbours(stone) {
                    let n = usize::from(n);
                    if self.cells[n] == Cell::Empty && counted_by[n] != chains {
                        counted_by[n] = chains;
                        *liberties += 1;
                        if *liberties >= cap {
                            break 'chain;
                        }
                    }
                }
            }
        }
        for point in 0..out.len() {
            if matches!(self.cells[point], Cell::Stone(_)) {
                out[point] = out[self.head(point)];
            }
        }
    }

    /// What a stone of `color` at an empty point would do.
    pub fn effect(&self, point: usize, color: Color) -> Effect {
        let mut lives = false;
        let mut captures = false;
        let mut friends = 0;
        for n in self.neighbours(point) {
            match self.cells[usize::from(n)] {
                Cell::Empty => lives = true,
                Cell::Stone(c) if c == color => {
                    friends += 1;
                    lives |= !self.in_atari(usize::from(n));
                }
                Cell::Stone(_) => captures |= self.in_atari(usize::from(n)),
                Cell::Wall => {}
            }
        }
        match (captures, lives) {
            (true, _) => Effect::Captures,
            (false, true) => Effect::Lives,
            (false, false) => Effect::Suicide { friends },
        }
    }

    /// The XOR that a stone of `color` with this effect would apply to the board's hash.
    pub fn hash_change(&self, point: usize, color: Color, effect: Effect) -> u64 {
        match effect {
            Effect::Lives => self.key(point, color),
            Effect::Captures => self.key(point, color) ^ self.dead_keys(point, color.opponent()),
            Effect::Suicide { .. } => self.dead_keys(point, color),
        }
    }

    /// The keys of the chains of `color` beside `point` whose last liberty it is.
    fn dead_keys(&self, point: usize, color: Color) -> u64 {
        let mut heads = [usize::MAX; 4];
        let mut keys = 0;
        for (i, n) in self.neighbours(point).into_iter().enumerate() {
            let n = usize::from(n);
            if self.cells[n] != Cell::Stone(color) || !self.in_atari(n) {
                continue;
            }
            let head = self.head(n);
            if !heads.contains(&head) {
                heads[i] = head;
                keys ^= self.chain(n).fold(0, |keys, stone| keys ^ self.key(stone, color));
            }
        }
        keys
    }

    /// Places a stone on an empty point, takes what dies and tells `watch` of it.
    pub fn place(&mut self, point: usize, color: Color, watch: &mut impl Watch) -> Placed {
        debug_assert_eq!(self.cells[point], Cell::Empty);
        self.put(point, color, watch);
        let mut placed = Placed::default();
        let mut last_captured = 0;
        for n in self.neighbours(point) {
            let n = usize::from(n);
            if self.cells[n] == Cell::Stone(color.opponent())
                && self.links[self.head(n)].liberties == 0
            {
                placed.captured += self.remove(n, color.opponent(), watch);
                last_captured = n as u16;
            }
        }
        let own = self.links[self.head(point)];
        if own.liberties == 0 {
            placed.lost = self.remove(point, color, watch);
        } else if placed.captured == 1 && own.size == 1 && self.in_atari(point) {
            placed.ko = Some(last_captured);
        }
        placed
    }

    /// Takes back what changed since `log` was `mark` long.
    pub fn take_back(&mut self, log: &mut Vec<Saved>, mark: usize) {
        for saved in log.drain(mark..).rev() {
            let point = usize::from(saved.point);
            self.cells[point] = saved.cell;
            self.links[point] = saved.link;
        }
    }

    fn save(&self, point: usize, watch: &mut impl Watch) {
        let (cell, link) = (self.cells[point], self.links[point]);
        watch.before(Saved { point: point as u16, cell, link });
    }

    fn put(&mut self, point: usize, color: Color, watch: &mut impl Watch) {
        self.save(point, watch);
        self.cells[point] = Cell::Stone(color);
        watch.placed(point, color, self.key(point, color));
        let at = point as u16;
        self.links[point] = Link { head: at, next: at, size: 1, ..Link::default() };
        for n in self.neighbours(point) {
            let n = usize::from(n);
            match self.cells[n] {
                Cell::Empty => self.links[point].add_liberty(n),
                Cell::Stone(_) => {
                    let head = self.head(n);
                    self.save(head, watch);
                    self.links[head].drop_liberty(point);
                }
                Cell::Wall => {}
            }
        }
        for n in self.neighbours(point) {
            let n = usize::from(n);
            if self.cells[n] == Cell::Stone(color) {
                self.join(point, n, watch);
            }
        }
    }

    /// Joins two chains of a colour; the smaller takes the larger's head.
    fn join(&mut self, a: usize, b: usize, watch: &mut impl Watch) {
        let (a, b) = (self.head(a), self.head(b));
        if a == b {
            return;
        }
        let (keep, drop) = if self.links[a].size >= self.links[b].size { (a, b) } else { (b, a) };
        self.save(keep, watch);
        let mut stone = drop;
        loop {
            self.save(stone, watch);
            self.links[stone].head = keep as u16;
            stone = usize::from(self.links[stone].next);
            if stone == drop {
                break;
            }
        }
        let gone = self.links[drop];
        let kept_next = self.links[keep].next;
        self.links[drop].next = kept_next;
        let kept = &mut self.links[keep];
        kept.next = gone.next;
        kept.size += gone.size;
        kept.liberties += gone.liberties;
        kept.sum += gone.sum;
        kept.squares += gone.squares;
    }

    /// Takes a chain off the board; returns its stones' number.
    fn remove(&mut self, point: usize, color: Color, watch: &mut impl Watch) -> u32 {
        let mut count = 0;
        let mut stone = point;
        loop {
            let next = usize::from(self.links[stone].next);
            self.save(stone, watch);
            self.cells[stone] = Cell::Empty;
            watch.removed(stone, color, self.key(stone, color));
            count += 1;
            for n in self.neighbours(stone) {
                let n = usize::from(n);
                // Stones of the dying chain are of its colour and are never neighbours' heads later.
                if self.cells[n] == Cell::Stone(color.opponent()) {
                    let head = self.head(n);
                    self.save(head, watch);
                    self.links[head].add_liberty(stone);
                }
            }
            stone = next;
            if stone == point {
                return count;
            }
        }
    }

    /// The only liberty of the chain of a stone, if it is in atari.
    pub fn last_liberty(&self, point: usize) -> Option<u16> {
        let chain = &self.links[self.head(point)];
        (self.in_atari(point) && chain.liberties > 0)
            .then(|| (chain.sum / u32::from(chain.liberties)) as u16)
    }

    fn in_atari(&self, point: usize) -> bool {
        let chain = &self.links[self.head(point)];
        u64::from(chain.liberties) * u64::from(chain.squares)
            == u64::from(chain.sum) * u64::from(chain.sum)
    }

    /// The stone that names the chain of a stone.
    pub fn head(&self, point: usize) -> usize {
        usize::from(self.links[point].head)
    }

    fn key(&self, point: usize, color: Color) -> u64 {
        self.geometry.keys[point][color.index()]
    }
}

impl Link {
    fn add_liberty(&mut self, point: usize) {
        let point = point as u32;
        self.liberties += 1;
        self.sum += point;
        self.squares += point * point;
    }

    fn drop_liberty(&mut self, point: usize) {
        let point = point as u32;
        self.liberties -= 1;
        self.sum -= point;
        self.squares -= point * point;
    }
}
