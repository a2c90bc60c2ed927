//! What this machine could do at best, measured.

use std::hint::black_box;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::buffer::Buffer;
use super::simd::Kernel;

/// How long each figure is looked for.
const PATIENCE: Duration = Duration::from_millis(150);

/// The best of many short runs on one thread, with the instructions of the kernel chosen here.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Peaks {
    /// Multiply-adds in registers, each counted as two operations, in 10⁹ a second.
    pub gflop_per_s: f64,
    /// Reading 16 KiB again and again, which lie in the first cache, in 10⁹ bytes a second.
    pub l1_gb_per_s: f64,
    /// Reading 256 KiB: the second cache.
    pub l2_gb_per_s: f64,
    /// Reading 4 MiB: the third cache.
    pub l3_gb_per_s: f64,
}

impl Peaks {
    /// Measures for about 0.6 seconds.
    #[must_use]
    pub fn measure() -> Self {
        let kernel = Kernel::detect();
        let flop = best_rate(|| {
            let (result, operations) = kernel.multiply(20_000);
            black_box(result);
            operations
        });
        let bandwidth = |bytes: usize| {
            let mut memory = Buffer::default();
            memory.reset(bytes / size_of::<f32>());
            // As many readings as make one run long enough for the clock.
            let times = (1 << 21) / bytes.min(1 << 21);
            best_rate(|| {
                for _ in 0..times {
                    black_box(kernel.read(black_box(&memory)));
                }
                (times * bytes) as f64
            })
        };
        Self {
            gflop_per_s: flop,
            l1_gb_per_s: bandwidth(16 << 10),
            l2_gb_per_s: bandwidth(256 << 10),
            l3_gb_per_s: bandwidth(4 << 20),
        }
    }
}

/// The best rate of `work`, which says how much it did, in 10⁹ a second.
fn best_rate(mut work: impl FnMut() -> f64) -> f64 {
    let (began, mut best) = (Instant::now(), 0.0f64);
    while began.elapsed() < PATIENCE {
        let start = Instant::now();
        let done = work();
        best = best.max(done / start.elapsed().as_secs_f64() / 1e9);
    }
    best
}
