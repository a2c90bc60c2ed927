//! Vectors of `f32`, one type an instruction set, one trait over all of them.
//!
//! The kernels are written once over [`Vector`] and compiled once a type, each time inside
//! functions that enable the type's instructions. Everything here is `inline(always)`, so that
//! it becomes those instructions and no call.
//!
//! A value of a vector type exists only where its instructions do: the constructors are `unsafe`
//! and ask for that. Arithmetic on values that exist is therefore safe.

use std::ops::{Add, Sub};

/// Some `f32` lanes that are worked on together.
pub(crate) trait Vector: Copy + Add<Output = Self> + Sub<Output = Self> {
    /// Numbers in a vector.
    const LANES: usize;
    /// Rows of a full tile of the matrix kernel: as many as the registers hold.
    const ROWS: usize;

    /// All lanes `x`.
    ///
    /// # Safety
    /// The machine has the type's instructions.
    unsafe fn splat(x: f32) -> Self;

    /// The lanes at `from`, whatever its alignment.
    ///
    /// # Safety
    /// The machine has the type's instructions, and `from` points at [`Self::LANES`] floats.
    unsafe fn load(from: *const f32) -> Self;

    /// Writes the lanes to `to`, whatever its alignment.
    ///
    /// # Safety
    /// `to` points at room for [`Self::LANES`] floats.
    unsafe fn store(self, to: *mut f32);

    /// Asks for the cache line at `at`, which need not be memory that exists.
    fn prefetch(at: *const f32);

    /// `self · factor + addend`, rounded once where the machine can.
    fn times_plus(self, factor: Self, addend: Self) -> Self;

    /// `max(self, low)`.
    fn at_least(self, low: Self) -> Self;

    /// `self · factor + addend` for a number.
    #[inline(always)]
    fn scaled_plus(self, factor: f32, addend: Self) -> Self {
        // SAFETY: `self` exists, so the instructions do.
        self.times_plus(unsafe { Self::splat(factor) }, addend)
    }
}

/// The type of an instruction set from the names of its operations.
macro_rules! vector {
    (
        $(#[$doc:meta])* $name:ident($raw:ty), $lanes:literal lanes, $rows:literal rows,
        $splat:path, $load:path, $store:path, $add:path, $sub:path, $max:path, $fma:expr,
        $prefetch:expr
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(crate) struct $name($raw);

        impl Add for $name {
            type Output = Self;
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                // SAFETY: `self` exists, so the instructions do.
                Self(unsafe { $add(self.0, other.0) })
            }
        }

        impl Sub for $name {
            type Output = Self;
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                // SAFETY: `self` exists, so the instructions do.
                Self(unsafe { $sub(self.0, other.0) })
            }
        }

        impl Vector for $name {
            const LANES: usize = $lanes;
            const ROWS: usize = $rows;

            #[inline(always)]
            unsafe fn splat(x: f32) -> Self {
                // SAFETY: the caller has the instructions.
                Self(unsafe { $splat(x) })
            }
            #[inline(always)]
            unsafe fn load(from: *const f32) -> Self {
                // SAFETY: the caller has the instructions and the floats.
                Self(unsafe { $load(from) })
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut f32) {
                // SAFETY: the caller has the room, and `self` exists, so the instructions do.
                unsafe { $store(to, self.0) }
            }
            #[inline(always)]
            fn prefetch(at: *const f32) {
                $prefetch(at);
            }
            #[inline(always)]
            fn times_plus(self, factor: Self, addend: Self) -> Self {
                // SAFETY: `self` exists, so the instructions do.
                Self(unsafe { $fma(self.0, factor.0, addend.0) })
            }
            #[inline(always)]
            fn at_least(self, low: Self) -> Self {
                // SAFETY: `self` exists, so the instructions do.
                Self(unsafe { $max(self.0, low.0) })
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m256, __m512, _MM_HINT_T1, _mm_prefetch, _mm256_add_ps, _mm256_fmadd_ps, _mm256_loadu_ps,
        _mm256_max_ps, _mm256_set1_ps, _mm256_storeu_ps, _mm256_sub_ps, _mm512_add_ps,
        _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_max_ps, _mm512_set1_ps, _mm512_storeu_ps,
        _mm512_sub_ps,
    };

    use super::{Add, Sub, Vector};

    #[inline(always)]
    fn prefetch(at: *const f32) {
        // SAFETY: SSE is part of x86-64, and a prefetch of no memory does nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(at.cast()) }
    }

    vector!(
        /// AVX2 and FMA: 16 registers, of which a tile takes 12 sums, 2 weights and 1 input.
        Avx2(__m256), 8 lanes, 6 rows,
        _mm256_set1_ps, _mm256_loadu_ps, _mm256_storeu_ps,
        _mm256_add_ps, _mm256_sub_ps, _mm256_max_ps, _mm256_fmadd_ps, prefetch
    );
    vector!(
        /// AVX-512F: 32 registers, of which a tile takes 24 sums and 2 weights; inputs are
        /// broadcast by the multiplication itself.
        Avx512(__m512), 16 lanes, 12 rows,
        _mm512_set1_ps, _mm512_loadu_ps, _mm512_storeu_ps,
        _mm512_add_ps, _mm512_sub_ps, _mm512_max_ps, _mm512_fmadd_ps, prefetch
    );
}
#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{Avx2, Avx512};

#[cfg(target_arch = "aarch64")]
mod arm {
    use std::arch::aarch64::{
        float32x4_t, vaddq_f32, vdupq_n_f32, vfmaq_f32, vld1q_f32, vmaxq_f32, vst1q_f32, vsubq_f32,
    };

    use super::{Add, Sub, Vector};

    vector!(
        /// NEON: 32 registers, of which a tile takes 24 sums, 2 weights and 1 input.
        Neon(float32x4_t), 4 lanes, 12 rows,
        vdupq_n_f32, vld1q_f32, vst1q_f32,
        vaddq_f32, vsubq_f32, vmaxq_f32, |a, b, c| vfmaq_f32(c, a, b), |_| ()
    );
}
#[cfg(target_arch = "aarch64")]
pub(crate) use arm::Neon;

/// Four numbers of plain Rust, for any machine.
#[derive(Clone, Copy)]
pub(crate) struct Plain([f32; 4]);

impl Plain {
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        Self(std::array::from_fn(|lane| f(self.0[lane], other.0[lane])))
    }
}

impl Add for Plain {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
}

impl Sub for Plain {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
}

impl Vector for Plain {
    const LANES: usize = 4;
    const ROWS: usize = 4;

    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        Self([x; 4])
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller has the floats; an array of floats is aligned as a float is.
        Self(unsafe { from.cast::<[f32; 4]>().read() })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller has the room; an array of floats is aligned as a float is.
        unsafe { to.cast::<[f32; 4]>().write(self.0) }
    }
    #[inline(always)]
    fn prefetch(_: *const f32) {}
    #[inline(always)]
    fn times_plus(self, factor: Self, addend: Self) -> Self {
        // Two roundings: without the instruction, rounding once is a slow library call.
        self.zip(factor, |a, b| a * b) + addend
    }
    #[inline(always)]
    fn at_least(self, low: Self) -> Self {
        Self(std::array::from_fn(|lane| self.0[lane].max(low.0[lane])))
    }
}
