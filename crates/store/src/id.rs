//! A game's name, which follows from where it was played.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// Sixteen bytes that name a game for good: a worker that replays its outbox after
/// a crash derives the same id again, so the game is stored once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GameId(pub [u8; 16]);

/// Text that is no game id.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is not a game id: 32 hexadecimal digits are expected")]
pub struct GameIdError(String);

impl GameId {
    /// The id of game number `counter` of `worker` in the run `run_uid`: the first
    /// 16 bytes of BLAKE3 over the three, each text preceded by its length.
    #[must_use]
    pub fn derive(run_uid: &str, worker: &str, counter: u64) -> Self {
        let mut hasher = blake3::Hasher::new();
        for text in [run_uid, worker] {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        hasher.update(&counter.to_le_bytes());
        let mut id = [0; 16];
        id.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        Self(id)
    }
}

impl fmt::Display for GameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for GameId {
    type Err = GameIdError;

    fn from_str(text: &str) -> Result<Self, GameIdError> {
        let refused = || GameIdError(text.chars().take(64).collect());
        if text.len() != 32 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(refused());
        }
        let mut id = [0; 16];
        for (byte, at) in id.iter_mut().zip((0..32).step_by(2)) {
            *byte = u8::from_str_radix(&text[at..at + 2], 16).map_err(|_| refused())?;
        }
        Ok(Self(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_from_its_text() {
        let id = GameId::derive("run", "worker", 7);
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!(id.to_string().to_uppercase().parse(), Ok(id));
        for bad in ["", "00", "zz000000000000000000000000000000", "é00000000000000000000000000000"]
        {
            assert!(bad.parse::<GameId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn every_part_of_the_origin_counts() {
        let ids = [
            GameId::derive("a", "bc", 1),
            GameId::derive("ab", "c", 1),
            GameId::derive("a", "bc", 2),
            GameId::derive("a", "bd", 1),
        ];
        for (i, a) in ids.iter().enumerate() {
            assert!(ids[i + 1..].iter().all(|b| a != b));
        }
    }
}
