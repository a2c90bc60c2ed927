//! Many small matrix products: `M[p] = V[p] · U[p]` for every point `p` of a transform.

use super::vector::Vector;

/// Floats of a cache line.
const LINE: usize = 16;
/// Vectors of columns in a tile.
pub(super) const COLUMN_VECTORS: usize = 2;

/// Shapes of the products, counted in floats.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Products {
    /// How many products.
    pub points: usize,
    /// Rows of `V[p]` and of `M[p]`.
    pub rows: usize,
    /// Columns of `V[p]` that count, and rows of `U[p]`.
    pub depth: usize,
    /// Columns of `M[p]`: a multiple of the kernel's block.
    pub columns: usize,
    /// From a row of `V[p]` to the next.
    pub v_row: usize,
    /// From `V[p]` to `V[p + 1]`.
    pub v_point: usize,
    /// From `M[p]` to `M[p + 1]`; its rows are `columns` apart.
    pub m_point: usize,
}

/// All the products. `u` is `[points, columns / block, depth, block]` with blocks of
/// `COLUMN_VECTORS · LANES` columns.
///
/// Each number of the result is one chain of additions over the depth, in rising order, whatever
/// the number of rows.
///
/// # Safety
/// The machine has `V`'s instructions, `columns` is a multiple of a block, and the matrices lie
/// inside the memory that `v`, `u` and `m` point at.
#[inline(always)]
pub(super) unsafe fn products<V: Vector>(
    shape: &Products,
    v: *const f32,
    u: *const f32,
    m: *mut f32,
) {
    let block = COLUMN_VECTORS * V::LANES;
    let blocks = shape.columns / block;
    // Rows are dealt evenly to the tiles: a last tile of one row would wait for its own sums.
    let tiles = shape.rows.div_ceil(V::ROWS).max(1);
    let (each, more) = (shape.rows / tiles, shape.rows % tiles);
    for point in 0..shape.points {
        for at in 0..blocks {
            let mut row = 0;
            for tile in 0..tiles {
                let rows = each + usize::from(tile < more);
                // The next block of weights comes from far away: ask for it in time, a part at each
                // tile of this one.
                let next = ((point * blocks + at + 1) * shape.depth * block) / LINE;
                let lines = shape.depth * block / LINE;
                for line in lines * tile / tiles..lines * (tile + 1) / tiles {
                    V::prefetch(u.wrapping_add((next + line) * LINE));
                }
                // SAFETY: row + rows ≤ shape.rows, at < blocks, point < points.
                unsafe {
                    let v = v.add(point * shape.v_point + row * shape.v_row);
                    let u = u.add((point * blocks + at) * shape.depth * block);
                    let m = m.add(point * shape.m_point + row * shape.columns + at * block);
                    some_rows::<V>(rows, shape, v, u, m);
                }
                row += rows;
            }
        }
    }
}

/// # Safety
/// As [`products`], for the `rows` at `v` and `m`.
#[inline(always)]
unsafe fn some_rows<V: Vector>(
    rows: usize,
    shape: &Products,
    v: *const f32,
    u: *const f32,
    m: *mut f32,
) {
    // SAFETY: the caller's; each arm takes the rows there are. The guards are known when this is
    // compiled, so that no tile of more rows than the registers hold comes to be.
    unsafe {
        match rows {
            12 if V::ROWS >= 12 => tile::<V, 12>(shape, v, u, m),
            11 if V::ROWS >= 12 => tile::<V, 11>(shape, v, u, m),
            10 if V::ROWS >= 12 => tile::<V, 10>(shape, v, u, m),
            9 if V::ROWS >= 12 => tile::<V, 9>(shape, v, u, m),
            8 if V::ROWS >= 12 => tile::<V, 8>(shape, v, u, m),
            7 if V::ROWS >= 12 => tile::<V, 7>(shape, v, u, m),
            6 if V::ROWS >= 6 => tile::<V, 6>(shape, v, u, m),
            5 if V::ROWS >= 6 => tile::<V, 5>(shape, v, u, m),
            4 => tile::<V, 4>(shape, v, u, m),
            3 => tile::<V, 3>(shape, v, u, m),
            2 => tile::<V, 2>(shape, v, u, m),
            1 => tile::<V, 1>(shape, v, u, m),
            _ => {}
        }
    }
}

/// # Safety
/// As [`products`], for the `R` rows at `v` and `m`.
#[inline(always)]
unsafe fn tile<V: Vector, const R: usize>(
    shape: &Products,
    v: *const f32,
    u: *const f32,
    m: *mut f32,
) {
    // SAFETY: the caller has the instructions.
    let mut sums = [[unsafe { V::splat(0.0) }; COLUMN_VECTORS]; R];
    for step in 0..shape.depth {
        // SAFETY: `step` is less than the depth, so the weights lie in this block and the inputs
        // in these rows.
        unsafe {
            let u = u.add(step * COLUMN_VECTORS * V::LANES);
            let weights = [V::load(u), V::load(u.add(V::LANES))];
            for (row, sums) in sums.iter_mut().enumerate() {
                let x = V::splat(*v.add(row * shape.v_row + step));
                for (sum, weights) in sums.iter_mut().zip(weights) {
                    *sum = x.times_plus(weights, *sum);
                }
            }
        }
    }
    for (row, sums) in sums.into_iter().enumerate() {
        // SAFETY: this block of the row lies inside `m`.
        unsafe {
            let m = m.add(row * shape.columns);
            sums[0].store(m);
            sums[1].store(m.add(V::LANES));
        }
    }
}
