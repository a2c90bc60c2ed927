//! How long to wait before asking a server again that did not answer.

use std::time::Duration;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The first wait, at most.
const FIRST: Duration = Duration::from_millis(500);
/// The longest wait.
const LONGEST: Duration = Duration::from_secs(60);

/// Waits that double from 0.5 s to 60 s, each shortened by up to half at random, so that a fleet
/// that lost its server together does not come back all at once.
#[derive(Clone, Debug)]
pub struct Backoff {
    rng: ChaCha8Rng,
    next: Duration,
}

impl Backoff {
    /// A backoff whose draws follow from `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { rng: ChaCha8Rng::seed_from_u64(seed), next: FIRST }
    }

    /// The wait after one more failure.
    pub fn wait(&mut self) -> Duration {
        let whole = self.next;
        self.next = (whole * 2).min(LONGEST);
        whole.mul_f64(self.rng.random_range(0.5..=1.0))
    }

    /// The server answered.
    pub fn reset(&mut self) {
        self.next = FIRST;
    }

    /// A draw from 0 to `most`, for whoever else must not act in step with the others.
    pub fn jitter(&mut self, most: Duration) -> Duration {
        most.mul_f64(self.rng.random_range(0.0..=1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_minute_and_no_two_workers_wait_alike() {
        let (mut one, mut other) = (Backoff::new(1), Backoff::new(2));
        let waits: Vec<Duration> = (0..12).map(|_| one.wait()).collect();
        for (at, wait) in waits.iter().enumerate() {
            let whole = FIRST.mul_f64(2f64.powi(at as i32)).min(LONGEST);
            assert!((whole / 2..=whole).contains(wait), "{at}: {wait:?}");
        }
        assert_ne!(waits, (0..12).map(|_| other.wait()).collect::<Vec<_>>());
        one.reset();
        assert!(one.wait() <= FIRST);
        let mut again = Backoff::new(1);
        assert_eq!(waits, (0..12).map(|_| again.wait()).collect::<Vec<_>>(), "seeded");
    }
}
