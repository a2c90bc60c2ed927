//! The seeds of a fuzz target, for the tests that read them on every run.

use std::path::Path;

/// Name and bytes of each seed of `target`, in order of their names.
pub fn seeds(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "no seeds for {target}");
    let read = |path: &std::path::PathBuf| std::fs::read(path).unwrap();
    files.iter().map(|path| (path.display().to_string(), read(path))).collect()
}
