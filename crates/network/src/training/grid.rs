//! Boards in memory with zeros between them.

/// Boards of one size, each point some neighbouring numbers, in rows that share their borders.
///
/// A row is followed by one empty point and a board by one empty row, so that every tap of a 3×3
/// kernel at a board's edge lands on an empty point: of its own row or board, or of the one
/// before. One empty row and point lead. Nobody writes to empty points: they stay zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Grid {
    /// Points on a board.
    pub area: usize,
    /// Grid index of every true point, board after board, row-major.
    pub points: Vec<usize>,
    /// Grid points, empty ones included.
    pub len: usize,
    /// From a point to the one below it.
    row: usize,
    /// From a board's first point to the next board's.
    board: usize,
}

impl Grid {
    pub(super) fn new(boards: usize, height: usize, width: usize) -> Self {
        let row = width + 1;
        let board = (height + 1) * row;
        let origin = row + 1;
        let points = (0..boards)
            .flat_map(|board| (0..height).map(move |y| (board, y)))
            .flat_map(|(b, y)| (0..width).map(move |x| origin + b * board + y * row + x))
            .collect();
        Self { area: height * width, points, len: origin + boards * board, row, board }
    }

    /// Which board the true point `point` is on.
    pub(super) fn board_of(&self, point: usize) -> usize {
        (point - self.row - 1) / self.board
    }

    /// Grid distances of a kernel's taps from its point, row-major: 9 for a 3×3 kernel, 1 for 1×1.
    pub(super) fn taps(&self, count: usize) -> Vec<isize> {
        if count == 1 {
            return vec![0];
        }
        let row = self.row as isize;
        (-1..=1).flat_map(|down| (-1..=1).map(move |right| down * row + right)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tap_of_a_point_is_its_neighbour_or_empty_and_in_the_grid() {
        for (boards, height, width) in [(1, 1, 1), (3, 2, 5), (2, 6, 6), (1, 19, 19)] {
            let grid = Grid::new(boards, height, width);
            assert_eq!(grid.points.len(), boards * grid.area);
            for (index, &point) in grid.points.iter().enumerate() {
                let (board, at) = (index / grid.area, index % grid.area);
                let (y, x) = (at / width, at % width);
                assert_eq!(grid.board_of(point), board);
                for (tap, distance) in grid.taps(9).into_iter().enumerate() {
                    let to = point.checked_add_signed(distance).unwrap();
                    assert!(to < grid.len);
                    let (ny, nx) = (y + tap / 3, x + tap % 3);
                    let on_board = (1..=height).contains(&ny) && (1..=width).contains(&nx);
                    let found = grid.points.iter().position(|&p| p == to);
                    let expected = on_board.then(|| board * grid.area + (ny - 1) * width + nx - 1);
                    assert_eq!(found, expected);
                }
            }
        }
    }
}
