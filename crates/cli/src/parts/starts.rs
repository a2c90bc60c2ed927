//! The positions that games begin from, read from the file that `selfplay.start_positions` names.

use std::path::Path;

use anyhow::{Context, Result, bail};
use tengen_evaluator::parse_openings;
use tengen_record::sgf::parse_collection;
use tengen_selfplay::{GameSettings, StartPosition};

/// Reads every position of the file: of an `.sgf` file the last one of each game's main line, of any
/// other the one after each line's moves, as GTP vertices. Only the stones, the moves and the turn
/// are taken; rules and komi are the run's.
pub fn read(path: &Path, settings: &GameSettings) -> Result<Vec<StartPosition>> {
    let told = || format!("selfplay.start_positions = {}", path.display());
    let bytes = std::fs::read(path).with_context(told)?;
    let starts = if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("sgf")) {
        of_sgf(&bytes, settings).with_context(told)?
    } else {
        let text = String::from_utf8(bytes).with_context(told)?;
        let book = parse_openings(&text, &settings.initial_state()).with_context(told)?;
        book.into_iter().map(StartPosition::of_moves).collect()
    };
    for (index, start) in starts.iter().enumerate() {
        start
            .state(settings)
            .with_context(|| format!("position {}", index + 1))
            .with_context(told)?;
    }
    Ok(starts)
}

fn of_sgf(bytes: &[u8], settings: &GameSettings) -> Result<Vec<StartPosition>> {
    let mut starts = Vec::new();
    for (index, game) in parse_collection(bytes).into_iter().enumerate() {
        let number = || format!("game {}", index + 1);
        let record = game.and_then(|game| game.to_record(settings.rules)).with_context(number)?;
        starts.push(StartPosition::of_game(&record, settings).with_context(number)?);
    }
    if starts.is_empty() {
        bail!("it holds no game");
    }
    Ok(starts)
}

#[cfg(test)]
mod tests {
    use tengen_rules::{BoardSize, Color, Komi, Rules};

    use super::*;

    fn settings() -> GameSettings {
        GameSettings {
            size: BoardSize::square(5).unwrap(),
            rules: Rules::tromp_taylor(),
            komi: Komi::from_points(0.5).unwrap(),
        }
    }

    fn read_text(name: &str, text: &str) -> Result<Vec<StartPosition>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        read(&path, &settings())
    }

    #[test]
    fn lines_of_vertices_and_main_lines_of_games_are_read() {
        let lines = read_text("book.txt", "# fuseki\nC3 B2\n\nC3 pass D4 # tenuki\n").unwrap();
        assert_eq!(lines.iter().map(|s| s.moves.len()).collect::<Vec<_>>(), [2, 3]);
        let games = "(;SZ[5]AB[bb]AW[cc][dd]PL[W];W[aa](;B[ba])(;B[ab]))(;SZ[5];B[cc])";
        let games = read_text("positions.sgf", games).unwrap();
        assert_eq!(games.len(), 2);
        assert_eq!((games[0].setup_white.len(), games[0].moves.len()), (2, 2));
        assert_eq!(games[0].first_to_play, Color::White);
        assert_eq!(games[0].state(&settings()).unwrap().to_play(), Color::White);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (name, text, part) in [
            ("a.txt", "C3 C3", "line 1"),
            ("a.txt", "", "no openings"),
            ("a.sgf", "(;SZ[9];B[cc])", "its board is 9x9, the run's 5x5"),
            ("a.sgf", "(;SZ[5];B[cc];W[cc])", "game 1"),
            ("a.sgf", "(;SZ[5];B[];W[])", "position 1: the game is over there"),
            ("a.sgf", "", "no game"),
        ] {
            let error = format!("{:#}", read_text(name, text).unwrap_err());
            assert!(error.contains("selfplay.start_positions"), "{error}");
            assert!(error.contains(part), "{part:?} is missing in: {error}");
        }
    }
}
