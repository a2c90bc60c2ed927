//! Writing so that a crash at any instruction leaves the old or the new, never a mixture.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use crate::TrainError;

/// Writes a file and has the disk confirm it.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), TrainError> {
    let mut file = File::create(path).map_err(TrainError::io(path))?;
    file.write_all(bytes).map_err(TrainError::io(path))?;
    file.sync_all().map_err(TrainError::io(path))
}

/// Has the disk confirm the entries of a folder: a rename is durable only after this.
pub(crate) fn sync_folder(path: &Path) -> Result<(), TrainError> {
    File::open(path).and_then(|folder| folder.sync_all()).map_err(TrainError::io(path))
}
