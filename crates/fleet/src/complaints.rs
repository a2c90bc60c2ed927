//! What is done about networks that workers say came damaged.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use serde_json::json;
use tengen_store::{DamageReport, Store, StoreError};

use crate::{FleetError, HandOut};

/// Workers whose word is enough, where no whole copy of the network can be found.
const ENOUGH: usize = 3;
/// How long nobody can make the janitor read a network again: reading is what a complaint costs.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

/// Looks into complaints, each once.
///
/// A worker's word alone takes no network away: the copies are looked at first. A damaged one is
/// replaced where the file is at hand. Where no whole copy is left and three workers say so, the run steps
/// back to the best network before; games played with the one that fell stay, as whoever played them
/// had its bytes verified.
#[derive(Debug, Default)]
pub struct Complaints {
    /// By network: how many workers had spoken when it was looked into, and when that was.
    heard: HashMap<String, (usize, Instant)>,
}

impl Complaints {
    /// Looks into what was said: when another worker speaks, else once a minute. Each answer is an event of the run: `network-mended`,
    /// `network-disputed` (every copy is whole from here), `network-withdrawn`, `network-lost` (it is not
    /// the best one, or there is none before it).
    ///
    /// # Errors
    /// The store's.
    pub fn attend(&mut self, store: &mut Store, hand_out: &mut HandOut) -> Result<(), FleetError> {
        let mut by_network: BTreeMap<String, Vec<DamageReport>> = BTreeMap::new();
        for report in store.damage_reports()? {
            by_network.entry(report.network.clone()).or_default().push(report);
        }
        self.heard.retain(|_, (_, at)| at.elapsed() < LOOK_AGAIN);
        for (network, reports) in by_network {
            if self.heard.get(&network).is_some_and(|(workers, _)| reports.len() <= *workers) {
                continue;
            }
            let Some(found) = hand_out.examine(store, &network)? else { continue };
            self.heard.insert(network.clone(), (reports.len(), Instant::now()));
            let workers: Vec<&str> = reports.iter().map(|report| &*report.worker).collect();
            let why = reports.first().map(|report| report.why.as_str()).unwrap_or_default();
            let detail = json!({
                "network": network, "workers": workers, "why": why,
                "whole_copies": found.whole, "damaged_copies": found.damaged,
            });
            let kind = if found.damaged > 0 && found.can_be_mended {
                "network-mended"
            } else if workers.len() < ENOUGH {
                continue;
            } else if found.whole > 0 || found.can_be_mended {
                "network-disputed"
            } else {
                step_back(store, &network, workers.len())?
            };
            tracing::warn!(%network, workers = workers.len(), "{kind}: {why}");
            store.answer_damage(&network, kind, &detail.to_string())?;
            self.heard.insert(network, (usize::MAX, Instant::now()));
        }
        Ok(())
    }
}

fn step_back(store: &mut Store, network: &str, workers: usize) -> Result<&'static str, FleetError> {
    let why = format!("{workers} workers found it damaged, and no whole copy is left");
    match store.step_back_from(network, "janitor", &why) {
        Ok(Some(_)) => Ok("network-withdrawn"),
        Ok(None) | Err(StoreError::NoEarlierBest) => Ok("network-lost"),
        Err(error) => Err(error.into()),
    }
}
