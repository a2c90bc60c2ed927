//! Komi in whole half points, so that a score is compared and never rounded.

use serde::{Deserialize, Serialize};
use std::fmt;
use thiserror::Error;

/// Points added to White's score, kept in half points; at most 1000 points either way.
///
/// Serialised as points (`7.5`).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(try_from = "f64", into = "f64")]
pub struct Komi(i32);

/// A komi that no game can have.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum KomiError {
    /// NaN or infinite.
    #[error("komi must be a finite number, not {0:?}")]
    NotFinite(f64),
    /// Not a multiple of a half.
    #[error("komi must be a multiple of 0.5, not {0:?}")]
    NotHalf(f64),
    /// Beyond 1000 points.
    #[error("komi must lie within -1000 and 1000 points, not {0:?}")]
    TooLarge(f64),
}

impl Komi {
    /// The largest komi either way, in points.
    pub const MAX_POINTS: i32 = 1000;

    /// Komi from points.
    ///
    /// # Errors
    /// When not finite, not a multiple of 0.5, or beyond 1000 points.
    pub fn from_points(points: f64) -> Result<Komi, KomiError> {
        if !points.is_finite() {
            return Err(KomiError::NotFinite(points));
        }
        if points.abs() > f64::from(Self::MAX_POINTS) {
            return Err(KomiError::TooLarge(points));
        }
        let half = points * 2.0;
        if half.fract() != 0.0 {
            return Err(KomiError::NotHalf(points));
        }
        Ok(Komi(half as i32))
    }

    /// Komi from half points: 15 is 7.5.
    ///
    /// # Errors
    /// When beyond 1000 points.
    pub fn from_half_points(half: i32) -> Result<Komi, KomiError> {
        Komi::from_points(f64::from(half) / 2.0)
    }

    /// The half points: 15 for 7.5.
    pub fn half_points(self) -> i32 {
        self.0
    }

    /// The points, exact.
    pub fn points(self) -> f64 {
        f64::from(self.0) / 2.0
    }
}

impl fmt::Display for Komi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.points())
    }
}

impl TryFrom<f64> for Komi {
    type Error = KomiError;

    fn try_from(points: f64) -> Result<Komi, KomiError> {
        Komi::from_points(points)
    }
}

impl From<Komi> for f64 {
    fn from(komi: Komi) -> f64 {
        komi.points()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_finite_half_points_within_1000_are_komi() {
        assert_eq!(Komi::from_points(7.5).unwrap().half_points(), 15);
        assert_eq!(Komi::from_points(-0.5).unwrap().to_string(), "-0.5");
        assert_eq!(Komi::from_points(6.0).unwrap().to_string(), "6");
        for bad in [f64::NAN, f64::INFINITY, 7.25, 1000.5, -4e9] {
            assert!(Komi::from_points(bad).is_err(), "{bad}");
        }
    }
}
