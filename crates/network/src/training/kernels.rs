//! The way into the loops: checks once a call, then the code of an instruction set that was found.
//!
//! With [`native::simd`](crate::native) this is the module with `unsafe` code. Each function here
//! checks every extent that the unchecked loops of [`loops`](super::loops) will touch. The safe
//! loops of [`norm`](super::norm) are compiled here too, once an instruction set; those give the
//! same numbers on all of them.

use super::loops::{self, Shape};
use super::norm::{self, Moments, Points, Slant, Slopes};
use crate::native::simd::{Kernel, vector};

/// Calls a function of the kernel's module; a place for one `unsafe` block.
macro_rules! by_kernel {
    ($kernel:expr, $name:ident($($argument:expr),*)) => {
        unsafe {
            match $kernel {
                #[cfg(target_arch = "x86_64")]
                Kernel::Avx512(_) => avx512::$name($($argument),*),
                #[cfg(target_arch = "x86_64")]
                Kernel::Avx2(_) => avx2::$name($($argument),*),
                #[cfg(target_arch = "aarch64")]
                Kernel::Neon(_) => neon::$name($($argument),*),
                Kernel::Portable => portable::$name($($argument),*),
            }
        }
    };
}
/// The convolution of `x` at `points`, written to `out` or added to it; `w` is
/// `[out_stride / block, taps, inputs, block]`.
///
/// # Panics
/// If anything that is read or written lies outside its slice.
pub(super) fn convolve(
    kernel: Kernel,
    shape: &Shape<'_>,
    points: &[usize],
    x: &[f32],
    w: &[f32],
    add: bool,
    out: &mut [f32],
) {
    if points.is_empty() {
        return;
    }
    check(kernel, shape, points, x, out);
    assert!(shape.taps.len() * shape.inputs * shape.out_stride <= w.len(), "weights too short");
    let (x, w, out) = (x.as_ptr(), w.as_ptr(), out.as_mut_ptr());
    // SAFETY: a kernel exists only where its instructions were found; the rest was checked.
    by_kernel!(kernel, convolve(shape, points, x, w, add, out));
}

/// Adds to `dw`, `[taps, inputs, out_stride]`, the gradient of the weights of a convolution of `x`
/// whose outputs at `points` have the gradient `dz`.
///
/// # Panics
/// If anything that is read or written lies outside its slice.
pub(super) fn weight_gradient(
    kernel: Kernel,
    shape: &Shape<'_>,
    points: &[usize],
    x: &[f32],
    dz: &[f32],
    dw: &mut [f32],
) {
    if points.is_empty() {
        return;
    }
    check(kernel, shape, points, x, dz);
    assert!(shape.taps.len() * shape.inputs * shape.out_stride <= dw.len(), "gradient too short");
    let (x, dz, dw) = (x.as_ptr(), dz.as_ptr(), dw.as_mut_ptr());
    // SAFETY: a kernel exists only where its instructions were found; the rest was checked.
    by_kernel!(kernel, weight_gradient(shape, points, x, dz, dw));
}

/// That every point, with every tap, lies in `x` and every point in `out`.
fn check(kernel: Kernel, shape: &Shape<'_>, points: &[usize], x: &[f32], out: &[f32]) {
    assert_eq!(shape.out_stride % kernel.block(), 0, "outputs that are no whole blocks");
    assert!(shape.inputs <= shape.x_stride, "more input channels than a point holds");
    let low = points.iter().min().copied().unwrap_or(0);
    let high = points.iter().max().copied().unwrap_or(0);
    let (first, last) = shape.taps.iter().fold((0, 0), |(a, b), &tap| (a.min(tap), b.max(tap)));
    assert!(low.checked_add_signed(first).is_some(), "a tap before the first grid point");
    assert!((high.saturating_add_signed(last) + 1) * shape.x_stride <= x.len(), "input too short");
    assert!((high + 1) * shape.out_stride <= out.len(), "output too short");
}

/// See [`norm::observe`].
pub(super) fn observe(kernel: Kernel, at: &Points<'_>, z: &[f32], moments: &mut [Moments]) {
    // SAFETY: a kernel exists only where its instructions were found.
    by_kernel!(kernel, observe(at, z, moments));
}

/// See [`norm::normalise`].
pub(super) fn normalise(
    kernel: Kernel,
    at: &Points<'_>,
    z: &[f32],
    [scale, shift]: [&[f32]; 2],
    skip: Option<&[f32]>,
    y: &mut [f32],
) {
    // SAFETY: a kernel exists only where its instructions were found.
    by_kernel!(kernel, normalise(at, z, [scale, shift], skip, y));
}

/// See [`norm::rectify_back`].
pub(super) fn rectify_back(
    kernel: Kernel,
    at: &Points<'_>,
    [y, z]: [&[f32]; 2],
    [mean, inv_std]: [&[f32]; 2],
    dy: &mut [f32],
    sums: &mut [Slopes],
) {
    // SAFETY: a kernel exists only where its instructions were found.
    by_kernel!(kernel, rectify_back(at, [y, z], [mean, inv_std], dy, sums));
}

/// See [`norm::normalise_back`].
pub(super) fn normalise_back(
    kernel: Kernel,
    at: &Points<'_>,
    z: &[f32],
    mean: &[f32],
    slant: &Slant,
    dy: &[f32],
    dz: &mut [f32],
) {
    // SAFETY: a kernel exists only where its instructions were found.
    by_kernel!(kernel, normalise_back(at, z, mean, slant, dy, dz));
}

/// All loops for one instruction set.
macro_rules! kernel {
    ($name:ident, $vector:ty, #[$features:meta]) => {
        mod $name {
            use super::{Moments, Points, Shape, Slant, Slopes, loops, norm, vector};

            /// # Safety
            /// The machine has the instructions; see [`loops::convolve`].
            #[$features]
            pub(super) unsafe fn convolve(
                shape: &Shape<'_>,
                points: &[usize],
                x: *const f32,
                w: *const f32,
                add: bool,
                out: *mut f32,
            ) {
                // SAFETY: the caller's.
                unsafe {
                    match add {
                        false => loops::convolve::<$vector, false>(shape, points, x, w, out),
                        true => loops::convolve::<$vector, true>(shape, points, x, w, out),
                    }
                }
            }

            /// # Safety
            /// The machine has the instructions; see [`loops::weight_gradient`].
            #[$features]
            pub(super) unsafe fn weight_gradient(
                shape: &Shape<'_>,
                points: &[usize],
                x: *const f32,
                dz: *const f32,
                dw: *mut f32,
            ) {
                // SAFETY: the caller's.
                unsafe { loops::weight_gradient::<$vector>(shape, points, x, dz, dw) }
            }

            /// # Safety
            /// The machine has the instructions.
            #[$features]
            pub(super) unsafe fn observe(at: &Points<'_>, z: &[f32], moments: &mut [Moments]) {
                norm::observe(at, z, moments);
            }

            /// # Safety
            /// The machine has the instructions.
            #[$features]
            pub(super) unsafe fn normalise(
                at: &Points<'_>,
                z: &[f32],
                [scale, shift]: [&[f32]; 2],
                skip: Option<&[f32]>,
                y: &mut [f32],
            ) {
                norm::normalise(at, z, scale, shift, skip, y);
            }

            /// # Safety
            /// The machine has the instructions.
            #[$features]
            pub(super) unsafe fn rectify_back(
                at: &Points<'_>,
                [y, z]: [&[f32]; 2],
                [mean, inv_std]: [&[f32]; 2],
                dy: &mut [f32],
                sums: &mut [Slopes],
            ) {
                norm::rectify_back(at, y, z, mean, inv_std, dy, sums);
            }

            /// # Safety
            /// The machine has the instructions.
            #[$features]
            pub(super) unsafe fn normalise_back(
                at: &Points<'_>,
                z: &[f32],
                mean: &[f32],
                slant: &Slant,
                dy: &[f32],
                dz: &mut [f32],
            ) {
                norm::normalise_back(at, z, mean, slant, dy, dz);
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
