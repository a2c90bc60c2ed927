//! A game in progress: the position and what led to it. Legality has its own file.

use crate::board::{Board, Cell};
use crate::ending::Ended;
use crate::geometry::Geometry;
use crate::history::History;
use crate::{BoardSize, Color, IllegalMove, KoRule, Komi, Move, Point, Rules};

/// A position and what led to it. Cloning copies a few kilobytes and allocates five times;
/// [`clone_from`](Clone::clone_from) a state of the same size copies alone.
#[derive(Debug)]
pub struct GameState {
    pub(crate) board: Board,
    pub(crate) history: History,
    pub(crate) rules: Rules,
    pub(crate) komi: Komi,
    pub(crate) to_play: Color,
    move_number: usize,
    pub(crate) passes: u32,
    captures: [u32; 2],
    last_move: Option<Move>,
    pub(crate) ko_point: Option<u16>,
    pub(crate) ended: Option<Ended>,
    pub(crate) first_passer: Option<Color>,
    /// Whether long cycles end the game under simple ko; off where only legality counts.
    pub(crate) cycles_end: bool,
    /// Positions, oldest first: under superko all, as they may not come back; under simple ko
    /// those since the last pass, as the third return ends the game.
    pub(crate) past: Vec<u64>,
    /// Positions in which a player passed, under simple ko.
    pub(crate) passed_from: Vec<u64>,
    /// Points that ever held a stone: no other move can repeat a board without suicide.
    pub(crate) ever_held: Box<[u64]>,
}

impl Clone for GameState {
    fn clone(&self) -> GameState {
        GameState {
            board: self.board.clone(),
            history: self.history.clone(),
            past: self.past.clone(),
            passed_from: self.passed_from.clone(),
            ever_held: self.ever_held.clone(),
            ..*self
        }
    }

    // A search walks from the same root again and again.
    fn clone_from(&mut self, source: &GameState) {
        // Named one by one, so that no field to come is forgotten.
        let GameState {
            board,
            history,
            rules,
            komi,
            to_play,
            move_number,
            passes,
            captures,
            last_move,
            ko_point,
            ended,
            first_passer,
            cycles_end,
            past,
            passed_from,
            ever_held,
        } = source;
        self.board.clone_from(board);
        self.history.clone_from(history);
        self.rules = *rules;
        self.komi = *komi;
        self.to_play = *to_play;
        self.move_number = *move_number;
        self.passes = *passes;
        self.captures = *captures;
        self.last_move = *last_move;
        self.ko_point = *ko_point;
        self.ended = *ended;
        self.first_passer = *first_passer;
        self.cycles_end = *cycles_end;
        self.passed_from.clone_from(passed_from);
        self.past.clone_from(past);
        self.ever_held.clone_from(ever_held);
    }
}

impl GameState {
    /// The empty board, Black to move. Check [`Rules::playable`] where the rules come from.
    pub fn new(size: BoardSize, rules: Rules, komi: Komi) -> GameState {
        let mut state = GameState {
            board: Board::new(Geometry::shared(size)),
            history: History::new(size),
            rules,
            komi,
            to_play: Color::Black,
            move_number: 0,
            passes: 0,
            captures: [0; 2],
            last_move: None,
            ko_point: None,
            ended: None,
            first_passer: None,
            cycles_end: true,
            past: Vec::new(),
            passed_from: Vec::new(),
            ever_held: vec![0; size.area().div_ceil(64)].into_boxed_slice(),
        };
        state.remember();
        state
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

    /// Passes in a row that count towards the end: those since the last stone, less the one that
    /// took the button.
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

    /// The stone at a point; `None` off the board.
    pub fn stone(&self, point: Point) -> Option<Color> {
        if !self.size().contains(point) {
            return None;
        }
        match self.board.cell(point.index()) {
            Cell::Stone(color) => Some(color),
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

    /// Writes the liberties of the chain at each point, at most `cap`, by point index; 0 where no
    /// stone lies.
    ///
    /// # Panics
    /// If `out` is not as long as the board has points.
    pub fn liberties_by_point(&self, cap: u8, out: &mut [u8]) {
        assert_eq!(out.len(), self.size().area(), "one entry a point");
        self.board.liberties_by_point(cap, out);
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

    /// Plays a move for the player to move.
    ///
    /// # Errors
    /// As [`check`](Self::check); the state is then unchanged.
    pub fn play(&mut self, mv: Move) -> Result<(), IllegalMove> {
        self.check(mv)?;
        let player = self.to_play;
        self.history.advance();
        self.ko_point = None;
        let mut may_repeat = false;
        match mv {
            Move::Pass => self.count_pass(),
            Move::Play(point) => {
                let placed = self.board.place(point.index(), player, &mut self.history);
                self.captures[player.index()] += placed.captured;
                self.captures[player.opponent().index()] += placed.lost;
                self.ko_point = placed.ko.filter(|_| self.rules.ko == KoRule::Simple);
                self.passes = 0;
                let (word, bit) = (point.index() / 64, 1 << (point.index() % 64));
                may_repeat = self.ever_held[word] & bit != 0 || placed.lost > 0;
                self.ever_held[word] |= bit;
            }
        }
        self.to_play = player.opponent();
        self.move_number += 1;
        self.last_move = Some(mv);
        self.remember();
        if may_repeat {
            self.count_cycle();
        }
        Ok(())
    }
}
