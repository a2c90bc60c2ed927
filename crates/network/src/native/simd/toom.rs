//! Winograd's short convolutions in one dimension: F(m, 3) for m = 2, 4, 5, 6.
//!
//! F(m, 3) is polynomial multiplication by evaluation at `m + 1` points and at infinity (Toom and
//! Cook; Winograd 1980; Lavin and Gray, "Fast algorithms for convolutional neural networks",
//! 2015). With `P` the points, the transforms of a line of `m + 2` inputs `x` and of sums `s` are
//!
//! ```text
//! input:   X_p = Σ_k x_k · [z^k] Π_{q ∈ P, q ≠ p} (z − q)      X_∞ = Σ_k x_k · [z^k] Π_{q ∈ P} (z − q)
//! weights: G_p = Σ_k g_k · p^k / Π_{q ∈ P, q ≠ p} (p − q)      G_∞ = g_2
//! output:  y_i = Σ_p s_p · p^i  (+ s_∞ for the last i)
//! ```
//!
//! The points come in pairs ±p where they can: the even and the odd half of a polynomial are then
//! computed once and added and subtracted.

use super::vector::Vector;

/// Room for a line of any of the transforms.
pub(super) type Line<V> = [V; 8];

/// One F(m, 3).
pub(super) trait Toom {
    /// Outputs of a line: m.
    const OUT: usize;
    /// Inputs of a line, and points: m + 2.
    const IN: usize = Self::OUT + 2;
    /// The finite points, in the order of the transforms' lines; infinity comes last.
    const POINTS: &'static [f64];

    /// The input transform of the first [`Self::IN`] entries.
    fn input<V: Vector>(x: Line<V>) -> Line<V>;
    /// The output transform of the first [`Self::IN`] entries to the first [`Self::OUT`].
    fn output<V: Vector>(s: Line<V>) -> Line<V>;
}

pub(super) struct F2;
pub(super) struct F4;
pub(super) struct F5;
pub(super) struct F6;

impl Toom for F2 {
    const OUT: usize = 2;
    const POINTS: &'static [f64] = &[0.0, 1.0, -1.0];

    #[inline(always)]
    fn input<V: Vector>(mut x: Line<V>) -> Line<V> {
        let [x0, x1, x2, x3, ..] = x;
        [x[0], x[1], x[2], x[3]] = [x2 - x0, x2 + x1, x2 - x1, x3 - x1];
        x
    }

    #[inline(always)]
    fn output<V: Vector>(mut s: Line<V>) -> Line<V> {
        let [s0, s1, s2, s3, ..] = s;
        [s[0], s[1]] = [s0 + s1 + s2, s1 - s2 + s3];
        s
    }
}

/// `a4 − 1.25·a2 + 0.25·a0`: (z² − 1)(z² − ¼).
#[inline(always)]
fn one_and_half<V: Vector>(a0: V, a2: V, a4: V) -> V {
    a0.scaled_plus(0.25, a2.scaled_plus(-1.25, a4))
}

impl Toom for F4 {
    const OUT: usize = 4;
    const POINTS: &'static [f64] = &[0.0, 1.0, -1.0, 0.5, -0.5];

    #[inline(always)]
    fn input<V: Vector>(mut x: Line<V>) -> Line<V> {
        let [x0, x1, x2, x3, x4, x5, ..] = x;
        // ±1: (z² ± z)(z² − ¼); ±½: (z² ± ½z)(z² − 1).
        let (even1, odd1) = (x2.scaled_plus(-0.25, x4), x1.scaled_plus(-0.25, x3));
        let (even2, odd2) = (x4 - x2, x3 - x1);
        x[0] = one_and_half(x0, x2, x4);
        x[1] = even1 + odd1;
        x[2] = even1 - odd1;
        x[3] = odd2.scaled_plus(0.5, even2);
        x[4] = odd2.scaled_plus(-0.5, even2);
        x[5] = one_and_half(x1, x3, x5);
        x
    }

    #[inline(always)]
    fn output<V: Vector>(mut s: Line<V>) -> Line<V> {
        let [s0, s1, s2, s3, s4, s5, ..] = s;
        let (even1, odd1, even2, odd2) = (s1 + s2, s1 - s2, s3 + s4, s3 - s4);
        s[0] = s0 + even1 + even2;
        s[1] = odd2.scaled_plus(0.5, odd1);
        s[2] = even2.scaled_plus(0.25, even1);
        s[3] = odd2.scaled_plus(0.125, odd1 + s5);
        s
    }
}

impl Toom for F5 {
    const OUT: usize = 5;
    const POINTS: &'static [f64] = &[0.0, 1.0, -1.0, 0.5, -0.5, 2.0];

    #[inline(always)]
    fn input<V: Vector>(mut x: Line<V>) -> Line<V> {
        let [x0, x1, x2, x3, x4, x5, x6, ..] = x;
        // Every point but 2 has the factor (z − 2): a shift minus twice itself.
        let at_two = one_and_half(x1, x3, x5);
        // ±1: (z² ± z)(z² − ¼)(z − 2).
        let even = x2.scaled_plus(-0.25, x4);
        let even1 = even.scaled_plus(-2.0, x3.scaled_plus(-0.25, x5));
        let odd1 = x1.scaled_plus(-0.25, x3).scaled_plus(-2.0, even);
        // ±½: (z² ± ½z)(z² − 1)(z − 2).
        let even = x4 - x2;
        let even2 = even.scaled_plus(-2.0, x5 - x3);
        let odd2 = (x3 - x1).scaled_plus(-2.0, even);
        x[0] = one_and_half(x0, x2, x4).scaled_plus(-2.0, at_two);
        x[1] = even1 + odd1;
        x[2] = even1 - odd1;
        x[3] = odd2.scaled_plus(0.5, even2);
        x[4] = odd2.scaled_plus(-0.5, even2);
        x[5] = at_two;
        x[6] = at_two.scaled_plus(-2.0, one_and_half(x2, x4, x6));
        x
    }

    #[inline(always)]
    fn output<V: Vector>(mut s: Line<V>) -> Line<V> {
        let [s0, s1, s2, s3, s4, s5, s6, ..] = s;
        let (even1, odd1, even2, odd2) = (s1 + s2, s1 - s2, s3 + s4, s3 - s4);
        s[0] = (s0 + even1) + (even2 + s5);
        s[1] = s5.scaled_plus(2.0, odd2.scaled_plus(0.5, odd1));
        s[2] = s5.scaled_plus(4.0, even2.scaled_plus(0.25, even1));
        s[3] = s5.scaled_plus(8.0, odd2.scaled_plus(0.125, odd1));
        s[4] = s5.scaled_plus(16.0, even2.scaled_plus(0.0625, even1 + s6));
        s
    }
}

impl Toom for F6 {
    const OUT: usize = 6;
    const POINTS: &'static [f64] = &[0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5];

    #[inline(always)]
    fn input<V: Vector>(mut x: Line<V>) -> Line<V> {
        let [x0, x1, x2, x3, x4, x5, x6, x7] = x;
        // ±1: (z² ± z)(z⁴ − 4¼z² + 1); ±2: (z² ± 2z)(z⁴ − 1¼z² + ¼); ±½: (z² ± ½z)(z⁴ − 5z² + 4).
        let (even1, odd1) = (x4.scaled_plus(-4.25, x2 + x6), x3.scaled_plus(-4.25, x1 + x5));
        let (even2, odd2) = (one_and_half(x2, x4, x6), one_and_half(x1, x3, x5));
        let even3 = x2.scaled_plus(4.0, x4.scaled_plus(-5.0, x6));
        let odd3 = x1.scaled_plus(4.0, x3.scaled_plus(-5.0, x5));
        x[0] = (x2 - x4).scaled_plus(5.25, x6 - x0);
        x[1] = even1 + odd1;
        x[2] = even1 - odd1;
        x[3] = odd2.scaled_plus(2.0, even2);
        x[4] = odd2.scaled_plus(-2.0, even2);
        x[5] = odd3.scaled_plus(0.5, even3);
        x[6] = odd3.scaled_plus(-0.5, even3);
        x[7] = (x3 - x5).scaled_plus(5.25, x7 - x1);
        x
    }

    #[inline(always)]
    fn output<V: Vector>(mut s: Line<V>) -> Line<V> {
        let [s0, s1, s2, s3, s4, s5, s6, s7] = s;
        let (even1, odd1, even2, odd2) = (s1 + s2, s1 - s2, s3 + s4, s3 - s4);
        let (even3, odd3) = (s5 + s6, s5 - s6);
        s[0] = (s0 + even1) + (even2 + even3);
        s[1] = odd3.scaled_plus(0.5, odd2.scaled_plus(2.0, odd1));
        s[2] = even3.scaled_plus(0.25, even2.scaled_plus(4.0, even1));
        s[3] = odd3.scaled_plus(0.125, odd2.scaled_plus(8.0, odd1));
        s[4] = even3.scaled_plus(0.0625, even2.scaled_plus(16.0, even1));
        s[5] = odd3.scaled_plus(0.03125, odd2.scaled_plus(32.0, odd1 + s7));
        s
    }
}
