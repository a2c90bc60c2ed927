//! Positions that games may begin from.

use tengen_record::GameRecord;
use tengen_rules::{Color, GameState, Komi, Move, Point, SetupError};
use thiserror::Error;

use crate::GameSettings;

/// A position and how it came about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartPosition {
    /// Black stones before the first move.
    pub setup_black: Vec<Point>,
    /// White stones before the first move.
    pub setup_white: Vec<Point>,
    /// Who makes the first move.
    pub first_to_play: Color,
    /// Moves from there, in turn.
    pub moves: Vec<Move>,
}

/// A start that no game can begin from.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StartError {
    /// The game it comes from has another board.
    #[error("its board is {found}, the run's {expected} (columns x rows)")]
    Board {
        /// The run's.
        expected: String,
        /// The position's.
        found: String,
    },
    /// Stones that cannot lie so.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A move that the rules refuse.
    #[error("move {number}, {vertex}: {reason}")]
    Move {
        /// Which one, from 1.
        number: usize,
        /// Where.
        vertex: String,
        /// The rule it breaks.
        reason: String,
    },
    /// Nothing is left to play.
    #[error("the game is over there")]
    Over,
}

impl StartPosition {
    /// The position after `moves` moves from the empty board.
    pub fn of_moves(moves: Vec<Move>) -> Self {
        let (setup_black, setup_white) = (Vec::new(), Vec::new());
        StartPosition { setup_black, setup_white, first_to_play: Color::Black, moves }
    }

    /// The last position of a game.
    ///
    /// # Errors
    /// [`StartError::Board`] when it was played on another board than that of `settings`.
    pub fn of_game(record: &GameRecord, settings: &GameSettings) -> Result<Self, StartError> {
        if record.size != settings.size {
            let name =
                |size: tengen_rules::BoardSize| format!("{}x{}", size.width(), size.height());
            let (expected, found) = (name(settings.size), name(record.size));
            return Err(StartError::Board { expected, found });
        }
        Ok(StartPosition {
            setup_black: record.setup_black.clone(),
            setup_white: record.setup_white.clone(),
            first_to_play: record.first_to_play,
            moves: record.turns.iter().map(|turn| turn.mv).collect(),
        })
    }

    /// The position, under the rules of `settings`.
    ///
    /// # Errors
    /// When the stones or moves are not legal there, or the game would be over.
    pub fn state(&self, settings: &GameSettings) -> Result<GameState, StartError> {
        let mut state = self.before(settings, settings.komi)?;
        for (at, &mv) in self.moves.iter().enumerate() {
            if state.is_over() {
                return Err(StartError::Over);
            }
            state.play(mv).map_err(|refusal| StartError::Move {
                number: at + 1,
                vertex: settings.size.vertex(mv),
                reason: refusal.to_string(),
            })?;
        }
        if state.is_over() { Err(StartError::Over) } else { Ok(state) }
    }

    /// The position before the moves, at this komi.
    pub(crate) fn before(
        &self,
        settings: &GameSettings,
        komi: Komi,
    ) -> Result<GameState, SetupError> {
        GameState::with_setup(
            settings.size,
            settings.rules,
            komi,
            &self.setup_black,
            &self.setup_white,
            self.first_to_play,
        )
    }
}
