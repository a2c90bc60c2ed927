//! What stands on the board and what it is worth.

use std::fmt::Write;

use tengen_rules::{
    Color, GameState, Move, Outcome, Point, Scoring, propose_dead_with, score_position,
};

use crate::engine::Engine;
use crate::error::GtpError;
use crate::estimate::Estimate;
use crate::game::stones;

/// Random games that decide which stones are dead at the end.
const DEAD_GAMES: u32 = 256;

/// Random games that decide whether a stone is still worth taking, and the ownership that says so.
const PREY_GAMES: u32 = 64;
const PREY_SHARE: f64 = 0.6;

impl Engine {
    pub(crate) fn showboard(&mut self, _: &[String]) -> Result<String, GtpError> {
        let size = self.game.size;
        let letters: String = (0..size.width())
            .map(|col| size.vertex(Move::Play(size.point(col, 0))))
            .filter_map(|vertex| vertex.chars().next())
            .flat_map(|letter| [' ', letter])
            .collect();
        let [black, white] = Color::BOTH.map(|c| self.game.captures(c));
        // The facts come first, so that no row of the board stands beside the `=`.
        let mut out = format!(
            "To play: {}, move {}, komi {}, captures: Black {black}, White {white}\n  {letters}",
            self.state().to_play(),
            self.game.moves().len() + 1,
            self.state().komi(),
        );
        for row in 0..size.height() {
            let number = size.height() - row;
            let _ = write!(out, "\n{number:2}");
            for col in 0..size.width() {
                out.push(' ');
                out.push(match self.state().stone(size.point(col, row)) {
                    Some(Color::Black) => 'X',
                    Some(Color::White) => 'O',
                    None => '.',
                });
            }
            let _ = write!(out, " {number}");
        }
        let _ = write!(out, "\n  {letters}");
        Ok(out)
    }

    /// The score of the board as it stands, dead stones taken where the rules agree on them.
    pub(crate) fn final_score(&mut self, _: &[String]) -> Result<String, GtpError> {
        let state = self.state();
        state.rules().playable().map_err(|_| GtpError::Score)?;
        let sheet = score_position(state, state.rules(), state.komi(), 0, &self.dead_stones());
        let mut lead = sheet.black_lead_half_points();
        if state.rules().scoring == Scoring::Territory {
            // Prisoners made before the position had to start afresh.
            let [black, white] = Color::BOTH.map(|c| self.game.captures(c) - state.captures(c));
            lead += 2 * (black as i32 - white as i32);
        }
        Ok(Outcome::from_black_lead(lead).result_text())
    }

    /// One chain a line. Seki is not told from life: such stones are listed as alive.
    pub(crate) fn final_status_list(&mut self, args: &[String]) -> Result<String, GtpError> {
        let [status] = args else { return Err(GtpError::Syntax) };
        let wanted = match status.as_str() {
            "alive" => false,
            "dead" => true,
            "seki" => return Ok(String::new()),
            _ => return Err(GtpError::Syntax),
        };
        let dead = self.dead_stones();
        let mut seen = vec![false; self.game.size.area()];
        let mut lines = Vec::new();
        for color in Color::BOTH {
            for point in stones(self.state(), color) {
                if !seen[point.index()] && dead.contains(&point) == wanted {
                    let chain = self.state().chain(point);
                    chain.iter().for_each(|p| seen[p.index()] = true);
                    lines.push(self.names(chain));
                }
            }
        }
        Ok(lines.join("\n"))
    }

    /// Under area rules without friendly passes none: every stone left is alive. Under others what
    /// pass-alive chains enclose, and what random games clearly give to the opponent.
    fn dead_stones(&self) -> Vec<Point> {
        let (state, rules) = (self.state(), self.state().rules());
        if rules.scoring == Scoring::Area && !rules.friendly_pass {
            return Vec::new();
        }
        let estimate = Estimate::of_games(state, DEAD_GAMES, self.info.seed);
        let ownership: Vec<f32> = estimate.ownership().map(|owned| owned as f32).collect();
        propose_dead_with(state, &ownership)
    }

    /// Whether stones of the opponent are left that random games nearly always take.
    pub(crate) fn has_prey(&self, state: &GameState) -> bool {
        let own = state.to_play();
        let estimate = Estimate::of_games(state, PREY_GAMES, self.info.seed);
        let sign = if own == Color::Black { 1.0 } else { -1.0 };
        let owned = estimate.ownership().map(|owned| sign * owned);
        let enemy = state.size().points().map(|p| state.stone(p) == Some(own.opponent()));
        enemy.zip(owned).any(|(enemy, owned)| enemy && owned >= PREY_SHARE)
    }
}
