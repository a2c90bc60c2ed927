//! Where a run stands, for people and for scripts.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

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

/// The newest bytes of a run's metrics that are looked through: far more than a turn of each part.
const METRICS_TAIL: u64 = 256 << 10;

/// What self-play last wrote to the run's metrics: speed, where the time went, resignation.
fn last_selfplay(dir: &RunDir) -> Option<Value> {
    let mut file = File::open(dir.path().join("metrics.jsonl")).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(METRICS_TAIL))).ok()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = text.lines().rev().filter(|line| line.contains("\"part\":\"selfplay\""));
    lines.find_map(|line| serde_json::from_str(line).ok())
}

/// The facts that `tengen status --json` promises.
pub fn facts(dir: &RunDir, store: &Store) -> Result<Value> {
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
        "selfplay": last_selfplay(dir),
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
    let facts = facts(dir, &store)?;
    if as_json {
        println!("{}", serde_json::to_string_pretty(&facts)?);
        return Ok(());
    }
    println!("run {} in {}", run.name, dir.path().display());
    println!(
        "games {}  positions {}  steps {}  promotions {}",
        facts["games"], facts["positions"], facts["steps"], facts["promotions"]
    );
    let selfplay = &facts["selfplay"];
    let number = |key: &str| selfplay[key].as_f64();
    if let Some(rate) = number("evaluations_per_s") {
        let percent = |key: &str| 100.0 * number(key).unwrap_or(0.0);
        println!(
            "self-play {rate:.0} evaluations/s ({:.0} % remembered)  batches {:.0} % full  time: \
             evaluating {:.0} %, trees {:.0} %, waiting {:.0} %",
            percent("hit_rate"),
            percent("batch_fill"),
            percent("evaluating_share"),
            percent("tree_share"),
            percent("waiting_share"),
        );
    }
    if let Some(games) = number("resign_measured_games") {
        println!(
            "resignation {}: of {games:.0} games played on, {:.0} would have been resigned, {:.0} of \
             them by their winner",
            number("resign_threshold").map_or("off".into(), |at| format!("below {at:.3}")),
            number("resign_would_resign").unwrap_or(0.0),
            number("resign_false_positives").unwrap_or(0.0),
        );
    }
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
