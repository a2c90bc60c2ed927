//! A network's name: the hash of its file.

use std::fmt;
use std::str::FromStr;

use crate::NetworkError;

/// The BLAKE3 hash of a network file's bytes, as 64 lower-case hexadecimal digits. Two networks
/// have one id only if config, weights and meta are the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NetworkId(String);

impl NetworkId {
    /// The id of a file with these `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(blake3::hash(bytes).to_hex().to_string())
    }

    /// The 64 digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of the network's file in its folder.
    #[must_use]
    pub fn file_name(&self) -> String {
        format!("{}.safetensors", self.0)
    }
}

impl fmt::Display for NetworkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for NetworkId {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let digit = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
        if text.len() == 64 && text.bytes().all(digit) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NetworkError::BadId(text.to_owned()))
        }
    }
}
