//! The games of a match on disk: one file a game, written aside and renamed.

use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tengen_evaluator::Duel;
use tengen_record::{GameRecord, decode, encode};

/// A finished game of a match.
#[derive(Clone, Debug)]
pub struct StoredGame {
    /// The opening pair, from 0.
    pub pair: u32,
    /// 0 if the first player is Black.
    pub colour: u8,
    /// The game.
    pub record: GameRecord,
    /// Seconds that either player thought; `None` where games ran side by side.
    pub seconds: Option<[f64; 2]>,
    /// Moves that either player chose.
    pub chosen: [u32; 2],
    /// What went wrong, if something did.
    pub fault: Option<String>,
    /// Both sides finished the game, but do not agree who won.
    pub disputed: bool,
}

/// The same as it stands in a file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    pair: u32,
    colour: u8,
    /// As in SGF's RE; for readers, the record decides.
    result: String,
    seconds: Option<[f64; 2]>,
    chosen: [u32; 2],
    fault: Option<String>,
    disputed: bool,
    /// The game's blob (docs/file-formats.md), in hex.
    record: String,
}

impl StoredGame {
    /// A game of two house players, played among others.
    pub fn of_batch(pair: u32, colour: u8, record: GameRecord) -> StoredGame {
        StoredGame {
            pair,
            colour,
            record,
            seconds: None,
            chosen: [0; 2],
            fault: None,
            disputed: false,
        }
    }

    /// A game with a program in it.
    pub fn of_duel((pair, colour): (u32, u8), duel: Duel) -> StoredGame {
        let disputed = matches!(duel.fault, Some(tengen_evaluator::ProgramFault::Disputed { .. }));
        StoredGame {
            pair,
            colour,
            record: duel.record,
            seconds: Some(duel.seconds),
            chosen: duel.moves,
            fault: duel.fault.map(|fault| fault.to_string()),
            disputed,
        }
    }

    /// Its place in the match.
    pub fn slot(&self) -> (u32, u8) {
        (self.pair, self.colour)
    }

    fn read(text: &str) -> Result<StoredGame> {
        let written: Written = serde_json::from_str(text)?;
        let record = decode(&unhex(&written.record)?)?;
        record.validate()?;
        let Written { pair, colour, seconds, chosen, fault, disputed, .. } = written;
        Ok(StoredGame { pair, colour, record, seconds, chosen, fault, disputed })
    }

    fn write(&self) -> Result<String> {
        Ok(serde_json::to_string(&Written {
            pair: self.pair,
            colour: self.colour,
            result: self.record.outcome.result_text(),
            seconds: self.seconds,
            chosen: self.chosen,
            fault: self.fault.clone(),
            disputed: self.disputed,
            record: hex(&encode(&self.record)),
        })?)
    }
}

/// The folder of one match, owned by this process while it lives.
pub struct MatchFolder {
    path: PathBuf,
    _lock: File,
}

impl MatchFolder {
    /// The match that `identity` describes: the same players, game, visits, openings and seed find
    /// the same folder, so a match that was cut goes on when it is asked for again. `fresh` drops
    /// the games it has.
    pub fn open(
        root: &Path,
        a: &str,
        b: &str,
        identity: &Value,
        fresh: bool,
    ) -> Result<MatchFolder> {
        let text = serde_json::to_string_pretty(identity)?;
        let key = &blake3::hash(text.as_bytes()).to_hex()[..12];
        let path = root.join(format!("{}-{}-{key}", plain(a), plain(b)));
        let games = path.join("games");
        let cannot = || format!("cannot make the match's folder {}", path.display());
        fs::create_dir_all(&games).with_context(cannot)?;
        let lock = File::create(path.join("lock")).with_context(cannot)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                bail!("this match is being played by another process, in {}", path.display())
            }
            Err(TryLockError::Error(error)) => return Err(error).with_context(cannot),
        }
        if fresh {
            fs::remove_dir_all(&games).with_context(cannot)?;
            fs::create_dir_all(&games).with_context(cannot)?;
        }
        let folder = MatchFolder { path, _lock: lock };
        folder.replace(&folder.path.join("match.json"), &text)?;
        Ok(folder)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The games stored so far of the first `planned` slots, in slot order. A file that cannot be
    /// read is reported and its game played again.
    pub fn load(&self, planned: u32) -> Result<Vec<StoredGame>> {
        let mut games = Vec::new();
        for entry in fs::read_dir(self.path.join("games"))? {
            let path = entry?.path();
            if path.extension().is_none_or(|ending| ending != "json") {
                continue;
            }
            match fs::read_to_string(&path).map_err(Into::into).and_then(|t| StoredGame::read(&t)) {
                Ok(game) if 2 * game.pair < planned => games.push(game),
                Ok(_) => {}
                Err(error) => eprintln!("{} is played again: {error:#}", path.display()),
            }
        }
        games.sort_by_key(StoredGame::slot);
        Ok(games)
    }

    /// Stores a game; once this returns no kill loses it.
    pub fn store(&mut self, game: &StoredGame) -> Result<()> {
        let name = format!("{:05}-{}.json", game.pair, game.colour);
        self.replace(&self.path.join("games").join(name), &game.write()?)
    }

    fn replace(&self, path: &Path, text: &str) -> Result<()> {
        let aside = path.with_extension("tmp");
        let write = || -> std::io::Result<()> {
            let mut file = File::create(&aside)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&aside, path)
        };
        write().with_context(|| format!("cannot write {}", path.display()))
    }
}

/// A name without what folders take amiss.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).take(24).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Result<Vec<u8>> {
    let digits: Option<Vec<u8>> = text.chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect();
    match digits {
        Some(digits) if digits.len().is_multiple_of(2) => {
            Ok(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
        }
        _ => bail!("the record is no hex text"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive_hex_and_junk_is_refused() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(unhex(&hex(&bytes)).unwrap(), bytes);
        assert!(unhex("abc").is_err() && unhex("zz").is_err());
    }
}
