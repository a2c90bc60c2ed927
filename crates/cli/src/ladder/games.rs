//! The ladder's own games: one line of JSON each, appended and synced.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use tengen_evaluator::PlayedGame;

use crate::matches::StoredGame;

/// One game between two players of the ladder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GameLine {
    /// The first player's id.
    pub a: String,
    /// The second player's.
    pub b: String,
    /// The opening pair.
    pub pair: u32,
    /// 0 if `a` had Black.
    pub colour: u8,
    /// Those of `a`; `None` after a fault, which rates nobody.
    pub points: Option<f32>,
    /// As in SGF's RE.
    pub result: String,
    /// Moves of the game.
    pub moves: usize,
}

impl GameLine {
    /// A game as the ladder remembers it.
    pub fn of(a: &str, b: &str, game: &StoredGame) -> GameLine {
        GameLine {
            a: a.to_owned(),
            b: b.to_owned(),
            pair: game.pair,
            colour: game.colour,
            points: PlayedGame::of(game.pair, game.colour, &game.record).scored(),
            result: game.record.outcome.result_text(),
            moves: game.record.turns.len(),
        }
    }
}

/// All lines so far, and the file they are appended to.
pub struct Games {
    file: File,
    lines: Vec<GameLine>,
}

impl Games {
    /// Opens or makes `FOLDER/games.jsonl` for this process alone. A last line that a kill cut
    /// short is taken off; its game is played again.
    pub fn open(folder: &Path) -> Result<Games> {
        let path = folder.join("games.jsonl");
        let cannot = || format!("the ladder's games {}", path.display());
        std::fs::create_dir_all(folder).with_context(cannot)?;
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(&path)
            .with_context(cannot)?;
        if file.try_lock().is_err() {
            bail!("{} belongs to another `tengen ladder` now", path.display());
        }
        let mut text = String::new();
        file.read_to_string(&mut text).with_context(cannot)?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        file.set_len(whole as u64).with_context(cannot)?;
        file.seek(SeekFrom::End(0)).with_context(cannot)?;
        let lines = text[..whole]
            .lines()
            .map(serde_json::from_str)
            .collect::<std::result::Result<_, _>>()
            .with_context(cannot)?;
        Ok(Games { file, lines })
    }

    /// Every game, oldest first.
    pub fn lines(&self) -> &[GameLine] {
        &self.lines
    }

    /// The slots that `a` and `b` have played.
    pub fn slots(&self, a: &str, b: &str) -> Vec<(u32, u8)> {
        let between = |line: &&GameLine| line.a == a && line.b == b;
        self.lines.iter().filter(between).map(|line| (line.pair, line.colour)).collect()
    }

    /// Remembers a game; once this returns no kill loses it.
    pub fn add(&mut self, line: GameLine) -> Result<()> {
        let text = serde_json::to_string(&line)? + "\n";
        self.file.write_all(text.as_bytes()).context("the ladder's games")?;
        self.file.sync_data().context("the ladder's games")?;
        self.lines.push(line);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_cut_short_by_a_kill_is_played_again() {
        let folder = tempfile::tempdir().unwrap();
        let line = GameLine {
            a: "x".into(),
            b: "y".into(),
            pair: 0,
            colour: 0,
            points: Some(1.0),
            result: "B+2.5".into(),
            moves: 9,
        };
        let mut games = Games::open(folder.path()).unwrap();
        games.add(line.clone()).unwrap();
        games.file.write_all(b"{\"a\":\"x\",\"b").unwrap();
        drop(games);
        let mut games = Games::open(folder.path()).unwrap();
        assert_eq!(games.lines(), std::slice::from_ref(&line));
        games.add(GameLine { colour: 1, ..line }).unwrap();
        drop(games);
        assert_eq!(Games::open(folder.path()).unwrap().slots("x", "y"), [(0, 0), (0, 1)]);
    }
}
