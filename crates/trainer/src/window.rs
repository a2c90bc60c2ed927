//! The newest games, and which of their positions may be drawn.

use std::collections::VecDeque;

use rand::Rng;
use tengen_record::GameRecord;
use tengen_rules::{BoardSize, Symmetry};

/// One game in the window.
#[derive(Debug)]
struct Game {
    seq: u64,
    record: GameRecord,
    /// Index of its first target position, counted from the first game that ever entered.
    first: u64,
    targets: u64,
}

/// A position chosen for a batch, before it is encoded.
#[derive(Clone, Copy, Debug)]
pub struct Draw<'a> {
    /// The game's sequence number.
    pub seq: u64,
    /// The game.
    pub record: &'a GameRecord,
    /// Which of its target positions, from 0.
    pub target: usize,
    /// The symmetry under which it is shown to the network.
    pub symmetry: Symmetry,
}

/// The newest games that hold the newest `capacity` target positions, decoded and in memory.
///
/// The oldest game may be in by its last positions only; the cut is by position, so the window
/// does not depend on how games happened to be batched.
#[derive(Debug, Default)]
pub struct Window {
    games: VecDeque<Game>,
    /// Targets that ever entered; the newest is number `end - 1`.
    end: u64,
}

impl Window {
    /// An empty window.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the newest game, then drops the games that lie wholly outside the newest `capacity`
    /// positions.
    pub fn push(&mut self, seq: u64, record: GameRecord, capacity: usize) {
        let targets = record.positions() as u64;
        self.games.push_back(Game { seq, record, first: self.end, targets });
        self.end += targets;
        let start = self.end.saturating_sub(capacity as u64);
        while self
            .games
            .front()
            .is_some_and(|game| game.first + game.targets <= start && self.end > 0)
        {
            self.games.pop_front();
        }
    }

    /// Target positions held, whole games counted.
    #[must_use]
    pub fn held(&self) -> usize {
        self.games.front().map_or(0, |game| (self.end - game.first) as usize)
    }

    /// Target positions that [`draw`](Self::draw) chooses from at this capacity.
    #[must_use]
    pub fn positions(&self, capacity: usize) -> usize {
        self.held().min(capacity)
    }

    /// The board of the games inside, `None` when there is none.
    #[must_use]
    pub fn size(&self) -> Option<BoardSize> {
        self.games.back().map(|game| game.record.size)
    }

    /// Draws `count` positions, each uniformly and with replacement from the newest `capacity`,
    /// each under a symmetry drawn uniformly from those of the board. Empty for an empty window.
    pub fn draw(&self, count: usize, capacity: usize, rng: &mut impl Rng) -> Vec<Draw<'_>> {
        let (positions, Some(size)) = (self.positions(capacity) as u64, self.size()) else {
            return Vec::new();
        };
        if positions == 0 {
            return Vec::new();
        }
        let symmetries: Vec<Symmetry> =
            Symmetry::all().into_iter().filter(|symmetry| symmetry.valid_for(size)).collect();
        (0..count)
            .map(|_| {
                let index = self.end - positions + rng.random_range(0..positions);
                let symmetry = symmetries[rng.random_range(0..symmetries.len() as u32) as usize];
                let game = &self.games
                    [self.games.partition_point(|game| game.first + game.targets <= index)];
                Draw {
                    seq: game.seq,
                    record: &game.record,
                    target: (index - game.first) as usize,
                    symmetry,
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::game;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// Games of 5 target positions each, the newest `capacity` positions in the window.
    fn window(games: u64, capacity: usize) -> Window {
        let mut window = Window::new();
        for seq in 1..=games {
            window.push(seq, game(seq, 5, 10), capacity);
        }
        window
    }

    #[test]
    fn only_the_newest_positions_are_drawn_and_each_of_them_is() {
        // Of five games, 25 positions: the newest 12 are two whole games and 2 positions of game 3.
        let window = window(5, 12);
        assert_eq!((window.held(), window.positions(12)), (15, 12));
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut seen: Vec<(u64, usize)> =
            window.draw(2000, 12, &mut rng).iter().map(|draw| (draw.seq, draw.target)).collect();
        seen.sort_unstable();
        let mut expected = vec![(3, 3), (3, 4)];
        expected.extend([4, 5].iter().flat_map(|&seq| (0..5).map(move |target| (seq, target))));
        for position in &expected {
            let drawn = seen.iter().filter(|seen| *seen == position).count();
            // 2000/12 = 167, standard deviation 12.
            assert!((110..225).contains(&drawn), "{position:?}: {drawn}");
        }
        seen.dedup();
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_window_refilled_from_its_own_games_draws_the_same() {
        let (long, mut short) = (window(9, 12), Window::new());
        for seq in 7..=9 {
            short.push(seq, game(seq, 5, 10), 12);
        }
        let draws = |window: &Window| {
            let mut rng = ChaCha8Rng::seed_from_u64(2);
            let draws = window.draw(50, 12, &mut rng);
            draws
                .iter()
                .map(|draw| (draw.seq, draw.target, draw.symmetry.index()))
                .collect::<Vec<_>>()
        };
        assert_eq!(draws(&long), draws(&short));
    }

    #[test]
    fn all_eight_symmetries_are_drawn() {
        let window = window(1, 12);
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut seen: Vec<usize> =
            window.draw(200, 12, &mut rng).iter().map(|draw| draw.symmetry.index()).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, (0..8).collect::<Vec<_>>());
    }

    #[test]
    fn games_without_targets_take_no_place_and_an_empty_window_draws_nothing() {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let mut window = Window::new();
        assert!(window.draw(3, 12, &mut rng).is_empty());
        let mut cheap = game(1, 5, 10);
        for turn in &mut cheap.turns {
            turn.search = None;
        }
        window.push(1, cheap.clone(), 12);
        assert!(window.draw(3, 12, &mut rng).is_empty());
        window.push(2, game(2, 5, 10), 12);
        window.push(3, cheap, 12);
        assert!(window.draw(100, 12, &mut rng).iter().all(|draw| draw.seq == 2));
    }
}
