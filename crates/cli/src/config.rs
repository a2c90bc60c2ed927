//! The config file: one TOML section per crate that reads it, merged over the defaults.
//!
//! Unknown keys are refused with the nearest known name, every problem is listed at once, and the
//! digest of the *effective* config stands in every game.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use tengen_evaluator::GateConfig;
use tengen_network::{DeviceConfig, NetworkConfig};
use tengen_search::SearchConfig;
use tengen_selfplay::{RulesConfig, SelfPlayConfig};
use tengen_trainer::TrainerConfig;

/// Where the run lives, what seeds it and when an invocation of `tengen loop` ends.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunSection {
    /// Name shown in tables and stored with the run.
    pub name: String,
    /// The run's folder; relative to the working directory.
    pub dir: PathBuf,
    /// Seed of every random stream of the run.
    pub seed: u64,
    /// Minutes after which one invocation of the loop ends by itself; 0 = never.
    pub until_minutes: f64,
    /// Finished games between two looks at the trainer's quota.
    pub games_per_cycle: usize,
    /// Optimiser steps between two looks at the quota.
    pub steps_per_cycle: u64,
    /// Games that self-play in processes of its own may run ahead of the trainer before it waits;
    /// 0 = any number. Inside `tengen loop` the training ratio alone decides.
    pub max_games_ahead: u64,
    /// Games of each closing match (last best against first net, and against uniform search);
    /// 0 = no closing matches.
    pub closing_games: u32,
    /// Every so many-th game of self-play goes out as SGF, to `sgf/selfplay`; 0 = none.
    pub sgf_every: u64,
}

impl Default for RunSection {
    fn default() -> Self {
        Self {
            name: "run".into(),
            dir: "data/runs/run".into(),
            seed: 1,
            until_minutes: 0.0,
            games_per_cycle: 32,
            steps_per_cycle: 20,
            max_games_ahead: 2000,
            closing_games: 100,
            sgf_every: 0,
        }
    }
}

impl RunSection {
    fn validate(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.name.trim().is_empty() {
            problems.push("run.name is empty; give the run a name".into());
        }
        if !(self.until_minutes.is_finite() && self.until_minutes >= 0.0) {
            problems.push(format!("run.until_minutes = {} must be ≥ 0", self.until_minutes));
        }
        if self.games_per_cycle == 0 {
            problems.push("run.games_per_cycle = 0 must be at least 1".into());
        }
        if self.steps_per_cycle == 0 {
            problems.push("run.steps_per_cycle = 0 must be at least 1".into());
        }
        problems
    }
}

/// A whole config: what one run is.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The run itself.
    pub run: RunSection,
    /// The game.
    pub rules: RulesConfig,
    /// The net.
    pub network: NetworkConfig,
    /// The search that makes training targets.
    pub search: SearchConfig,
    /// How games are generated.
    pub selfplay: SelfPlayConfig,
    /// How nets are trained.
    pub trainer: TrainerConfig,
    /// How nets are judged.
    pub gate: GateConfig,
    /// Where nets are computed.
    pub device: DeviceConfig,
}

impl Config {
    /// Reads, checks and completes a config file; every problem is in the error.
    pub fn load(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the config file {}", path.display()))?;
        Self::parse(&text).with_context(|| format!("in {}", path.display()))
    }

    /// [`Config::load`] on text.
    pub fn parse(text: &str) -> Result<Self> {
        let given: toml::Table = text.parse().context("not valid TOML")?;
        let known = toml::Table::try_from(Config::default()).context("default config")?;
        let mut problems = unknown_keys(&given, &known);
        let mut config = Config::default();
        // Section by section, so that a type error in one does not hide those in others.
        macro_rules! read {
            ($($section:ident),*) => {$(
                if let Some(value) = given.get(stringify!($section)) {
                    let mut value = value.clone();
                    if let (Some(table), Some(known)) =
                        (value.as_table_mut(), known.get(stringify!($section)).and_then(|k| k.as_table()))
                    {
                        table.retain(|key, _| known.contains_key(key));
                    }
                    match value.try_into() {
                        Ok(section) => config.$section = section,
                        Err(error) => problems.push(format!(
                            "[{}] {}", stringify!($section), error.to_string().trim().replace('\n', " "))),
                    }
                }
            )*};
        }
        read!(run, rules, network, search, selfplay, trainer, gate, device);
        problems.extend(config.validate());
        if !problems.is_empty() {
            bail!("{} problem(s):\n  - {}", problems.len(), problems.join("\n  - "));
        }
        Ok(config)
    }

    fn validate(&self) -> Vec<String> {
        let mut problems = self.run.validate();
        problems.extend(self.rules.validate());
        problems.extend(self.network.validate());
        problems.extend(self.search.validate());
        problems.extend(self.selfplay.validate());
        problems.extend(self.trainer.validate());
        problems.extend(self.gate.validate());
        if let (Ok(main), Ok(others)) = (self.rules.settings(), self.rules.others()) {
            let sees_komi = self.network.features().is_ok_and(|set| set.sees_komi());
            for game in std::iter::once(main).chain(others.into_iter().map(|(_, game)| game)) {
                problems.extend(self.selfplay.conflicts(&game, sees_komi));
            }
        }
        problems.extend(self.device.validate());
        problems
    }

    /// The effective config as TOML, as it is saved in the run.
    pub fn to_toml(&self) -> Result<String> {
        toml::to_string_pretty(self).context("the config cannot be written as TOML")
    }

    /// Digest of all that decides what games and nets come out: the effective config without the
    /// folder, the limits of one invocation and the devices of one box. 16 hex digits of BLAKE3.
    pub fn digest(&self) -> Result<String> {
        let mut same = self.clone();
        let defaults = RunSection::default();
        same.run.dir = defaults.dir;
        same.run.until_minutes = defaults.until_minutes;
        same.run.closing_games = defaults.closing_games;
        same.run.sgf_every = defaults.sgf_every;
        same.run.max_games_ahead = defaults.max_games_ahead;
        same.device = DeviceConfig::default();
        Ok(blake3::hash(same.to_toml()?.as_bytes()).to_hex()[..16].to_string())
    }
}

/// One line for each key of `given` that `known` lacks, with the nearest known name.
fn unknown_keys(given: &toml::Table, known: &toml::Table) -> Vec<String> {
    let mut problems = Vec::new();
    for (section, value) in given {
        let Some(expected) = known.get(section).and_then(|k| k.as_table()) else {
            problems.push(format!(
                "unknown section [{section}]{}",
                nearest(section, known.keys().map(String::as_str))
            ));
            continue;
        };
        let Some(table) = value.as_table() else {
            problems.push(format!("[{section}] must be a section, not a value"));
            continue;
        };
        for key in table.keys().filter(|key| !expected.contains_key(*key)) {
            problems.push(format!(
                "unknown key {section}.{key}{}",
                nearest(key, expected.keys().map(String::as_str))
            ));
        }
    }
    problems
}

fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> String {
    let names: BTreeSet<&str> = names.collect();
    let best = names
        .iter()
        .map(|name| (strsim::damerau_levenshtein(word, name), *name))
        .min()
        .filter(|(distance, name)| *distance <= name.len().max(word.len()).div_ceil(2));
    match best {
        Some((_, name)) => format!("; did you mean `{name}`?"),
        None => format!("; known: {}", names.into_iter().collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_empty_config_is_the_default() {
        assert_eq!(
            Config::parse("").unwrap().digest().unwrap(),
            Config::default().digest().unwrap()
        );
    }

    #[test]
    fn every_problem_is_listed_with_the_nearest_name() {
        let error = Config::parse(
            "[run]\nsede = 3\ngames_per_cycle = 0\n[serch]\nvisits = 3\n[trainer]\nbatch_size = \"many\"",
        )
        .unwrap_err()
        .to_string();
        for part in [
            "run.sede; did you mean `seed`",
            "[serch]; did you mean `search`",
            "run.games_per_cycle = 0",
            "[trainer]",
        ] {
            assert!(error.contains(part), "{part:?} is missing in: {error}");
        }
    }

    #[test]
    fn switches_that_the_game_or_the_planes_rule_out_are_refused() {
        for (text, part) in [
            ("[selfplay]\nkomi_stdev = 1.0", "the feature set has no komi"),
            (
                "[selfplay]\nend_when_settled = true\n[rules]\nrules = \"japanese\"",
                "more than the area",
            ),
        ] {
            let error = Config::parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{part:?} is missing in: {error}");
        }
        Config::parse("[selfplay]\nend_when_settled = true").unwrap();
    }

    #[test]
    fn the_effective_config_reads_back_as_itself() {
        let config = Config::parse("[run]\nseed = 7").unwrap();
        let again = Config::parse(&config.to_toml().unwrap()).unwrap();
        assert_eq!(config.to_toml().unwrap(), again.to_toml().unwrap());
    }

    #[test]
    fn the_folder_and_the_time_limit_do_not_change_the_digest() {
        let one = Config::parse("[run]\ndir = \"a\"\nuntil_minutes = 5.0").unwrap();
        assert_eq!(one.digest().unwrap(), Config::default().digest().unwrap());
        let gpu = Config::parse("[device]\ninference = [\"cuda:0\", \"cuda:1\"]").unwrap();
        assert_eq!(gpu.digest().unwrap(), one.digest().unwrap(), "boxes of any kind share a run");
        let two = Config::parse("[run]\nseed = 99").unwrap();
        assert_ne!(two.digest().unwrap(), Config::default().digest().unwrap());
    }

    #[test]
    fn every_shipped_config_is_valid() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs");
        let mut seen = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "toml") {
                Config::load(&path).unwrap();
                seen += 1;
            }
        }
        assert!(seen >= 5, "only {seen} configs found");
    }
}
