//! The board along a game as files have it: colours that move twice, moves after the end, stones
//! set up by hand.

use tengen_rules::{
    Color, GameState, IllegalMove, Komi, Move, Outcome, Point, Rules, ScoreSheet, Scoring,
    SetupError, score_position,
};

use super::error::SgfError;
use super::game::{Origin, SgfGame};
use crate::RecordError;

/// A rules state, and the prisoners made before it had to start afresh.
///
/// The rules alternate, so a colour that moves twice lets the other pass in between; a move after
/// the end resumes the game. Where stones are set up by hand the board starts afresh: it then counts
/// for superko, the boards before it no longer do.
#[derive(Clone, Debug)]
pub struct Position {
    state: GameState,
    captures: [u32; 2],
}

impl Position {
    /// A position that begins with this state.
    pub fn new(state: GameState) -> Position {
        Position { state, captures: [0; 2] }
    }

    /// The board, the rules and whose turn it is.
    pub fn state(&self) -> &GameState {
        &self.state
    }

    /// Stones captured by a colour since the game began.
    pub fn captures(&self, by: Color) -> u32 {
        self.captures[by.index()] + self.state.captures(by)
    }

    /// Counts the position under `rules`, all prisoners included; see [`score_position`].
    pub fn score(&self, rules: Rules, komi: Komi, handicap: u32, dead: &[Point]) -> ScoreSheet {
        let mut sheet = score_position(&self.state, rules, komi, handicap, dead);
        for color in Color::BOTH {
            sheet.prisoners[color.index()] += self.captures[color.index()];
        }
        if rules.scoring == Scoring::Territory {
            let [black, white] = self.captures.map(|stones| 2 * stones as i32);
            sheet.black_half_points += black;
            sheet.white_half_points += white;
            sheet.outcome = Outcome::from_black_lead(sheet.black_lead_half_points());
        }
        sheet
    }

    /// Plays a move of either colour. A pass after the end changes nothing.
    ///
    /// # Errors
    /// The rules' refusal; passes that made it this colour's turn then stay.
    pub fn play(&mut self, color: Color, mv: Move) -> Result<(), IllegalMove> {
        if self.state.is_over() && mv == Move::Pass {
            return Ok(());
        }
        self.go_on();
        if self.state.to_play() != color {
            self.state.play(Move::Pass)?;
            self.go_on();
        }
        self.state.play(mv)
    }

    fn go_on(&mut self) {
        if self.state.is_over() {
            self.state.resume();
        }
    }

    /// Sets points by hand, and whose turn it is.
    ///
    /// # Errors
    /// When a chain would have no liberty; nothing has then changed.
    pub fn edit(
        &mut self,
        changes: &[(Point, Option<Color>)],
        to_play: Option<Color>,
    ) -> Result<(), SetupError> {
        let state = &self.state;
        let mut stones: Vec<_> = state.size().points().map(|p| state.stone(p)).collect();
        for &(point, stone) in changes {
            if let Some(cell) = stones.get_mut(point.index()) {
                *cell = stone;
            }
        }
        let to_play = to_play.unwrap_or(self.state.to_play());
        let of = |color| -> Vec<Point> {
            state.size().points().filter(|p| stones[p.index()] == Some(color)).collect()
        };
        let (black, white) = (of(Color::Black), of(Color::White));
        let (size, rules, komi) = (state.size(), state.rules(), state.komi());
        let next = GameState::with_setup(size, rules, komi, &black, &white, to_play)?;
        self.captures = Color::BOTH.map(|color| self.captures(color));
        self.state = next;
        Ok(())
    }
}

impl SgfGame {
    /// The position after the first `count` moves, under these rules and this komi. Stones set up
    /// after move `count` are set up too.
    ///
    /// # Errors
    /// The first illegal move or setup on the way.
    pub fn position(&self, rules: Rules, komi: Komi, count: usize) -> Result<Position, SgfError> {
        let setup = |source: SetupError, at: Origin| SgfError::Setup {
            at: at.place,
            node: at.node,
            source: source.into(),
        };
        let (black, white) = (&self.setup_black, &self.setup_white);
        let first = self.first_to_play();
        let state = GameState::with_setup(self.size, rules, komi, black, white, first)
            .map_err(|source| setup(source, Origin::default()))?;
        let mut position = Position::new(state);
        let mut edits = self.edits.iter().peekable();
        for index in 0..=count.min(self.moves.len()) {
            while let Some(edit) = edits.next_if(|edit| edit.after <= index) {
                position.edit(&edit.stones, edit.to_play).map_err(|e| setup(e, edit.origin))?;
            }
            let Some(&(color, mv)) = self.moves.get(index).filter(|_| index < count) else { break };
            position.play(color, mv).map_err(|source| self.illegal(index, source))?;
        }
        Ok(position)
    }

    /// The error that move `index` is.
    pub(crate) fn illegal(&self, index: usize, source: IllegalMove) -> SgfError {
        let (color, mv) = self.moves[index];
        let origin = self.origins.get(index).copied().unwrap_or_default();
        SgfError::Illegal {
            at: origin.place,
            node: origin.node,
            number: index + 1,
            mv: format!("{} {}", color.letter(), self.size.vertex(mv)),
            source: RecordError::Illegal { turn: index, source },
        }
    }
}
