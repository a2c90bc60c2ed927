//! Counting a match, pair by pair.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a slot of a match gave: `(pair, colour, points)`; colour 0 = the candidate is Black, and
/// points are the candidate's: 1, 0.5 or 0.
pub type SlotResult = (u32, u8, f32);

/// The candidate's results over complete pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
}

impl Tally {
    /// Games counted.
    pub fn games(&self) -> u32 {
        self.wins + self.losses + self.draws + self.no_results
    }

    /// The candidate's points: 1 a win, a half where nobody won.
    pub fn points(&self) -> f64 {
        f64::from(self.wins) + f64::from(self.draws + self.no_results) / 2.0
    }

    fn add_game(&mut self, points: f32) {
        match half_points(points) {
            0 => self.losses += 1,
            1 => self.draws += 1,
            _ => self.wins += 1,
        }
    }

    /// The candidate's share of the points; a half before the first game.
    pub fn score(&self) -> f64 {
        if self.games() == 0 { 0.5 } else { self.points() / f64::from(self.games()) }
    }
}

/// Counts the complete pairs at the front of the list: pair 0 first, up to the first pair that
/// lacks a game. The order of `results` and later pairs make no difference.
pub fn tally_prefix(results: &[SlotResult]) -> Tally {
    let mut tally = Tally::default();
    for (wanted, games) in (0..).zip(by_pair(results)) {
        let (pair, [Some(black), Some(white)]) = games else { break };
        if pair != wanted {
            break;
        }
        tally.add_game(black);
        tally.add_game(white);
        tally.pairs[half_points(black) + half_points(white)] += 1;
    }
    tally
}

/// Counts every game, complete pair or not: for reports, never for a verdict.
pub fn tally_all(results: &[SlotResult]) -> Tally {
    let mut tally = Tally::default();
    for (_, games) in by_pair(results) {
        games.iter().flatten().for_each(|&points| tally.add_game(points));
        if let [Some(black), Some(white)] = games {
            tally.pairs[half_points(black) + half_points(white)] += 1;
        }
    }
    tally
}

/// The points of each pair's two games; a slot reported twice counts once.
fn by_pair(results: &[SlotResult]) -> BTreeMap<u32, [Option<f32>; 2]> {
    let mut pairs: BTreeMap<u32, [Option<f32>; 2]> = BTreeMap::new();
    for &(pair, colour, points) in results {
        pairs.entry(pair).or_default()[usize::from(colour.min(1))].get_or_insert(points);
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
}
