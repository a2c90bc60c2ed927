//! What stands on the board and what it is worth.

use std::fmt::Write;

use tengen_rules::{Color, GameState, Move};

use crate::engine::Engine;
use crate::error::GtpError;
use crate::estimate::Estimate;
use crate::game::stones;

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

    /// The area score of the board as it stands.
    pub(crate) fn final_score(&mut self, _: &[String]) -> Result<String, GtpError> {
        self.game.rules.playable().map_err(|_| GtpError::Score)?;
        Ok(self.state().score_now().result_text())
    }

    /// By the rules scored here every stone left on the board is alive: one chain a line.
    pub(crate) fn final_status_list(&mut self, args: &[String]) -> Result<String, GtpError> {
        let [status] = args else { return Err(GtpError::Syntax) };
        match status.as_str() {
            "alive" => {}
            "dead" | "seki" => return Ok(String::new()),
            _ => return Err(GtpError::Syntax),
        }
        let mut seen = vec![false; self.game.size.area()];
        let mut lines = Vec::new();
        for color in Color::BOTH {
            for point in stones(self.state(), color) {
                if !seen[point.index()] {
                    let chain = self.state().chain(point);
                    chain.iter().for_each(|p| seen[p.index()] = true);
                    lines.push(self.names(chain));
                }
            }
        }
        Ok(lines.join("\n"))
    }

    /// Whether stones of the opponent are left that random games nearly always take.
    pub(crate) fn has_prey(&self, state: &GameState) -> bool {
        let own = state.to_play();
        let estimate = Estimate::of(state, PREY_GAMES, self.info.seed);
        let sign = if own == Color::Black { 1.0 } else { -1.0 };
        let owned = estimate.ownership().map(|owned| sign * owned);
        let enemy = state.size().points().map(|p| state.stone(p) == Some(own.opponent()));
        enemy.zip(owned).any(|(enemy, owned)| enemy && owned >= PREY_SHARE)
    }
}
