//! Walking a record's positions.

use tengen_rules::GameState;

use crate::{GameRecord, RecordError, Turn};

/// Yields each position *before* its move, with the turn made there.
///
/// It ends with the last turn, or at the first one that is illegal (or at once, if the setup is):
/// whoever needs to know which calls [`GameRecord::validate`] first.
pub struct Replay<'a> {
    state: Option<GameState>,
    turns: std::slice::Iter<'a, Turn>,
}

impl<'a> Iterator for Replay<'a> {
    type Item = (GameState, &'a Turn);

    fn next(&mut self) -> Option<Self::Item> {
        let before = self.state.take()?;
        let turn = self.turns.next()?;
        let mut after = before.clone();
        // An illegal move is not yielded: nothing should be learnt from it.
        after.play(turn.mv).ok()?;
        self.state = Some(after);
        Some((before, turn))
    }
}

impl GameRecord {
    /// The position before the first move.
    ///
    /// # Errors
    /// When the setup stones overlap, leave the board or make a chain without liberties.
    pub fn initial_state(&self) -> Result<GameState, RecordError> {
        Ok(GameState::with_setup(
            self.size,
            self.rules,
            self.komi,
            &self.setup_black,
            &self.setup_white,
            self.first_to_play,
        )?)
    }

    /// The positions in order, each before its move.
    pub fn replay(&self) -> Replay<'_> {
        Replay { state: self.initial_state().ok(), turns: self.turns.iter() }
    }
}
