//! Shapes that can't be cut: bamboo joints, mouths and their like on the edge.

use super::position::Stones;
use crate::Color;

/// `p` a living stone of the player, `e` empty, the player's living stone or the opponent's dead
/// one, `@` the empty point that blocks, `?` anything, `#` off the board.
const SHAPES: [&[&[u8]]; 6] = [
    &[b"pp", b"@e", b"pe"],
    &[b"ep?", b"e@e", b"ep?"],
    &[b"pee", b"e@p", b"pee"],
    &[b"?e?", b"p@p", b"###"],
    &[b"pp", b"@e", b"##"],
    &[b"ep?", b"e@e", b"###"],
];

/// The steps of a shape's rows and columns in the eight orientations, as `(row, col)`.
const TURNS: [[(i32, i32); 2]; 8] = [
    [(1, 0), (0, 1)],
    [(-1, 0), (0, 1)],
    [(1, 0), (0, -1)],
    [(-1, 0), (0, -1)],
    [(0, 1), (1, 0)],
    [(0, -1), (1, 0)],
    [(0, 1), (-1, 0)],
    [(0, -1), (-1, 0)],
];

/// The points that block, and for whom.
pub(super) fn find(on: Stones<'_>) -> Vec<Option<Color>> {
    let size = on.size();
    let mut blocks = vec![None; size.area()];
    for color in Color::BOTH {
        for start in size.points() {
            let start = (size.row(start) as i32, size.col(start) as i32);
            for shape in SHAPES {
                for turn in TURNS {
                    if let Some(point) = fits(on, color, shape, turn, start) {
                        blocks[point] = Some(color);
                    }
                }
            }
        }
    }
    blocks
}

/// The blocking point of a shape laid at `start`, if the board fits it.
fn fits(
    on: Stones<'_>,
    color: Color,
    shape: &[&[u8]],
    [down, across]: [(i32, i32); 2],
    start: (i32, i32),
) -> Option<usize> {
    let size = on.size();
    let (height, width) = (size.height() as i32, size.width() as i32);
    let mut block = None;
    for (i, cells) in (0..).zip(shape) {
        for (j, &cell) in (0..).zip(cells.iter()) {
            let row = start.0 + i * down.0 + j * across.0;
            let col = start.1 + i * down.1 + j * across.1;
            let inside = (0..height).contains(&row) && (0..width).contains(&col);
            if cell == b'#' || !inside {
                if inside == (cell == b'#') {
                    return None;
                }
                continue;
            }
            let point = (row * width + col) as usize;
            let fits = match cell {
                b'p' => on.alive(point) == Some(color),
                b'e' => match on.stones[point] {
                    None => true,
                    Some(stone) => (stone == color) != on.dead[point],
                },
                b'@' => {
                    block = Some(point);
                    on.stones[point].is_none()
                }
                _ => true,
            };
            if !fits {
                return None;
            }
        }
    }
    block
}
