//! Boards as text: `X` Black, `O` White, `.` empty, the top row first.

use crate::{BoardSize, Color, GameState, Komi, Rules, SetupError};
use std::fmt;

impl GameState {
    /// Reads a drawing; blanks between the points are skipped. The position counts for superko.
    ///
    /// # Errors
    /// When the rows are uneven, hold other letters, or draw a board that cannot be.
    pub fn from_text(
        rows: &[&str],
        to_play: Color,
        rules: Rules,
        komi: Komi,
    ) -> Result<GameState, SetupError> {
        let rows: Vec<Vec<char>> =
            rows.iter().map(|row| row.chars().filter(|c| !c.is_whitespace()).collect()).collect();
        let width = rows.first().map_or(0, Vec::len);
        let size = BoardSize::new(width, rows.len())
            .map_err(|error| SetupError::Drawing(error.to_string()))?;
        let mut stones = [Vec::new(), Vec::new()];
        for (r, row) in rows.iter().enumerate() {
            if row.len() != width {
                let text = format!("row {} has {} points, not {width}", r + 1, row.len());
                return Err(SetupError::Drawing(text));
            }
            for (c, &letter) in row.iter().enumerate() {
                match letter {
                    'X' => stones[0].push(size.point(c, r)),
                    'O' => stones[1].push(size.point(c, r)),
                    '.' => {}
                    _ => return Err(SetupError::Drawing(format!("{letter:?} in row {}", r + 1))),
                }
            }
        }
        GameState::with_setup(size, rules, komi, &stones[0], &stones[1], to_play)
    }
}

impl fmt::Display for GameState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.size();
        for row in 0..size.height() {
            for col in 0..size.width() {
                f.write_str(match self.stone(size.point(col, row)) {
                    Some(Color::Black) => "X",
                    Some(Color::White) => "O",
                    None => ".",
                })?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
