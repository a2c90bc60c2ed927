//! How boards of one size are cut into tiles, and how they lie in memory.

use super::simd::{Layout, TilePlace, TileSize};

/// Rows of a matrix product to aim at: enough to use each block of weights often, few enough that
/// what the transforms write stays near. The weights of wide networks come from far away, so they
/// are used more often.
const fn rows_together(channels: usize) -> usize {
    if channels < 64 { 32 } else { 64 }
}

/// The tiling of boards of one size.
#[derive(Clone, Debug)]
pub(super) struct Geometry {
    pub width: usize,
    pub height: usize,
    pub size: TileSize,
    /// Boards that go through the tower together, at most.
    pub boards: usize,
    /// Every tile of that many boards, board after board.
    tiles: Vec<TilePlace>,
    tiles_per_board: usize,
    /// Points of a board with its border: one before it, and after it as far as tiles reach.
    grid: (usize, usize),
}

impl Geometry {
    pub(super) fn new(width: usize, height: usize, size: TileSize, channels: usize) -> Self {
        let m = size.outputs();
        let (down, across) = (height.div_ceil(m), width.div_ceil(m));
        let tiles_per_board = down * across;
        let boards = (rows_together(channels) / tiles_per_board.max(1)).max(1);
        let tiles = (0..boards).flat_map(|board| {
            (0..tiles_per_board).map(move |tile| TilePlace {
                board,
                row: tile / across * m,
                column: tile % across * m,
            })
        });
        Self {
            width,
            height,
            size,
            boards,
            tiles: tiles.collect(),
            tiles_per_board,
            grid: (down * m + 2, across * m + 2),
        }
    }

    pub(super) fn area(&self) -> usize {
        self.width * self.height
    }

    /// The tiles of the first `boards` boards.
    pub(super) fn tiles(&self, boards: usize) -> &[TilePlace] {
        &self.tiles[..boards * self.tiles_per_board]
    }

    /// Floats of all boards in their grids.
    pub(super) fn grid_length(&self, channels: usize) -> usize {
        self.boards * self.grid.0 * self.grid.1 * channels
    }

    /// Boards in grids with zero borders, as the input transform reads them: a tile's first input
    /// is one point up and left of its first output.
    pub(super) fn inputs(&self, channels: usize) -> Layout {
        let (rows, columns) = self.grid;
        Layout {
            origin: 0,
            board: rows * columns * channels,
            row: columns * channels,
            column: channels,
        }
    }

    /// The same grids, as the output transform writes them.
    pub(super) fn outputs(&self, channels: usize) -> Layout {
        let inputs = self.inputs(channels);
        Layout { origin: inputs.row + inputs.column, ..inputs }
    }

    /// Boards without borders, one after the other.
    pub(super) fn dense(&self, channels: usize) -> Layout {
        Layout {
            origin: 0,
            board: self.area() * channels,
            row: self.width * channels,
            column: channels,
        }
    }
}

/// The tile size for boards of this size: the one of the fewest multiplications, the smaller of
/// two with as many. `fits` says whether a size's weights may be held at all; the smallest may.
///
/// A fixed rule, not a measurement: what a network answers must not depend on the time of day.
pub(super) fn choose(width: usize, height: usize, fits: impl Fn(TileSize) -> bool) -> TileSize {
    let cost = |size: &TileSize| {
        let m = size.outputs();
        width.div_ceil(m) * height.div_ceil(m) * size.points()
    };
    let mut sizes = TileSize::ALL.into_iter().filter(|&size| fits(size));
    let first = sizes.next().unwrap_or(TileSize::Two);
    sizes.fold(first, |best, size| if cost(&size) < cost(&best) { size } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_board_gets_the_tiles_that_fit_it_best() {
        use TileSize::{Five, Four, Six, Two};
        let chosen = |n| choose(n, n, |_| true);
        assert_eq!([2, 4, 5, 6, 7, 8].map(chosen), [Two, Four, Five, Six, Four, Four]);
        assert_eq!([9, 10, 11, 13, 19].map(chosen), [Five, Five, Six, Five, Five]);
        assert_eq!(choose(19, 19, |size| size == Two), Two);
        assert_eq!(choose(19, 19, |_| false), Two);
    }

    #[test]
    fn tiles_cover_each_board_once_and_stay_in_its_grid() {
        for (width, height) in [(1, 1), (6, 6), (9, 7), (19, 19)] {
            for size in TileSize::ALL {
                let geometry = Geometry::new(width, height, size, 32);
                let m = size.outputs();
                let mut hits = vec![0; geometry.boards * geometry.area()];
                for tile in geometry.tiles(geometry.boards) {
                    for (r, c) in (0..m).flat_map(|r| (0..m).map(move |c| (r, c))) {
                        let (row, column) = (tile.row + r, tile.column + c);
                        assert!(row + 2 < geometry.grid.0 && column + 2 < geometry.grid.1);
                        if row < height && column < width {
                            hits[(tile.board * height + row) * width + column] += 1;
                        }
                    }
                }
                assert!(hits.iter().all(|&n| n == 1));
            }
        }
    }
}
