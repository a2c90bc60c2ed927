//! Settings by KataGo's names: `kata-get-param`, `kata-set-param` and their kin, and what a query
//! of the analysis protocol overrides.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tengen_search::SearchConfig;

use crate::engine::Engine;
use crate::error::GtpError;
use crate::info::Perspective;

/// Settings of a search that have KataGo's name.
#[derive(Clone, Debug)]
pub(crate) struct Params {
    pub search: SearchConfig,
    /// The most time for a search, in seconds.
    pub max_time: Option<f64>,
    /// For whom values are reported; analysis protocol only.
    pub perspective: Perspective,
}

/// Names of [`Params::set`] that GTP knows too.
const NAMES: [&str; 8] = [
    "maxVisits",
    "maxTime",
    "cpuctExploration",
    "cpuctExplorationBase",
    "fpuReductionMax",
    "rootFpuReductionMax",
    "rootPolicyTemperature",
    "numSearchThreads",
];

/// Why a setting was not taken.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// No such setting here.
    Unknown,
    /// Not a value it can have.
    Value,
}

impl Params {
    /// Changes one setting.
    pub fn set(&mut self, name: &str, value: &Value) -> Result<(), Refused> {
        let number = || value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
        let float = |least: f64| {
            let number = number().filter(|n| n.is_finite() && *n >= least && *n <= 1e9);
            number.map(|n| n as f32).ok_or(Refused::Value)
        };
        let visits = || {
            let whole = number().filter(|n| n.fract() == 0.0 && (1.0..=1e15).contains(n));
            whole.map(|n| n.min(f64::from(u32::MAX - 1)) as u32).ok_or(Refused::Value)
        };
        match name {
            "maxVisits" => self.search.visits = visits()?,
            "maxTime" => {
                let seconds = number().filter(|n| *n >= 0.0).ok_or(Refused::Value)?;
                self.max_time = (seconds < 1e9).then_some(seconds);
            }
            "cpuctExploration" => self.search.c_puct_init = float(0.0)?,
            "cpuctExplorationBase" => self.search.c_puct_base = float(1.0)?,
            "fpuReductionMax" => self.search.fpu_reduction = float(0.0)?,
            "rootFpuReductionMax" => self.search.root_fpu_reduction = float(0.0)?,
            "rootPolicyTemperature" => self.search.root_policy_temperature = float(0.01)?,
            // One thread searches; leaves of a batch are what runs side by side.
            "numSearchThreads" => self.search.leaves_per_batch = visits()?.min(1024),
            "reportAnalysisWinratesAs" => {
                let side = value.as_str().and_then(Perspective::parse);
                self.perspective = side.ok_or(Refused::Value)?;
            }
            _ => return Err(Refused::Unknown),
        }
        Ok(())
    }

    fn get(&self, name: &str) -> Option<Value> {
        let float = |x: f32| json!(f64::from(x));
        Some(match name {
            "maxVisits" => json!(self.search.visits),
            "maxTime" => json!(self.max_time.unwrap_or(1e20)),
            "cpuctExploration" => float(self.search.c_puct_init),
            "cpuctExplorationBase" => float(self.search.c_puct_base),
            "fpuReductionMax" => float(self.search.fpu_reduction),
            "rootFpuReductionMax" => float(self.search.root_fpu_reduction),
            "rootPolicyTemperature" => float(self.search.root_policy_temperature),
            "numSearchThreads" => json!(self.search.leaves_per_batch),
            _ => return None,
        })
    }
}

impl Engine {
    fn params(&self) -> Params {
        Params {
            search: self.search.clone(),
            max_time: self.max_time.map(|time| time.as_secs_f64()),
            perspective: Perspective::SideToMove,
        }
    }

    /// All of the changes, or none.
    fn set_params(&mut self, changes: &Map<String, Value>) -> Result<String, GtpError> {
        let (mut params, mut ponder) = (self.params(), self.info.ponder);
        for (name, value) in changes {
            if name == "ponderingEnabled" {
                let text = value.as_str().map(str::to_ascii_lowercase);
                let flag = value.as_bool().or_else(|| text?.parse().ok());
                ponder = flag.ok_or_else(|| GtpError::Param(name.clone()))?;
                continue;
            }
            let known = NAMES.contains(&name.as_str());
            let set = if known { params.set(name, value) } else { Err(Refused::Unknown) };
            set.map_err(|_| GtpError::Param(name.clone()))?;
        }
        if !params.search.validate().is_empty() {
            return Err(GtpError::Param(changes.keys().cloned().collect::<Vec<_>>().join(" ")));
        }
        self.search = params.search;
        self.max_time = params.max_time.map(Duration::from_secs_f64);
        self.info.ponder = ponder;
        // What was found under other settings is no start for a search under these.
        self.tree = None;
        Ok(String::new())
    }

    pub(crate) fn kata_set_param(&mut self, args: &[String]) -> Result<String, GtpError> {
        let [name, value] = args else { return Err(GtpError::Syntax) };
        self.set_params(&Map::from_iter([(name.clone(), json!(value))]))
    }

    pub(crate) fn kata_set_params(&mut self, args: &[String]) -> Result<String, GtpError> {
        match serde_json::from_str(&args.join(" ")) {
            Ok(Value::Object(changes)) => self.set_params(&changes),
            _ => Err(GtpError::Syntax),
        }
    }

    pub(crate) fn kata_get_param(&mut self, args: &[String]) -> Result<String, GtpError> {
        let [name] = args else { return Err(GtpError::Syntax) };
        if name == "ponderingEnabled" {
            return Ok(self.info.ponder.to_string());
        }
        let value = self.params().get(name).ok_or_else(|| GtpError::Param(name.clone()))?;
        Ok(value.to_string())
    }

    pub(crate) fn kata_get_params(&mut self, _: &[String]) -> Result<String, GtpError> {
        let params = self.params();
        let mut all: Map<String, Value> =
            NAMES.iter().filter_map(|name| Some(((*name).to_owned(), params.get(name)?))).collect();
        all.insert("ponderingEnabled".to_owned(), json!(self.info.ponder));
        Ok(Value::Object(all).to_string())
    }

    pub(crate) fn kata_list_params(&mut self, _: &[String]) -> Result<String, GtpError> {
        Ok(format!("{} ponderingEnabled", NAMES.join(" ")))
    }

    pub(crate) fn kata_get_models(&mut self, _: &[String]) -> Result<String, GtpError> {
        let batch = self.searcher.evaluator.max_batch().get();
        Ok(Value::Array(vec![model(&self.info.version, batch)]).to_string())
    }
}

/// A network as `kata-get-models` and `query_models` describe it.
pub(crate) fn model(name: &str, max_batch: usize) -> Value {
    json!({
        "name": name, "internalName": name, "maxBatchSize": max_batch.min(1 << 20),
        "usesHumanSLProfile": false, "version": 1, "usingFP16": "false",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back_what_was_set_and_nonsense_is_refused() {
        let mut params = Params {
            search: SearchConfig::default(),
            max_time: None,
            perspective: Perspective::SideToMove,
        };
        for name in NAMES {
            params.set(name, &json!(7)).unwrap();
            assert_eq!(params.get(name).and_then(|v| v.as_f64()), Some(7.0), "{name}");
            params.set(name, &json!("3")).unwrap();
            assert_eq!(params.get(name).and_then(|v| v.as_f64()), Some(3.0), "{name}");
            for bad in [json!(-1), json!("x"), json!(null), json!([1]), json!("nan")] {
                assert_eq!(params.set(name, &bad), Err(Refused::Value), "{name} {bad}");
            }
        }
        assert_eq!(params.set("wideRootNoise", &json!(0.04)), Err(Refused::Unknown));
        params.set("maxVisits", &json!(10_000_000_000_u64)).unwrap();
        params.set("maxTime", &json!(1e20)).unwrap();
        assert_eq!(params.max_time, None);
    }
}
