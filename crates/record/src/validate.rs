//! The one check that anything from elsewhere passes before it can enter a window.

use std::ops::Deref;

use tengen_rules::{GameState, LegalMask, Outcome};

use crate::{EndReason, GameRecord, RecordError, SearchRecord};

/// The most turns a record may have; a 25×25 self-play game at twice its area has 1,250.
pub const MAX_TURNS: usize = 10_000;
/// The most bytes in a player's name or a digest.
pub const MAX_TEXT_BYTES: usize = 1_024;

/// A record that is known to replay: whoever is handed one need not replay it again.
#[derive(Clone, Debug, PartialEq)]
pub struct SoundRecord(GameRecord);

impl SoundRecord {
    /// Replays a record.
    ///
    /// # Errors
    /// As [`GameRecord::validate`].
    pub fn check(record: GameRecord) -> Result<SoundRecord, RecordError> {
        record.validate()?;
        Ok(SoundRecord(record))
    }

    /// A record without searches whose turns were just played to `last` by the record's own rules:
    /// what is left to check.
    pub(crate) fn replayed(
        record: GameRecord,
        last: &GameState,
    ) -> Result<SoundRecord, RecordError> {
        debug_assert!(record.turns.iter().all(|turn| turn.search.is_none()));
        record.check_caps()?;
        record.check_result(last)?;
        Ok(SoundRecord(record))
    }

    /// The record itself.
    pub fn into_inner(self) -> GameRecord {
        self.0
    }
}

impl Deref for SoundRecord {
    type Target = GameRecord;

    fn deref(&self) -> &GameRecord {
        &self.0
    }
}

impl GameRecord {
    /// Replays the whole game and returns the final position.
    ///
    /// # Errors
    /// The first thing found wrong: an oversized part, an illegal setup or move, a policy on
    /// illegal or repeated actions or of sum zero, a value or weight out of range, or a result that
    /// the moves do not lead to.
    pub fn validate(&self) -> Result<GameState, RecordError> {
        self.check_caps()?;
        let mut state = self.initial_state()?;
        let mut legal = state.legal_moves();
        for (index, turn) in self.turns.iter().enumerate() {
            if let Some(search) = &turn.search {
                state.legal_moves_into(&mut legal);
                check_search(search, &legal)
                    .map_err(|what| RecordError::Search { turn: index, what })?;
            }
            state.play(turn.mv).map_err(|source| RecordError::Illegal { turn: index, source })?;
        }
        self.check_result(&state)?;
        Ok(state)
    }

    fn check_caps(&self) -> Result<(), RecordError> {
        let cap = |what, got, limit| {
            if got > limit { Err(RecordError::TooLarge { what, got, limit }) } else { Ok(()) }
        };
        cap("turns", self.turns.len(), MAX_TURNS)?;
        cap("Black's name", self.players[0].len(), MAX_TEXT_BYTES)?;
        cap("White's name", self.players[1].len(), MAX_TEXT_BYTES)?;
        cap("config digest", self.config_digest.len(), MAX_TEXT_BYTES)?;
        cap("setup stones", self.setup_black.len() + self.setup_white.len(), self.size.area())?;
        for turn in &self.turns {
            let entries = turn.search.as_ref().map_or(0, |s| s.policy.len());
            cap("policy entries", entries, self.size.actions())?;
        }
        Ok(())
    }

    fn check_result(&self, last: &GameState) -> Result<(), RecordError> {
        let finding = match self.end {
            EndReason::TwoPasses => match last.outcome() {
                Some(found) if found == self.outcome => return Ok(()),
                Some(found) => format!("but the board scores {}", found.result_text()),
                None => "but the game is not over".to_owned(),
            },
            // A game cut short may be scored as it stands, or left without a winner.
            EndReason::MoveLimit | EndReason::Resignation if last.is_over() => {
                "but both players had passed".to_owned()
            }
            EndReason::MoveLimit => match self.outcome {
                Outcome::Draw | Outcome::NoResult => return Ok(()),
                stated if stated == last.score_now() => return Ok(()),
                _ => format!("but the board scores {}", last.score_now().result_text()),
            },
            EndReason::Settled => match last.settled() {
                Some(found) if found == self.outcome && !last.is_over() => return Ok(()),
                Some(found) => format!("but the board comes to {}", found.result_text()),
                None => "but not all of the board is pass-alive".to_owned(),
            },
            EndReason::Resignation => match self.outcome {
                Outcome::Resignation { .. } => return Ok(()),
                _ => "which is no resignation".to_owned(),
            },
            EndReason::Time | EndReason::Forfeit => match self.outcome {
                Outcome::Score { .. } => "which is a score".to_owned(),
                _ => return Ok(()),
            },
            // Nobody can check such a result, so nothing may be learnt from it as from self-play.
            EndReason::Reported if self.positions() > 0 => {
                format!("which can't be recomputed, for {} training samples", self.positions())
            }
            EndReason::Reported => return Ok(()),
        };
        let stated = self.outcome.result_text();
        Err(RecordError::Result { stated, end: self.end.name(), finding })
    }
}

fn check_search(search: &SearchRecord, legal: &LegalMask) -> Result<(), String> {
    if !(-1.0..=1.0).contains(&search.root_value) {
        return Err(format!("root value {} is not in [-1, 1]", search.root_value));
    }
    if !(search.weight.is_finite() && search.weight >= 0.0) {
        return Err(format!("sample weight {} is not a number of at least 0", search.weight));
    }
    let mut previous = None;
    for &(action, _) in &search.policy {
        if !legal.contains(usize::from(action)) {
            return Err(format!("policy on action {action}, which is not legal"));
        }
        if previous >= Some(action) {
            return Err(format!("policy action {action} is repeated or out of order"));
        }
        previous = Some(action);
    }
    if search.policy.iter().all(|&(_, weight)| weight == 0) {
        return Err("the policy's weights sum to 0".to_owned());
    }
    Ok(())
}
