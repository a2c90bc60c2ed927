//! What an ablation has done so far: one JSON file, written whole after each step.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tengen_evaluator::{GateConfig, Tally, tally_all};

use super::variants::Variant;
use crate::matches::elo;
use crate::players::short;
use crate::run_dir::RunDir;
use crate::status::promotions;

/// The file beside the runs.
const FILE: &str = "ablation-progress.json";

/// Time spent on a run. What a killed invocation spent is not in it.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Spent {
    /// By the clock.
    pub seconds: f64,
    /// Of the processor's cores, all threads together.
    #[serde(default)]
    pub core_seconds: f64,
}

/// One variant's progress.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Entry {
    change: String,
    digest: String,
    #[serde(flatten)]
    spent: Spent,
    /// Facts of the run, once its budget is used up.
    run: Option<Value>,
    /// Games of the match: pair, colour, points of the variant.
    slots: Vec<(u32, u8, f32)>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Content {
    budget: String,
    match_games: u32,
    match_visits: u32,
    order: Vec<String>,
    entries: BTreeMap<String, Entry>,
}

/// The file and what it says.
pub struct Ledger {
    path: PathBuf,
    content: Content,
}

impl Ledger {
    /// Opens or begins the ledger of this ablation; variants may be added to an old one.
    pub fn open(dir: &Path, budget: &str, variants: &[Variant], gate: &GateConfig) -> Result<Self> {
        let path = dir.join(FILE);
        let mut content = match std::fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text)
                .with_context(|| format!("{} is no ledger of an ablation", path.display()))?,
            Err(_) => Content {
                budget: budget.into(),
                match_games: 2 * gate.pairs,
                match_visits: gate.visits,
                order: Vec::new(),
                entries: BTreeMap::new(),
            },
        };
        let asked = (budget, gate.visits);
        let was = (content.budget.as_str(), content.match_visits);
        if asked != was {
            bail!(
                "{} holds an ablation of {} each, matches at {} visits; this one is of {budget} at \
                 {}: give it another --dir",
                dir.display(),
                content.budget,
                content.match_visits,
                gate.visits
            );
        }
        content.match_games = 2 * gate.pairs;
        content.order = variants.iter().map(|variant| variant.name.clone()).collect();
        for variant in variants {
            let digest = variant.config.digest()?;
            let entry = content.entries.entry(variant.name.clone()).or_insert_with(|| Entry {
                change: variant.change.clone(),
                digest: digest.clone(),
                ..Entry::default()
            });
            if entry.digest != digest {
                bail!(
                    "{} in {} was run with another config: give the new one another --dir",
                    variant.name,
                    dir.display()
                );
            }
        }
        let ledger = Ledger { path, content };
        ledger.write()?;
        Ok(ledger)
    }

    fn entry(&mut self, name: &str) -> Result<&mut Entry> {
        self.content.entries.get_mut(name).with_context(|| format!("{name} is not in the ledger"))
    }

    fn write(&self) -> Result<()> {
        let aside = self.path.with_extension("tmp");
        std::fs::write(&aside, serde_json::to_string_pretty(&self.content)?)
            .and_then(|()| std::fs::rename(&aside, &self.path))
            .with_context(|| format!("cannot write {}", self.path.display()))
    }

    /// Time spent on a run.
    pub fn spent(&self, name: &str) -> Spent {
        self.content.entries.get(name).map_or_else(Spent::default, |entry| entry.spent)
    }

    /// Adds to it.
    pub fn add(&mut self, name: &str, more: Spent) -> Result<()> {
        let spent = &mut self.entry(name)?.spent;
        spent.seconds += more.seconds;
        spent.core_seconds += more.core_seconds;
        self.write()
    }

    /// Whether a run's budget is used up.
    pub fn is_trained(&self, name: &str) -> bool {
        self.content.entries.get(name).is_some_and(|entry| entry.run.is_some())
    }

    /// Notes that it is, with what the run came to.
    pub fn trained(&mut self, name: &str, dir: &RunDir) -> Result<()> {
        let (store, _) = dir.open_existing()?;
        let (counts, networks) = (store.counts()?, store.networks()?);
        let best = store.best()?.context("the run has no best network")?;
        let steps = store.metrics()?.iter().map(|metric| metric.step).max().unwrap_or(0);
        self.entry(name)?.run = Some(json!({
            "games": counts.games,
            "positions": counts.positions,
            "steps": steps,
            "promotions": promotions(&networks),
            "best": short(&best.id),
            "best_step": best.step,
        }));
        self.write()
    }

    /// The games of a match so far.
    pub fn slots(&self, name: &str) -> Vec<(u32, u8, f32)> {
        self.content.entries.get(name).map_or_else(Vec::new, |entry| entry.slots.clone())
    }

    /// Stores them.
    pub fn keep(&mut self, name: &str, slots: &[(u32, u8, f32)]) -> Result<()> {
        self.entry(name)?.slots = slots.to_vec();
        self.write()
    }

    /// All there is, by variant in the order asked for.
    pub fn result(&self) -> Result<Value> {
        let rows: Vec<Value> = self
            .content
            .order
            .iter()
            .filter_map(|name| self.content.entries.get(name).map(|entry| (name, entry)))
            .map(|(name, entry)| row(name, entry))
            .collect();
        Ok(json!({
            "budget": self.content.budget,
            "match_games": self.content.match_games,
            "match_visits": self.content.match_visits,
            "variants": rows,
        }))
    }
}

fn row(name: &str, entry: &Entry) -> Value {
    let mut row = json!({
        "name": name, "change": entry.change, "minutes": entry.spent.seconds / 60.0,
        "core_minutes": entry.spent.core_seconds / 60.0, "run": entry.run,
    });
    if !entry.slots.is_empty() {
        let mut slots = entry.slots.clone();
        slots.sort_by_key(|&(pair, colour, _)| (pair, colour));
        let tally: Tally = tally_all(&slots);
        let (elo, low, high) = elo(&tally);
        row["match"] = json!({
            "wins": tally.wins, "losses": tally.losses, "draws": tally.draws + tally.no_results,
            "elo": elo, "elo_low": low, "elo_high": high,
        });
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ablate::variants::variants;
    use crate::config::Config;

    #[test]
    fn a_ledger_goes_on_and_refuses_another_question() {
        let folder = tempfile::tempdir().unwrap();
        let gate = GateConfig { pairs: 2, visits: 8, ..GateConfig::default() };
        let list = variants(&Config::default(), &["reuse".into()], &[]).unwrap();
        let mut ledger = Ledger::open(folder.path(), "9 games", &list, &gate).unwrap();
        ledger.add("reuse", Spent { seconds: 30.0, core_seconds: 50.0 }).unwrap();
        ledger.keep("reuse", &[(0, 0, 1.0), (0, 1, 0.5), (1, 0, 0.0)]).unwrap();

        let ledger = Ledger::open(folder.path(), "9 games", &list, &gate).unwrap();
        let (reuse, baseline) = (ledger.spent("reuse"), ledger.spent("baseline"));
        assert_eq!((reuse.seconds, reuse.core_seconds, baseline.seconds), (30.0, 50.0, 0.0));
        assert_eq!(ledger.slots("reuse").len(), 3);
        let result = ledger.result().unwrap();
        let row = &result["variants"][1];
        assert_eq!((&row["match"]["wins"], &row["match"]["draws"]), (&json!(1), &json!(1)));
        assert!(result["variants"][0]["match"].is_null());

        assert!(Ledger::open(folder.path(), "10 games", &list, &gate).is_err());
        let other = Config::parse("[search]\nvisits = 7").unwrap();
        let other = variants(&other, &["reuse".into()], &[]).unwrap();
        assert!(Ledger::open(folder.path(), "9 games", &other, &gate).is_err());
    }
}
