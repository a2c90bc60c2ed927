//! What stands on the board and what it is worth.

use std::fmt::Write;

use tengen_rules::{Color, Move, Point};

use crate::engine::{Engine, color};
use crate::error::GtpError;
use crate::game::stones;

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

    pub(crate) fn list_stones(&mut self, args: &[String]) -> Result<String, GtpError> {
        let [who] = args else { return Err(GtpError::Syntax) };
        let points = stones(self.state(), color(who)?);
        Ok(self.names(points))
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

    fn names(&self, points: Vec<Point>) -> String {
        let size = self.game.size;
        points.into_iter().map(|p| size.vertex(Move::Play(p))).collect::<Vec<_>>().join(" ")
    }
}
