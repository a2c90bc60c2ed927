//! Networks on disk: what is saved comes back, and what is damaged does not.

#![allow(clippy::unwrap_used, reason = "a test stops at its first surprise")]

use std::fs;
use std::path::{Path, PathBuf};

use tengen_network::{
    NetworkConfig, NetworkError, NetworkId, NetworkMeta, Weights, load_network, save_network,
};

fn small() -> (NetworkConfig, Weights, NetworkMeta) {
    let config = NetworkConfig { blocks: 1, channels: 4, ..NetworkConfig::default() };
    let weights = config.init_weights(3).unwrap();
    let meta = NetworkMeta { run: "nine".into(), step: 500, ..NetworkMeta::default() };
    (config, weights, meta)
}

fn save(dir: &Path) -> PathBuf {
    let (config, weights, meta) = small();
    let id = save_network(dir, &config, &weights, &meta).unwrap();
    dir.join(id.file_name())
}

/// Writes `bytes` under the name that their hash asks for.
fn save_raw(dir: &Path, bytes: &[u8]) -> PathBuf {
    let path = dir.join(NetworkId::of(bytes).file_name());
    fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn a_saved_network_comes_back_bit_for_bit_and_nothing_is_left_aside() {
    let dir = tempfile::tempdir().unwrap();
    let path = save(dir.path());
    assert_eq!(load_network(&path).unwrap(), small());
    assert_eq!(save(dir.path()), path, "equal networks are equal files");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn one_flipped_bit_anywhere_is_refused_by_the_files_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = save(dir.path());
    let whole = fs::read(&path).unwrap();
    for at in [0, 40, whole.len() / 2, whole.len() - 1] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        fs::write(&path, &bytes).unwrap();
        let error = load_network(&path).unwrap_err();
        assert!(matches!(error, NetworkError::Damaged { .. }), "{error}");
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(error.to_string().contains(&name), "{error}");
    }
}

#[test]
fn a_truncated_file_is_refused_even_under_the_name_of_its_own_hash() {
    let dir = tempfile::tempdir().unwrap();
    let path = save(dir.path());
    let whole = fs::read(&path).unwrap();
    for length in [0, 7, 100, whole.len() - 4] {
        fs::write(&path, &whole[..length]).unwrap();
        let error = load_network(&path).unwrap_err();
        assert!(matches!(error, NetworkError::Damaged { .. }), "{error}");
        let renamed = save_raw(dir.path(), &whole[..length]);
        let error = load_network(&renamed).unwrap_err();
        assert!(matches!(error, NetworkError::Format { .. }), "{error}");
    }
}

#[test]
fn a_feature_set_from_elsewhere_is_refused_by_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let mut bytes = fs::read(save(dir.path())).unwrap();
    let at = bytes.windows(5).position(|w| w == b"agz-1").unwrap();
    bytes[at..at + 5].copy_from_slice(b"moon7");
    let error = load_network(&save_raw(dir.path(), &bytes)).unwrap_err();
    assert!(error.to_string().contains("moon7"), "{error}");
}

#[test]
fn a_header_that_promises_another_depth_is_refused_by_the_tensor_it_lacks() {
    let dir = tempfile::tempdir().unwrap();
    let mut bytes = fs::read(save(dir.path())).unwrap();
    let key = br#"blocks\":1"#;
    let at = bytes.windows(key.len()).position(|w| w == key).unwrap();
    bytes[at + key.len() - 1] = b'9';
    let error = load_network(&save_raw(dir.path(), &bytes)).unwrap_err();
    assert!(error.to_string().contains("blocks.1.conv1.weight"), "{error}");
}

#[test]
fn a_number_that_is_not_finite_is_refused_on_the_way_out_and_in() {
    let dir = tempfile::tempdir().unwrap();
    let (config, mut weights, meta) = small();
    let mut bytes = fs::read(save(dir.path())).unwrap();
    let end = bytes.len();
    bytes[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    let error = load_network(&save_raw(dir.path(), &bytes)).unwrap_err();
    assert!(error.to_string().contains("not finite"), "{error}");

    weights.0.get_mut("stem.conv.weight").unwrap().data[5] = f32::INFINITY;
    let error = save_network(dir.path(), &config, &weights, &meta).unwrap_err();
    assert!(error.to_string().contains("stem.conv.weight"), "{error}");
}

#[test]
fn a_file_that_is_not_named_by_a_hash_and_a_missing_one_are_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = save(dir.path());
    let stranger = dir.path().join("best.safetensors");
    fs::copy(&path, &stranger).unwrap();
    let error = load_network(&stranger).unwrap_err();
    assert!(matches!(error, NetworkError::BadId(ref name) if name == "best"));

    fs::remove_file(&path).unwrap();
    let error = load_network(&path).unwrap_err();
    assert!(matches!(error, NetworkError::Io { .. }), "{error}");
}
