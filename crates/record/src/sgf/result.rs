//! `RE` in the forms that files have.

use tengen_rules::{Color, Outcome};

/// Who won.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Winner {
    /// This colour.
    Color(Color),
    /// Nobody: equal scores.
    Draw,
    /// Nobody: no result (`Void`).
    NoResult,
}

/// By how much, or how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Margin {
    /// Points; quarters are seen in Chinese files.
    Points(f64),
    /// `R`.
    Resignation,
    /// `T`.
    Time,
    /// `F`.
    Forfeit,
}

/// What `RE` says as far as it can be read: `B+3.5`, `W+R`, `W+Resign`, `B+3,5`, `B+`, `Black+4
/// points`, `0`, `Draw`, `Jigo`, `Void`. Words of other languages are left to their readers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SgfResult {
    /// `None` where the text tells no winner (`?`, empty, free text).
    pub winner: Option<Winner>,
    /// `None` where it is unstated or unknown.
    pub margin: Option<Margin>,
}

impl SgfResult {
    /// Reads a result text; never fails.
    pub fn parse(text: &str) -> SgfResult {
        let lower = text.trim().to_lowercase();
        let nobody = |winner, margin| SgfResult { winner: Some(winner), margin };
        match lower.as_str() {
            "0" | "draw" | "jigo" => return nobody(Winner::Draw, Some(Margin::Points(0.0))),
            "void" => return nobody(Winner::NoResult, None),
            _ => {}
        }
        let Some((who, how)) = lower.split_once('+') else { return SgfResult::default() };
        let winner = match who.trim() {
            "b" | "black" => Color::Black,
            "w" | "white" => Color::White,
            _ => return SgfResult::default(),
        };
        SgfResult { winner: Some(Winner::Color(winner)), margin: read_margin(how.trim()) }
    }

    /// As the rules have it; `None` where the margin is unstated, unknown or no whole half point.
    pub fn outcome(&self) -> Option<Outcome> {
        let winner = match self.winner? {
            Winner::Draw => return Some(Outcome::Draw),
            Winner::NoResult => return Some(Outcome::NoResult),
            Winner::Color(color) => color,
        };
        match self.margin? {
            Margin::Resignation => Some(Outcome::Resignation { winner }),
            Margin::Time => Some(Outcome::Time { winner }),
            Margin::Forfeit => Some(Outcome::Forfeit { winner }),
            Margin::Points(points) => {
                let half = points * 2.0;
                let fits = half.fract() == 0.0 && (1.0..=4000.0).contains(&half);
                fits.then_some(Outcome::Score { winner, margin_half_points: half as u32 })
            }
        }
    }
}

fn read_margin(how: &str) -> Option<Margin> {
    match how {
        "r" | "res" | "resign" | "resigned" | "resignation" => Some(Margin::Resignation),
        "t" | "time" | "timeout" => Some(Margin::Time),
        "f" | "forfeit" => Some(Margin::Forfeit),
        _ => {
            let words = ["points", "point", "pts", "moku", "目"];
            let number = words.iter().find_map(|w| how.strip_suffix(w)).unwrap_or(how).trim();
            let points: f64 = number.replace(',', ".").parse().ok()?;
            (0.0..=4000.0).contains(&points).then_some(Margin::Points(points))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_found_in_the_wild() {
        let black = Some(Winner::Color(Color::Black));
        let points = |p| Some(Margin::Points(p));
        for (text, winner, margin) in [
            ("B+3.5", black, points(3.5)),
            ("b+4.00", black, points(4.0)),
            ("B+3,5", black, points(3.5)),
            ("Black + 12 points", black, points(12.0)),
            ("B+0.25", black, points(0.25)),
            ("B+R", black, Some(Margin::Resignation)),
            ("B+Resign", black, Some(Margin::Resignation)),
            (" B+Time ", black, Some(Margin::Time)),
            ("B+F", black, Some(Margin::Forfeit)),
            ("B+", black, None),
            ("Draw", Some(Winner::Draw), points(0.0)),
            ("0", Some(Winner::Draw), points(0.0)),
            ("Void", Some(Winner::NoResult), None),
            ("?", None, None),
            ("", None, None),
            ("黑胜43目", None, None),
            ("B+NaN", black, None),
            ("B+1e99", black, None),
        ] {
            assert_eq!(SgfResult::parse(text), SgfResult { winner, margin }, "{text}");
        }
        assert_eq!(SgfResult::parse("B+0.25").outcome(), None);
        assert_eq!(SgfResult::parse("B+0").outcome(), None);
        assert_eq!(SgfResult::parse("B+3.5").outcome(), Some(Outcome::from_black_lead(7)));
    }
}
