//! A place of blobs as written on a command line.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::{BlobError, BlobStore, FolderBlobs};

/// What files and objects of networks end in, so that a place and a run's `networks/` look alike.
pub const EXTENSION: &str = "safetensors";

/// `folder:PATH`, `file:///PATH`, or `s3://BUCKET/PREFIX`. No place names a password: those of a bucket come
/// from the environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlobPlace {
    /// A folder, here or mounted.
    Folder(PathBuf),
    /// Objects whose keys begin with `prefix` and a slash.
    Bucket {
        /// The bucket's name.
        bucket: String,
        /// Without slashes at its ends; not empty.
        prefix: String,
    },
}

impl FromStr for BlobPlace {
    type Err = BlobError;

    fn from_str(text: &str) -> Result<Self, BlobError> {
        let refused =
            |why: &str| BlobError::Place(format!("{text:?} is no place of networks: {why}"));
        if let Some(path) = text.strip_prefix("folder:") {
            return match path {
                "" => Err(refused("write folder:PATH")),
                path => Ok(Self::Folder(path.into())),
            };
        }
        if let Some(path) = text.strip_prefix("file://") {
            return match path.strip_prefix('/') {
                None | Some("") => Err(refused("write file:///PATH")),
                Some(_) => Ok(Self::Folder(path.into())),
            };
        }
        let Some(rest) = text.strip_prefix("s3://") else {
            return Err(refused("write folder:PATH, file:///PATH or s3://BUCKET/PREFIX"));
        };
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let prefix = prefix.trim_matches('/');
        if bucket.contains('@') || bucket.contains(':') {
            return Err(refused(
                "credentials and endpoint come from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and \
                 AWS_ENDPOINT_URL",
            ));
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if !(3..=63).contains(&bucket.len()) || !bucket.chars().all(plain) {
            return Err(refused("a bucket's name has 3 to 63 of A-Z a-z 0-9 . _ -"));
        }
        let segments = prefix
            .split('/')
            .all(|it| !it.is_empty() && it.chars().all(plain) && it != "." && it != "..");
        if !segments {
            return Err(refused(
                "after the bucket comes a prefix of the run's own, of A-Z a-z 0-9 . _ - and single slashes",
            ));
        }
        Ok(Self::Bucket { bucket: bucket.to_owned(), prefix: prefix.to_owned() })
    }
}

impl fmt::Display for BlobPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(path) => write!(f, "folder:{}", path.display()),
            Self::Bucket { bucket, prefix } => write!(f, "s3://{bucket}/{prefix}"),
        }
    }
}

impl BlobPlace {
    /// Goes there. A folder must exist: one that is made where a disk should be mounted would be
    /// everybody's own.
    ///
    /// # Errors
    /// [`BlobError::Place`] for a folder that is not there, a bucket without the feature `s3`, or an
    /// environment that does not say how to reach it.
    pub fn open(&self) -> Result<Box<dyn BlobStore>, BlobError> {
        match self {
            Self::Folder(path) if path.is_dir() => Ok(Box::new(FolderBlobs::new(path, EXTENSION))),
            Self::Folder(path) => Err(BlobError::Place(format!(
                "there is no folder {}: make it, or mount the disk that it lies on",
                path.display()
            ))),
            #[cfg(feature = "s3")]
            Self::Bucket { bucket, prefix } => {
                Ok(Box::new(crate::Bucket::from_env(bucket, prefix)?))
            }
            #[cfg(not(feature = "s3"))]
            Self::Bucket { .. } => Err(BlobError::Place(format!(
                "{self}: this program was built without S3; build it with `cargo build --release -p \
                 tengen-cli --features s3`, or use folder:PATH"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_read_back_as_they_are_written() {
        for text in ["folder:/srv/nets", "folder:nets", "s3://bucket-1/runs/9x9", "s3://abc/x"] {
            assert_eq!(text.parse::<BlobPlace>().unwrap().to_string(), text);
        }
        let file: BlobPlace = "file:///srv/nets".parse().unwrap();
        assert_eq!(file, BlobPlace::Folder("/srv/nets".into()));
        let slashes: BlobPlace = "s3://bucket/runs/9x9/".parse().unwrap();
        assert_eq!(slashes.to_string(), "s3://bucket/runs/9x9");
    }

    #[test]
    fn what_is_no_place_is_refused_with_what_to_write() {
        let cases = [
            ("nets", "folder:PATH"),
            ("http://host/nets", "folder:PATH"),
            ("folder:", "folder:PATH"),
            ("file://nets", "file:///PATH"),
            ("s3://bucket", "prefix"),
            ("s3://bucket/", "prefix"),
            ("s3://bucket/a//b", "prefix"),
            ("s3://bucket/../x", "prefix"),
            ("s3://x/y", "3 to 63"),
            ("s3://key:secret@bucket/x", "AWS_ACCESS_KEY_ID"),
        ];
        for (text, told) in cases {
            let refused = text.parse::<BlobPlace>().unwrap_err().to_string();
            assert!(refused.contains(told), "{refused}");
        }
    }

    #[test]
    fn a_folder_that_is_not_mounted_is_not_made() {
        let place = BlobPlace::Folder("/nowhere/nets".into());
        let refused = place.open().err().unwrap().to_string();
        assert!(refused.contains("mount"), "{refused}");
    }

    #[cfg(not(feature = "s3"))]
    #[test]
    fn a_bucket_without_the_feature_is_refused_with_the_remedy() {
        let place: BlobPlace = "s3://bucket/run".parse().unwrap();
        let refused = place.open().err().unwrap().to_string();
        assert!(refused.contains("--features s3"), "{refused}");
    }
}
