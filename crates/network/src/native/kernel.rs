//! The convolution kernel: the one module with `unsafe` code, and why it may.
//!
//! A tile is up to [`TILE`] points by [`LANES`] output channels, accumulated in registers over all
//! taps and input channels: on AVX2 that is 12 accumulators, two vectors of weights and one
//! broadcast input, of 16 registers. Every index the tiles use is checked once per convolution, in
//! [`convolve`], against the slices they come from; the tiles themselves then read and write
//! unchecked. Without AVX2 and FMA the same tile runs as plain, checked Rust.

use super::fold::FoldedConv;

/// Output channels of a tile; channel strides of outputs are multiples of it.
pub(super) const LANES: usize = 16;
/// Points of a full tile.
const TILE: usize = 6;

/// Which instructions the kernel uses. The two differ in rounding only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Simd {
    /// AVX2 with fused multiply-add. Made by [`Simd::detect`] alone, on a machine that has both.
    #[cfg(target_arch = "x86_64")]
    Avx2(Detected),
    /// Whatever the compiler makes of plain Rust.
    Portable,
}

/// Proof that detection ran and found the instructions.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Detected(());

impl Simd {
    /// The fastest that this machine has.
    pub(super) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            return Self::Avx2(Detected(()));
        }
        Self::Portable
    }
}

/// What happens to a finished sum before it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// `out = max(sum, 0)`.
    Relu,
    /// `out = max(sum + out, 0)`: the end of a residual block, in place.
    AddRelu,
}

/// Where a convolution reads and writes: points of a padded grid, channels last.
pub(super) struct Places<'a> {
    /// Grid points to compute.
    pub points: &'a [usize],
    /// Grid distance of each of the kernel's taps from its point, as many as the kernel has.
    pub taps: &'a [isize],
    /// Channels per grid point of the input.
    pub stride: usize,
}

/// Convolves `input` (`[grid, stride]`) into `out` (`[grid, conv.stride()]`) at the given points.
///
/// # Panics
/// If a point, a tap of it or the weights lie outside their slices.
pub(super) fn convolve(
    simd: Simd,
    conv: &FoldedConv,
    at: &Places<'_>,
    input: &[f32],
    out: &mut [f32],
    then: Then,
) {
    let (Some(&low), Some(&high)) = (at.points.iter().min(), at.points.iter().max()) else {
        return;
    };
    let (first, last) = at.taps.iter().fold((0, 0), |(a, b), &t| (a.min(t), b.max(t)));
    let out_stride = conv.stride();
    // The checks that every unchecked access below leans on.
    assert!(low.checked_add_signed(first).is_some(), "a tap before the first grid point");
    assert!(conv.inputs <= at.stride, "more input channels than a grid point holds");
    assert!((high.saturating_add_signed(last) + 1) * at.stride <= input.len(), "input too short");
    assert!((high + 1) * out_stride <= out.len(), "output too short");
    let per_block = at.taps.len() * conv.inputs * LANES;
    assert_eq!(conv.weights.len(), per_block * (out_stride / LANES), "weights of another shape");
    assert_eq!(conv.bias.len(), out_stride, "biases of another shape");

    for (block, weights) in conv.weights.chunks_exact(per_block).enumerate() {
        let bias = &conv.bias[block * LANES..][..LANES];
        let tile = Tile { weights, bias, at, inputs: conv.inputs, out_stride, block, then };
        for points in at.points.chunks(TILE) {
            match simd {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: `Detected` exists only where AVX2 and FMA were found, and the
                // assertions above cover every point, tap, weight and channel of the tile.
                Simd::Avx2(Detected(())) => unsafe { avx2::dispatch(&tile, points, input, out) },
                Simd::Portable => tile.portable(points, input, out),
            }
        }
    }
}

/// One block of output channels, at any points.
struct Tile<'a> {
    weights: &'a [f32],
    bias: &'a [f32],
    at: &'a Places<'a>,
    inputs: usize,
    out_stride: usize,
    block: usize,
    then: Then,
}

impl Tile<'_> {
    fn portable(&self, points: &[usize], input: &[f32], out: &mut [f32]) {
        for &point in points {
            let mut sums = [0.0; LANES];
            sums.copy_from_slice(self.bias);
            let taps = self.weights.chunks_exact(self.inputs * LANES);
            for (weights, &tap) in taps.zip(self.at.taps) {
                let from = point.wrapping_add_signed(tap) * self.at.stride;
                let inputs = &input[from..][..self.inputs];
                for (weights, &x) in weights.as_chunks::<LANES>().0.iter().zip(inputs) {
                    for (sum, w) in sums.iter_mut().zip(weights) {
                        *sum += w * x;
                    }
                }
            }
            let out = &mut out[point * self.out_stride + self.block * LANES..][..LANES];
            for (out, sum) in out.iter_mut().zip(sums) {
                let sum = if self.then == Then::AddRelu { sum + *out } else { sum };
                *out = sum.max(0.0);
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256, _mm256_add_ps, _mm256_broadcast_ss, _mm256_fmadd_ps, _mm256_loadu_ps,
        _mm256_max_ps, _mm256_setzero_ps, _mm256_storeu_ps,
    };

    use super::{LANES, TILE, Then, Tile};

    /// Computes a tile of 1 to [`TILE`] points.
    ///
    /// # Safety
    /// The machine has AVX2 and FMA, and [`super::convolve`]'s assertions hold for `tile`,
    /// `points`, `input` and `out`.
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn dispatch(
        tile: &Tile<'_>,
        points: &[usize],
        input: &[f32],
        out: &mut [f32],
    ) {
        // SAFETY: passed on from the caller; each arm takes exactly the points there are.
        unsafe {
            match points.len() {
                TILE => run::<TILE>(tile, points, input, out),
                5 => run::<5>(tile, points, input, out),
                4 => run::<4>(tile, points, input, out),
                3 => run::<3>(tile, points, input, out),
                2 => run::<2>(tile, points, input, out),
                _ => run::<1>(tile, points, input, out),
            }
        }
    }

    /// # Safety
    /// As [`dispatch`], and `points` holds at least `N`.
    #[target_feature(enable = "avx2,fma")]
    unsafe fn run<const N: usize>(
        tile: &Tile<'_>,
        points: &[usize],
        input: &[f32],
        out: &mut [f32],
    ) {
        // SAFETY: `bias` holds LANES = 16 floats, two vectors.
        let bias = unsafe { load(tile.bias.as_ptr()) };
        let mut sums: [[__m256; 2]; N] = [bias; N];
        let mut weights = tile.weights.as_ptr();
        for &tap in tile.at.taps {
            let mut from = [input.as_ptr(); N];
            for (from, point) in from.iter_mut().zip(points) {
                let point = point.wrapping_add_signed(tap);
                // SAFETY: point + tap is a grid point inside `input`.
                *from = unsafe { from.add(point * tile.at.stride) };
            }
            for channel in 0..tile.inputs {
                // SAFETY: `weights` holds taps · inputs · LANES floats, and this is read once for
                // each tap and input.
                let [w0, w1] = unsafe { load(weights) };
                weights = unsafe { weights.add(LANES) };
                for n in 0..N {
                    // SAFETY: a grid point has at least `inputs` channels.
                    let x = unsafe { _mm256_broadcast_ss(&*from[n].add(channel)) };
                    sums[n][0] = _mm256_fmadd_ps(x, w0, sums[n][0]);
                    sums[n][1] = _mm256_fmadd_ps(x, w1, sums[n][1]);
                }
            }
        }
        let zero = _mm256_setzero_ps();
        for (mut sum, point) in sums.into_iter().zip(points) {
            // SAFETY: the point's channels of this block lie inside `out`.
            unsafe {
                let to = out.as_mut_ptr().add(point * tile.out_stride + tile.block * LANES);
                if tile.then == Then::AddRelu {
                    let skip = load(to);
                    sum = [_mm256_add_ps(sum[0], skip[0]), _mm256_add_ps(sum[1], skip[1])];
                }
                _mm256_storeu_ps(to, _mm256_max_ps(sum[0], zero));
                _mm256_storeu_ps(to.add(8), _mm256_max_ps(sum[1], zero));
            }
        }
    }

    /// # Safety
    /// `from` points at 16 readable floats.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn load(from: *const f32) -> [__m256; 2] {
        // SAFETY: the caller's.
        unsafe { [_mm256_loadu_ps(from), _mm256_loadu_ps(from.add(8))] }
    }
}
