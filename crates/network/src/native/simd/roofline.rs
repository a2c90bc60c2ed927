//! What the machine could do at best: the loops that its measured peaks come from.

use super::vector::Vector;

/// Chains of multiply-adds that don't wait for each other: enough to fill two pipes of latency 5.
const CHAINS: usize = 12;
/// Vectors that a read of memory sums apart.
const STREAMS: usize = 8;

/// Runs [`CHAINS`] chains of `rounds` multiply-adds, and returns what they come to and how many
/// floating-point operations that were.
///
/// # Safety
/// The machine has `V`'s instructions.
#[inline(always)]
pub(super) unsafe fn multiply<V: Vector>(rounds: usize) -> (f32, f64) {
    // SAFETY: the caller has the instructions.
    let (factor, addend) = unsafe { (V::splat(0.999), V::splat(0.001)) };
    let mut sums = [factor; CHAINS];
    for _ in 0..rounds {
        for sum in &mut sums {
            *sum = sum.times_plus(factor, addend);
        }
    }
    let operations = (2 * rounds * CHAINS * V::LANES) as f64;
    let total = sums.into_iter().reduce(|a, b| a + b).unwrap_or(factor);
    // SAFETY: a vector holds LANES numbers, and the array holds the most that any has.
    let first = unsafe {
        let mut lanes = [0.0; 16];
        total.store(lanes.as_mut_ptr());
        lanes[0]
    };
    (first, operations)
}

/// Reads `length` floats, a multiple of `STREAMS · LANES`, and returns what a part of them comes to.
///
/// # Safety
/// The machine has `V`'s instructions, and `from` points at `length` floats.
#[inline(always)]
pub(super) unsafe fn read<V: Vector>(from: *const f32, length: usize) -> f32 {
    // SAFETY: the caller has the instructions, and each read ends before `length`; a vector holds
    // LANES numbers, and the array holds the most that any has.
    unsafe {
        let mut sums = [V::splat(0.0); STREAMS];
        let step = STREAMS * V::LANES;
        for start in (0..length / step).map(|k| k * step) {
            for (stream, sum) in sums.iter_mut().enumerate() {
                *sum = *sum + V::load(from.add(start + stream * V::LANES));
            }
        }
        let total = sums.into_iter().reduce(|a, b| a + b).unwrap_or(V::splat(0.0));
        let mut lanes = [0.0; 16];
        total.store(lanes.as_mut_ptr());
        lanes[0]
    }
}
