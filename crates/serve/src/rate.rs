//! How much each holder hands in: bytes over time, and bytes at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What holders of tokens have left: each may hand in `rate` bytes a second, saved up to `burst`, and have
/// `most` bytes on the way at once. Bounded by the list of tokens, as others never get here.
#[derive(Debug)]
pub(crate) struct Rates {
    rate: f64,
    burst: f64,
    most: usize,
    accounts: Mutex<HashMap<Arc<str>, Account>>,
}

#[derive(Debug)]
struct Account {
    saved: f64,
    at: Instant,
    on_the_way: usize,
}

/// Bytes on the way until this is dropped.
#[derive(Debug)]
pub(crate) struct OnTheWay {
    rates: Arc<Rates>,
    holder: Arc<str>,
    bytes: usize,
}

impl Rates {
    pub fn new(rate: f64, burst: f64, most: usize) -> Arc<Self> {
        Arc::new(Self { rate, burst, most, accounts: Mutex::default() })
    }

    /// Lets `holder` send `bytes`, or says how long to wait first.
    pub fn take(
        self: &Arc<Self>,
        holder: &Arc<str>,
        bytes: usize,
        now: Instant,
    ) -> Result<OnTheWay, Duration> {
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        let account = accounts.entry(Arc::clone(holder)).or_insert(Account {
            saved: self.burst,
            at: now,
            on_the_way: 0,
        });
        let passed = now.saturating_duration_since(account.at).as_secs_f64();
        account.saved = (account.saved + passed * self.rate).min(self.burst);
        account.at = now;
        let missing = bytes as f64 - account.saved;
        if missing > 0.0 {
            return Err(Duration::from_secs_f64((missing / self.rate).clamp(0.0, 3600.0)));
        }
        if account.on_the_way + bytes > self.most && account.on_the_way > 0 {
            return Err(Duration::from_secs(1));
        }
        account.saved -= bytes as f64;
        account.on_the_way += bytes;
        Ok(OnTheWay { rates: Arc::clone(self), holder: Arc::clone(holder), bytes })
    }
}

impl Drop for OnTheWay {
    fn drop(&mut self) {
        let mut accounts = self.rates.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(account) = accounts.get_mut(&self.holder) {
            account.on_the_way -= self.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holder_who_sends_too_much_waits_and_others_do_not() {
        let rates = Rates::new(100.0, 1000.0, 1000);
        let (one, other): (Arc<str>, Arc<str>) = ("one".into(), "other".into());
        let begun = Instant::now();
        drop(rates.take(&one, 900, begun).unwrap());
        assert_eq!(rates.take(&one, 600, begun).unwrap_err(), Duration::from_secs(5));
        drop(rates.take(&other, 1000, begun).unwrap());
        let later = begun + Duration::from_secs(5);
        drop(rates.take(&one, 600, later).unwrap());
        // Nobody saves up more than the burst.
        let much_later = later + Duration::from_secs(1_000_000);
        drop(rates.take(&one, 1000, much_later).unwrap());
        assert!(rates.take(&one, 1, much_later).is_err());
    }

    #[test]
    fn what_is_on_the_way_is_bounded_and_comes_back() {
        let rates = Rates::new(1e9, 1e9, 1000);
        let (one, now): (Arc<str>, _) = ("one".into(), Instant::now());
        let first = rates.take(&one, 700, now).unwrap();
        let second = rates.take(&one, 300, now).unwrap();
        assert!(rates.take(&one, 1, now).is_err());
        drop(first);
        drop(rates.take(&one, 700, now).unwrap());
        drop(second);
        // One that is larger than all passes alone.
        drop(rates.take(&one, 5000, now).unwrap());
    }
}
