//! The board along a game as files have it: colours that move twice, moves after the end, stones
//! set up by hand.

use tengen_rules::{Color, GameState, IllegalMove, Komi, Move, Point, Rules, SetupError};

use super::error::SgfError;
use super::game::{Origin, SgfGame};
use crate::RecordError;

/// A rules state, and the prisoners made before it had to start afresh.
///
/// The rules alternate, so a colour that moves twice lets the other pass in between. Where that
/// pass or a move would come after the end, or stones are set up by hand, the board starts afresh
/// with the same stones: it then counts for superko, the boards before it no longer do.
#[derive(Clone, Debug)]
pub struct Position {
    state: GameState,
    captures: [u32; 2],
}

impl Position {
    /// A position that begins with this state.
    pub fn new(state: GameState) -> Position {
        Position { state, captures: [0; 2] }
    }

    /// The board, the rules and whose turn it is.
    pub fn state(&self) -> &GameState {
        &self.state
    }

    /// Stones captured by a colour since the game began.
    pub fn captures(&self, by: Color) -> u32 {
        self.captures[by.index()] + self.state.captures(by)
    }

    /// Plays a move of either colour. A pass after the end changes nothing.
    ///
    /// # Errors
    /// The rules' refusal; passes that made it this colour's turn then stay.
    pub fn play(&mut self, color: Color, mv: Move) -> Result<(), IllegalMove> {
        if self.state.is_over() && mv == Move::Pass {
            return Ok(());
        }
        if self.state.is_over()
            || (self.state.to_play() != color && self.state.consecutive_passes() > 0)
        {
            let stones = self.stones();
            // A board that has come about by moves has no chain without liberties.
            let _ = self.restart(&stones, color);
        } else if self.state.to_play() != color {
            self.state.play(Move::Pass)?;
        }
        self.state.play(mv)
    }

    /// Sets points by hand, and whose turn it is.
    ///
    /// # Errors
    /// When a chain would have no liberty; nothing has then changed.
    pub fn edit(
        &mut self,
        changes: &[(Point, Option<Color>)],
        to_play: Option<Color>,
    ) -> Result<(), SetupError> {
        let mut stones = self.stones();
        for &(point, stone) in changes {
            if let Some(cell) = stones.get_mut(point.index()) {
                *cell = stone;
            }
        }
        self.restart(&stones, to_play.unwrap_or(self.state.to_play()))
    }

    fn stones(&self) -> Vec<Option<Color>> {
        self.state.size().points().map(|p| self.state.stone(p)).collect()
    }

    fn restart(&mut self, stones: &[Option<Color>], to_play: Color) -> Result<(), SetupError> {
        let state = &self.state;
        let of = |color| -> Vec<Point> {
            state.size().points().filter(|p| stones[p.index()] == Some(color)).collect()
        };
        let (black, white) = (of(Color::Black), of(Color::White));
        let (size, rules, komi) = (state.size(), state.rules(), state.komi());
        let next = GameState::with_setup(size, rules, komi, &black, &white, to_play)?;
        self.captures = [Color::Black, Color::White].map(|color| self.captures(color));
        self.state = next;
        Ok(())
    }
}

impl SgfGame {
    /// The position after the first `count` moves, under these rules and this komi. Stones set up
    /// after move `count` are set up too.
    ///
    /// # Errors
    /// The first illegal move or setup on the way.
    pub fn position(&self, rules: Rules, komi: Komi, count: usize) -> Result<Position, SgfError> {
        let setup = |source: SetupError, at: Origin| SgfError::Setup {
            at: at.place,
            node: at.node,
            source: source.into(),
        };
        let (black, white) = (&self.setup_black, &self.setup_white);
        let first = self.first_to_play();
        let state = GameState::with_setup(self.size, rules, komi, black, white, first)
            .map_err(|source| setup(source, Origin::default()))?;
        let mut position = Position::new(state);
        let mut edits = self.edits.iter().peekable();
        for index in 0..=count.min(self.moves.len()) {
            while let Some(edit) = edits.next_if(|edit| edit.after <= index) {
                position.edit(&edit.stones, edit.to_play).map_err(|e| setup(e, edit.origin))?;
            }
            let Some(&(color, mv)) = self.moves.get(index).filter(|_| index < count) else { break };
            position.play(color, mv).map_err(|source| self.illegal(index, source))?;
        }
        Ok(position)
    }

    /// The error that move `index` is.
    pub(crate) fn illegal(&self, index: usize, source: IllegalMove) -> SgfError {
        let (color, mv) = self.moves[index];
        let origin = self.origins.get(index).copied().unwrap_or_default();
        SgfError::Illegal {
            at: origin.place,
            node: origin.node,
            number: index + 1,
            mv: format!("{} {}", color.letter(), self.size.vertex(mv)),
            source: RecordError::Illegal { turn: index, source },
        }
    }
}
