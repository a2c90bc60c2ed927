//! The kernels: the evaluator's one module with `unsafe` code, and why it may.
//!
//! Three loops take nearly all the time of an evaluation: Winograd's input transform, many small
//! matrix products, and the output transform. They are written once, over a vector type
//! ([`vector`]), with pointers instead of slices, and compiled for each instruction set inside
//! functions that enable it. The functions of [`Kernel`] are the only way in: each checks, once a
//! call, every extent that the loops below will touch, and runs the loops of a set that was found
//! on this machine.
//!
//! The tests run all kernels of the machine against definitions written in safe Rust.

mod gemm;
mod roofline;
mod toom;
mod transform;
pub(crate) mod vector;

#[cfg(test)]
mod tests;

use toom::{F2, F4, F5, F6, Toom};
use vector::Vector;

pub(super) use gemm::Products;
pub(super) use transform::{Finish, Layout, Planes, TilePlace};

/// Proof that an instruction set was found on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found(());

/// The instruction set that the kernels use. They differ in rounding only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernel {
    /// AVX-512F.
    #[cfg(target_arch = "x86_64")]
    Avx512(Found),
    /// AVX2 with fused multiply-add.
    #[cfg(target_arch = "x86_64")]
    Avx2(Found),
    /// NEON.
    #[cfg(target_arch = "aarch64")]
    Neon(Found),
    /// Whatever the compiler makes of plain Rust.
    Portable,
}

impl Kernel {
    /// All that this machine has, fastest first.
    pub(crate) fn available() -> Vec<Self> {
        let mut found = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") {
                found.push(Self::Avx512(Found(())));
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                found.push(Self::Avx2(Found(())));
            }
        }
        #[cfg(target_arch = "aarch64")]
        if std::arch::is_aarch64_feature_detected!("neon") {
            found.push(Self::Neon(Found(())));
        }
        found.push(Self::Portable);
        found
    }

    /// The fastest that this machine has.
    pub(crate) fn detect() -> Self {
        Self::available()[0]
    }

    /// What people call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => "avx512",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => "avx2",
            #[cfg(target_arch = "aarch64")]
            Self::Neon(_) => "neon",
            Self::Portable => "portable",
        }
    }

    /// Numbers in a vector.
    pub(crate) fn lanes(self) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => vector::Avx512::LANES,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => vector::Avx2::LANES,
            #[cfg(target_arch = "aarch64")]
            Self::Neon(_) => vector::Neon::LANES,
            Self::Portable => vector::Plain::LANES,
        }
    }

    /// Columns of a block of weights.
    pub(crate) fn block(self) -> usize {
        gemm::COLUMN_VECTORS * self.lanes()
    }

    /// `M[p] = V[p] · U[p]`; `u` is `[points, columns / block, depth, block]`.
    ///
    /// # Panics
    /// If a matrix does not lie inside its slice, or the columns are no whole blocks.
    pub(super) fn products(self, shape: &Products, v: &[f32], u: &[f32], m: &mut [f32]) {
        if shape.points == 0 || shape.rows == 0 || shape.columns == 0 {
            return;
        }
        // The checks that every unchecked access below leans on.
        assert_eq!(shape.columns % self.block(), 0, "columns that are no whole blocks");
        assert!(shape.depth <= shape.v_row, "rows of V overlap");
        let last = shape.points - 1;
        let v_end = last * shape.v_point + shape.rows * shape.v_row;
        let m_end = last * shape.m_point + shape.rows * shape.columns;
        assert!(v_end <= v.len(), "V too short");
        assert!(m_end <= m.len(), "M too short");
        assert!(shape.points * shape.columns * shape.depth <= u.len(), "U too short");
        let (v, u, m) = (v.as_ptr(), u.as_ptr(), m.as_mut_ptr());
        // SAFETY: a `Found` exists only where its instructions were found; the rest was checked.
        unsafe {
            match self {
                #[cfg(target_arch = "x86_64")]
                Self::Avx512(Found(())) => avx512::products(shape, v, u, m),
                #[cfg(target_arch = "x86_64")]
                Self::Avx2(Found(())) => avx2::products(shape, v, u, m),
                #[cfg(target_arch = "aarch64")]
                Self::Neon(Found(())) => neon::products(shape, v, u, m),
                Self::Portable => portable::products(shape, v, u, m),
            }
        }
    }

    /// Multiplies and adds in registers for `rounds`: a number that keeps the work alive, and the
    /// floating-point operations done.
    pub(super) fn multiply(self, rounds: usize) -> (f32, f64) {
        // SAFETY: a `Found` exists only where its instructions were found.
        unsafe {
            match self {
                #[cfg(target_arch = "x86_64")]
                Self::Avx512(Found(())) => avx512::multiply(rounds),
                #[cfg(target_arch = "x86_64")]
                Self::Avx2(Found(())) => avx2::multiply(rounds),
                #[cfg(target_arch = "aarch64")]
                Self::Neon(Found(())) => neon::multiply(rounds),
                Self::Portable => portable::multiply(rounds),
            }
        }
    }

    /// Reads all of `from` but a rest shorter than eight vectors; returns a number that keeps the
    /// work alive.
    pub(super) fn read(self, from: &[f32]) -> f32 {
        let (start, length) = (from.as_ptr(), from.len());
        // SAFETY: a `Found` exists only where its instructions were found, and `start` points at
        // `length` floats.
        unsafe {
            match self {
                #[cfg(target_arch = "x86_64")]
                Self::Avx512(Found(())) => avx512::read(start, length),
                #[cfg(target_arch = "x86_64")]
                Self::Avx2(Found(())) => avx2::read(start, length),
                #[cfg(target_arch = "aarch64")]
                Self::Neon(Found(())) => neon::read(start, length),
                Self::Portable => portable::read(start, length),
            }
        }
    }

    /// Winograd's input transform of every tile: `from`, laid out by `layout`, whose tiles start at
    /// their first *input* point, to `to`, laid out by `planes`.
    ///
    /// # Panics
    /// If a tile does not lie inside its slice, or the channels are no whole vectors.
    pub(super) fn input(
        self,
        size: TileSize,
        tiles: &[TilePlace],
        layout: &Layout,
        planes: &Planes,
        from: &[f32],
        to: &mut [f32],
    ) {
        if tiles.is_empty() {
            return;
        }
        // The checks that every unchecked access below leans on.
        assert_eq!(planes.channels % self.lanes(), 0, "channels that are no whole vectors");
        let last = size.inputs() - 1;
        for &tile in tiles {
            let end = layout.of(tile) + last * (layout.row + layout.column) + planes.channels;
            assert!(end <= from.len(), "a tile beyond its board");
        }
        assert!(planes.end(size, tiles.len()) <= to.len(), "no room for the transform");
        let (from, to) = (from.as_ptr(), to.as_mut_ptr());
        // SAFETY: a `Found` exists only where its instructions were found; the rest was checked.
        unsafe {
            match self {
                #[cfg(target_arch = "x86_64")]
                Self::Avx512(Found(())) => avx512::input(size, tiles, layout, planes, from, to),
                #[cfg(target_arch = "x86_64")]
                Self::Avx2(Found(())) => avx2::input(size, tiles, layout, planes, from, to),
                #[cfg(target_arch = "aarch64")]
                Self::Neon(Found(())) => neon::input(size, tiles, layout, planes, from, to),
                Self::Portable => portable::input(size, tiles, layout, planes, from, to),
            }
        }
    }

    /// Winograd's output transform of every tile, with bias, addition and ReLU. `skip` is what is
    /// added, if it is not `to` itself.
    ///
    /// # Panics
    /// If a tile does not lie inside its slice, or the channels are no whole vectors.
    #[expect(clippy::too_many_arguments, reason = "one kernel, called from one place")]
    pub(super) fn output(
        self,
        size: TileSize,
        tiles: &[TilePlace],
        planes: &Planes,
        finish: &Finish<'_>,
        from: &[f32],
        bias: &[f32],
        skip: Option<&[f32]>,
        to: &mut [f32],
    ) {
        if tiles.is_empty() {
            return;
        }
        // The checks that every unchecked access below leans on.
        assert_eq!(planes.channels % self.lanes(), 0, "channels that are no whole vectors");
        assert!(planes.end(size, tiles.len()) <= from.len(), "the transform is too short");
        assert!(planes.channels <= bias.len(), "too few biases");
        let skip_length = skip.map_or(to.len(), <[f32]>::len);
        for &tile in tiles {
            assert!(tile.row < finish.height && tile.column < finish.width, "a tile off the board");
            let rows = size.outputs().min(finish.height - tile.row) - 1;
            let columns = size.outputs().min(finish.width - tile.column) - 1;
            let end = |layout: &Layout| {
                layout.of(tile) + rows * layout.row + columns * layout.column + planes.channels
            };
            assert!(end(finish.layout) <= to.len(), "a tile beyond its board");
            assert!(finish.skip.is_none_or(|l| end(l) <= skip_length), "a tile beyond its skip");
        }
        let (from, bias, to) = (from.as_ptr(), bias.as_ptr(), to.as_mut_ptr());
        let skip = skip.map_or(to.cast_const(), <[f32]>::as_ptr);
        // SAFETY: a `Found` exists only where its instructions were found; the rest was checked.
        unsafe {
            match self {
                #[cfg(target_arch = "x86_64")]
                Self::Avx512(Found(())) => {
                    avx512::output(size, tiles, planes, finish, from, bias, skip, to);
                }
                #[cfg(target_arch = "x86_64")]
                Self::Avx2(Found(())) => {
                    avx2::output(size, tiles, planes, finish, from, bias, skip, to);
                }
                #[cfg(target_arch = "aarch64")]
                Self::Neon(Found(())) => {
                    neon::output(size, tiles, planes, finish, from, bias, skip, to);
                }
                Self::Portable => {
                    portable::output(size, tiles, planes, finish, from, bias, skip, to);
                }
            }
        }
    }
}

impl Planes {
    fn end(&self, size: TileSize, tiles: usize) -> usize {
        (size.points() - 1) * self.point + tiles * self.channels
    }
}

/// Which F(m×m, 3×3) a tile is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TileSize {
    Two,
    Four,
    Five,
    Six,
}

impl TileSize {
    /// From the smallest to the largest.
    pub(super) const ALL: [Self; 4] = [Self::Two, Self::Four, Self::Five, Self::Six];

    /// Outputs along a side: m.
    pub(super) fn outputs(self) -> usize {
        match self {
            Self::Two => F2::OUT,
            Self::Four => F4::OUT,
            Self::Five => F5::OUT,
            Self::Six => F6::OUT,
        }
    }

    /// Inputs along a side: m + 2.
    pub(super) fn inputs(self) -> usize {
        self.outputs() + 2
    }

    /// Points of the transform: (m + 2)².
    pub(super) fn points(self) -> usize {
        self.inputs() * self.inputs()
    }

    /// The finite points of the transform of a line.
    pub(super) fn finite_points(self) -> &'static [f64] {
        match self {
            Self::Two => F2::POINTS,
            Self::Four => F4::POINTS,
            Self::Five => F5::POINTS,
            Self::Six => F6::POINTS,
        }
    }
}

/// Calls a transform for the tile's type.
macro_rules! by_size {
    ($size:expr, $transform:ident, $vector:ty, $($argument:expr),*) => {
        match $size {
            TileSize::Two => transform::$transform::<$vector, F2>($($argument),*),
            TileSize::Four => transform::$transform::<$vector, F4>($($argument),*),
            TileSize::Five => transform::$transform::<$vector, F5>($($argument),*),
            TileSize::Six => transform::$transform::<$vector, F6>($($argument),*),
        }
    };
}

/// The three loops for one instruction set.
macro_rules! kernel {
    ($name:ident, $vector:ty, #[$features:meta]) => {
        mod $name {
            use super::{F2, F4, F5, F6, Finish, Layout, Planes, Products, TilePlace, TileSize};
            use super::{gemm, roofline, transform, vector};

            /// # Safety
            /// The machine has the instructions.
            #[$features]
            pub(super) unsafe fn multiply(rounds: usize) -> (f32, f64) {
                // SAFETY: the caller's.
                unsafe { roofline::multiply::<$vector>(rounds) }
            }

            /// # Safety
            /// The machine has the instructions; see [`roofline::read`].
            #[$features]
            pub(super) unsafe fn read(from: *const f32, length: usize) -> f32 {
                // SAFETY: the caller's.
                unsafe { roofline::read::<$vector>(from, length) }
            }

            /// # Safety
            /// The machine has the instructions; see [`gemm::products`].
            #[$features]
            pub(super) unsafe fn products(
                shape: &Products,
                v: *const f32,
                u: *const f32,
                m: *mut f32,
            ) {
                // SAFETY: the caller's.
                unsafe { gemm::products::<$vector>(shape, v, u, m) }
            }

            /// # Safety
            /// The machine has the instructions; see [`transform::input`].
            #[$features]
            pub(super) unsafe fn input(
                size: TileSize,
                tiles: &[TilePlace],
                layout: &Layout,
                planes: &Planes,
                from: *const f32,
                to: *mut f32,
            ) {
                // SAFETY: the caller's.
                unsafe { by_size!(size, input, $vector, tiles, layout, planes, from, to) }
            }

            /// # Safety
            /// The machine has the instructions; see [`transform::output`].
            #[$features]
            #[expect(clippy::too_many_arguments, reason = "as the kernel's entry")]
            pub(super) unsafe fn output(
                size: TileSize,
                tiles: &[TilePlace],
                planes: &Planes,
                finish: &Finish<'_>,
                from: *const f32,
                bias: *const f32,
                skip: *const f32,
                to: *mut f32,
            ) {
                // SAFETY: the caller's.
                unsafe {
                    by_size!(size, output, $vector, tiles, planes, finish, from, bias, skip, to)
                }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
kernel!(avx512, vector::Avx512, #[target_feature(enable = "avx512f")]);
#[cfg(target_arch = "x86_64")]
kernel!(avx2, vector::Avx2, #[target_feature(enable = "avx2,fma")]);
#[cfg(target_arch = "aarch64")]
kernel!(neon, vector::Neon, #[target_feature(enable = "neon")]);
kernel!(portable, vector::Plain, #[inline]);
