//! Ratings of a run's networks from all games they played, stored with the networks.

use std::collections::HashMap;

use anyhow::Result;
use tengen_evaluator::{Results, fit};
use tengen_store::{NetworkRow, Store};

/// Recomputes every rated network's Elo from the gate matches, the run's first network at 0.
pub fn update(store: &mut Store) -> Result<()> {
    let networks = store.networks()?;
    let results = gate_results(store, &networks)?;
    let Some(anchor) = networks.iter().position(|n| n.parent.is_none()) else { return Ok(()) };
    if results.is_empty() {
        return Ok(());
    }
    for (network, rating) in networks.iter().zip(fit(networks.len(), &results).over(anchor)) {
        store.set_elo(&network.id, rating.elo, rating.low, rating.high)?;
    }
    Ok(())
}

/// The games of the run's gate matches by colour; players are indices into `networks`.
pub fn gate_results(store: &Store, networks: &[NetworkRow]) -> Result<Vec<Results>> {
    let index: HashMap<&str, usize> =
        networks.iter().enumerate().map(|(i, n)| (n.id.as_str(), i)).collect();
    let mut results = Vec::new();
    for played in store.matches()? {
        let (Some(&a), Some(&b)) =
            (index.get(played.candidate.as_str()), index.get(played.base.as_str()))
        else {
            continue;
        };
        for game in store.match_games(played.id)? {
            results.push(one_game(a, b, game.colour, game.points));
        }
    }
    Ok(merged(results))
}

/// One game as a result; `points` are those of `a`, who is Black where `colour` is 0.
pub fn one_game(a: usize, b: usize, colour: u8, points: f32) -> Results {
    let (black, white) = if colour == 0 { (a, b) } else { (b, a) };
    let mut result = Results { black, white, ..Results::default() };
    let black_points = if colour == 0 { points } else { 1.0 - points };
    match black_points {
        p if p > 0.75 => result.black_wins = 1,
        p if p < 0.25 => result.white_wins = 1,
        _ => result.draws = 1,
    }
    result
}

/// One entry for each pairing and colour.
pub fn merged(results: impl IntoIterator<Item = Results>) -> Vec<Results> {
    let mut sums = std::collections::BTreeMap::new();
    for r in results {
        let sum = sums.entry((r.black, r.white)).or_insert(Results {
            black: r.black,
            white: r.white,
            ..Results::default()
        });
        sum.black_wins += r.black_wins;
        sum.white_wins += r.white_wins;
        sum.draws += r.draws;
    }
    sums.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_go_to_the_colour_that_won() {
        let as_white = one_game(3, 5, 1, 1.0);
        assert_eq!((as_white.black, as_white.white, as_white.white_wins), (5, 3, 1));
        let games = [one_game(0, 1, 0, 1.0), one_game(0, 1, 0, 0.0), one_game(0, 1, 1, 0.5)];
        let sums = merged(games);
        assert_eq!(sums.len(), 2);
        assert_eq!((sums[0].black_wins, sums[0].white_wins, sums[1].draws), (1, 1, 1));
    }
}
