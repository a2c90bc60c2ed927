//! Checkpoints: one folder each, written aside, confirmed by the disk, then renamed into place.
//!
//! `checkpoints/00000012-step-3000/` holds `weights.safetensors`, `momentum.safetensors`
//! (the memory of whichever optimiser), `state.json`, `averaged.safetensors` where weights are
//! averaged, and `manifest.json` with the BLAKE3 of the others. The first number counts
//! checkpoints; the highest is the newest.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tengen_network::Weights;

use crate::sync::{sync_folder, write_file};
use crate::{TrainError, tensors};

const MANIFEST: &str = "manifest.json";
const FILES: [&str; 3] = ["weights.safetensors", "momentum.safetensors", "state.json"];
/// Only in checkpoints of runs that average their weights.
const AVERAGED: &str = "averaged.safetensors";
/// Bumped when a checkpoint of the old layout could be misread.
const FORMAT: u32 = 1;

/// All of a trainer that is not a tensor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct State {
    pub format: u32,
    pub run_seed: u64,
    /// Steps taken.
    pub step: u64,
    /// Samples in those steps.
    pub samples: u64,
    /// Last sequence number ingested.
    pub cursor: u64,
    /// Target positions in all games up to the cursor.
    pub positions_seen: u64,
    /// How often the step size was halved by a refused step.
    pub halvings: u32,
    /// Refused steps since the last that was taken.
    pub refused: u32,
    /// Position in the ChaCha8 stream, in words; text, as JSON numbers end at 64 bits.
    pub random_position: String,
}

impl State {
    /// The state of a run that has seen nothing.
    pub fn fresh(run_seed: u64) -> Self {
        Self {
            format: FORMAT,
            run_seed,
            step: 0,
            samples: 0,
            cursor: 0,
            positions_seen: 0,
            halvings: 0,
            refused: 0,
            random_position: "0".to_owned(),
        }
    }
}

/// What one folder holds.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    pub state: State,
    pub weights: Weights,
    /// The optimiser's memory.
    pub optimiser: Weights,
    pub averaged: Option<Weights>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    /// BLAKE3, hexadecimal, by file name.
    blake3: BTreeMap<String, String>,
}

/// The checkpoints under `root`, newest first. A folder that was never renamed into place is none.
pub(crate) fn list(root: &Path) -> Result<Vec<PathBuf>, TrainError> {
    let entries = match fs::read_dir(root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(TrainError::io(root)(error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(TrainError::io(root))?.path();
        if let Some(serial) = serial(&path) {
            found.push((serial, path));
        }
    }
    found.sort_unstable_by(|a, b| b.cmp(a));
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

fn serial(path: &Path) -> Option<u64> {
    let (serial, _) = path.file_name()?.to_str()?.split_once("-step-")?;
    serial.parse().ok()
}

/// Writes a checkpoint as the newest one and removes all but the newest `keep`.
pub(crate) fn save(
    root: &Path,
    checkpoint: &Checkpoint,
    keep: usize,
) -> Result<PathBuf, TrainError> {
    fs::create_dir_all(root).map_err(TrainError::io(root))?;
    let older = list(root)?;
    let next = older.first().and_then(|path| serial(path)).map_or(1, |serial| serial + 1);
    let place = root.join(format!("{next:08}-step-{}", checkpoint.state.step));
    let aside = root.join("unfinished");
    if aside.exists() {
        fs::remove_dir_all(&aside).map_err(TrainError::io(&aside))?;
    }
    fs::create_dir(&aside).map_err(TrainError::io(&aside))?;

    let refuse = |why: String| TrainError::Checkpoint { path: place.clone(), why };
    let state =
        serde_json::to_vec_pretty(&checkpoint.state).map_err(|error| refuse(error.to_string()))?;
    let contents = [
        tensors::to_bytes(&checkpoint.weights).map_err(refuse)?,
        tensors::to_bytes(&checkpoint.optimiser).map_err(refuse)?,
        state,
    ];
    let mut manifest = Manifest { blake3: BTreeMap::new() };
    for (name, bytes) in FILES.iter().zip(&contents) {
        write_file(&aside.join(name), bytes)?;
        manifest.blake3.insert((*name).to_owned(), blake3::hash(bytes).to_hex().to_string());
    }
    if let Some(averaged) = &checkpoint.averaged {
        let bytes = tensors::to_bytes(averaged).map_err(refuse)?;
        write_file(&aside.join(AVERAGED), &bytes)?;
        manifest.blake3.insert(AVERAGED.to_owned(), blake3::hash(&bytes).to_hex().to_string());
    }
    let manifest =
        serde_json::to_vec_pretty(&manifest).map_err(|error| refuse(error.to_string()))?;
    write_file(&aside.join(MANIFEST), &manifest)?;
    sync_folder(&aside)?;
    fs::rename(&aside, &place).map_err(TrainError::io(&place))?;
    sync_folder(root)?;

    for old in older.iter().skip(keep.saturating_sub(1)) {
        fs::remove_dir_all(old).map_err(TrainError::io(old))?;
    }
    Ok(place)
}

/// Reads one checkpoint and verifies every byte of it against its manifest.
pub(crate) fn load(path: &Path) -> Result<Checkpoint, TrainError> {
    let damaged = |why: String| TrainError::Checkpoint { path: path.to_owned(), why };
    let read =
        |name: &str| fs::read(path.join(name)).map_err(|error| damaged(format!("{name}: {error}")));
    let manifest: Manifest = serde_json::from_slice(&read(MANIFEST)?)
        .map_err(|error| damaged(format!("{MANIFEST}: {error}")))?;
    let verified = |name: &str| {
        let bytes = read(name)?;
        let found = blake3::hash(&bytes).to_hex().to_string();
        match manifest.blake3.get(name) {
            Some(promised) if *promised == found => Ok(bytes),
            Some(promised) => {
                Err(damaged(format!("{name} hashes to {found}, the manifest promises {promised}")))
            }
            None => Err(damaged(format!("{name} is not in the manifest"))),
        }
    };
    let [weights, optimiser, state] = FILES.map(verified);
    let averaged = match manifest.blake3.contains_key(AVERAGED) {
        true => Some(tensors::from_bytes(&verified(AVERAGED)?).map_err(damaged)?),
        false => None,
    };
    let state: State =
        serde_json::from_slice(&state?).map_err(|error| damaged(error.to_string()))?;
    if state.format != FORMAT {
        return Err(TrainError::Foreign {
            path: path.to_owned(),
            why: format!("format {}, this version reads {FORMAT}", state.format),
        });
    }
    Ok(Checkpoint {
        state,
        weights: tensors::from_bytes(&weights?).map_err(damaged)?,
        optimiser: tensors::from_bytes(&optimiser?).map_err(damaged)?,
        averaged,
    })
}

/// The newest checkpoint that can be used, and a warning for each newer one that is damaged;
/// `None` when there are no checkpoints at all.
pub(crate) fn load_newest(
    root: &Path,
) -> Result<Option<(Checkpoint, PathBuf, Vec<String>)>, TrainError> {
    let mut problems: Vec<String> = Vec::new();
    for path in list(root)? {
        match load(&path) {
            Ok(checkpoint) => {
                for problem in &mut problems {
                    problem.push_str(&format!("; skipped, going on from {}", path.display()));
                }
                return Ok(Some((checkpoint, path, problems)));
            }
            Err(error @ TrainError::Checkpoint { .. }) => problems.push(error.to_string()),
            Err(error) => return Err(error),
        }
    }
    if problems.is_empty() {
        return Ok(None);
    }
    Err(TrainError::NoUsableCheckpoint { folder: root.to_owned(), problems })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tengen_network::HostTensor;

    fn checkpoint(step: u64) -> Checkpoint {
        let tensor = |x| Weights([("a.weight".to_owned(), HostTensor::full(&[3], x))].into());
        let state = State { step, random_position: u128::MAX.to_string(), ..State::fresh(7) };
        Checkpoint {
            state,
            weights: tensor(0.1),
            optimiser: tensor(0.2),
            averaged: (step > 5).then(|| tensor(0.3)),
        }
    }

    #[test]
    fn the_newest_are_kept_and_come_back_whole() {
        let folder = tempfile::tempdir().unwrap();
        for step in [0, 5, 5, 10] {
            save(folder.path(), &checkpoint(step), 3).unwrap();
        }
        let names: Vec<String> = list(folder.path())
            .unwrap()
            .iter()
            .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
            .collect();
        assert_eq!(names, ["00000004-step-10", "00000003-step-5", "00000002-step-5"]);
        let (back, _, warnings) = load_newest(folder.path()).unwrap().unwrap();
        assert_eq!(warnings, Vec::<String>::new());
        let wrote = checkpoint(10);
        assert_eq!((back.state, back.weights), (wrote.state, wrote.weights));
        assert_eq!((back.optimiser, back.averaged), (wrote.optimiser, wrote.averaged));
    }

    #[test]
    fn a_write_that_was_cut_short_is_no_checkpoint_and_is_cleared_by_the_next() {
        let folder = tempfile::tempdir().unwrap();
        save(folder.path(), &checkpoint(1), 3).unwrap();
        fs::create_dir(folder.path().join("unfinished")).unwrap();
        fs::write(folder.path().join("unfinished/weights.safetensors"), b"half").unwrap();
        let (back, _, warnings) = load_newest(folder.path()).unwrap().unwrap();
        assert_eq!((back.state.step, warnings.len()), (1, 0));
        save(folder.path(), &checkpoint(2), 3).unwrap();
        assert_eq!(load_newest(folder.path()).unwrap().unwrap().0.state.step, 2);
    }

    #[test]
    fn each_damaged_file_is_found_and_named() {
        for name in [FILES[0], FILES[1], FILES[2], MANIFEST] {
            let folder = tempfile::tempdir().unwrap();
            let path = save(folder.path(), &checkpoint(1), 3).unwrap();
            let mut bytes = fs::read(path.join(name)).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            fs::write(path.join(name), &bytes).unwrap();
            let message = load_newest(folder.path()).unwrap_err().to_string();
            assert!(message.contains("00000001-step-1"), "{name}: {message}");
            fs::remove_file(path.join(name)).unwrap();
            let message = load_newest(folder.path()).unwrap_err().to_string();
            assert!(message.contains(name), "{name}: {message}");
        }
    }
}
