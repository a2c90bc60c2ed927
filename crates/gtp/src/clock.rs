//! How long one move may take.

use std::time::Duration;

/// Kept back from each move for the way to the controller and back.
const LAG: Duration = Duration::from_millis(100);

/// The clock of a game: the settings, and what each side has left.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    /// `None`: no limit.
    settings: Option<Settings>,
    left: [Option<Left>; 2],
}

#[derive(Clone, Copy, Debug)]
struct Settings {
    main: Duration,
    period: Duration,
    stones: u32,
}

#[derive(Clone, Copy, Debug)]
struct Left {
    time: Duration,
    /// 0 in main time.
    stones: u32,
}

impl Clock {
    /// Canadian byo-yomi, all in seconds; a period of some time for no stones means no limit.
    pub fn set(&mut self, main: u64, period: u64, stones: u32) {
        let unlimited = stones == 0 && period > 0;
        let [main, period] = [main, period].map(Duration::from_secs);
        *self = Clock::default();
        if !unlimited {
            self.settings = Some(Settings { main, period, stones });
            self.restart();
        }
    }

    /// A new game by the same settings.
    pub fn restart(&mut self) {
        self.left = [self.settings.map(|s| Left { time: s.main, stones: 0 }); 2];
    }

    /// What the controller says a colour has left.
    pub fn set_left(&mut self, color: usize, seconds: u64, stones: u32) {
        self.left[color] = Some(Left { time: Duration::from_secs(seconds), stones });
    }

    /// Books time the engine used itself, for controllers that never say what is left.
    pub fn spend(&mut self, color: usize, used: Duration) {
        let Some(left) = &mut self.left[color] else { return };
        if left.stones == 0 {
            left.time = left.time.saturating_sub(used);
        }
    }

    /// The time for the next move of a colour, `None` without a limit. `moves_left` is a guess of
    /// how many moves that colour has still to make.
    pub fn budget(&self, color: usize, moves_left: u32) -> Option<Duration> {
        let left = self.left[color]?;
        let per_stone = match (left.stones, self.settings) {
            // In a period: its time by its stones, however often it is renewed.
            (stones @ 1.., _) => left.time / stones,
            (0, Some(Settings { period, stones: stones @ 1.., .. })) => {
                left.time / moves_left.max(1) + period / stones
            }
            (0, _) => left.time / moves_left.max(1),
        };
        // Never all of it, even for a single move.
        Some((per_stone * 9 / 10).saturating_sub(LAG))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_without_stones_is_no_limit() {
        let mut clock = Clock::default();
        clock.set(0, 1, 0);
        assert_eq!(clock.budget(0, 30), None);
        clock.set(60, 0, 0);
        assert!(clock.budget(0, 30).unwrap() < Duration::from_secs(2));
    }

    /// A server once sent `stones` 1 with every move, and an engine spent its main time at once.
    #[test]
    fn canadian_main_time_is_not_one_period() {
        let mut clock = Clock::default();
        clock.set(1780, 20, 1);
        let first = clock.budget(0, 100).unwrap();
        assert!(first < Duration::from_secs(40), "{first:?}");
        clock.set_left(0, 20, 1);
        assert!(clock.budget(0, 100).unwrap() < Duration::from_secs(19));
        clock.set_left(0, 0, 0);
        clock.spend(0, Duration::from_secs(9));
        assert!(clock.budget(0, 100).unwrap() <= Duration::from_secs(18));
    }
}
