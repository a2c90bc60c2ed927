//! Ladders read out: atari after atari until the chain is taken or breathes again.
//!
//! The reader plays on a bare board of its own and takes back, so that a position with dozens of
//! short chains is read in microseconds.

use crate::board::{Board, Cell, Effect, Saved};
use crate::{Color, GameState, Point};

/// Lines longer than so many times the board's area are no ladders but cycles.
const DEEPEST: usize = 4;
/// A chain with so many liberties has got away.
const FREE: usize = 3;

/// Reads ladders in one position. All of the attacker's moves are ataris; the owner extends, or
/// takes a chain beside his own that stands in atari. That is exact for ladders and says nothing
/// about nets. A ko is not retaken at once; longer repetitions are not looked for.
///
/// Each question has a budget of moves tried; `None` says that it was not enough.
#[derive(Debug)]
pub struct LadderReader {
    board: Board,
    /// The point that the player to move in the position may not retake.
    root_ko: Option<u16>,
    to_play: Color,
    ko: Option<u16>,
    left: u64,
    /// What the line being read has changed.
    log: Vec<Saved>,
    /// Moves to be tried along the line.
    moves: Vec<u16>,
    seen: Vec<u32>,
    epoch: u32,
}

/// The first liberties of a chain, in the order in which its stones are met.
#[derive(Clone, Copy, Default)]
struct Liberties {
    count: usize,
    at: [u16; FREE],
}

/// What takes a move back, and whether it took stones.
struct Played {
    mark: usize,
    ko_before: Option<u16>,
    took: bool,
}

impl LadderReader {
    /// A reader of `state`.
    pub fn new(state: &GameState) -> LadderReader {
        let mut root_ko = None;
        state.for_each_repetition(|point, immediate| {
            if immediate {
                root_ko = Some(point.index() as u16);
            }
        });
        LadderReader {
            board: state.board.clone(),
            root_ko,
            to_play: state.to_play(),
            ko: None,
            left: 0,
            log: Vec::new(),
            moves: Vec::new(),
            seen: vec![0; state.size().area() + 1],
            epoch: 0,
        }
    }

    /// Whether the chain at `target`, which is in atari, is taken although its owner moves first.
    /// `Some(false)` for a chain that is not in atari, or where no stone lies.
    pub fn is_lost(&mut self, target: Point, budget: u64) -> Option<bool> {
        let Some(owner) = self.begin(target, budget) else { return Some(false) };
        self.ko = self.root_ko.filter(|_| owner == self.to_play);
        match self.board.last_liberty(target.index()) {
            Some(last) => self.lost(target.index(), owner, last, 0),
            None => Some(false),
        }
    }

    /// The points from which the chain at `target`, which has one or two liberties, is caught by an
    /// opponent who moves first: those that take it, or put it in atari and read on. None for other
    /// chains.
    pub fn catching_moves(&mut self, target: Point, budget: u64) -> Option<Vec<Point>> {
        let Some(owner) = self.begin(target, budget) else { return Some(Vec::new()) };
        let attacker = owner.opponent();
        let ko = self.root_ko.filter(|_| attacker == self.to_play);
        let liberties = self.liberties(target.index());
        let mut caught = Vec::new();
        if liberties.count == 1 {
            caught.extend(liberties.at[..1].iter().filter(|&&point| ko != Some(point)));
        } else if liberties.count == 2 {
            let [a, b, _] = liberties.at;
            for (point, other) in [(a, b), (b, a)] {
                self.ko = ko;
                if self.atari_catches(target.index(), owner, point, other, 0)? {
                    caught.push(point);
                }
            }
            caught.sort_unstable();
        }
        Some(caught.into_iter().map(|point| Point::from_index(usize::from(point))).collect())
    }

    /// Whose chain it is, with the budget set.
    fn begin(&mut self, target: Point, budget: u64) -> Option<Color> {
        self.left = budget;
        let inside = self.board.geometry.size.contains(target);
        match inside.then(|| self.board.cell(target.index()))? {
            Cell::Stone(owner) => Some(owner),
            _ => None,
        }
    }

    /// Whether the chain, whose last liberty is `last` and whose owner is to move, is taken.
    fn lost(&mut self, target: usize, owner: Color, last: u16, depth: usize) -> Option<bool> {
        if depth > DEEPEST * self.board.geometry.size.area() {
            return None;
        }
        // Extending is tried before anything else is looked for: mostly it decides.
        if self.room(last, last) >= FREE || !self.defence_fails(target, owner, last, depth)? {
            return Some(false);
        }
        let first = self.moves.len();
        self.push_captures(target, owner, last);
        let mut verdict = Some(true);
        for index in first..self.moves.len() {
            let point = self.moves[index];
            match self.defence_fails(target, owner, point, depth) {
                Some(true) => {}
                other => {
                    verdict = other;
                    break;
                }
            }
        }
        self.moves.truncate(first);
        verdict
    }

    fn defence_fails(
        &mut self,
        target: usize,
        owner: Color,
        point: u16,
        depth: usize,
    ) -> Option<bool> {
        self.left = self.left.checked_sub(1)?;
        let Some(played) = self.play(point, owner) else { return Some(true) };
        let fails = match self.board.last_liberty(target) {
            // It is taken next, unless that retakes a ko.
            Some(last) => Some(self.ko != Some(last)),
            None => match self.liberties(target) {
                two @ Liberties { count: 2, .. } => self.chased(target, owner, two, depth + 1),
                _ => Some(false),
            },
        };
        self.take_back(played);
        fails
    }

    /// Whether some atari on the chain, which has two liberties, leads to its capture.
    fn chased(
        &mut self,
        target: usize,
        owner: Color,
        liberties: Liberties,
        depth: usize,
    ) -> Option<bool> {
        let [a, b, _] = liberties.at;
        // The atari that leaves less room is the likelier one.
        let turned = self.room(b, a) > self.room(a, b);
        for (point, other) in if turned { [(b, a), (a, b)] } else { [(a, b), (b, a)] } {
            if self.atari_catches(target, owner, point, other, depth)? {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Whether an atari at `point` on the chain, whose other liberty is `other`, leads to its
    /// capture.
    fn atari_catches(
        &mut self,
        target: usize,
        owner: Color,
        point: u16,
        other: u16,
        depth: usize,
    ) -> Option<bool> {
        self.left = self.left.checked_sub(1)?;
        // Extending at the other liberty gives as many as are free around it: often enough at once.
        if self.room(other, point) >= FREE {
            return Some(false);
        }
        let Some(played) = self.play(point, owner.opponent()) else { return Some(false) };
        // Unless stones were taken, the other liberty is the last.
        let last = if played.took { self.board.last_liberty(target) } else { Some(other) };
        let caught = match last {
            Some(last) => self.lost(target, owner, last, depth + 1),
            None => Some(false),
        };
        self.take_back(played);
        caught
    }

    /// Empty points beside `point` other than `but`.
    fn room(&self, point: u16, but: u16) -> usize {
        let around = self.board.neighbours(usize::from(point));
        let free = |n: &&u16| **n != but && self.board.cell(usize::from(**n)) == Cell::Empty;
        around.iter().filter(free).count()
    }

    /// The moves but `last` that take what stands beside the chain in atari.
    fn push_captures(&mut self, target: usize, owner: Color, last: u16) {
        let first = self.moves.len();
        for stone in self.board.chain(target) {
            for beside in self.board.neighbours(stone) {
                let beside = usize::from(beside);
                if self.board.cell(beside) == Cell::Stone(owner.opponent())
                    && let Some(taking) = self.board.last_liberty(beside)
                    && taking != last
                    && !self.moves[first..].contains(&taking)
                {
                    self.moves.push(taking);
                }
            }
        }
    }

    /// The liberties of the chain of a stone, at most [`FREE`] of them.
    fn liberties(&mut self, start: usize) -> Liberties {
        self.epoch += 1;
        let mut found = Liberties::default();
        for stone in self.board.chain(start) {
            for beside in self.board.neighbours(stone) {
                let at = usize::from(beside);
                if self.board.cell(at) == Cell::Empty && self.seen[at] != self.epoch {
                    self.seen[at] = self.epoch;
                    found.at[found.count] = beside;
                    found.count += 1;
                    if found.count == FREE {
                        return found;
                    }
                }
            }
        }
        found
    }

    /// Plays unless the point is a ko's or the stone would die.
    fn play(&mut self, point: u16, color: Color) -> Option<Played> {
        let at = usize::from(point);
        if self.ko == Some(point) || self.board.cell(at) != Cell::Empty {
            return None;
        }
        if matches!(self.board.effect(at, color), Effect::Suicide { .. }) {
            return None;
        }
        let (mark, ko_before) = (self.log.len(), self.ko);
        let placed = self.board.place(at, color, &mut self.log);
        self.ko = placed.ko;
        Some(Played { mark, ko_before, took: placed.captured > 0 })
    }

    fn take_back(&mut self, played: Played) {
        self.board.take_back(&mut self.log, played.mark);
        self.ko = played.ko_before;
    }
}
