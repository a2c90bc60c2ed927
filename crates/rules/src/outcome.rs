//! How a game ended, and the result text that SGF writes.

use crate::{Color, Value};
use serde::{Deserialize, Serialize};

/// The result of a finished game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Outcome {
    /// Won on the board.
    Score {
        /// Who has more points.
        winner: Color,
        /// By how much, in half points; at least 1.
        margin_half_points: u32,
    },
    /// Equal scores.
    Draw,
    /// No winner: a cycle, or an abandoned game.
    NoResult,
    /// The other player gave up.
    Resignation {
        /// Who did not resign.
        winner: Color,
    },
    /// The other player ran out of time.
    Time {
        /// Who did not.
        winner: Color,
    },
    /// The other player forfeited, as by an illegal move.
    Forfeit {
        /// Who did not.
        winner: Color,
    },
}

impl Outcome {
    /// The outcome of a score lead for Black in half points.
    pub fn from_black_lead(half_points: i32) -> Outcome {
        let winner = match half_points {
            0 => return Outcome::Draw,
            1.. => Color::Black,
            _ => Color::White,
        };
        Outcome::Score { winner, margin_half_points: half_points.unsigned_abs() }
    }

    /// The winner, if there is one.
    pub fn winner(&self) -> Option<Color> {
        match *self {
            Outcome::Score { winner, .. }
            | Outcome::Resignation { winner }
            | Outcome::Time { winner }
            | Outcome::Forfeit { winner } => Some(winner),
            Outcome::Draw | Outcome::NoResult => None,
        }
    }

    /// The result as `player` sees it: win 1, loss -1, no winner 0.
    pub fn value_for(&self, player: Color) -> Value {
        match self.winner() {
            Some(winner) if winner == player => Value::WIN,
            Some(_) => Value::LOSS,
            None => Value::DRAW,
        }
    }

    /// The lead in half points as `player` sees it, komi included; `None` where no board was scored.
    pub fn lead_for(&self, player: Color) -> Option<i32> {
        match *self {
            Outcome::Score { winner, margin_half_points } => {
                let margin = i32::try_from(margin_half_points).ok()?;
                Some(if winner == player { margin } else { -margin })
            }
            Outcome::Draw => Some(0),
            _ => None,
        }
    }

    /// The SGF `RE` text: `B+3.5`, `W+R`, `W+T`, `B+F`, `0`, `Void`.
    pub fn result_text(&self) -> String {
        match *self {
            Outcome::Score { winner, margin_half_points } => {
                format!("{}+{}", winner.letter(), f64::from(margin_half_points) / 2.0)
            }
            Outcome::Draw => "0".to_owned(),
            Outcome::NoResult => "Void".to_owned(),
            Outcome::Resignation { winner } => format!("{}+R", winner.letter()),
            Outcome::Time { winner } => format!("{}+T", winner.letter()),
            Outcome::Forfeit { winner } => format!("{}+F", winner.letter()),
        }
    }

    /// Reads an SGF `RE` text; `None` when unknown (`?`), unfinished, or won by an unstated margin.
    pub fn parse_result(text: &str) -> Option<Outcome> {
        let text = text.trim();
        match text.to_ascii_lowercase().as_str() {
            "0" | "draw" | "jigo" => return Some(Outcome::Draw),
            "void" => return Some(Outcome::NoResult),
            _ => {}
        }
        let (winner, how) = text.split_once('+')?;
        let winner = match winner.trim() {
            "B" | "b" => Color::Black,
            "W" | "w" => Color::White,
            _ => return None,
        };
        match how.trim().to_ascii_lowercase().as_str() {
            "r" | "resign" => Some(Outcome::Resignation { winner }),
            "t" | "time" => Some(Outcome::Time { winner }),
            "f" | "forfeit" => Some(Outcome::Forfeit { winner }),
            margin => {
                let points: f64 = margin.parse().ok()?;
                let half = points * 2.0;
                let is_margin = half.fract() == 0.0 && (1.0..=4000.0).contains(&half);
                is_margin
                    .then_some(Outcome::Score { winner, margin_half_points: half.max(0.0) as u32 })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_texts_read_back() {
        let winner = Color::White;
        for outcome in [
            Outcome::from_black_lead(7),
            Outcome::from_black_lead(-12),
            Outcome::Draw,
            Outcome::NoResult,
            Outcome::Resignation { winner },
            Outcome::Time { winner },
            Outcome::Forfeit { winner },
        ] {
            assert_eq!(Outcome::parse_result(&outcome.result_text()), Some(outcome));
        }
        assert_eq!(Outcome::from_black_lead(7).result_text(), "B+3.5");
        for unknown in ["?", "", "B+", "B", "X+3", "B+nan", "B+-3", "B+0.25"] {
            assert_eq!(Outcome::parse_result(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn a_value_is_seen_by_its_player() {
        let outcome = Outcome::Resignation { winner: Color::White };
        assert_eq!(outcome.value_for(Color::White), Value::WIN);
        assert_eq!(outcome.value_for(Color::Black), Value::LOSS);
        assert_eq!(Outcome::NoResult.value_for(Color::Black), Value::DRAW);
    }
}
