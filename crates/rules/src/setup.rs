//! Games that begin from a given position.

use crate::{BoardSize, Color, GameState, Komi, Move, Point, Rules};
use thiserror::Error;

/// A starting position that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SetupError {
    /// Two stones on one point.
    #[error("two stones are set up on {0}")]
    Twice(String),
    /// A stone off the board.
    #[error("{0} is off the board")]
    OffBoard(String),
    /// A chain without a liberty.
    #[error("the chain at {0} has no liberty")]
    NoLiberty(String),
    /// A drawing that is no board.
    #[error("not a drawing of a board: {0}")]
    Drawing(String),
}

impl GameState {
    /// A given position with `to_play` to move; it counts for superko.
    ///
    /// # Errors
    /// When stones share a point, lie off the board, or have no liberty.
    pub fn with_setup(
        size: BoardSize,
        rules: Rules,
        komi: Komi,
        black: &[Point],
        white: &[Point],
        to_play: Color,
    ) -> Result<GameState, SetupError> {
        let mut state = GameState::new(size, rules, komi);
        if black.is_empty() && white.is_empty() {
            return Ok(state.begun_by(to_play));
        }
        let mut wanted = vec![None; size.area()];
        for (points, color) in [(black, Color::Black), (white, Color::White)] {
            for &point in points {
                let name = || size.vertex(Move::Play(point));
                if !size.contains(point) {
                    return Err(SetupError::OffBoard(name()));
                }
                if wanted[point.index()].replace(color).is_some() {
                    return Err(SetupError::Twice(name()));
                }
            }
        }
        // A stone may only be placed while something of its own breathes, so chains grow outwards
        // from the points beside empty ones; what is never reached has no liberty.
        let mut frontier: Vec<Point> =
            size.points().filter(|p| wanted[p.index()].is_none()).collect();
        let mut reached = vec![false; size.area()];
        let mut order = Vec::new();
        while let Some(point) = frontier.pop() {
            for n in size.neighbours(point) {
                let same =
                    wanted[point.index()].is_none() || wanted[point.index()] == wanted[n.index()];
                if same
                    && wanted[n.index()].is_some()
                    && !std::mem::replace(&mut reached[n.index()], true)
                {
                    order.push(n);
                    frontier.push(n);
                }
            }
        }
        if let Some(dead) =
            size.points().find(|p| wanted[p.index()].is_some() && !reached[p.index()])
        {
            return Err(SetupError::NoLiberty(size.vertex(Move::Play(dead))));
        }
        for point in order {
            let color = wanted[point.index()].expect("only stones are reached");
            state.board.place(point.index(), color, &mut state.history);
            state.ever_held[point.index() / 64] |= 1 << (point.index() % 64);
        }
        Ok(state.begun_by(to_play))
    }

    /// The position as the first of its game.
    fn begun_by(mut self, to_play: Color) -> GameState {
        self.to_play = to_play;
        self.past.clear();
        self.remember();
        self
    }
}
