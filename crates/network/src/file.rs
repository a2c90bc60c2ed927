//! Networks on disk: one safetensors file each, named by the hash of its bytes.
//!
//! The header's metadata has one key, [`HEADER_KEY`], whose JSON tells format, config and meta;
//! one key, for the header's map has no order and two equal networks must be equal bytes.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use serde::ser::Error as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::{HostTensor, NetworkConfig, NetworkError, NetworkId, Weights};

const HEADER_KEY: &str = "tengen";
const FORMAT: &str = "tengen-network-1";

/// Where a network comes from, kept inside its file. No time and no machine, so that the same
/// run makes the same file anywhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NetworkMeta {
    /// The run's name; empty for a network outside a run.
    pub run: String,
    /// The network that training went on from.
    pub parent: Option<String>,
    /// Training steps behind it.
    pub step: u64,
    /// Training samples behind it.
    pub samples: u64,
    /// Games that had entered the window by then.
    pub games: u64,
}

#[derive(Deserialize)]
struct Header {
    format: String,
    config: NetworkConfig,
    meta: NetworkMeta,
}

/// The header as it is written.
#[derive(Serialize)]
struct WrittenHeader<'a> {
    format: &'a str,
    config: Told<'a>,
    meta: &'a NetworkMeta,
}

/// A config as a file tells it: a later option only where it departs from its default, so that a
/// plain network keeps the bytes, and so the name, that it always had.
struct Told<'a>(&'a NetworkConfig);

/// The keys that the first version wrote: always told, and in its order.
const FIRST_KEYS: [&str; 6] =
    ["blocks", "channels", "policy_channels", "value_channels", "value_hidden", "feature_set"];

impl Serialize for Told<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let keys = |config: &NetworkConfig| -> Result<BTreeMap<String, Value>, S::Error> {
            let value = serde_json::to_value(config).map_err(S::Error::custom)?;
            serde_json::from_value(value).map_err(S::Error::custom)
        };
        let (given, default) = (keys(self.0)?, keys(&NetworkConfig::default())?);
        let first = FIRST_KEYS.iter().filter_map(|&key| Some((key, given.get(key)?)));
        let later = given
            .iter()
            .map(|(key, value)| (key.as_str(), value))
            .filter(|(key, value)| !FIRST_KEYS.contains(key) && default.get(*key) != Some(*value));
        to.collect_map(first.chain(later))
    }
}

/// Writes a network into the folder `dir` and names it. The file appears whole or not at all:
/// it is written aside, synced, renamed, and the folder synced. Saving again changes nothing.
///
/// # Errors
/// What [`Weights::check`] refuses, and [`NetworkError::Io`].
pub fn save_network(
    dir: &Path,
    config: &NetworkConfig,
    weights: &Weights,
    meta: &NetworkMeta,
) -> Result<NetworkId, NetworkError> {
    weights.check(config)?;
    let bytes = to_bytes(dir, config, weights, meta)?;
    let id = NetworkId::of(&bytes);
    let path = dir.join(id.file_name());
    let aside = dir.join(format!(".{id}.{}.aside", std::process::id()));
    let written = write_through(&aside, &bytes)
        .and_then(|()| fs::rename(&aside, &path))
        .and_then(|()| File::open(dir)?.sync_all());
    if let Err(source) = written {
        // The error that matters is the first; a file left aside is never read.
        let _ = fs::remove_file(&aside);
        return Err(NetworkError::Io { path, source });
    }
    Ok(id)
}

/// Reads the network in the file `path`, whose name must be its hash.
///
/// # Errors
/// [`NetworkError::BadId`] for another name, [`NetworkError::Damaged`] when the bytes are not those that
/// the name promises, [`NetworkError::Format`] for a file that is no network of ours, and
/// [`NetworkError::InFile`] around an unknown feature set or weights that do not fit their config.
pub fn load_network(path: &Path) -> Result<(NetworkConfig, Weights, NetworkMeta), NetworkError> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let promised: NetworkId = stem.parse()?;
    let bytes =
        fs::read(path).map_err(|source| NetworkError::Io { path: path.to_owned(), source })?;
    let found = NetworkId::of(&bytes);
    if found != promised {
        return Err(NetworkError::Damaged {
            path: path.to_owned(),
            expected: promised.to_string(),
            found: found.to_string(),
        });
    }
    let (header, weights) =
        from_bytes(&bytes).map_err(|why| NetworkError::Format { path: path.to_owned(), why })?;
    weights.check(&header.config).map_err(|source| NetworkError::InFile {
        path: path.to_owned(),
        source: Box::new(source),
    })?;
    Ok((header.config, weights, header.meta))
}

fn to_bytes(
    dir: &Path,
    config: &NetworkConfig,
    weights: &Weights,
    meta: &NetworkMeta,
) -> Result<Vec<u8>, NetworkError> {
    let refuse = |why: String| NetworkError::Format { path: dir.to_owned(), why };
    let header = WrittenHeader { format: FORMAT, config: Told(config), meta };
    let header = serde_json::to_string(&header).map_err(|error| refuse(error.to_string()))?;
    let raw: Vec<(&str, &[usize], Vec<u8>)> = weights
        .0
        .iter()
        .map(|(name, tensor)| {
            let bytes = tensor.data.iter().flat_map(|v| v.to_le_bytes()).collect();
            (name.as_str(), tensor.shape.as_slice(), bytes)
        })
        .collect();
    let views = raw
        .iter()
        .map(|(name, shape, bytes)| {
            let view = TensorView::new(Dtype::F32, shape.to_vec(), bytes)?;
            Ok((*name, view))
        })
        .collect::<Result<Vec<_>, safetensors::SafeTensorError>>()
        .map_err(|error| refuse(error.to_string()))?;
    let metadata = HashMap::from([(HEADER_KEY.to_owned(), header)]);
    serialize(views, Some(metadata)).map_err(|error| refuse(error.to_string()))
}

fn from_bytes(bytes: &[u8]) -> Result<(Header, Weights), String> {
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| error.to_string())?;
    let json = metadata
        .metadata()
        .as_ref()
        .and_then(|map| map.get(HEADER_KEY))
        .ok_or_else(|| format!("its header has no key {HEADER_KEY:?}"))?;
    let header: Header = serde_json::from_str(json).map_err(|error| error.to_string())?;
    if header.format != FORMAT {
        return Err(format!("its format is {:?}, not {FORMAT:?}", header.format));
    }
    let file = SafeTensors::deserialize(bytes).map_err(|error| error.to_string())?;
    let mut weights = Weights::default();
    for (name, view) in file.iter() {
        if view.dtype() != Dtype::F32 {
            return Err(format!("the tensor {name} is {:?}, not F32", view.dtype()));
        }
        let (numbers, _) = view.data().as_chunks::<4>();
        let tensor = HostTensor {
            shape: view.shape().to_vec(),
            data: numbers.iter().map(|raw| f32::from_le_bytes(*raw)).collect(),
        };
        weights.0.insert(name.to_owned(), tensor);
    }
    Ok((header, weights))
}

fn write_through(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_network_is_told_as_the_first_version_told_it_and_options_where_they_are_on() {
        let text = |config: &NetworkConfig| serde_json::to_string(&Told(config)).unwrap();
        let plain = NetworkConfig::default();
        let first = r#"{"blocks":4,"channels":32,"policy_channels":16,"value_channels":16,"value_hidden":64,"feature_set":"agz-1"}"#;
        assert_eq!(text(&plain), first);
        assert_eq!(serde_json::from_str::<NetworkConfig>(first).unwrap(), plain);
        let all = crate::fixture::everything(plain);
        assert!(text(&all).contains(r#""pooling_blocks":[1]"#), "{}", text(&all));
        assert_eq!(serde_json::from_str::<NetworkConfig>(&text(&all)).unwrap(), all);
    }
}
