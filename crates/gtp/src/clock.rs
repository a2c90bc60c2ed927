//! How long one move may take, so that no game is lost on time.

use std::time::Duration;

/// Kept back from each move for the way to the controller and back, in seconds.
const LAG: f64 = 0.1;

/// The part of a move's fair share that is planned for; the rest is reserve.
const PLANNED: f64 = 0.9;

/// How a game's time is limited. All in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TimeControl {
    /// Main time alone.
    Absolute { main: f64 },
    /// Then periods in which a number of stones must be played, over and over.
    Canadian { main: f64, period: f64, stones: u32 },
    /// Then a number of periods of which a move used up costs one.
    ByoYomi { main: f64, period: f64, periods: u32 },
    /// Main time that grows with each move made; both limits may be infinite.
    Fischer { main: f64, increment: f64, main_limit: f64, move_limit: f64 },
}

/// The clock of a game: the settings, and what each side has left.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    /// `None`: no limit.
    control: Option<TimeControl>,
    left: [Option<Left>; 2],
}

#[derive(Clone, Copy, Debug)]
struct Left {
    time: f64,
    /// Stones (Canadian) or periods (byo-yomi) left in overtime; 0 in main time.
    overtime: u32,
}

impl TimeControl {
    fn main(self) -> f64 {
        match self {
            TimeControl::Absolute { main }
            | TimeControl::Canadian { main, .. }
            | TimeControl::ByoYomi { main, .. }
            | TimeControl::Fischer { main, .. } => main,
        }
    }

    /// The beginning of overtime, where there is one.
    fn overtime(self) -> Option<Left> {
        match self {
            TimeControl::Canadian { period, stones, .. } if stones > 0 => {
                Some(Left { time: period, overtime: stones })
            }
            TimeControl::ByoYomi { period, periods, .. } if periods > 0 => {
                Some(Left { time: period, overtime: periods })
            }
            _ => None,
        }
    }
}

impl Clock {
    /// Starts a game under other settings; `None` for no limit.
    pub fn set(&mut self, control: Option<TimeControl>) {
        self.control = control;
        self.restart();
    }

    /// A new game by the same settings.
    pub fn restart(&mut self) {
        self.left = [self.control.map(|c| Left { time: c.main(), overtime: 0 }); 2];
        let Some(control) = self.control else { return };
        if control.main() <= 0.0
            && let Some(overtime) = control.overtime()
        {
            self.left = [Some(overtime); 2];
        }
    }

    /// What the controller says a colour has left: seconds, and stones (or KGS's byo-yomi periods).
    pub fn set_left(&mut self, color: usize, seconds: f64, stones: u32) {
        // Some servers send stones = 1 all through main time; no period has that much time.
        let in_main = match self.control {
            Some(TimeControl::Canadian { period, .. } | TimeControl::ByoYomi { period, .. }) => {
                seconds > period
            }
            Some(TimeControl::Absolute { .. } | TimeControl::Fischer { .. }) => true,
            None => false,
        };
        let overtime = if in_main { 0 } else { stones };
        self.left[color] = Some(Left { time: seconds.max(0.0), overtime });
    }

    /// Books time the engine used itself, and the lag, for controllers that never say what is left.
    pub fn spend(&mut self, color: usize, used: Duration) {
        let (Some(control), Some(left)) = (self.control, &mut self.left[color]) else { return };
        left.time -= used.as_secs_f64() + LAG;
        if let TimeControl::Fischer { increment, main_limit, .. } = control {
            left.time = (left.time + increment).min(main_limit);
        }
        let Some(fresh) = control.overtime() else {
            left.time = left.time.max(0.0);
            return;
        };
        if left.overtime > 0 {
            match control {
                TimeControl::ByoYomi { period, .. } => {
                    if left.time < 0.0 {
                        left.overtime = (left.overtime - 1).max(1);
                    }
                    left.time = period;
                }
                _ if left.overtime == 1 => *left = fresh,
                _ => left.overtime -= 1,
            }
        } else if left.time <= 0.0 {
            *left = Left { time: (fresh.time + left.time).max(0.0), ..fresh };
        }
        left.time = left.time.max(0.0);
    }

    /// The time for the next move of a colour, `None` without a limit. `moves_left` is a guess of
    /// how many moves that colour has still to make.
    pub fn budget(&self, color: usize, moves_left: u32) -> Option<Duration> {
        let Left { time, overtime } = self.left[color]?;
        let share = (time / f64::from(moves_left.max(1))).min(time / 2.0);
        let seconds = match (self.control, overtime) {
            // In a period: its time by its stones, however often it is renewed.
            (Some(TimeControl::ByoYomi { .. }), 1..) => time,
            (_, stones @ 1..) => time / f64::from(stones),
            (Some(TimeControl::Canadian { period, stones: stones @ 1.., .. }), 0) => {
                share + period / f64::from(stones)
            }
            (Some(TimeControl::ByoYomi { period, periods: 1.., .. }), 0) => share + period,
            (Some(TimeControl::Fischer { increment, move_limit, .. }), 0) => {
                // The increment comes after the move, so it can't be spent before.
                (share + increment).min(time / 2.0).min(move_limit)
            }
            (_, 0) => share,
        };
        // Never all of it, even for a single move.
        Some(Duration::from_secs_f64((seconds * PLANNED - LAG).clamp(0.0, 1e9)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(control: TimeControl) -> Clock {
        let mut clock = Clock::default();
        clock.set(Some(control));
        clock
    }

    fn seconds(clock: &Clock, moves_left: u32) -> f64 {
        clock.budget(0, moves_left).unwrap().as_secs_f64()
    }

    #[test]
    fn without_settings_there_is_no_limit_until_the_controller_names_one() {
        let mut clock = Clock::default();
        assert_eq!(clock.budget(0, 30), None);
        clock.set_left(0, 60.0, 0);
        assert!(seconds(&clock, 30) < 2.0);
        assert_eq!(clock.budget(1, 30), None);
    }

    /// A server once sent `stones` 1 with every move of main time, and an engine spent all of it at
    /// once.
    #[test]
    fn canadian_main_time_is_not_one_period() {
        let mut clock = clock(TimeControl::Canadian { main: 1780.0, period: 20.0, stones: 1 });
        assert!(seconds(&clock, 100) < 40.0);
        clock.set_left(0, 1917.0, 1);
        assert!(seconds(&clock, 100) < 40.0, "{}", seconds(&clock, 100));
        clock.set_left(0, 20.0, 1);
        assert!(seconds(&clock, 100) < 19.0);
        clock.set_left(0, 0.0, 0);
        clock.spend(0, Duration::from_secs(9));
        assert!(seconds(&clock, 100) <= 18.0);
    }

    #[test]
    fn no_control_is_ever_overdrawn_without_a_word_from_the_controller() {
        let controls = [
            TimeControl::Absolute { main: 60.0 },
            TimeControl::Canadian { main: 10.0, period: 30.0, stones: 5 },
            TimeControl::Canadian { main: 0.0, period: 8.0, stones: 3 },
            TimeControl::ByoYomi { main: 10.0, period: 5.0, periods: 1 },
            TimeControl::Fischer {
                main: 10.0,
                increment: 2.0,
                main_limit: 15.0,
                move_limit: f64::INFINITY,
            },
        ];
        for control in controls {
            let mut engine = clock(control);
            // A referee of its own, who adds 50 ms of lag to each move.
            let (mut main, mut stones, mut period) = (control.main(), 0, 0.0);
            for turn in 0..300u32 {
                let moves_left = 150u32.saturating_sub(turn).max(10);
                let used = seconds(&engine, moves_left);
                engine.spend(0, Duration::from_secs_f64(used));
                let mut rest = used + 0.05;
                let from_main = rest.min(main);
                main -= from_main;
                rest -= from_main;
                match control {
                    TimeControl::Absolute { .. } => assert!(rest <= 0.051, "{control:?} {turn}"),
                    TimeControl::Fischer { increment, main_limit, .. } => {
                        assert!(rest <= 0.0, "{control:?} {turn}");
                        main = (main + increment).min(main_limit);
                    }
                    TimeControl::ByoYomi { period, .. } => assert!(rest < period),
                    TimeControl::Canadian { period: length, stones: count, .. } => {
                        if rest > 0.0 || main <= 0.0 {
                            if stones == 0 {
                                (stones, period) = (count, length);
                            }
                            period -= rest;
                            stones -= 1;
                            assert!(period > 0.0, "{control:?} {turn}: {period}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn limits_of_capped_fischer_hold() {
        let capped = TimeControl::Fischer {
            main: 100.0,
            increment: 50.0,
            main_limit: 110.0,
            move_limit: 10.0,
        };
        let mut clock = clock(capped);
        assert!(seconds(&clock, 10) <= 9.0);
        clock.spend(0, Duration::from_secs(1));
        assert!(clock.left[0].unwrap().time <= 110.0);
        clock.set_left(0, -5.0, 0);
        assert_eq!(seconds(&clock, 10), 0.0);
    }
}
