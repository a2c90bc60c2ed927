//! `tengen net` from the shell.

#![allow(clippy::unwrap_used, reason = "a test stops at its first surprise")]

mod common;

use std::fs;
use std::path::Path;

use common::{json, tengen};
use serde_json::Value;
use tempfile::tempdir;
use tengen_network::{NetworkConfig, NetworkMeta, save_network};

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn a_net_is_described_with_its_heads_and_its_training_memory() {
    let folder = tempdir().unwrap();
    let config = folder.path().join("config.toml");
    let network = "[network]\nblocks = 4\nchannels = 32\npooling_blocks = [1, 3]\nscore = true\n";
    fs::write(&config, format!("{network}[trainer]\nbatch_size = 64\n")).unwrap();
    let facts: Value = json(&["net", "describe", "--config", text(&config), "--json"]);
    assert_eq!(facts["heads"].as_array().unwrap().len(), 3, "{facts}");
    assert_eq!(facts["training_memory"]["batch"], 64);
    assert!(facts["training_memory"]["total"].as_u64() > facts["weight_bytes"].as_u64());
    fs::write(&config, network.replace("[1, 3]", "[1, 4]")).unwrap();
    let refused = tengen(&["net", "describe", "--config", text(&config)]);
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("network.pooling_blocks"));
}

#[test]
fn a_net_is_exported_once_and_what_is_no_network_is_not_imported() {
    let folder = tempdir().unwrap();
    let config = NetworkConfig { blocks: 1, channels: 8, ownership: true, ..Default::default() };
    let weights = config.init_weights(1).unwrap();
    let id = save_network(folder.path(), &config, &weights, &NetworkMeta::default()).unwrap();
    let net = folder.path().join(id.file_name());
    let onnx = folder.path().join("net.onnx");
    let export = || tengen(&["net", "export", text(&net), "--onnx", text(&onnx)]);
    assert!(export().status.success());
    assert!(fs::read(&onnx).unwrap().windows(9).any(|w| w == b"ownership"));
    let again = export();
    assert!(!again.status.success());
    assert!(String::from_utf8_lossy(&again.stderr).contains("exists already"));
    let foreign = tengen(&["net", "import", text(&onnx), "--to", text(folder.path())]);
    assert!(!foreign.status.success());
    assert!(String::from_utf8_lossy(&foreign.stderr).contains("not a PyTorch network"));
}
