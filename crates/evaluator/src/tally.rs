//! Counting a match, pair by pair.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use tengen_record::{EndReason, GameRecord};
use tengen_rules::{Color, Outcome};

/// What a slot of a match gave: `(pair, colour, points)`; colour 0 = the candidate is Black, and
/// points are the candidate's: 1, 0.5 or 0.
pub type SlotResult = (u32, u8, f32);

/// How a game ended for the candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GameResult {
    /// The candidate won.
    Win,
    /// It lost.
    Loss,
    /// Equal scores.
    Draw,
    /// The rules or the move limit left it without a winner.
    NoResult,
    /// A side crashed, hung or broke the rules: nobody's win.
    Fault,
}

/// A finished game of a match, as a tally needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlayedGame {
    /// The opening pair, from 0.
    pub pair: u32,
    /// 0 if the candidate is Black, 1 if it is White.
    pub colour: u8,
    /// How it ended.
    pub result: GameResult,
    /// The same for games with the same moves; see [`moves_digest`].
    pub moves: u64,
}

impl PlayedGame {
    /// Reads a record: its winner, and a game that a fault ended as such.
    pub fn of(pair: u32, colour: u8, record: &GameRecord) -> PlayedGame {
        let candidate = if colour == 0 { Color::Black } else { Color::White };
        let result = match (record.end, record.outcome, record.outcome.winner()) {
            (EndReason::Forfeit, ..) => GameResult::Fault,
            (_, Outcome::Draw, _) => GameResult::Draw,
            (_, _, None) => GameResult::NoResult,
            (_, _, Some(winner)) if winner == candidate => GameResult::Win,
            _ => GameResult::Loss,
        };
        PlayedGame { pair, colour, result, moves: moves_digest(record) }
    }

    /// The candidate's points, `None` after a fault.
    pub fn scored(&self) -> Option<f32> {
        (self.result != GameResult::Fault).then(|| self.points())
    }

    fn points(&self) -> f32 {
        match self.result {
            GameResult::Win => 1.0,
            GameResult::Loss => 0.0,
            GameResult::Draw | GameResult::NoResult | GameResult::Fault => 0.5,
        }
    }
}

/// A digest of a game's moves (FNV-1a, 64 bits): equal games have equal digests.
pub fn moves_digest(record: &GameRecord) -> u64 {
    record.turns.iter().fold(0xCBF2_9CE4_8422_2325, |hash, turn| {
        (hash ^ record.size.action(turn.mv) as u64).wrapping_mul(0x0100_0000_01B3)
    })
}

/// The candidate's results over complete pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tally {
    /// Games the candidate won.
    pub wins: u32,
    /// Games it lost.
    pub losses: u32,
    /// Games with equal scores.
    pub draws: u32,
    /// Games without a result; for the verdict as a draw.
    pub no_results: u32,
    /// Pairs by the candidate's points in both games: 0, 0.5, 1, 1.5, 2.
    pub pairs: [u32; 5],
    /// Games left out because both games of their pair repeat an earlier pair move for move.
    pub repeats: u32,
    /// Games left out because a fault ended one of their pair.
    pub faults: u32,
}

impl Tally {
    /// Games counted.
    pub fn games(&self) -> u32 {
        self.wins + self.losses + self.draws + self.no_results
    }

    /// Games played and left out: they take their places in the plan, but have no say.
    pub fn left_out(&self) -> u32 {
        self.repeats + self.faults
    }

    /// The candidate's points: 1 a win, a half where nobody won.
    pub fn points(&self) -> f64 {
        f64::from(self.wins) + f64::from(self.draws + self.no_results) / 2.0
    }

    /// The candidate's share of the points; a half before the first game.
    pub fn score(&self) -> f64 {
        if self.games() == 0 { 0.5 } else { self.points() / f64::from(self.games()) }
    }

    fn add(&mut self, result: GameResult) {
        match result {
            GameResult::Win => self.wins += 1,
            GameResult::Loss => self.losses += 1,
            GameResult::Draw => self.draws += 1,
            GameResult::NoResult => self.no_results += 1,
            GameResult::Fault => self.faults += 1,
        }
    }

    fn add_pair(&mut self, [black, white]: [PlayedGame; 2]) {
        self.add(black.result);
        self.add(white.result);
        self.pairs[half_points(black.points()) + half_points(white.points())] += 1;
    }
}

/// Counts the complete pairs at the front of the list for a verdict: pair 0 first, up to the first
/// pair that lacks a game, whatever the order of `games` and however many lie beyond.
///
/// Two kinds of pairs have no say: one whose games repeat an earlier pair move for move (two
/// deterministic players can play one game a thousand times; it is still one), and one that a fault
/// ended, so that a broken player is neither a win nor a loss.
pub fn tally_games(games: &[PlayedGame]) -> Tally {
    let mut tally = Tally::default();
    let mut seen = HashSet::new();
    for (wanted, (pair, slots)) in (0..).zip(by_pair(games)) {
        let [Some(black), Some(white)] = slots else { break };
        if pair != wanted {
            break;
        }
        if [black, white].iter().any(|game| game.result == GameResult::Fault) {
            tally.faults += 2;
        } else if seen.insert((black.moves, white.moves)) {
            tally.add_pair([black, white]);
        } else {
            tally.repeats += 2;
        }
    }
    tally
}

/// [`tally_games`] where the moves are not at hand: every pair counts.
pub fn tally_prefix(results: &[SlotResult]) -> Tally {
    tally_games(&distinct(results))
}

/// Counts every game, complete pair or not: for reports, never for a verdict.
pub fn tally_all(results: &[SlotResult]) -> Tally {
    tally_every(&distinct(results))
}

/// [`tally_all`] for games that know how they ended; repeats are counted, faults apart.
pub fn tally_every(games: &[PlayedGame]) -> Tally {
    let mut tally = Tally::default();
    for slots in by_pair(games).into_values() {
        slots.iter().flatten().for_each(|game| tally.add(game.result));
        if let [Some(black), Some(white)] = slots
            && [black, white].iter().all(|game| game.result != GameResult::Fault)
        {
            tally.pairs[half_points(black.points()) + half_points(white.points())] += 1;
        }
    }
    tally
}

/// Slot results as games that all differ.
fn distinct(results: &[SlotResult]) -> Vec<PlayedGame> {
    let result = |points: f32| match half_points(points) {
        0 => GameResult::Loss,
        1 => GameResult::Draw,
        _ => GameResult::Win,
    };
    let game = |&(pair, colour, points): &SlotResult| PlayedGame {
        pair,
        colour,
        result: result(points),
        moves: u64::from(pair) << 1 | u64::from(colour),
    };
    results.iter().map(game).collect()
}

/// Each pair's two games; a slot reported twice counts once.
fn by_pair(games: &[PlayedGame]) -> BTreeMap<u32, [Option<PlayedGame>; 2]> {
    let mut pairs: BTreeMap<u32, [Option<PlayedGame>; 2]> = BTreeMap::new();
    for game in games {
        pairs.entry(game.pair).or_default()[usize::from(game.colour.min(1))].get_or_insert(*game);
    }
    pairs
}

fn half_points(points: f32) -> usize {
    (points * 2.0).round().clamp(0.0, 2.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_complete_pairs_at_the_front_vote() {
        let results = [(2, 0, 1.0), (2, 1, 1.0), (0, 1, 0.5), (1, 0, 1.0), (0, 0, 1.0)];
        let tally = tally_prefix(&results);
        assert_eq!((tally.wins, tally.draws, tally.games()), (1, 1, 2));
        assert_eq!(tally.pairs, [0, 0, 0, 1, 0]);
        assert_eq!(tally_all(&results).games(), 5);
        let more: Vec<_> = results.into_iter().chain([(1, 1, 0.0)]).collect();
        let tally = tally_prefix(&more);
        assert_eq!((tally.wins, tally.losses, tally.games()), (4, 1, 6));
        assert_eq!(tally.pairs, [0, 0, 1, 1, 1]);
    }

    #[test]
    fn a_slot_reported_twice_counts_once() {
        let tally = tally_prefix(&[(0, 0, 1.0), (0, 0, 1.0), (0, 1, 0.0)]);
        assert_eq!((tally.games(), tally.score()), (2, 0.5));
        assert_eq!(tally_prefix(&[]), Tally::default());
    }

    fn game(pair: u32, colour: u8, result: GameResult, moves: u64) -> PlayedGame {
        PlayedGame { pair, colour, result, moves }
    }

    #[test]
    fn identical_games_of_deterministic_players_count_once() {
        use GameResult::{Loss, Win};
        let mut games = Vec::new();
        for pair in 0..50 {
            games.extend([game(pair, 0, Win, 11), game(pair, 1, Loss, 22)]);
        }
        let tally = tally_games(&games);
        assert_eq!((tally.games(), tally.repeats, tally.left_out()), (2, 98, 98));
        // Half a pair repeated is a new pair: the other game says something new.
        games.extend([game(50, 0, Win, 11), game(50, 1, Win, 33)]);
        assert_eq!(tally_games(&games).pairs, [0, 0, 1, 0, 1]);
    }

    #[test]
    fn a_crashed_side_is_nobodys_win() {
        use GameResult::{Fault, NoResult, Win};
        let games =
            [game(0, 0, Win, 1), game(0, 1, Fault, 2), game(1, 0, Win, 3), game(1, 1, NoResult, 4)];
        let tally = tally_games(&games);
        assert_eq!((tally.wins, tally.no_results, tally.faults), (1, 1, 2));
        assert_eq!(tally.pairs, [0, 0, 0, 1, 0]);
        let all = tally_every(&games);
        assert_eq!((all.wins, all.no_results, all.faults, all.games()), (2, 1, 1, 3));
    }
}
