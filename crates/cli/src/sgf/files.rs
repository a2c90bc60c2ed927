//! Finding and reading game files.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// A file's bytes; `-` is standard input.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).context("cannot read standard input")?;
        return Ok(bytes);
    }
    std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

/// The files named, and every `*.sgf` in the folders named and below them, in the order of their
/// names.
pub fn find(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            below(path, &mut found)?;
        } else if path.is_file() {
            found.push(path.clone());
        } else {
            bail!("no file or folder at {}", path.display());
        }
    }
    if found.is_empty() {
        bail!("no *.sgf files in {}", paths[0].display());
    }
    Ok(found)
}

fn below(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    let told = || format!("cannot read the folder {}", folder.display());
    let mut entries: Vec<_> = std::fs::read_dir(folder)
        .with_context(told)?
        .collect::<Result<_, _>>()
        .with_context(told)?;
    entries.sort_by_key(|entry| entry.file_name());
    for entry in entries {
        let (path, kind) = (entry.path(), entry.file_type().with_context(told)?);
        if kind.is_dir() {
            below(&path, found)?;
        } else if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("sgf")) {
            found.push(path);
        }
    }
    Ok(())
}
