//! Where handicap stones go, and the komi that goes with a game.

use crate::{BoardSize, KoRule, Komi, Point, Rules, Scoring};
use thiserror::Error;

/// Handicap stones that no game begins with.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HandicapError {
    /// A number that the table of fixed placements does not have.
    #[error("a {size} board has fixed places for 2 to {limit} handicap stones, not for {count}")]
    NoFixedPlaces {
        /// The board.
        size: BoardSize,
        /// The number asked for.
        count: usize,
        /// The most there are places for; 0 where there are none.
        limit: usize,
    },
    /// Fewer than two stones, or so many that the board would be full.
    #[error("a {size} board takes 2 to {limit} handicap stones, not {count}")]
    Count {
        /// The board.
        size: BoardSize,
        /// The number asked for.
        count: usize,
        /// The most there is room for.
        limit: usize,
    },
    /// A point off the board, or one given twice.
    #[error("handicap stones lie on different points of the board: point {0} does not")]
    Place(usize),
}

/// The most stones the GTP draft's table has for a board: nine on odd boards from 9×9, four on
/// even ones and with a side of 7, none below.
pub fn fixed_handicap_limit(size: BoardSize) -> usize {
    let (w, h) = (size.width(), size.height());
    match w.min(h) {
        0..=6 => 0,
        7 | 8 => 4,
        _ if w % 2 == 0 || h % 2 == 0 => 4,
        _ => 9,
    }
}

/// The GTP draft's star points for `count` stones: the third line below 13×13, else the fourth.
///
/// # Errors
/// When the table has no such number for the size.
pub fn fixed_handicap(size: BoardSize, count: usize) -> Result<Vec<Point>, HandicapError> {
    let limit = fixed_handicap_limit(size);
    if !(2..=limit).contains(&count) {
        return Err(HandicapError::NoFixedPlaces { size, count, limit });
    }
    let (w, h) = (size.width(), size.height());
    let line = |side: usize| if side >= 13 { 3 } else { 2 };
    let (left, middle, right) = (line(w), w / 2, w - 1 - line(w));
    let (top, centre, bottom) = (line(h), h / 2, h - 1 - line(h));
    let corners = [(left, bottom), (right, top), (left, top), (right, bottom)];
    let sides = [(left, centre), (right, centre), (middle, bottom), (middle, top)];
    let mut places: Vec<_> = corners.into_iter().chain(sides).take(count & !1).collect();
    if count % 2 == 1 {
        places.push(if count == 3 { corners[2] } else { (middle, centre) });
    }
    Ok(places.into_iter().map(|(col, row)| size.point(col, row)).collect())
}

/// A program's own choice for `count` stones: the fixed places as far as they go, then the points
/// nearest to the centre.
///
/// # Errors
/// As [`check_handicap`].
pub fn free_handicap(size: BoardSize, count: usize) -> Result<Vec<Point>, HandicapError> {
    check_count(size, count)?;
    let mut chosen =
        fixed_handicap(size, count.min(fixed_handicap_limit(size))).unwrap_or_default();
    let (w, h) = (size.width(), size.height());
    let mut rest: Vec<Point> = size.points().filter(|p| !chosen.contains(p)).collect();
    rest.sort_by_key(|&p| (2 * size.col(p) + 1).abs_diff(w) + (2 * size.row(p) + 1).abs_diff(h));
    rest.truncate(count - chosen.len());
    chosen.append(&mut rest);
    Ok(chosen)
}

/// Whether a player may place these handicap stones freely.
///
/// # Errors
/// When they are fewer than two, fill the board, share a point or lie off the board.
pub fn check_handicap(size: BoardSize, points: &[Point]) -> Result<(), HandicapError> {
    check_count(size, points.len())?;
    let mut taken = vec![false; size.area()];
    for point in points {
        match taken.get_mut(point.index()) {
            Some(taken) if !*taken => *taken = true,
            _ => return Err(HandicapError::Place(point.index())),
        }
    }
    Ok(())
}

fn check_count(size: BoardSize, count: usize) -> Result<(), HandicapError> {
    let limit = size.area() - 1;
    if (2..=limit).contains(&count) {
        Ok(())
    } else {
        Err(HandicapError::Count { size, count, limit })
    }
}

impl Rules {
    /// The komi that goes with the rules where nobody states one. Even games: 7.5 under area
    /// scoring, 6.5 under territory scoring, 7 with a button and in New Zealand, 8 in Ing's rules.
    /// With a handicap: half a point, against a draw; [`HandicapBonus`](crate::HandicapBonus) is
    /// apart from it.
    pub fn usual_komi(&self, handicap_stones: u32) -> Komi {
        let new_zealand = self.ko == KoRule::Situational && self.suicide;
        let ing = self.ko == KoRule::Positional && self.suicide && self.friendly_pass;
        let half_points = match self.scoring {
            _ if handicap_stones >= 2 => 1,
            Scoring::Territory => 13,
            Scoring::Area if self.button || new_zealand => 14,
            Scoring::Area if ing => 16,
            Scoring::Area => 15,
        };
        Komi::from_half_points(half_points).expect("a few points are a komi")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Move;

    fn names(side: usize, count: usize) -> String {
        let size = BoardSize::square(side).unwrap();
        let points = fixed_handicap(size, count).unwrap();
        points.iter().map(|&p| size.vertex(Move::Play(p))).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_table_of_the_gtp_draft() {
        assert_eq!(names(19, 2), "D4 Q16");
        assert_eq!(names(19, 3), "D4 Q16 D16");
        assert_eq!(names(19, 5), "D4 Q16 D16 Q4 K10");
        assert_eq!(names(19, 9), "D4 Q16 D16 Q4 D10 Q10 K4 K16 K10");
        assert_eq!(names(9, 5), "C3 G7 C7 G3 E5");
        assert_eq!(names(7, 4), "C3 E5 C5 E3");
        for (side, count) in [(19, 1), (19, 10), (8, 5), (7, 5), (6, 2), (18, 5)] {
            assert!(fixed_handicap(BoardSize::square(side).unwrap(), count).is_err());
        }
    }

    #[test]
    fn free_places_as_many_as_asked_on_every_board() {
        for (w, h) in [(1, 1), (1, 3), (2, 2), (5, 4), (9, 9), (19, 19), (25, 3)] {
            let size = BoardSize::new(w, h).unwrap();
            for count in 0..=size.area() {
                match free_handicap(size, count) {
                    Ok(points) => {
                        assert_eq!(points.len(), count);
                        assert_eq!(check_handicap(size, &points), Ok(()));
                    }
                    Err(_) => assert!(count < 2 || count == size.area()),
                }
            }
        }
    }

    #[test]
    fn doubled_and_far_stones_are_refused() {
        let size = BoardSize::square(5).unwrap();
        let p = Point::from_index;
        assert_eq!(check_handicap(size, &[p(1), p(1)]), Err(HandicapError::Place(1)));
        assert_eq!(check_handicap(size, &[p(1), p(25)]), Err(HandicapError::Place(25)));
    }

    #[test]
    fn komi_follows_the_rules() {
        let komi = |name: &str, stones| Rules::by_name(name).unwrap().usual_komi(stones).points();
        for (name, points) in [
            ("chinese", 7.5),
            ("tromp-taylor", 7.5),
            ("japanese", 6.5),
            ("korean", 6.5),
            ("ing", 8.0),
            ("new-zealand", 7.0),
            ("aga-button", 7.0),
            ("aga", 7.5),
        ] {
            assert_eq!(komi(name, 0), points, "{name}");
            assert_eq!(komi(name, 4), 0.5, "{name}");
        }
    }
}
