//! The naive twin of the rules: whole boards kept in lists, a flood at each question.

use std::collections::HashSet;
use tengen_rules::{BoardSize, Color, GameState, KoRule, Move, Point, Rules};

/// A plain linear congruential generator, the same on every machine.
pub struct Lcg(pub u64);

impl Lcg {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

pub type Stones = Vec<Option<Color>>;

pub fn stones_of(state: &GameState) -> Stones {
    state.size().points().map(|p| state.stone(p)).collect()
}

/// How the twin says a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Counted,
    NoResult,
}

pub struct Naive {
    pub size: BoardSize,
    pub rules: Rules,
    pub board: Stones,
    pub to_play: Color,
    /// Stones each colour took.
    pub captures: [u32; 2],
    pub end: Option<End>,
    /// Boards that superko forbids.
    seen: HashSet<(Stones, Option<Color>)>,
    /// Positions since the last pass, for long cycles.
    since_pass: Vec<(Stones, Color)>,
    /// Positions in which a pass was played.
    passed_in: HashSet<(Stones, Color)>,
    before: Option<Stones>,
    passes: u32,
    button: bool,
}

impl Naive {
    pub fn new(size: BoardSize, rules: Rules) -> Naive {
        let mut naive = Naive {
            size,
            rules,
            board: vec![None; size.area()],
            to_play: Color::Black,
            captures: [0; 2],
            end: None,
            seen: HashSet::new(),
            since_pass: Vec::new(),
            passed_in: HashSet::new(),
            before: None,
            passes: 0,
            button: rules.button,
        };
        naive.remember();
        naive
    }

    fn key(&self, board: Stones, to_play: Color) -> (Stones, Option<Color>) {
        (board, (self.rules.ko == KoRule::Situational).then_some(to_play))
    }

    fn remember(&mut self) {
        match self.rules.ko {
            KoRule::Simple => self.since_pass.push((self.board.clone(), self.to_play)),
            _ => {
                let key = self.key(self.board.clone(), self.to_play);
                self.seen.insert(key);
            }
        }
    }

    /// The chain at a stone and its liberties, by a flood.
    pub fn chain(&self, board: &Stones, start: Point) -> (Vec<Point>, Vec<Point>) {
        let (mut chain, mut liberties, mut next) = (vec![start], Vec::new(), 0);
        while next < chain.len() {
            for n in self.size.neighbours(chain[next]) {
                if board[n.index()].is_none() {
                    if !liberties.contains(&n) {
                        liberties.push(n);
                    }
                } else if board[n.index()] == board[start.index()] && !chain.contains(&n) {
                    chain.push(n);
                }
            }
            next += 1;
        }
        (chain, liberties)
    }

    /// The board after a stone, and the stones that Black and White lose; `None` if it is illegal.
    pub fn after(&self, point: Point) -> Option<(Stones, [u32; 2])> {
        if self.end.is_some() || self.board[point.index()].is_some() {
            return None;
        }
        let mut board = self.board.clone();
        let mut lost = [0; 2];
        board[point.index()] = Some(self.to_play);
        let enemy = self.to_play.opponent();
        for n in self.size.neighbours(point) {
            if board[n.index()] == Some(enemy) {
                let (chain, liberties) = self.chain(&board, n);
                if liberties.is_empty() {
                    chain.iter().for_each(|p| board[p.index()] = None);
                    lost[enemy.index()] += chain.len() as u32;
                }
            }
        }
        let (own, liberties) = self.chain(&board, point);
        if liberties.is_empty() {
            if own.len() == 1 || !self.rules.suicide {
                return None;
            }
            own.iter().for_each(|p| board[p.index()] = None);
            lost[self.to_play.index()] += own.len() as u32;
        }
        let repeats = match self.rules.ko {
            KoRule::Simple => self.before.as_ref() == Some(&board),
            _ => self.seen.contains(&self.key(board.clone(), enemy)),
        };
        (!repeats).then_some((board, lost))
    }

    pub fn play(&mut self, mv: Move) {
        match mv {
            Move::Pass => self.pass(),
            Move::Play(point) => {
                let (board, lost) = self.after(point).unwrap();
                self.before = Some(std::mem::replace(&mut self.board, board));
                self.captures[0] += lost[1];
                self.captures[1] += lost[0];
                self.passes = 0;
            }
        }
        self.to_play = self.to_play.opponent();
        self.remember();
        if mv != Move::Pass && self.rules.ko == KoRule::Simple {
            let now = self.since_pass.last();
            if self.since_pass.iter().filter(|&past| Some(past) == now).count() >= 3 {
                self.end = Some(End::NoResult);
            }
        }
    }

    fn pass(&mut self) {
        self.before = None;
        if self.button {
            self.button = false;
            self.passes = 0;
            self.seen.clear();
            self.since_pass.clear();
            self.passed_in.clear();
            return;
        }
        self.passes += 1;
        let mut ends = self.passes == 2;
        if self.rules.ko == KoRule::Simple {
            self.since_pass.clear();
            ends |= !self.passed_in.insert((self.board.clone(), self.to_play));
        }
        if ends {
            self.end = Some(End::Counted);
        }
    }

    /// Black's area less White's, every stone alive: each empty point asks for itself whom it
    /// reaches.
    pub fn area_lead(&self) -> i32 {
        let mut lead = 0;
        for point in self.size.points() {
            let reaches = |color| match self.board[point.index()] {
                Some(stone) => stone == color,
                None => {
                    let region = self.region(point);
                    region.iter().any(|&p| {
                        self.size.neighbours(p).any(|n| self.board[n.index()] == Some(color))
                    })
                }
            };
            lead += i32::from(reaches(Color::Black)) - i32::from(reaches(Color::White));
        }
        lead
    }

    fn region(&self, start: Point) -> Vec<Point> {
        let (mut region, mut next) = (vec![start], 0);
        while next < region.len() {
            for n in self.size.neighbours(region[next]) {
                if self.board[n.index()].is_none() && !region.contains(&n) {
                    region.push(n);
                }
            }
            next += 1;
        }
        region
    }
}
