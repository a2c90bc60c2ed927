//! Winograd's transforms in two dimensions: boards to points and back, tile by tile.

use std::mem::MaybeUninit;

use super::toom::{Line, Toom};
use super::vector::Vector;

/// A tile's place: which board, and the board point of its top-left output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct TilePlace {
    pub board: usize,
    pub row: usize,
    pub column: usize,
}

/// Where points lie in a buffer, in floats: a point's channels are neighbours.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Layout {
    /// Of the first board's first point.
    pub origin: usize,
    /// From a board to the next.
    pub board: usize,
    /// From a row to the next.
    pub row: usize,
    /// From a point to its right neighbour.
    pub column: usize,
}

impl Layout {
    /// Of a tile's first point.
    #[inline(always)]
    pub(super) fn of(&self, tile: TilePlace) -> usize {
        self.origin + tile.board * self.board + tile.row * self.row + tile.column * self.column
    }
}

/// Points of a transform in a buffer: `[points, tiles, channels]`, in floats.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Planes {
    /// From a transform's point to the next.
    pub point: usize,
    /// From a tile to the next: the channels, a multiple of the vector.
    pub channels: usize,
}

/// Transforms the inputs of every tile.
///
/// # Safety
/// The machine has `V`'s instructions; `from` and `to` hold what `layout` and `planes` describe,
/// for a layout whose tiles start at their first *input* point.
#[inline(always)]
pub(super) unsafe fn input<V: Vector, T: Toom>(
    tiles: &[TilePlace],
    layout: &Layout,
    planes: &Planes,
    from: *const f32,
    to: *mut f32,
) {
    // SAFETY: the caller has the instructions.
    let zero = unsafe { V::splat(0.0) };
    let mut lines = MaybeUninit::<[Line<V>; 8]>::uninit();
    let lines = lines.as_mut_ptr().cast::<V>();
    for (index, &tile) in tiles.iter().enumerate() {
        for channel in (0..planes.channels).step_by(V::LANES) {
            // SAFETY: the caller's buffers hold every point of the tile; `lines` has room for 8 · 8
            // vectors, and what is read from it was written by the first loop.
            unsafe {
                let from = from.add(layout.of(tile) + channel);
                let to = to.add(index * planes.channels + channel);
                for row in 0..T::IN {
                    let mut line = [zero; 8];
                    for (column, x) in line.iter_mut().enumerate().take(T::IN) {
                        *x = V::load(from.add(row * layout.row + column * layout.column));
                    }
                    let line = T::input(line);
                    for (column, x) in line.into_iter().enumerate().take(T::IN) {
                        lines.add(row * 8 + column).write(x);
                    }
                }
                for column in 0..T::IN {
                    let mut line = [zero; 8];
                    for (row, x) in line.iter_mut().enumerate().take(T::IN) {
                        *x = lines.add(row * 8 + column).read();
                    }
                    let line = T::input(line);
                    for (row, x) in line.into_iter().enumerate().take(T::IN) {
                        x.store(to.add((row * T::IN + column) * planes.point));
                    }
                }
            }
        }
    }
}

/// What happens to a convolution's sums, and where they go.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Finish<'a> {
    /// Width and height of the boards: tiles reach over their edges, what they write does not.
    pub width: usize,
    /// See `width`.
    pub height: usize,
    /// Of the output: its tiles start at their first *output* point.
    pub layout: &'a Layout,
    /// Of what is added before the ReLU, if anything is.
    pub skip: Option<&'a Layout>,
    /// What nothing written is below: 0 for a ReLU, −∞ for none.
    pub floor: f32,
}

/// Transforms sums back, adds the bias and what skips the block, and writes `max(·, floor)`.
///
/// # Safety
/// The machine has `V`'s instructions; `from`, `bias`, `skip` and `to` hold what `planes` and
/// `finish` describe. `skip` may be `to`.
#[inline(always)]
pub(super) unsafe fn output<V: Vector, T: Toom>(
    tiles: &[TilePlace],
    planes: &Planes,
    finish: &Finish<'_>,
    from: *const f32,
    bias: *const f32,
    skip: *const f32,
    to: *mut f32,
) {
    // SAFETY: the caller has the instructions.
    let (zero, floor) = unsafe { (V::splat(0.0), V::splat(finish.floor)) };
    let mut lines = MaybeUninit::<[Line<V>; 8]>::uninit();
    let lines = lines.as_mut_ptr().cast::<V>();
    for (index, &tile) in tiles.iter().enumerate() {
        let rows = T::OUT.min(finish.height - tile.row);
        let columns = T::OUT.min(finish.width - tile.column);
        for channel in (0..planes.channels).step_by(V::LANES) {
            // SAFETY: the caller's buffers hold every point of the tile that is on the board;
            // `lines` has room for 8 · 8 vectors, and what is read was written by the first loop.
            unsafe {
                let from = from.add(index * planes.channels + channel);
                let to = to.add(finish.layout.of(tile) + channel);
                let bias = V::load(bias.add(channel));
                for column in 0..T::IN {
                    let mut line = [zero; 8];
                    for (row, x) in line.iter_mut().enumerate().take(T::IN) {
                        *x = V::load(from.add((row * T::IN + column) * planes.point));
                    }
                    let line = T::output(line);
                    for (row, x) in line.into_iter().enumerate().take(T::OUT) {
                        lines.add(row * 8 + column).write(x);
                    }
                }
                for row in 0..rows {
                    let mut line = [zero; 8];
                    for (column, x) in line.iter_mut().enumerate().take(T::IN) {
                        *x = lines.add(row * 8 + column).read();
                    }
                    let line = T::output(line);
                    let to = to.add(row * finish.layout.row);
                    if let Some(layout) = finish.skip {
                        let skip = skip.add(layout.of(tile) + channel + row * layout.row);
                        for (column, x) in line.into_iter().enumerate().take(T::OUT) {
                            if column < columns {
                                let skip = V::load(skip.add(column * layout.column));
                                let to = to.add(column * finish.layout.column);
                                (x + bias + skip).at_least(floor).store(to);
                            }
                        }
                    } else {
                        for (column, x) in line.into_iter().enumerate().take(T::OUT) {
                            if column < columns {
                                let to = to.add(column * finish.layout.column);
                                (x + bias).at_least(floor).store(to);
                            }
                        }
                    }
                }
            }
        }
    }
}
