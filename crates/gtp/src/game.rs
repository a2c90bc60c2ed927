//! The game as GTP has it: moves of any colour, undo, settings that change in the middle.

use tengen_record::sgf::SgfGame;
use tengen_rules::{BoardSize, Color, GameState, Komi, Move, Point, Rules};

use crate::error::GtpError;

/// Settings and moves; the position is always what they replay to.
#[derive(Clone)]
pub(crate) struct Game {
    pub size: BoardSize,
    pub rules: Rules,
    /// As the controller set it, without a handicap bonus.
    pub komi: Komi,
    setup: [Vec<Point>; 2],
    first: Color,
    /// Stones placed by a handicap command: the rules' bonus is for these.
    handicap: u32,
    moves: Vec<(Color, Move)>,
    position: Position,
}

/// A rules state, and the prisoners made before it had to start afresh.
#[derive(Clone)]
struct Position {
    state: GameState,
    captures: [u32; 2],
}

impl Position {
    /// One move by either colour. The rules alternate, so a colour that moves twice lets the other
    /// pass in between; where that pass (or a move after the end) would be too much, the same board
    /// starts afresh, and forgets which boards came before.
    fn play(&mut self, color: Color, mv: Move) -> Result<(), GtpError> {
        if self.state.is_over() && mv == Move::Pass {
            return Ok(());
        }
        let mut next = self.turned_to(color)?;
        next.state.play(mv).map_err(|_| GtpError::IllegalMove)?;
        *self = next;
        Ok(())
    }

    /// The position with `color` to move.
    fn turned_to(&self, color: Color) -> Result<Position, GtpError> {
        let mut next = self.clone();
        let state = &self.state;
        if state.is_over() || (state.to_play() != color && state.consecutive_passes() > 0) {
            let [black, white] = Color::BOTH.map(|c| stones(state, c));
            let (size, rules, komi) = (state.size(), state.rules(), state.komi());
            next.captures = Color::BOTH.map(|c| self.captures[c.index()] + state.captures(c));
            next.state = GameState::with_setup(size, rules, komi, &black, &white, color)
                .map_err(|_| GtpError::IllegalMove)?;
        } else if state.to_play() != color {
            next.state.play(Move::Pass).map_err(|_| GtpError::IllegalMove)?;
        }
        Ok(next)
    }
}

/// The stones of a colour, in index order.
pub(crate) fn stones(state: &GameState, color: Color) -> Vec<Point> {
    state.size().points().filter(|&p| state.stone(p) == Some(color)).collect()
}

impl Game {
    pub fn new(size: BoardSize, rules: Rules, komi: Komi) -> Game {
        let position = Position { state: GameState::new(size, rules, komi), captures: [0; 2] };
        let setup = [Vec::new(), Vec::new()];
        let first = Color::Black;
        Game { size, rules, komi, setup, first, handicap: 0, moves: Vec::new(), position }
    }

    pub fn state(&self) -> &GameState {
        &self.position.state
    }

    /// Stones captured by a colour since the game began.
    pub fn captures(&self, by: Color) -> u32 {
        self.position.captures[by.index()] + self.state().captures(by)
    }

    pub fn moves(&self) -> &[(Color, Move)] {
        &self.moves
    }

    pub fn is_empty_board(&self) -> bool {
        self.size.points().all(|p| self.state().stone(p).is_none())
    }

    pub fn play(&mut self, color: Color, mv: Move) -> Result<(), GtpError> {
        self.position.play(color, mv)?;
        self.moves.push((color, mv));
        Ok(())
    }

    /// The position to search when `color` is asked for a move.
    pub fn state_for(&self, color: Color) -> Result<GameState, GtpError> {
        if self.state().is_over() {
            return Ok(self.state().clone());
        }
        Ok(self.position.turned_to(color)?.state)
    }

    /// The same for those who only look: a game that is over is looked at as if it went on.
    pub fn open_state_for(&self, color: Color) -> Result<GameState, GtpError> {
        Ok(self.position.turned_to(color)?.state)
    }

    /// Handicap stones placed by a handicap command.
    pub fn handicap(&self) -> u32 {
        self.handicap
    }

    /// A new game that begins from `stones`, Black to move.
    pub fn set_position(&mut self, stones: [Vec<Point>; 2]) -> Result<(), GtpError> {
        self.start(stones, Color::Black, 0)
    }

    /// The same with any player to move; two stones or more of Black alone are a handicap.
    pub fn begin(&mut self, stones: [Vec<Point>; 2], first: Color) -> Result<(), GtpError> {
        let alone = stones[1].is_empty() && stones[0].len() > 1;
        let handicap = if alone { stones[0].len() as u32 } else { 0 };
        self.start(stones, first, handicap)
    }

    fn start(
        &mut self,
        setup: [Vec<Point>; 2],
        first: Color,
        handicap: u32,
    ) -> Result<(), GtpError> {
        let fresh = Game::new(self.size, self.rules, self.komi);
        let mut game = Game { setup, first, handicap, ..fresh };
        game.replay().map_err(|_| GtpError::VertexList)?;
        *self = game;
        Ok(())
    }

    /// Who moves first; only before the first move.
    pub fn set_first(&mut self, first: Color) -> Result<(), GtpError> {
        if !self.moves.is_empty() {
            return Err(GtpError::Unavailable("moves have been made already"));
        }
        let mut game = Game { first, ..self.clone() };
        game.replay()?;
        *self = game;
        Ok(())
    }

    pub fn undo(&mut self) -> Result<(), GtpError> {
        let mut shorter = self.clone();
        shorter.moves.pop().ok_or(GtpError::Undo)?;
        shorter.replay()?;
        *self = shorter;
        Ok(())
    }

    pub fn set_komi(&mut self, komi: Komi) -> Result<(), GtpError> {
        let mut changed = Game { komi, ..self.clone() };
        changed.replay().map_err(|e| GtpError::Komi(e.to_string()))?;
        *self = changed;
        Ok(())
    }

    /// Changes the rules, unless the moves so far break the new ones.
    pub fn set_rules(&mut self, rules: Rules) -> Result<(), GtpError> {
        let mut changed = Game { rules, ..self.clone() };
        let refuse = |_| GtpError::Rules("the moves so far are illegal under them".to_owned());
        changed.replay().map_err(refuse)?;
        *self = changed;
        Ok(())
    }

    /// Places handicap stones on an empty board; White moves next.
    pub fn set_handicap(&mut self, points: &[Point]) -> Result<(), GtpError> {
        if !self.is_empty_board() {
            return Err(GtpError::BoardNotEmpty);
        }
        let mut game = Game::new(self.size, self.rules, self.komi);
        game.setup[0] = points.to_vec();
        game.first = Color::White;
        game.handicap = points.len() as u32;
        game.replay().map_err(|_| GtpError::VertexList)?;
        *self = game;
        Ok(())
    }

    /// The first `count` moves of a file's game; what it leaves out is taken from here.
    pub fn load(&self, file: &SgfGame, count: usize) -> Result<Game, GtpError> {
        let rules = file.rules.filter(|rules| rules.playable().is_ok()).unwrap_or(self.rules);
        let mut game = Game::new(file.size, rules, file.komi.unwrap_or(self.komi));
        game.setup = [file.setup_black.clone(), file.setup_white.clone()];
        game.first = file.first_to_play();
        if file.handicap.is_some() && file.setup_white.is_empty() {
            game.handicap = file.setup_black.len() as u32;
        }
        game.replay().map_err(|e| GtpError::LoadGame(format!("setup: {e}")))?;
        for (index, &(color, mv)) in file.moves.iter().take(count).enumerate() {
            game.play(color, mv).map_err(|e| {
                let vertex = game.size.vertex(mv);
                GtpError::LoadGame(format!("move {} ({color} {vertex}): {e}", index + 1))
            })?;
        }
        Ok(game)
    }

    pub fn to_sgf(&self) -> SgfGame {
        SgfGame {
            komi: Some(self.komi),
            rules: Some(self.rules),
            handicap: (self.handicap > 1).then_some(self.handicap),
            setup_black: self.setup[0].clone(),
            setup_white: self.setup[1].clone(),
            to_play: Some(self.first),
            moves: self.moves.clone(),
            result_text: self.state().outcome().map(|outcome| outcome.result_text()),
            ..SgfGame::new(self.size)
        }
    }

    fn replay(&mut self) -> Result<(), GtpError> {
        let bonus = 2 * self.rules.handicap_bonus.points(self.handicap) as i32;
        let komi = Komi::from_half_points(self.komi.half_points() + bonus)
            .map_err(|e| GtpError::Komi(e.to_string()))?;
        let [black, white] = &self.setup;
        let state = GameState::with_setup(self.size, self.rules, komi, black, white, self.first)
            .map_err(|_| GtpError::VertexList)?;
        let mut position = Position { state, captures: [0; 2] };
        for &(color, mv) in &self.moves {
            position.play(color, mv)?;
        }
        self.position = position;
        Ok(())
    }
}
