//! Where a worker's time goes while it plays nothing.

use std::fmt;
use std::time::{Duration, Instant};

use serde::Serialize;

/// Why a worker plays nothing at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Idle {
    /// The run has not answered since the start.
    NoRun,
    /// The network to play with has not come yet.
    NoNetwork,
    /// The run is paused.
    Paused,
    /// Self-play is as far ahead of the trainer as it may be.
    Ahead,
    /// The spool is at its limit.
    SpoolFull,
    /// The disk takes no more.
    DiskFull,
}

impl Idle {
    /// Every reason.
    pub const ALL: [Self; 6] =
        [Self::NoRun, Self::NoNetwork, Self::Paused, Self::Ahead, Self::SpoolFull, Self::DiskFull];

    /// Its name in logs and metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NoRun => "no-run",
            Self::NoNetwork => "no-network",
            Self::Paused => "paused",
            Self::Ahead => "ahead",
            Self::SpoolFull => "spool-full",
            Self::DiskFull => "disk-full",
        }
    }
}

impl fmt::Display for Idle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoRun => "waits for the run to answer",
            Self::NoNetwork => "waits for the network",
            Self::Paused => "the run is paused",
            Self::Ahead => "self-play is far enough ahead of the trainer",
            Self::SpoolFull => "the spool is full of unsent games",
            Self::DiskFull => "the disk of the spool is full",
        })
    }
}

/// Adds up the time that each reason costs, and tells the log when one begins and ends.
#[derive(Debug, Default)]
pub(crate) struct IdleClock {
    lost: [Duration; Idle::ALL.len()],
    now: Option<(Idle, Instant)>,
}

impl IdleClock {
    /// From now on `reason` holds; `None`: the worker plays.
    pub fn set(&mut self, reason: Option<Idle>) {
        if self.now.map(|(idle, _)| idle) == reason {
            return;
        }
        if let Some((idle, since)) = self.now.take() {
            let lost = since.elapsed();
            self.lost[idle as usize] += lost;
            tracing::info!(reason = idle.name(), seconds = lost.as_secs_f64(), "plays again");
        }
        if let Some(idle) = reason {
            tracing::info!(reason = idle.name(), "plays nothing: {idle}");
            self.now = Some((idle, Instant::now()));
        }
    }

    /// Seconds lost so far by reason; those without loss are left out.
    pub fn lost(&self) -> Vec<(Idle, f64)> {
        let current = self.now.map(|(idle, since)| (idle, since.elapsed()));
        let with_current = |idle: Idle| {
            let now = current.filter(|(reason, _)| *reason == idle);
            self.lost[idle as usize] + now.map_or(Duration::ZERO, |(_, lost)| lost)
        };
        let all = Idle::ALL.map(|idle| (idle, with_current(idle).as_secs_f64()));
        all.into_iter().filter(|(_, seconds)| *seconds > 0.0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_lost_to_the_reason_that_holds() {
        let mut clock = IdleClock::default();
        clock.set(Some(Idle::Ahead));
        std::thread::sleep(Duration::from_millis(5));
        clock.set(None);
        clock.set(Some(Idle::Paused));
        let lost = clock.lost();
        let reasons: Vec<Idle> = lost.iter().map(|(idle, _)| *idle).collect();
        assert_eq!(reasons, [Idle::Paused, Idle::Ahead]);
        assert!(lost[1].1 >= 0.005);
        for (at, idle) in Idle::ALL.into_iter().enumerate() {
            assert_eq!(idle as usize, at);
        }
    }
}
