//! Board, komi, rules, handicap and time.

use tengen_rules::{BoardSize, Komi, Move, Point, fixed_handicap, free_handicap};

use crate::engine::{Engine, color};
use crate::error::GtpError;
use crate::game::Game;
use crate::kata_rules;

fn number<T: std::str::FromStr>(text: &str) -> Result<T, GtpError> {
    text.parse().map_err(|_| GtpError::Syntax)
}

fn done(_: ()) -> String {
    String::new()
}

impl Engine {
    /// `boardsize 9`, or `boardsize 9 7` for width and height. A refused size changes nothing.
    pub(crate) fn boardsize(&mut self, args: &[String]) -> Result<String, GtpError> {
        let (width, height) = match args {
            [side] => (side, side),
            [width, height] => (width, height),
            _ => return Err(GtpError::Syntax),
        };
        let side = |text: &str| number::<i64>(text).map(|n| usize::try_from(n).unwrap_or(0));
        let size = BoardSize::new(side(width)?, side(height)?).map_err(|_| GtpError::Size)?;
        self.game = Game::new(size, self.game.rules, self.game.komi);
        Ok(String::new())
    }

    pub(crate) fn query_boardsize(&mut self, _: &[String]) -> Result<String, GtpError> {
        let size = self.game.size;
        Ok(match (size.width(), size.height()) {
            (width, height) if width == height => width.to_string(),
            (width, height) => format!("{width} {height}"),
        })
    }

    pub(crate) fn clear_board(&mut self, _: &[String]) -> Result<String, GtpError> {
        self.game = Game::new(self.game.size, self.game.rules, self.game.komi);
        self.clock.restart();
        self.lost_turns = [0; 2];
        Ok(String::new())
    }

    pub(crate) fn komi(&mut self, args: &[String]) -> Result<String, GtpError> {
        let [points] = args else { return Err(GtpError::Syntax) };
        let komi = Komi::from_points(number(points)?).map_err(|e| GtpError::Komi(e.to_string()))?;
        self.game.set_komi(komi).map(done)
    }

    pub(crate) fn get_komi(&mut self, _: &[String]) -> Result<String, GtpError> {
        Ok(self.game.komi.to_string())
    }

    pub(crate) fn kata_get_rules(&mut self, _: &[String]) -> Result<String, GtpError> {
        Ok(self.game.rules.to_katago_json())
    }

    pub(crate) fn kata_set_rules(&mut self, args: &[String]) -> Result<String, GtpError> {
        if args.is_empty() {
            return Err(GtpError::Syntax);
        }
        self.game.set_rules(kata_rules::parse(&args.join(" "))?).map(done)
    }

    pub(crate) fn fixed_handicap(&mut self, args: &[String]) -> Result<String, GtpError> {
        let count = self.handicap_count(args)?;
        let points = fixed_handicap(self.game.size, count).map_err(|_| GtpError::StoneCount)?;
        self.place(&points)
    }

    pub(crate) fn place_free_handicap(&mut self, args: &[String]) -> Result<String, GtpError> {
        let count = self.handicap_count(args)?;
        let points = free_handicap(self.game.size, count).map_err(|_| GtpError::StoneCount)?;
        self.place(&points)
    }

    pub(crate) fn set_free_handicap(&mut self, args: &[String]) -> Result<String, GtpError> {
        if !self.game.is_empty_board() {
            return Err(GtpError::BoardNotEmpty);
        }
        let mut points = Vec::new();
        for vertex in args {
            match self.game.size.parse_vertex(vertex) {
                Ok(Move::Play(point)) if !points.contains(&point) => points.push(point),
                _ => return Err(GtpError::VertexList),
            }
        }
        if points.len() < 2 {
            return Err(GtpError::VertexList);
        }
        self.game.set_handicap(&points).map(done)
    }

    fn handicap_count(&self, args: &[String]) -> Result<usize, GtpError> {
        let [count] = args else { return Err(GtpError::Syntax) };
        let count: i64 = number(count)?;
        if !self.game.is_empty_board() {
            return Err(GtpError::BoardNotEmpty);
        }
        usize::try_from(count).map_err(|_| GtpError::StoneCount)
    }

    fn place(&mut self, points: &[Point]) -> Result<String, GtpError> {
        self.game.set_handicap(points)?;
        let size = self.game.size;
        let names: Vec<String> = points.iter().map(|&p| size.vertex(Move::Play(p))).collect();
        Ok(names.join(" "))
    }

    /// `set_position COLOUR VERTEX …` (also GoGui's `gogui-setup`): a position without a history.
    pub(crate) fn set_position(&mut self, args: &[String]) -> Result<String, GtpError> {
        let mut stones = [Vec::new(), Vec::new()];
        for (who, mv) in self.pairs(args)? {
            let Move::Play(point) = mv else { return Err(GtpError::VertexList) };
            stones[who.index()].push(point);
        }
        self.game.set_position(stones).map(done)
    }

    /// `gogui-setup_player COLOUR`: who moves first in a position just set up.
    pub(crate) fn gogui_setup_player(&mut self, args: &[String]) -> Result<String, GtpError> {
        let [who] = args else { return Err(GtpError::Syntax) };
        self.game.set_first(color(who)?).map(done)
    }

    /// `kata-set-rule RULE VALUE`: one part of the rules.
    pub(crate) fn kata_set_rule(&mut self, args: &[String]) -> Result<String, GtpError> {
        let [key, value] = args else { return Err(GtpError::Syntax) };
        self.game.set_rules(kata_rules::with_part(self.game.rules, key, value)?).map(done)
    }

    /// `kgs-rules RULES`: as `kata-set-rules`, by the server's names.
    pub(crate) fn kgs_rules(&mut self, args: &[String]) -> Result<String, GtpError> {
        let [name] = args else { return Err(GtpError::Syntax) };
        let name = match name.as_str() {
            "chinese" => "chinese-kgs",
            "new_zealand" => "new-zealand",
            "aga" | "japanese" => name,
            _ => return Err(GtpError::Rules(name.clone())),
        };
        self.game.set_rules(kata_rules::parse(name)?).map(done)
    }
}
