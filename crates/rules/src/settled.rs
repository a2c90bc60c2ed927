//! Positions whose score can no longer change.

use crate::{Color, GameState, Outcome, pass_alive, propose_dead, score_position};

impl GameState {
    /// The result that the game comes to however it is played on, as long as nobody destroys what
    /// is his: `Some` when every point of the board is pass-alive for one side (Benson 1976). Stones
    /// inside the other side's pass-alive area count as taken, which their owner cannot prevent.
    ///
    /// `None` too where more than the final area counts: under territory scoring (prisoners), under
    /// a tax on groups or seki, and with a button.
    pub fn settled(&self) -> Option<Outcome> {
        let rules = self.rules();
        if !rules.counts_area_alone() {
            return None;
        }
        let [black, white] = Color::BOTH.map(|color| pass_alive(self, color));
        let covered = black.iter().zip(&white).all(|(&black, &white)| black || white);
        covered.then(|| score_position(self, rules, self.komi(), 0, &propose_dead(self)).outcome)
    }
}
