//! From a file's game to a record that replays.

use tengen_rules::{Move, Outcome, Rules};

use super::error::SgfError;
use super::game::SgfGame;
use crate::{EndReason, GameRecord, MAX_TEXT_BYTES, SoundRecord, Turn};

impl SgfGame {
    /// The game as a record, replayed move by move.
    ///
    /// `default_rules` stand in for a missing or unknown `RU`; a missing komi is 0. Where one
    /// colour moves twice, the other is given a pass; passes after the end are dropped,
    /// and names are cut at [`MAX_TEXT_BYTES`]. A result
    /// that the final position confirms is recorded as two passes or a resignation, any other as
    /// [`EndReason::Reported`].
    ///
    /// # Errors
    /// On an impossible setup, stones set up in mid-game, more moves or longer names than a record
    /// holds, or the first illegal move, by its number: a game is never read on past a move that
    /// the rules refuse.
    pub fn to_record(&self, default_rules: Rules) -> Result<GameRecord, SgfError> {
        Ok(self.to_sound_record(default_rules)?.into_inner())
    }

    /// The same, with the proof that it was replayed.
    ///
    /// # Errors
    /// As [`to_record`](Self::to_record).
    pub fn to_sound_record(&self, default_rules: Rules) -> Result<SoundRecord, SgfError> {
        if let Some(moves) = self.late_setup() {
            return Err(SgfError::LateSetup(moves));
        }
        let mut record = GameRecord {
            size: self.size,
            rules: self.rules.unwrap_or(default_rules),
            komi: self.komi.unwrap_or_default(),
            setup_black: self.setup_black.clone(),
            setup_white: self.setup_white.clone(),
            first_to_play: self.first_to_play(),
            seed: 0,
            players: self
                .players
                .each_ref()
                .map(|name| name[..name.floor_char_boundary(MAX_TEXT_BYTES)].to_owned()),
            config_digest: String::new(),
            turns: Vec::with_capacity(self.moves.len()),
            outcome: Outcome::NoResult,
            end: EndReason::Reported,
        };
        let mut state = record.initial_state().map_err(|source| SgfError::Setup {
            at: Default::default(),
            node: 0,
            source,
        })?;
        for (index, &(color, mv)) in self.moves.iter().enumerate() {
            // Some servers write a third pass; it changes nothing.
            if state.is_over() && mv == Move::Pass {
                continue;
            }
            let skipped = if state.to_play() == color { None } else { Some(Move::Pass) };
            for mv in skipped.into_iter().chain([mv]) {
                state.play(mv).map_err(|source| self.illegal(index, source))?;
                record.turns.push(Turn { mv, search: None });
            }
        }
        let scored = state.outcome();
        record.outcome = self.outcome.or(scored).unwrap_or(Outcome::NoResult);
        record.end = match record.outcome {
            outcome if scored == Some(outcome) => EndReason::TwoPasses,
            Outcome::Resignation { .. } if scored.is_none() => EndReason::Resignation,
            Outcome::Time { .. } => EndReason::Time,
            Outcome::Forfeit { .. } => EndReason::Forfeit,
            _ => EndReason::Reported,
        };
        SoundRecord::replayed(record, &state).map_err(SgfError::Record)
    }
}
