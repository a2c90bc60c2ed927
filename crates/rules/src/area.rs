//! Who surrounds what: the flood fill behind every count.

use crate::{Color, GameState, Point};

impl GameState {
    /// Who owns each point, by index, every stone counted as alive: its stone's colour, or the only
    /// colour that the empty region around it touches; `None` where both or neither reach.
    pub fn area_owner(&self) -> Vec<Option<Color>> {
        owners(self, self.stones_by_point())
    }

    /// The stone at each point, by index.
    pub(crate) fn stones_by_point(&self) -> Vec<Option<Color>> {
        self.size().points().map(|p| self.stone(p)).collect()
    }
}

/// Fills the empty points of `owner` with the only colour that their region touches.
pub(crate) fn owners(state: &GameState, mut owner: Vec<Option<Color>>) -> Vec<Option<Color>> {
    let size = state.size();
    let mut seen: Vec<bool> = owner.iter().map(Option::is_some).collect();
    let mut region: Vec<Point> = Vec::new();
    for start in size.points() {
        if seen[start.index()] {
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
                match owner[n.index()] {
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
            _ => continue,
        };
        for point in &region {
            owner[point.index()] = only;
        }
    }
    owner
}
