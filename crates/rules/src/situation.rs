//! Hashes of a position: of its stones, and of all that an evaluation may depend on.

use crate::zobrist::{fold, mix};
use crate::{Color, GameState, Scoring};

impl GameState {
    /// The Zobrist hash of the stones alone; the same on every machine.
    pub fn hash(&self) -> u64 {
        self.history.hash(0)
    }

    /// A hash of all that an evaluation may depend on: stones, player, passes, the boards of
    /// [`HISTORY`](crate::HISTORY), rules, komi, prisoners where they count, whether a
    /// pass ends the game, and the points that a ko forbids.
    pub fn situation_hash(&self) -> u64 {
        let side = self.to_play.index() as u64;
        let passes = u64::from(self.passes.min(2));
        let mut hash = fold(self.rule_bits(), self.komi.half_points() as u64);
        hash = fold(hash, side | passes << 1 | (self.history.len() as u64) << 3);
        for ago in 0..self.history.len() {
            hash = fold(hash, self.history.hash(ago));
        }
        if self.rules.button {
            hash = fold(hash, self.first_passer.map_or(0, |color| 1 + color.index() as u64));
        }
        if self.rules.scoring == Scoring::Territory {
            let [black, white] = Color::BOTH.map(|color| u64::from(self.captures(color)));
            hash = fold(hash, black.wrapping_sub(white));
        }
        if self.passes == 0 && self.pass_ends() {
            hash = fold(hash, 1);
        }
        // Superko may depend on any past board; what it forbids here is what counts.
        self.for_each_repetition(|point, _| hash = fold(hash, point.index() as u64));
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
}
