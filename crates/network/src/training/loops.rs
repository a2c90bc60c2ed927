//! The loops that take nearly all the time of a training step, written once over the vector type.
//!
//! Both are matrix products that find their operand in a [`Grid`](super::grid::Grid): the
//! convolution reads at each point the point's neighbours, one tap of the kernel after the other.

use crate::native::simd::vector::Vector;

/// Vectors of channels in a tile.
pub(super) const VECTORS: usize = 2;

/// The shape of a convolution on grids, counted in floats where not said otherwise.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape<'a> {
    /// Grid distances of the kernel's taps, in points.
    pub taps: &'a [isize],
    /// Channels read at each tap.
    pub inputs: usize,
    /// Floats of a point of the input.
    pub x_stride: usize,
    /// Floats of a point of the output: a multiple of the kernel's block.
    pub out_stride: usize,
}

/// Writes the convolution of `x` at `points` to `out`, or adds it if `ADD`. `w` is
/// `[out_stride / block, taps, inputs, block]`.
///
/// # Safety
/// The machine has `V`'s instructions, and all that `shape` and `points` describe lies inside the
/// memory that `x`, `w` and `out` point at.
#[inline(always)]
pub(super) unsafe fn convolve<V: Vector, const ADD: bool>(
    shape: &Shape<'_>,
    points: &[usize],
    x: *const f32,
    w: *const f32,
    out: *mut f32,
) {
    let block = VECTORS * V::LANES;
    let per_block = shape.taps.len() * shape.inputs * block;
    for at in 0..shape.out_stride / block {
        for points in even_chunks(points, V::ROWS) {
            // SAFETY: `at` is a block of the output, so its weights and channels exist.
            unsafe {
                let (w, out) = (w.add(at * per_block), out.add(at * block));
                match points.len() {
                    12 if V::ROWS >= 12 => outputs::<V, 12, ADD>(shape, points, x, w, out),
                    11 if V::ROWS >= 12 => outputs::<V, 11, ADD>(shape, points, x, w, out),
                    10 if V::ROWS >= 12 => outputs::<V, 10, ADD>(shape, points, x, w, out),
                    9 if V::ROWS >= 12 => outputs::<V, 9, ADD>(shape, points, x, w, out),
                    8 if V::ROWS >= 12 => outputs::<V, 8, ADD>(shape, points, x, w, out),
                    7 if V::ROWS >= 12 => outputs::<V, 7, ADD>(shape, points, x, w, out),
                    6 if V::ROWS >= 6 => outputs::<V, 6, ADD>(shape, points, x, w, out),
                    5 if V::ROWS >= 6 => outputs::<V, 5, ADD>(shape, points, x, w, out),
                    4 => outputs::<V, 4, ADD>(shape, points, x, w, out),
                    3 => outputs::<V, 3, ADD>(shape, points, x, w, out),
                    2 => outputs::<V, 2, ADD>(shape, points, x, w, out),
                    _ => outputs::<V, 1, ADD>(shape, points, x, w, out),
                }
            }
        }
    }
}

/// One block of channels of the first `R` points.
///
/// # Safety
/// As [`convolve`], and `points` holds at least `R`.
#[inline(always)]
unsafe fn outputs<V: Vector, const R: usize, const ADD: bool>(
    shape: &Shape<'_>,
    points: &[usize],
    x: *const f32,
    mut w: *const f32,
    out: *mut f32,
) {
    // SAFETY: the caller has the instructions.
    let mut sums = [[unsafe { V::splat(0.0) }; VECTORS]; R];
    for &tap in shape.taps {
        let mut from = [x; R];
        for (from, point) in from.iter_mut().zip(points) {
            // SAFETY: point + tap is a grid point inside `x`.
            *from = unsafe { from.add(point.wrapping_add_signed(tap) * shape.x_stride) };
        }
        for channel in 0..shape.inputs {
            // SAFETY: each tap and channel has its block of weights, read once, and a grid point
            // has at least `inputs` channels.
            unsafe {
                let weights = [V::load(w), V::load(w.add(V::LANES))];
                w = w.add(VECTORS * V::LANES);
                for (from, sums) in from.iter().zip(&mut sums) {
                    let x = V::splat(*from.add(channel));
                    for (sum, weights) in sums.iter_mut().zip(weights) {
                        *sum = x.times_plus(weights, *sum);
                    }
                }
            }
        }
    }
    for (sums, point) in sums.into_iter().zip(points) {
        // SAFETY: the point's channels of this block lie inside `out`.
        unsafe {
            let to = out.add(point * shape.out_stride);
            for (vector, mut sum) in sums.into_iter().enumerate() {
                let to = to.add(vector * V::LANES);
                if ADD {
                    sum = sum + V::load(to);
                }
                sum.store(to);
            }
        }
    }
}

/// Adds to `dw`, `[taps, inputs, out_stride]`, the gradient of the weights of a convolution of `x`
/// whose outputs at `points` have the gradient `dz`.
///
/// # Safety
/// As [`convolve`], with `dz` in the place of `out`, and `dw` as long as said.
#[inline(always)]
pub(super) unsafe fn weight_gradient<V: Vector>(
    shape: &Shape<'_>,
    points: &[usize],
    x: *const f32,
    dz: *const f32,
    dw: *mut f32,
) {
    let block = VECTORS * V::LANES;
    let rows = shape.taps.len() * shape.inputs;
    let tiles = rows.div_ceil(V::ROWS).max(1);
    let (each, more) = (rows / tiles, rows % tiles);
    for at in 0..shape.out_stride / block {
        let mut row = 0;
        for tile in 0..tiles {
            let count = each + usize::from(tile < more);
            // SAFETY: row + count ≤ rows, and `at` is a block of the output.
            unsafe {
                let (dz, dw) = (dz.add(at * block), dw.add(at * block));
                match count {
                    12 if V::ROWS >= 12 => rows_of::<V, 12>(shape, points, row, x, dz, dw),
                    11 if V::ROWS >= 12 => rows_of::<V, 11>(shape, points, row, x, dz, dw),
                    10 if V::ROWS >= 12 => rows_of::<V, 10>(shape, points, row, x, dz, dw),
                    9 if V::ROWS >= 12 => rows_of::<V, 9>(shape, points, row, x, dz, dw),
                    8 if V::ROWS >= 12 => rows_of::<V, 8>(shape, points, row, x, dz, dw),
                    7 if V::ROWS >= 12 => rows_of::<V, 7>(shape, points, row, x, dz, dw),
                    6 if V::ROWS >= 6 => rows_of::<V, 6>(shape, points, row, x, dz, dw),
                    5 if V::ROWS >= 6 => rows_of::<V, 5>(shape, points, row, x, dz, dw),
                    4 => rows_of::<V, 4>(shape, points, row, x, dz, dw),
                    3 => rows_of::<V, 3>(shape, points, row, x, dz, dw),
                    2 => rows_of::<V, 2>(shape, points, row, x, dz, dw),
                    _ => rows_of::<V, 1>(shape, points, row, x, dz, dw),
                }
            }
            row += count;
        }
    }
}

/// One block of channels of the `R` rows of `dw` from `row` on.
///
/// # Safety
/// As [`weight_gradient`], and `dw` has those rows.
#[inline(always)]
unsafe fn rows_of<V: Vector, const R: usize>(
    shape: &Shape<'_>,
    points: &[usize],
    row: usize,
    x: *const f32,
    dz: *const f32,
    dw: *mut f32,
) {
    let stride = shape.x_stride as isize;
    // From a point to each row's channel of its tap.
    let offsets: [isize; R] = std::array::from_fn(|r| {
        let (tap, channel) = ((row + r) / shape.inputs, (row + r) % shape.inputs);
        // Tiles never have more rows than there are.
        shape.taps.get(tap).map_or(0, |tap| tap * stride + channel as isize)
    });
    // SAFETY: the rows and the block exist; point + tap is a grid point inside `x`.
    unsafe {
        let mut sums: [[V; VECTORS]; R] = std::array::from_fn(|r| {
            let from = dw.add((row + r) * shape.out_stride);
            [V::load(from), V::load(from.add(V::LANES))]
        });
        for &point in points {
            let slopes = dz.add(point * shape.out_stride);
            let slopes = [V::load(slopes), V::load(slopes.add(V::LANES))];
            let x = x.add(point * shape.x_stride);
            for (offset, sums) in offsets.iter().zip(&mut sums) {
                let x = V::splat(*x.offset(*offset));
                for (sum, slope) in sums.iter_mut().zip(slopes) {
                    *sum = x.times_plus(slope, *sum);
                }
            }
        }
        for (r, sums) in sums.into_iter().enumerate() {
            let to = dw.add((row + r) * shape.out_stride);
            sums[0].store(to);
            sums[1].store(to.add(V::LANES));
        }
    }
}

/// `points` in as few chunks of at most `most` as there can be, as even as they can be: a last
/// tile of one point would wait for its own sums.
#[inline(always)]
fn even_chunks(points: &[usize], most: usize) -> impl Iterator<Item = &[usize]> {
    let count = points.len().div_ceil(most).max(1);
    let (each, more) = (points.len() / count, points.len() % count);
    let mut rest = points;
    (0..count).filter_map(move |chunk| {
        let (now, later) = rest.split_at(each + usize::from(chunk < more));
        rest = later;
        (!now.is_empty()).then_some(now)
    })
}
