//! Every kernel of this machine against safe definitions.

use super::{Finish, Kernel, Layout, Planes, Products, TilePlace, TileSize};
use crate::native::packed::WeightTransform;

/// Small numbers without a pattern.
fn noise(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(1);
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1u32 << 23) as f32 - 1.0
        })
        .collect()
}

#[test]
fn products_are_those_of_the_definition_for_any_number_of_rows() {
    for kernel in Kernel::available() {
        let block = kernel.block();
        for rows in (1..=25).chain([37]) {
            let (points, depth, columns) = (3, 17, 2 * block);
            let (v_row, v_point) = (24, rows * 24 + 16);
            let m_point = rows * columns + 16;
            let shape = Products { points, rows, depth, columns, v_row, v_point, m_point };
            let v = noise(points * v_point, 1);
            let u = noise(points * depth * columns, 2);
            let mut m = vec![0.0; points * m_point];
            kernel.products(&shape, &v, &u, &mut m);
            for (point, row, column) in itertools(points, rows, columns) {
                let at = |k: usize| {
                    let block_start = (point * 2 + column / block) * depth * block;
                    u[block_start + k * block + column % block]
                };
                let wanted: f32 =
                    (0..depth).map(|k| v[point * v_point + row * v_row + k] * at(k)).sum();
                let found = m[point * m_point + row * columns + column];
                assert!((found - wanted).abs() < 1e-5, "{kernel:?} {rows} rows: {found} {wanted}");
            }
        }
    }
}

fn itertools(a: usize, b: usize, c: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..a).flat_map(move |x| (0..b).flat_map(move |y| (0..c).map(move |z| (x, y, z))))
}

/// One channel through all three loops is the 3×3 convolution, edges and skip included.
#[test]
fn transforms_around_a_product_are_a_convolution_on_every_tile_size() {
    for kernel in Kernel::available() {
        for size in TileSize::ALL {
            for (width, height) in [(3, 5), (6, 6), (9, 7), (1, 1)] {
                one_convolution(kernel, size, width, height);
            }
        }
    }
}

fn one_convolution(kernel: Kernel, size: TileSize, width: usize, height: usize) {
    let channels = kernel.block();
    let m = size.outputs();
    let (down, across) = (height.div_ceil(m), width.div_ceil(m));
    let (rows, columns) = (down * m + 2, across * m + 2);
    let grid = Layout {
        origin: 0,
        board: rows * columns * channels,
        row: columns * channels,
        column: channels,
    };
    let inner = Layout { origin: grid.row + grid.column, ..grid };
    let tiles: Vec<TilePlace> = (0..down)
        .flat_map(|r| (0..across).map(move |c| TilePlace { board: 0, row: r * m, column: c * m }))
        .collect();
    let mut board = vec![0.0; grid.board];
    let inside = noise(width * height, 3);
    for (at, x) in inside.iter().enumerate() {
        board[inner.origin + at / width * grid.row + at % width * grid.column] = *x;
    }
    let weights = noise(9, 4);
    let bias = noise(channels, 5);

    let planes = Planes { point: tiles.len() * channels + 16, channels };
    let mut transformed = vec![0.0; size.points() * planes.point];
    kernel.input(size, &tiles, &grid, &planes, &board, &mut transformed);
    let mut factors = vec![0.0; size.points()];
    WeightTransform::new(size).apply(&weights, &mut factors);
    for (point, factor) in factors.iter().enumerate() {
        for x in &mut transformed[point * planes.point..][..planes.point] {
            *x *= factor;
        }
    }
    let finish = Finish { width, height, layout: &inner, skip: Some(&inner), floor: 0.0 };
    let mut out = board.clone();
    kernel.output(size, &tiles, &planes, &finish, &transformed, &bias, None, &mut out);

    let get = |row: usize, column: usize| board[row * grid.row + column * grid.column];
    for row in 0..rows {
        for column in 0..columns {
            let found = out[row * grid.row + column * grid.column];
            let on_board = (1..=height).contains(&row) && (1..=width).contains(&column);
            let wanted = if on_board {
                let sum: f32 = (0..9)
                    .map(|tap| weights[tap] * get(row + tap / 3 - 1, column + tap % 3 - 1))
                    .sum();
                (sum + bias[0] + get(row, column)).max(0.0)
            } else {
                0.0
            };
            assert!(
                (found - wanted).abs() < 2e-5,
                "{kernel:?} {size:?} {width}x{height} at {row},{column}: {found} for {wanted}"
            );
        }
    }
}
