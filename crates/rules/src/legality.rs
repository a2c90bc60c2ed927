//! What may be played: the one definition of legality, ko and superko included.

use crate::board::{Cell, Effect};
use crate::geometry::MAX_WORDS;
use crate::{Color, GameState, KoRule, LegalMask, Move, Point};
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
    /// Passes or a long cycle ended the game.
    #[error("the game is over: {0} comes too late")]
    GameOver(String),
}

impl GameState {
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
        let geometry = &self.board.geometry;
        let stones = Color::BOTH.map(|color| self.history.stones(0, color));
        let mut empty = [0; MAX_WORDS];
        for (i, word) in empty.iter_mut().enumerate().take(geometry.board.len()) {
            *word = geometry.board[i] & !(stones[0][i] | stones[1][i]);
        }
        // A stone beside an empty point lives, and takes no ko; only where a stone was before could
        // it repeat a board. Those few points, and those without room, are looked at one by one.
        let roomy = geometry.adjoining(&empty);
        for i in 0..geometry.board.len() {
            let plain = roomy[i] & !self.ever_held[i];
            mask.insert_word(i, plain);
            let mut rest = empty[i] & !plain;
            while rest != 0 {
                let point = i * 64 + rest.trailing_zeros() as usize;
                rest &= rest - 1;
                if self.refusal(point).is_none() {
                    mask.insert(point);
                }
            }
        }
        mask.insert(self.size().pass_action());
    }

    /// Calls `banned` with each empty point that a repetition forbids to the player to move, and
    /// whether it would retake a ko at once (`true`) or bring back an older board (`false`). A move
    /// that is suicide as well counts as that alone.
    pub fn for_each_repetition(&self, mut banned: impl FnMut(Point, bool)) {
        if self.rules.ko == KoRule::Simple {
            if let Some(ko) = self.ko_point {
                banned(Point::from_index(usize::from(ko)), true);
            }
            return;
        }
        // Only where a stone was before can a move repeat a board, but for suicide.
        for (i, &word) in self.ever_held.iter().enumerate() {
            let stones = Color::BOTH.map(|color| self.history.stones(0, color)[i]);
            let mut rest = word & !(stones[0] | stones[1]);
            while rest != 0 {
                let point = i * 64 + rest.trailing_zeros() as usize;
                rest &= rest - 1;
                match self.refusal(point) {
                    Some(Refusal::Ko) => banned(Point::from_index(point), true),
                    Some(Refusal::Superko) => banned(Point::from_index(point), false),
                    _ => {}
                }
            }
        }
    }

    /// Why a stone may not be played at a point of the board: the one owner of legality.
    pub(crate) fn refusal(&self, point: usize) -> Option<Refusal> {
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
        if self.rules.ko == KoRule::Simple || !(suicide || held) {
            return None;
        }
        let after = self.hash() ^ self.board.hash_change(point, self.to_play, effect);
        let key = self.repetition_key(after, self.to_play.opponent());
        // Most are new, and `contains` compares several at once.
        if !self.past.contains(&key) {
            return None;
        }
        let back = self.past.iter().rev().position(|&past| past == key)?;
        Some(if back == 1 { Refusal::Ko } else { Refusal::Superko })
    }

    /// Adds the current position to those that may not come back, or not too often.
    pub(crate) fn remember(&mut self) {
        self.past.push(self.repetition_key(self.hash(), self.to_play));
    }

    /// The hash by which positions are told apart: the board's, and unless the rules are
    /// positional the player's.
    pub(crate) fn repetition_key(&self, board: u64, to_play: Color) -> u64 {
        match (self.rules.ko, to_play) {
            (KoRule::Situational | KoRule::Simple, Color::White) => !board,
            _ => board,
        }
    }
}

/// A refusal without its words, for the loop over all points.
#[derive(Clone, Copy)]
pub(crate) enum Refusal {
    Occupied,
    Suicide,
    Ko,
    Superko,
}
