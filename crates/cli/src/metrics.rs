//! What was measured, for people's tools: `metrics.jsonl` (one object a line) and TensorBoard
//! event files in `tensorboard/`, both appended to by every process of the run.
//!
//! The store keeps what the run itself needs; these files can be deleted at any time. After a kill
//! the trainer repeats the steps since its checkpoint, so a step may stand in them twice, with the
//! same numbers.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::{Value, json};

use crate::tensorboard::EventFile;

/// The two files of one process.
pub struct Metrics {
    lines: File,
    events: EventFile,
}

impl Metrics {
    /// Opens them in the run's folder.
    pub fn open(run: &Path) -> Result<Self> {
        let path = run.join("metrics.jsonl");
        let lines = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .with_context(|| format!("cannot open {}", path.display()))?;
        let folder = run.join("tensorboard");
        let events = EventFile::create(&folder, now())
            .with_context(|| format!("cannot write an event file in {}", folder.display()))?;
        Ok(Self { lines, events })
    }

    /// Appends one measurement of `part` (`train`, `selfplay`, `gate`) at `step`; `facts` is an
    /// object, its finite numbers become the curves `part/name`.
    pub fn add(&mut self, part: &str, step: u64, facts: &impl Serialize) -> Result<()> {
        let facts = serde_json::to_value(facts)?;
        let time = now();
        let mut line = json!({ "time": time, "part": part, "step": step });
        let mut scalars = Vec::new();
        for (name, value) in facts.as_object().into_iter().flatten() {
            if name != "step" {
                line[name] = value.clone();
                if let Some(number) = value.as_f64().filter(|x| x.is_finite()) {
                    scalars.push((format!("{part}/{name}"), number as f32));
                }
            }
        }
        let mut text = Value::to_string(&line);
        text.push('\n');
        // One write a line, so that lines of several processes do not mix.
        self.lines.write_all(text.as_bytes()).context("cannot append to metrics.jsonl")?;
        self.events.add(time, step, &scalars).context("cannot append to the event file")
    }
}

/// Seconds since 1970.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_holds_the_part_the_step_and_every_fact() {
        let folder = tempfile::tempdir().unwrap();
        let mut metrics = Metrics::open(folder.path()).unwrap();
        metrics.add("train", 3, &json!({ "step": 3, "loss": 0.5, "net": "abc" })).unwrap();
        metrics.add("gate", 3, &json!({ "score": 0.75 })).unwrap();
        let text = std::fs::read_to_string(folder.path().join("metrics.jsonl")).unwrap();
        let lines: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        assert_eq!(lines.len(), 2);
        assert_eq!((&lines[0]["part"], &lines[0]["step"]), (&json!("train"), &json!(3)));
        assert_eq!((&lines[0]["loss"], &lines[0]["net"]), (&json!(0.5), &json!("abc")));
        assert_eq!(lines[1]["score"], json!(0.75));
    }
}
