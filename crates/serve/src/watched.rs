//! A file that may change under a running server.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A file changed so lately may change again without its time of change telling.
const YOUNG: Duration = Duration::from_secs(1);

/// Tells when to read a file again.
#[derive(Debug)]
pub(crate) struct Watched {
    path: PathBuf,
    seen: Option<(SystemTime, u64)>,
}

impl Watched {
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), seen: None }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file may be another one than when this was last asked; the first time it is.
    pub fn changed(&mut self) -> bool {
        let facts =
            std::fs::metadata(&self.path).and_then(|meta| Ok((meta.modified()?, meta.len())));
        let Ok((modified, length)) = facts else {
            // Gone, or out of reach: whoever reads it is told.
            self.seen = None;
            return true;
        };
        let same = self.seen == Some((modified, length));
        let age = SystemTime::now().duration_since(modified).unwrap_or_default();
        self.seen = (age >= YOUNG).then_some((modified, length));
        !same
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_file_is_read_once_and_a_young_one_again_and_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "a").unwrap();
        let mut watched = Watched::new(&path);
        assert!(watched.changed() && watched.changed());
        let hour_ago = SystemTime::now() - Duration::from_secs(3600);
        let file = std::fs::File::options().append(true).open(&path).unwrap();
        file.set_modified(hour_ago).unwrap();
        assert!(watched.changed());
        assert!(!watched.changed() && !watched.changed());
        file.set_modified(hour_ago + YOUNG).unwrap();
        assert!(watched.changed() && !watched.changed());
        std::fs::remove_file(&path).unwrap();
        assert!(watched.changed() && watched.changed());
    }
}
