//! A game in progress: the position, its history, and the one definition of legality.

use crate::board::{Board, Cell, Effect};
use crate::geometry::Geometry;
use crate::history::History;
use crate::zobrist::{fold, mix};
use crate::{BoardSize, Color, KoRule, Komi, LegalMask, Move, Outcome, Point, Rules};
use std::sync::Arc;
use thiserror::Error;

/// Why a move was refused; the message names the vertex.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum IllegalMove {
    /// A stone lies there.
    #[error("{0} is occupied")]
    Occupied(String),
    /// The point is not on this board.
    #[error("{0} is off the board")]
    OffBoard(String),
    /// The stone would have no liberty.
    #[error("{0} is suicide")]
    Suicide(String),
    /// It would take back a ko at once.
    #[error("{0} retakes the ko")]
    Ko(String),
    /// It would repeat an earlier board.
    #[error("{0} repeats an earlier position")]
    Superko(String),
    /// Two passes ended the game.
    #[error("the game is over: {0} comes too late")]
    GameOver(String),
}

/// A starting position that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SetupError {
    /// Two stones on one point.
    #[error("two stones are set up on {0}")]
    Twice(String),
    /// A stone off the board.
    #[error("{0} is off the board")]
    OffBoard(String),
    /// A chain without a liberty.
    #[error("the chain at {0} has no liberty")]
    NoLiberty(String),
    /// A drawing that is no board.
    #[error("not a drawing of a board: {0}")]
    Drawing(String),
}

/// A position and what led to it. Cloning copies a few kilobytes and allocates five times.
#[derive(Clone, Debug)]
pub struct GameState {
    pub(crate) board: Board,
    history: History,
    rules: Rules,
    komi: Komi,
    to_play: Color,
    move_number: usize,
    passes: u32,
    captures: [u32; 2],
    last_move: Option<Move>,
    ko_point: Option<u16>,
    /// Positions that may not come back, oldest first; empty under simple ko.
    past: Vec<u64>,
    /// Points that ever held a stone: no other move can repeat a board without suicide.
    ever_held: Box<[u64]>,
}

impl GameState {
    /// The empty board, Black to move. Check [`Rules::playable`] where the rules come from.
    pub fn new(size: BoardSize, rules: Rules, komi: Komi) -> GameState {
        let mut state = GameState {
            board: Board::new(Arc::new(Geometry::new(size))),
            history: History::new(size),
            rules,
            komi,
            to_play: Color::Black,
            move_number: 0,
            passes: 0,
            captures: [0; 2],
            last_move: None,
            ko_point: None,
            past: Vec::new(),
            ever_held: vec![0; size.area().div_ceil(64)].into_boxed_slice(),
        };
        state.remember();
        state
    }

    /// A given position with `to_play` to move; it counts for superko.
    ///
    /// # Errors
    /// When stones share a point, lie off the board, or have no liberty.
    pub fn with_setup(
        size: BoardSize,
        rules: Rules,
        komi: Komi,
        black: &[Point],
        white: &[Point],
        to_play: Color,
    ) -> Result<GameState, SetupError> {
        let mut state = GameState::new(size, rules, komi);
        let mut wanted = vec![None; size.area()];
        for (points, color) in [(black, Color::Black), (white, Color::White)] {
            for &point in points {
                let name = || size.vertex(Move::Play(point));
                if !size.contains(point) {
                    return Err(SetupError::OffBoard(name()));
                }
                if wanted[point.index()].replace(color).is_some() {
                    return Err(SetupError::Twice(name()));
                }
            }
        }
        // A stone may only be placed while something of its own breathes, so chains grow outwards
        // from the points beside empty ones; what is never reached has no liberty.
        let mut frontier: Vec<Point> =
            size.points().filter(|p| wanted[p.index()].is_none()).collect();
        let mut reached = vec![false; size.area()];
        let mut order = Vec::new();
        while let Some(point) = frontier.pop() {
            for n in size.neighbours(point) {
                let same =
                    wanted[point.index()].is_none() || wanted[point.index()] == wanted[n.index()];
                if same
                    && wanted[n.index()].is_some()
                    && !std::mem::replace(&mut reached[n.index()], true)
                {
                    order.push(n);
                    frontier.push(n);
                }
            }
        }
        if let Some(dead) =
            size.points().find(|p| wanted[p.index()].is_some() && !reached[p.index()])
        {
            return Err(SetupError::NoLiberty(size.vertex(Move::Play(dead))));
        }
        for point in order {
            let color = wanted[point.index()].expect("only stones are reached");
            state.board.place(point.index(), color, &mut state.history);
            state.ever_held[point.index() / 64] |= 1 << (point.index() % 64);
        }
        state.to_play = to_play;
        state.past.clear();
        state.remember();
        Ok(state)
    }

    /// The board's size.
    pub fn size(&self) -> BoardSize {
        self.board.geometry.size
    }

    /// The rules in force.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// White's compensation.
    pub fn komi(&self) -> Komi {
        self.komi
    }

    /// Whose turn it is.
    pub fn to_play(&self) -> Color {
        self.to_play
    }

    /// Moves played, passes included, setup stones not.
    pub fn move_number(&self) -> usize {
        self.move_number
    }

    /// Passes since the last stone.
    pub fn consecutive_passes(&self) -> u32 {
        self.passes
    }

    /// The last move played; `None` at the start.
    pub fn last_move(&self) -> Option<Move> {
        self.last_move
    }

    /// Stones taken by a player, those the opponent lost by suicide included.
    pub fn captures(&self, by: Color) -> u32 {
        self.captures[by.index()]
    }

    /// The stone at a point.
    pub fn stone(&self, point: Point) -> Option<Color> {
        match self.board.cell(point.index()) {
            Cell::Stone(color) if self.size().contains(point) => Some(color),
            _ => None,
        }
    }

    /// The stone at a point `plies_ago`; `None` too where history does not reach.
    pub fn past_stone(&self, plies_ago: usize, point: Point) -> Option<Color> {
        let known = plies_ago < self.history.len() && self.size().contains(point);
        known.then(|| self.history.stone(plies_ago, point.index())).flatten()
    }

    /// Boards known, the current one included: at most [`HISTORY`](crate::HISTORY). Setup is one.
    pub fn history_len(&self) -> usize {
        self.history.len()
    }

    /// The stones of a colour `plies_ago` as a bitboard, bit = point index.
    ///
    /// # Panics
    /// When `plies_ago` is not less than [`history_len`](Self::history_len), in debug builds.
    pub fn stones(&self, plies_ago: usize, color: Color) -> &[u64] {
        self.history.stones(plies_ago, color)
    }

    /// Liberties of the chain at a point; 0 where no stone lies.
    pub fn liberties(&self, point: Point) -> usize {
        self.stone(point).map_or(0, |_| self.board.chain_liberties(point.index()))
    }

    /// Stones of the chain at a point; 0 where no stone lies.
    pub fn chain_size(&self, point: Point) -> usize {
        self.stone(point).map_or(0, |_| self.board.chain_size(point.index()))
    }

    /// The chain at a point, in no particular order; empty where no stone lies.
    pub fn chain(&self, point: Point) -> Vec<Point> {
        if self.stone(point).is_none() {
            return Vec::new();
        }
        self.board.chain(point.index()).map(Point::from_index).collect()
    }

    /// Whether two passes have ended the game.
    pub fn is_over(&self) -> bool {
        self.passes >= 2
    }

    /// The result: `Some` exactly when the game is over.
    pub fn outcome(&self) -> Option<Outcome> {
        self.is_over().then(|| self.score_now())
    }

    /// Whether a move is legal now.
    ///
    /// # Errors
    /// The reason it is not.
    pub fn check(&self, mv: Move) -> Result<(), IllegalMove> {
        let name = || self.size().vertex(mv);
        if self.is_over() {
            return Err(IllegalMove::GameOver(name()));
        }
        let Move::Play(point) = mv else { return Ok(()) };
        if !self.size().contains(point) {
            return Err(IllegalMove::OffBoard(name()));
        }
        match self.refusal(point.index()) {
            None => Ok(()),
            Some(refusal) => Err(match refusal {
                Refusal::Occupied => IllegalMove::Occupied(name()),
                Refusal::Suicide => IllegalMove::Suicide(name()),
                Refusal::Ko => IllegalMove::Ko(name()),
                Refusal::Superko => IllegalMove::Superko(name()),
            }),
        }
    }

    /// Plays a move for the player to move.
    ///
    /// # Errors
    /// As [`check`](Self::check); the state is then unchanged.
    pub fn play(&mut self, mv: Move) -> Result<(), IllegalMove> {
        self.check(mv)?;
        let player = self.to_play;
        self.history.advance();
        self.ko_point = None;
        match mv {
            Move::Pass => self.passes += 1,
            Move::Play(point) => {
                let placed = self.board.place(point.index(), player, &mut self.history);
                self.captures[player.index()] += placed.captured;
                self.captures[player.opponent().index()] += placed.lost;
                self.ko_point = placed.ko.filter(|_| self.rules.ko == KoRule::Simple);
                self.passes = 0;
                self.ever_held[point.index() / 64] |= 1 << (point.index() % 64);
            }
        }
        self.to_play = player.opponent();
        self.move_number += 1;
        self.last_move = Some(mv);
        self.remember();
        Ok(())
    }

    /// The legal actions now; empty when the game is over.
    pub fn legal_moves(&self) -> LegalMask {
        let mut mask = LegalMask::empty(self.size());
        self.legal_moves_into(&mut mask);
        mask
    }

    /// As [`legal_moves`](Self::legal_moves), into a mask that keeps its memory.
    pub fn legal_moves_into(&self, mask: &mut LegalMask) {
        mask.reset(self.size());
        if self.is_over() {
            return;
        }
        for point in 0..self.size().area() {
            if self.refusal(point).is_none() {
                mask.insert(point);
            }
        }
        mask.insert(self.size().pass_action());
    }

    /// The Zobrist hash of the stones alone; the same on every machine.
    pub fn hash(&self) -> u64 {
        self.history.hash(0)
    }

    /// A hash of all that an evaluation may depend on: stones, player, passes, the boards of
    /// [`HISTORY`](crate::HISTORY), rules, komi, and the points that a ko forbids.
    pub fn situation_hash(&self) -> u64 {
        let side = self.to_play.index() as u64;
        let passes = u64::from(self.passes.min(2));
        let mut hash = fold(self.rule_bits(), self.komi.half_points() as u64);
        hash = fold(hash, side | passes << 1 | (self.history.len() as u64) << 3);
        for ago in 0..self.history.len() {
            hash = fold(hash, self.history.hash(ago));
        }
        if let Some(ko) = self.ko_point {
            hash = fold(hash, u64::from(ko));
        }
        // Superko may depend on any past board; what it forbids here is what counts.
        for (i, &word) in self.ever_held.iter().enumerate().filter(|_| !self.past.is_empty()) {
            let mut rest = word;
            while rest != 0 {
                let point = i * 64 + rest.trailing_zeros() as usize;
                rest &= rest - 1;
                if matches!(self.refusal(point), Some(Refusal::Ko | Refusal::Superko)) {
                    hash = fold(hash, point as u64);
                }
            }
        }
        hash
    }

    fn rule_bits(&self) -> u64 {
        let rules = self.rules;
        let flags = [rules.suicide, rules.button, rules.friendly_pass];
        let flags = flags.into_iter().fold(0, |bits, flag| bits << 1 | u64::from(flag));
        mix(flags
            | (rules.ko as u64) << 8
            | (rules.scoring as u64) << 16
            | (rules.tax as u64) << 24
            | (rules.handicap_bonus as u64) << 32)
    }

    /// Why a stone may not be played at a point of the board: the one owner of legality.
    fn refusal(&self, point: usize) -> Option<Refusal> {
        if self.board.cell(point) != Cell::Empty {
            return Some(Refusal::Occupied);
        }
        let effect = self.board.effect(point, self.to_play);
        let suicide = matches!(effect, Effect::Suicide { .. });
        if let Effect::Suicide { friends } = effect
            && (!self.rules.suicide || friends == 0)
        {
            return Some(Refusal::Suicide);
        }
        if self.ko_point == Some(point as u16) {
            return Some(Refusal::Ko);
        }
        let held = self.ever_held[point / 64] >> (point % 64) & 1 == 1;
        if self.past.is_empty() || !(suicide || held) {
            return None;
        }
        let after = self.hash() ^ self.board.hash_change(point, self.to_play);
        let key = self.repetition_key(after, self.to_play.opponent());
        let back = self.past.iter().rev().position(|&past| past == key)?;
        Some(if back == 1 { Refusal::Ko } else { Refusal::Superko })
    }

    /// Adds the current position to those that may not come back.
    fn remember(&mut self) {
        if self.rules.ko != KoRule::Simple {
            self.past.push(self.repetition_key(self.hash(), self.to_play));
        }
    }

    fn repetition_key(&self, board: u64, to_play: Color) -> u64 {
        match (self.rules.ko, to_play) {
            (KoRule::Situational, Color::White) => !board,
            _ => board,
        }
    }
}

/// A refusal without its words, for the loop over all points.
#[derive(Clone, Copy)]
enum Refusal {
    Occupied,
    Suicide,
    Ko,
    Superko,
}
