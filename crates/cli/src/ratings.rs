//! Ratings of a run's networks from its gate matches, stored with the networks.

use std::collections::HashMap;

use anyhow::Result;
use tengen_evaluator::ratings;
use tengen_store::Store;

/// Recomputes every rated network's Elo, the run's first network at 0.
pub fn update(store: &mut Store) -> Result<()> {
    let networks = store.networks()?;
    let index: HashMap<&str, usize> =
        networks.iter().enumerate().map(|(i, n)| (n.id.as_str(), i)).collect();
    let mut results = Vec::new();
    for played in store.matches()? {
        let (Some(&a), Some(&b)) =
            (index.get(played.candidate.as_str()), index.get(played.base.as_str()))
        else {
            continue;
        };
        let (mut wins, mut losses, mut draws) = (0, 0, 0);
        for game in store.match_games(played.id)? {
            match game.points {
                p if p > 0.75 => wins += 1,
                p if p < 0.25 => losses += 1,
                _ => draws += 1,
            }
        }
        if wins + losses + draws > 0 {
            results.push((a, b, wins, losses, draws));
        }
    }
    let Some(anchor) = networks.iter().position(|n| n.parent.is_none()) else { return Ok(()) };
    if results.is_empty() {
        return Ok(());
    }
    for (network, rating) in networks.iter().zip(ratings(networks.len(), &results, anchor)) {
        store.set_elo(&network.id, rating.elo, rating.low, rating.high)?;
    }
    Ok(())
}
