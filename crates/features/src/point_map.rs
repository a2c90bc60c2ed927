//! Where each point of a board goes under a symmetry, as a table.

use tengen_rules::{BoardSize, Symmetry};

/// Area of the largest board the rules know, 25×25.
const MAX_AREA: usize = 625;

/// A symmetry of one board size as a table of point indices.
///
/// It lives on the stack and costs one pass over the board to build; encoding eight boards looks
/// each stone up in it instead of working the geometry out again for every stone.
#[derive(Clone)]
pub struct PointMap {
    to: [u16; MAX_AREA],
    area: usize,
}

impl PointMap {
    /// The table of `symmetry` on boards of `size`.
    pub fn new(size: BoardSize, symmetry: Symmetry) -> Self {
        debug_assert!(symmetry.valid_for(size), "the symmetry must keep the board's shape");
        let area = size.area();
        // A symmetry is linear: where the corner goes and what a step makes of it tell the rest.
        let image = |col: usize, row: usize| {
            let inside = col < size.width() && row < size.height();
            inside.then(|| symmetry.apply(size, size.point(col, row)).index() as i32)
        };
        let corner = image(0, 0).unwrap_or(0);
        let [across, down] = [image(1, 0), image(0, 1)].map(|to| to.unwrap_or(corner) - corner);
        let mut to = [0; MAX_AREA];
        let rows = to[..area].chunks_exact_mut(size.width());
        for (row, slots) in rows.enumerate() {
            let mut point = corner + row as i32 * down;
            for slot in slots {
                // The largest index, 624, fits.
                *slot = point as u16;
                point += across;
            }
        }
        Self { to, area }
    }

    /// Image of the point with index `from`.
    #[inline]
    pub fn point(&self, from: usize) -> usize {
        usize::from(self.to[from])
    }

    /// Image of an action; pass, the last one, stays where it is.
    #[inline]
    pub fn action(&self, from: usize) -> usize {
        if from < self.area { self.point(from) } else { from }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_says_what_the_symmetry_says() {
        for (w, h) in [(1, 1), (5, 5), (3, 7), (19, 19), (25, 25)] {
            let size = BoardSize::new(w, h).unwrap();
            for symmetry in Symmetry::all().into_iter().filter(|s| s.valid_for(size)) {
                let map = PointMap::new(size, symmetry);
                for action in 0..size.actions() {
                    assert_eq!(map.action(action), symmetry.apply_action(size, action));
                }
            }
        }
    }
}
