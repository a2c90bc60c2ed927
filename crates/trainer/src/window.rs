//! The newest games, and which of their positions may be drawn.

use std::collections::VecDeque;

use rand::Rng;
use tengen_features::GameLabels;
use tengen_record::GameRecord;
use tengen_rules::{BoardSize, Symmetry};

use crate::held_out::is_held_out;

/// One game in the window.
#[derive(Debug)]
struct Game {
    seq: u64,
    record: GameRecord,
    labels: GameLabels,
    /// Index of its first target position, counted from the first game that ever entered.
    first: u64,
    targets: u64,
    /// Weight of all targets before its first one, counted likewise.
    weight_before: u64,
    /// Whether it is kept from training: it takes its place and is never drawn.
    held_out: bool,
    /// By target, the weight of the game's targets up to and with it.
    weight_upto: Vec<u64>,
}

/// Weight 1 as an integer. Sums of integers do not depend on where the window began, so that a
/// window filled anew after a resume draws what the old one would have drawn.
const WEIGHT_ONE: f32 = 65_536.0;
/// No single position counts for more than so many ordinary ones.
const HEAVIEST: f32 = 4_096.0;

/// A position chosen for a batch, before it is encoded.
#[derive(Clone, Copy, Debug)]
pub struct Draw<'a> {
    /// The game's sequence number.
    pub seq: u64,
    /// The game.
    pub record: &'a GameRecord,
    /// What the game's end says about it.
    pub labels: &'a GameLabels,
    /// Which of its target positions, from 0.
    pub target: usize,
    /// The symmetry under which it is shown to the network.
    pub symmetry: Symmetry,
    /// Its weight in the loss.
    pub weight: f32,
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
    /// Their weight.
    weight_end: u64,
    /// Share of the games that are kept from training.
    held_out_fraction: f64,
}

impl Window {
    /// An empty window.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty window that keeps `fraction` of its games from training, always the same ones.
    #[must_use]
    pub fn with_held_out(fraction: f64) -> Self {
        Self { held_out_fraction: fraction, ..Self::default() }
    }

    /// Adds the newest game, then drops the games that lie wholly outside the newest `capacity`
    /// positions.
    pub fn push(&mut self, seq: u64, record: GameRecord, capacity: usize) {
        let held_out = is_held_out(self.held_out_fraction, seq, &record);
        let mut sum = 0;
        let weight_upto: Vec<u64> = weights(&record)
            .map(|weight| {
                let weight = if held_out { 0.0 } else { weight.min(HEAVIEST) };
                sum += (weight * WEIGHT_ONE).round() as u64;
                sum
            })
            .collect();
        let targets = weight_upto.len() as u64;
        // A game that cannot be replayed is refused when one of its positions is drawn.
        let labels = GameLabels::of(&record).unwrap_or_default();
        let (first, weight_before) = (self.end, self.weight_end);
        self.games.push_back(Game {
            seq,
            record,
            labels,
            first,
            targets,
            held_out,
            weight_before,
            weight_upto,
        });
        self.end += targets;
        self.weight_end += sum;
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

    /// Draws `count` positions with replacement from the newest `capacity`, each under a symmetry
    /// drawn uniformly from those of the board. Empty for a window without anything to draw.
    ///
    /// All are of one board, that of the first one drawn: over many draws each board has its share.
    /// Held-out games are never drawn.
    ///
    /// Positions are drawn uniformly and bring their weight into the loss; or, `by_weight`, in
    /// proportion to their weight, and all count alike in the loss (KataGo writes a sample of
    /// weight w into its data w times on average). A position of weight 0 is then never drawn.
    pub fn draw(
        &self,
        count: usize,
        capacity: usize,
        by_weight: bool,
        rng: &mut impl Rng,
    ) -> Vec<Draw<'_>> {
        let positions = self.positions(capacity) as u64;
        let start = self.end - positions;
        let drawable = |game: &Game| !game.held_out && game.first + game.targets > start;
        if !self.games.iter().any(|game| game.targets > 0 && drawable(game)) {
            return Vec::new();
        }
        let weight_start = self.weight_at(start);
        if by_weight && weight_start == self.weight_end {
            return Vec::new();
        }
        let mut board: Option<BoardSize> = None;
        (0..count)
            .map(|_| {
                let (index, game) = loop {
                    let index = match by_weight {
                        false => start + rng.random_range(0..positions),
                        true => self.index_at(rng.random_range(weight_start..self.weight_end)),
                    };
                    let game = self.game_of(index);
                    if !game.held_out && board.is_none_or(|board| board == game.record.size) {
                        board = Some(game.record.size);
                        break (index, game);
                    }
                };
                let symmetries = symmetries_of(game.record.size);
                let symmetry = symmetries[rng.random_range(0..symmetries.len() as u32) as usize];
                let target = (index - game.first) as usize;
                let weight = match by_weight {
                    false => weights(&game.record).nth(target).unwrap_or(1.0),
                    true => 1.0,
                };
                Draw {
                    seq: game.seq,
                    record: &game.record,
                    labels: &game.labels,
                    target,
                    symmetry,
                    weight,
                }
            })
            .collect()
    }

    /// Positions of held-out games, at most `most` of all those inside, evenly spread and in order,
    /// as they lie. No chance is involved.
    #[must_use]
    pub fn held_out(&self, most: usize) -> Vec<Draw<'_>> {
        let games = || self.games.iter().filter(|game| game.held_out);
        let all: u64 = games().map(|game| game.targets).sum();
        let wanted = all.min(most as u64);
        let draws = games().flat_map(|game| (0..game.targets).map(move |target| (game, target)));
        // Position i is taken where i · wanted / all rises.
        let taken = draws.enumerate().filter(|(index, _)| {
            let share = |index: u64| index * wanted / all;
            share(*index as u64 + 1) > share(*index as u64)
        });
        let draws = taken.map(|(_, (game, target))| Draw {
            seq: game.seq,
            record: &game.record,
            labels: &game.labels,
            target: target as usize,
            symmetry: Symmetry::IDENTITY,
            weight: 1.0,
        });
        draws.collect()
    }

    /// The game that target `index` is of, which must be one inside.
    fn game_of(&self, index: u64) -> &Game {
        &self.games[self.games.partition_point(|game| game.first + game.targets <= index)]
    }

    /// The weight of all targets before target `index`, which must be one inside.
    fn weight_at(&self, index: u64) -> u64 {
        let game = self.game_of(index);
        let before = (index - game.first).checked_sub(1);
        game.weight_before + before.map_or(0, |target| game.weight_upto[target as usize])
    }

    /// The target whose share of the weight holds `weight`, which must be below all there is.
    fn index_at(&self, weight: u64) -> u64 {
        let upto = |game: &Game| game.weight_before + game.weight_upto.last().unwrap_or(&0);
        let game = &self.games[self.games.partition_point(|game| upto(game) <= weight)];
        let within = weight - game.weight_before;
        game.first + game.weight_upto.partition_point(|&upto| upto <= within) as u64
    }
}

fn symmetries_of(size: BoardSize) -> Vec<Symmetry> {
    Symmetry::all().into_iter().filter(|symmetry| symmetry.valid_for(size)).collect()
}

/// The weights of a game's targets, in order.
fn weights(record: &GameRecord) -> impl Iterator<Item = f32> + '_ {
    let searches = record.turns.iter().filter_map(|turn| turn.search.as_ref());
    searches.filter(|search| search.is_target).map(|search| search.weight)
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
        let mut seen: Vec<(u64, usize)> = window
            .draw(2000, 12, false, &mut rng)
            .iter()
            .map(|draw| (draw.seq, draw.target))
            .collect();
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
            let mut draws = window.draw(50, 12, false, &mut rng);
            draws.extend(window.draw(50, 12, true, &mut rng));
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
        let mut seen: Vec<usize> = window
            .draw(200, 12, false, &mut rng)
            .iter()
            .map(|draw| draw.symmetry.index())
            .collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, (0..8).collect::<Vec<_>>());
    }

    #[test]
    fn games_without_targets_take_no_place_and_an_empty_window_draws_nothing() {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let mut window = Window::new();
        assert!(window.draw(3, 12, false, &mut rng).is_empty());
        let mut cheap = game(1, 5, 10);
        for turn in &mut cheap.turns {
            turn.search = None;
        }
        window.push(1, cheap.clone(), 12);
        assert!(window.draw(3, 12, false, &mut rng).is_empty());
        window.push(2, game(2, 5, 10), 12);
        window.push(3, cheap, 12);
        assert!(window.draw(100, 12, false, &mut rng).iter().all(|draw| draw.seq == 2));
    }

    /// A game of five targets with these weights.
    fn weighted(seq: u64, weights: [f32; 5]) -> GameRecord {
        let mut record = game(seq, 5, 10);
        let searches = record.turns.iter_mut().filter_map(|turn| turn.search.as_mut());
        for (search, weight) in searches.filter(|search| search.is_target).zip(weights) {
            search.weight = weight;
        }
        record
    }

    #[test]
    fn positions_are_drawn_as_often_as_they_weigh_or_weigh_in_the_loss() {
        let mut window = Window::new();
        window.push(1, weighted(1, [9.0, 9.0, 9.0, 1.0, 0.0]), 7);
        window.push(2, weighted(2, [0.5, 0.5, 2.0, 0.0, 4.0]), 7);
        // The newest 7 are the last two of game 1 and all of game 2: weight 8 in all.
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let draws = window.draw(80_000, 7, true, &mut rng);
        let drawn = |seq, target| {
            draws.iter().filter(|draw| (draw.seq, draw.target) == (seq, target)).count() as i64
        };
        for (seq, target, expected) in [
            (1, 2, 0),
            (1, 3, 10_000),
            (1, 4, 0),
            (2, 0, 5_000),
            (2, 1, 5_000),
            (2, 2, 20_000),
            (2, 3, 0),
            (2, 4, 40_000),
        ] {
            let found = drawn(seq, target);
            assert!((found - expected).abs() <= expected / 20, "{seq} {target}: {found}");
        }
        assert!(draws.iter().all(|draw| draw.weight == 1.0), "counted once, not twice");
        let plain = window.draw(700, 7, false, &mut rng);
        let of = |seq, target| plain.iter().find(|d| (d.seq, d.target) == (seq, target));
        assert_eq!(of(2, 2).map(|draw| draw.weight), Some(2.0));
        assert_eq!(of(2, 3).map(|draw| draw.weight), Some(0.0));
    }

    #[test]
    fn a_batch_is_of_one_board_and_each_board_has_its_share() {
        let mut window = Window::new();
        for seq in 1..=12 {
            window.push(seq, game(seq, if seq % 4 == 0 { 4 } else { 5 }, 10), 100);
        }
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        for by_weight in [false, true] {
            let mut small = 0;
            for _ in 0..400 {
                let draws = window.draw(6, 100, by_weight, &mut rng);
                let size = draws[0].record.size;
                assert!(draws.iter().all(|draw| draw.record.size == size));
                small += usize::from(size.width() == 4);
            }
            // A quarter of 400, standard deviation 9.
            assert!((70..130).contains(&small), "{small}");
        }
    }

    #[test]
    fn held_out_games_take_their_place_and_are_never_drawn() {
        let mut window = Window::with_held_out(0.5);
        for seq in 1..=20 {
            window.push(seq, game(seq, 5, 10), 60);
        }
        assert_eq!(window.positions(60), 60, "the cut does not depend on the split");
        let mut rng = ChaCha8Rng::seed_from_u64(8);
        let mut drawn: Vec<u64> = Vec::new();
        for by_weight in [false, true] {
            drawn.extend(window.draw(500, 60, by_weight, &mut rng).iter().map(|draw| draw.seq));
        }
        let mut kept: Vec<u64> = window.held_out(1000).iter().map(|draw| draw.seq).collect();
        assert!(kept.iter().all(|seq| !drawn.contains(seq)), "{kept:?}");
        for list in [&mut drawn, &mut kept] {
            list.sort_unstable();
            list.dedup();
        }
        assert_eq!(drawn.len() + kept.len(), 12, "every game of the window is on one side");
        assert!(kept.len() > 2 && drawn.len() > 2);
        assert_eq!(window.held_out(7).len(), 7);
        let mut all = Window::with_held_out(1.0);
        all.push(1, game(1, 5, 10), 60);
        assert!(all.draw(3, 60, false, &mut rng).is_empty(), "nothing is left to draw");
    }

    #[test]
    fn a_window_without_weight_draws_nothing_by_weight() {
        let mut window = Window::new();
        window.push(1, weighted(1, [0.0; 5]), 12);
        let mut rng = ChaCha8Rng::seed_from_u64(6);
        assert!(window.draw(3, 12, true, &mut rng).is_empty());
        assert_eq!(window.draw(3, 12, false, &mut rng).len(), 3);
        window.push(2, weighted(2, [f32::MAX, 1.0, 1.0, 1.0, 1.0]), 12);
        assert_eq!(window.draw(3, 12, true, &mut rng).len(), 3, "no overflow");
    }
}
