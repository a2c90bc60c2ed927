//! Where a run stands, for people and for scripts.

use anyhow::Result;
use serde_json::{Value, json};
use tengen_evaluator::Tally;
use tengen_store::{MatchRow, NetworkRow, NetworkStatus, Store};

use crate::players::short;
use crate::run_dir::RunDir;

/// Networks that won their match, the run's first one not among them.
pub fn promotions(networks: &[NetworkRow]) -> usize {
    networks
        .iter()
        .filter(|n| matches!(n.status, NetworkStatus::Best | NetworkStatus::Promoted))
        .filter(|n| n.parent.is_some())
        .count()
}

/// The tallies of the newest matches, back to the last promotion, newest first; void matches say
/// nothing and are passed over.
pub fn rejections_in_a_row(matches: &[MatchRow]) -> Vec<Tally> {
    matches
        .iter()
        .rev()
        .filter(|m| m.verdict.as_deref().is_some_and(|verdict| verdict != "void"))
        .take_while(|m| m.promoted == Some(false))
        .map(|m| m.detail_json.as_deref().and_then(|json| serde_json::from_str(json).ok()))
        .map(Option::unwrap_or_default)
        .collect()
}

/// The facts that `tengen status --json` promises.
pub fn facts(store: &Store) -> Result<Value> {
    let counts = store.counts()?;
    let networks = store.networks()?;
    let best = store.best()?;
    let steps = networks
        .iter()
        .map(|n| n.step)
        .chain(store.metrics()?.iter().map(|m| m.step))
        .max()
        .unwrap_or(0);
    let promotions = promotions(&networks);
    Ok(json!({
        "games": counts.games,
        "positions": counts.positions,
        "steps": steps,
        "promotions": promotions,
        "rejected_in_a_row": rejections_in_a_row(&store.matches()?).len(),
        "best": best.map(|b| json!({ "id": b.id, "games": b.games, "step": b.step })),
        "networks": networks.iter().map(|n| json!({
            "id": n.id,
            "parent": n.parent,
            "step": n.step,
            "status": n.status.to_string(),
            "games": n.games,
            "elo": n.elo.map(|e| e.elo),
            "elo_low": n.elo.map(|e| e.low),
            "elo_high": n.elo.map(|e| e.high),
        })).collect::<Vec<_>>(),
    }))
}

/// Prints where the run stands.
pub fn print(dir: &RunDir, as_json: bool) -> Result<()> {
    let (store, run) = dir.open_existing()?;
    let facts = facts(&store)?;
    if as_json {
        println!("{}", serde_json::to_string_pretty(&facts)?);
        return Ok(());
    }
    println!("run {} in {}", run.name, dir.path().display());
    println!(
        "games {}  positions {}  steps {}  promotions {}",
        facts["games"], facts["positions"], facts["steps"], facts["promotions"]
    );
    for network in facts["networks"].as_array().into_iter().flatten() {
        println!(
            "  {}  step {:>6}  games {:>7}  {:<9}  Elo {}",
            short(network["id"].as_str().unwrap_or_default()),
            network["step"],
            network["games"],
            network["status"].as_str().unwrap_or_default(),
            network["elo"].as_f64().map_or_else(|| "-".into(), |e| format!("{e:+.0}")),
        );
    }
    Ok(())
}
