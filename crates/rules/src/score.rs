//! Area scoring of a board as it stands: every stone alive (Tromp–Taylor).

use crate::{Color, GameState, Outcome, Point};

impl GameState {
    /// The result if the game ended on this board, every stone counted as alive.
    ///
    /// [`Outcome::NoResult`] under rules that [`Rules::playable`](crate::Rules::playable) refuses.
    pub fn score_now(&self) -> Outcome {
        if self.rules().playable().is_err() {
            return Outcome::NoResult;
        }
        let lead: i32 = self.area_owner().into_iter().flatten().map(sign).sum();
        Outcome::from_black_lead(2 * lead - self.komi().half_points())
    }

    /// Who owns each point, by index: its stone's colour, or the only colour that the empty
    /// region around it touches; `None` where both or neither reach.
    pub fn area_owner(&self) -> Vec<Option<Color>> {
        let size = self.size();
        let mut owner: Vec<_> = size.points().map(|p| self.stone(p)).collect();
        let mut seen = vec![false; size.area()];
        let mut region: Vec<Point> = Vec::new();
        for start in size.points() {
            if self.stone(start).is_some() || seen[start.index()] {
                continue;
            }
            region.clear();
            region.push(start);
            seen[start.index()] = true;
            let mut touches = [false; 2];
            let mut next = 0;
            while let Some(&point) = region.get(next) {
                next += 1;
                for n in size.neighbours(point) {
                    match self.stone(n) {
                        Some(color) => touches[color.index()] = true,
                        None if !seen[n.index()] => {
                            seen[n.index()] = true;
                            region.push(n);
                        }
                        None => {}
                    }
                }
            }
            let only = match touches {
                [true, false] => Some(Color::Black),
                [false, true] => Some(Color::White),
                _ => None,
            };
            for point in &region {
                owner[point.index()] = only;
            }
        }
        owner
    }
}

fn sign(color: Color) -> i32 {
    match color {
        Color::Black => 1,
        Color::White => -1,
    }
}
