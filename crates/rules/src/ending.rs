//! When a game is over: passes, and under simple ko the long cycles.

use crate::{Color, GameState, KoRule, Outcome};

/// What ended a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Two passes in a row, or under simple ko a second pass in one position.
    Passes,
    /// Under simple ko, a position for the third time without a pass between.
    Cycle,
}

impl GameState {
    /// Whether the game is over: by passes, or by a long cycle under simple ko.
    pub fn is_over(&self) -> bool {
        self.ended.is_some()
    }

    /// The result: `Some` exactly when the game is over. A long cycle has [`Outcome::NoResult`].
    pub fn outcome(&self) -> Option<Outcome> {
        match self.ended? {
            Ended::Passes => Some(self.score_now()),
            Ended::Cycle => Some(Outcome::NoResult),
        }
    }

    /// Who took the button: the first to pass, whatever the rules; `None` before any pass.
    pub fn first_passer(&self) -> Option<Color> {
        self.first_passer
    }

    /// Takes a finished game up again, as players do who disagree about dead stones. The passes
    /// are forgotten and long cycles counted anew; what superko forbids stays.
    pub fn resume(&mut self) {
        self.ended = None;
        self.passes = 0;
        self.passed_from.clear();
        if self.rules.ko == KoRule::Simple {
            self.past.clear();
            self.remember();
        }
    }

    /// Whether the game is over if the player to move passes.
    pub fn pass_ends(&self) -> bool {
        let takes_button = self.rules.button && self.first_passer.is_none();
        !takes_button && (self.passes >= 1 || self.has_passed_here())
    }

    /// Whether, under simple ko, the player to move has passed in this very position before.
    fn has_passed_here(&self) -> bool {
        let here = self.repetition_key(self.hash(), self.to_play);
        self.rules.ko == KoRule::Simple && self.cycles_end && self.passed_from.contains(&here)
    }

    /// Counts a pass of the player to move, before the turn changes.
    pub(crate) fn count_pass(&mut self) {
        let takes_button = self.rules.button && self.first_passer.is_none();
        self.first_passer.get_or_insert(self.to_play);
        if takes_button {
            // The board without the button is another position: nothing can be repeated.
            self.passes = 0;
            self.past.clear();
            self.passed_from.clear();
            return;
        }
        let ends = self.passes >= 1 || self.has_passed_here();
        self.passes += 1;
        if self.rules.ko == KoRule::Simple {
            self.past.clear();
            let here = self.repetition_key(self.hash(), self.to_play);
            self.passed_from.push(here);
        }
        if ends {
            self.ended = Some(Ended::Passes);
        }
    }

    /// Ends the game under simple ko if the current position came up for the third time.
    pub(crate) fn count_cycle(&mut self) {
        if self.rules.ko == KoRule::Simple
            && self.cycles_end
            && let [before @ .., now] = &self.past[..]
            && before.iter().filter(|&past| past == now).count() >= 2
        {
            self.ended = Some(Ended::Cycle);
        }
    }
}
