//! Looking at the board, as GNU Go's commands do.

use tengen_rules::{Color, GameState, Move, Point};

use crate::engine::{Engine, color};
use crate::error::GtpError;

impl Engine {
    /// `is_legal COLOUR VERTEX`: 1 or 0.
    pub(crate) fn is_legal(&mut self, args: &[String]) -> Result<String, GtpError> {
        let [who, vertex] = args else { return Err(GtpError::Syntax) };
        let (who, mv) = (color(who)?, self.game.size.parse_vertex(vertex)?);
        let legal = self.game.open_state_for(who)?.check(mv).is_ok();
        Ok(u8::from(legal).to_string())
    }

    /// `all_legal COLOUR`: the points, without the pass.
    pub(crate) fn all_legal(&mut self, args: &[String]) -> Result<String, GtpError> {
        let [who] = args else { return Err(GtpError::Syntax) };
        let state = self.game.open_state_for(color(who)?)?;
        let pass = state.size().pass_action();
        let legal = state.legal_moves();
        Ok(self.names(legal.iter().filter(|&a| a != pass).map(Point::from_index).collect()))
    }

    pub(crate) fn list_stones(&mut self, args: &[String]) -> Result<String, GtpError> {
        let [who] = args else { return Err(GtpError::Syntax) };
        let points = crate::game::stones(self.state(), color(who)?);
        Ok(self.names(points))
    }

    /// `captures COLOUR`: stones that the colour has taken.
    pub(crate) fn captures(&mut self, args: &[String]) -> Result<String, GtpError> {
        let [who] = args else { return Err(GtpError::Syntax) };
        Ok(self.game.captures(color(who)?).to_string())
    }

    /// `color VERTEX`: `black`, `white` or `empty`.
    pub(crate) fn color_at(&mut self, args: &[String]) -> Result<String, GtpError> {
        let [vertex] = args else { return Err(GtpError::Syntax) };
        let point = self.game.size.parse_point(vertex)?;
        Ok(word(self.state().stone(point)).to_owned())
    }

    /// `countlib VERTEX`: liberties of the chain there.
    pub(crate) fn countlib(&mut self, args: &[String]) -> Result<String, GtpError> {
        Ok(self.liberties(args)?.len().to_string())
    }

    /// `findlib VERTEX`: the liberties themselves.
    pub(crate) fn findlib(&mut self, args: &[String]) -> Result<String, GtpError> {
        let liberties = self.liberties(args)?;
        Ok(self.names(liberties))
    }

    fn liberties(&self, args: &[String]) -> Result<Vec<Point>, GtpError> {
        let [vertex] = args else { return Err(GtpError::Syntax) };
        let point = self.game.size.parse_point(vertex)?;
        if self.state().stone(point).is_none() {
            return Err(GtpError::NoStone);
        }
        Ok(liberties_of(self.state(), point))
    }

    /// The moves made, latest first, one a line.
    pub(crate) fn move_history(&mut self, _: &[String]) -> Result<String, GtpError> {
        let line = |&(who, mv): &(Color, Move)| {
            format!("{} {}", word(Some(who)), self.game.size.vertex(mv))
        };
        Ok(self.game.moves().iter().rev().map(line).collect::<Vec<_>>().join("\n"))
    }

    pub(crate) fn last_move(&mut self, _: &[String]) -> Result<String, GtpError> {
        let &(who, mv) = self.game.moves().last().ok_or(GtpError::NoMove)?;
        Ok(format!("{} {}", word(Some(who)), self.game.size.vertex(mv)))
    }

    pub(crate) fn get_handicap(&mut self, _: &[String]) -> Result<String, GtpError> {
        Ok(self.game.handicap().to_string())
    }

    /// Points by name, in one line.
    pub(crate) fn names(&self, points: Vec<Point>) -> String {
        let size = self.game.size;
        points.into_iter().map(|p| size.vertex(Move::Play(p))).collect::<Vec<_>>().join(" ")
    }
}

fn word(stone: Option<Color>) -> &'static str {
    match stone {
        Some(Color::Black) => "black",
        Some(Color::White) => "white",
        None => "empty",
    }
}

fn liberties_of(state: &GameState, point: Point) -> Vec<Point> {
    let size = state.size();
    let mut liberties: Vec<Point> = state
        .chain(point)
        .into_iter()
        .flat_map(|stone| size.neighbours(stone))
        .filter(|&n| state.stone(n).is_none())
        .collect();
    liberties.sort();
    liberties.dedup();
    liberties
}
