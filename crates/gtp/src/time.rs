//! The commands that set the clock.

use std::str::FromStr;

use crate::clock::TimeControl;
use crate::engine::{Engine, color};
use crate::error::GtpError;

/// What `kata-time_settings` takes.
const KINDS: &str = "none absolute byoyomi canadian fischer fischer-capped";

fn whole<T: FromStr>(text: &str) -> Result<T, GtpError> {
    text.parse().map_err(|_| GtpError::Syntax)
}

/// Seconds: finite and not negative.
fn seconds(text: &str) -> Result<f64, GtpError> {
    let number: f64 = text.parse().map_err(|_| GtpError::Syntax)?;
    if number.is_finite() && number >= 0.0 { Ok(number) } else { Err(GtpError::Syntax) }
}

/// Seconds, where a negative number means no limit.
fn limit(text: &str) -> Result<f64, GtpError> {
    let number: f64 = text.parse().map_err(|_| GtpError::Syntax)?;
    match number {
        n if n.is_nan() => Err(GtpError::Syntax),
        n if n < 0.0 => Ok(f64::INFINITY),
        n => Ok(n),
    }
}

impl Engine {
    /// `time_settings MAIN PERIOD STONES`, whole seconds, Canadian; some period time for no stones
    /// means no limit, and no period time absolute time.
    pub(crate) fn time_settings(&mut self, args: &[String]) -> Result<String, GtpError> {
        let [main, period, stones] = args else { return Err(GtpError::Syntax) };
        let (main, period, stones): (u32, u32, u32) =
            (whole(main)?, whole(period)?, whole(stones)?);
        let main = f64::from(main);
        self.clock.set(match (period, stones) {
            (1.., 0) => None,
            (0, _) => Some(TimeControl::Absolute { main }),
            _ => Some(TimeControl::Canadian { main, period: f64::from(period), stones }),
        });
        Ok(String::new())
    }

    /// The Go servers' clock: `none`, `absolute M`, `byoyomi M P N`, `canadian M P S`.
    pub(crate) fn kgs_time_settings(&mut self, args: &[String]) -> Result<String, GtpError> {
        let words: Vec<&str> = args.iter().map(String::as_str).collect();
        let control = match words[..] {
            ["none"] => None,
            ["absolute", main] => Some(TimeControl::Absolute { main: seconds(main)? }),
            ["byoyomi", main, period, periods] => Some(TimeControl::ByoYomi {
                main: seconds(main)?,
                period: seconds(period)?,
                periods: whole(periods)?,
            }),
            ["canadian", main, period, stones] => Some(TimeControl::Canadian {
                main: seconds(main)?,
                period: seconds(period)?,
                stones: whole(stones)?,
            }),
            _ => return Err(GtpError::Syntax),
        };
        self.clock.set(control);
        Ok(String::new())
    }

    /// The same with Fischer time: `fischer M I`, `fischer-capped M I MAIN_LIMIT MOVE_LIMIT`.
    pub(crate) fn kata_time_settings(&mut self, args: &[String]) -> Result<String, GtpError> {
        let words: Vec<&str> = args.iter().map(String::as_str).collect();
        let (main, increment, main_limit, move_limit) = match words[..] {
            ["fischer", main, increment] => (main, increment, "-1", "-1"),
            ["fischer-capped", main, increment, total, each] => (main, increment, total, each),
            _ => return self.kgs_time_settings(args),
        };
        let control = TimeControl::Fischer {
            main: seconds(main)?,
            increment: seconds(increment)?,
            main_limit: limit(main_limit)?,
            move_limit: limit(move_limit)?,
        };
        if let TimeControl::Fischer { main, main_limit, .. } = control
            && main_limit < main
        {
            return Err(GtpError::Syntax);
        }
        self.clock.set(Some(control));
        Ok(String::new())
    }

    pub(crate) fn kata_list_time_settings(&mut self, _: &[String]) -> Result<String, GtpError> {
        Ok(KINDS.to_owned())
    }

    /// `time_left COLOUR SECONDS STONES`; seconds may have a fraction, and fall below zero.
    pub(crate) fn time_left(&mut self, args: &[String]) -> Result<String, GtpError> {
        let [who, left, stones] = args else { return Err(GtpError::Syntax) };
        let left: f64 = whole(left)?;
        if !left.is_finite() {
            return Err(GtpError::Syntax);
        }
        self.clock.set_left(color(who)?.index(), left, whole(stones)?);
        Ok(String::new())
    }
}
