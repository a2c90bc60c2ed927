//! `tengen sgf info`: what a file says.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::{Value, json};
use tengen_record::sgf::{SgfError, SgfSummary, parse_trees};

use super::args::InfoArgs;
use super::files;

/// Prints each game's facts; fails if no game of the file can be read.
pub fn run(args: &InfoArgs) -> Result<ExitCode> {
    let bytes = files::read(&args.file)?;
    let games: Vec<Result<SgfSummary, SgfError>> =
        parse_trees(&bytes).into_iter().map(|tree| SgfSummary::from_tree(&tree?)).collect();
    if args.json {
        let facts: Vec<Value> = games.iter().map(facts).collect::<Result<_>>()?;
        println!("{}", Value::Array(facts));
    } else {
        for (number, game) in (1..).zip(&games) {
            match game {
                Ok(game) => print_game(number, game),
                Err(error) => println!("game {number}: {error}"),
            }
        }
    }
    let read = games.iter().flatten().count();
    if read == 0 {
        eprintln!("error: no game of {} can be read", args.file.display());
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

fn facts(game: &Result<SgfSummary, SgfError>) -> Result<Value> {
    Ok(match game {
        Ok(summary) => serde_json::to_value(summary)?,
        Err(error) => {
            let place = error.place();
            json!({ "error": error.message(), "line": place.line, "column": place.column })
        }
    })
}

fn print_game(number: usize, game: &SgfSummary) {
    let [width, height] = game.size;
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "not stated".to_owned());
    println!(
        "game {number}: {width}x{height}, komi {}, handicap {}, rules {}, result {}",
        game.komi,
        game.handicap,
        known(&game.rules),
        known(&game.result)
    );
    let players = &game.players;
    if !(players.black.is_empty() && players.white.is_empty()) {
        println!("  Black {}, White {}", players.black, players.white);
    }
    println!(
        "  {} moves, {} nodes, {} variations, {} stones set up, {} first",
        game.moves.len(),
        game.nodes,
        game.variations,
        game.setup.black.len() + game.setup.white.len(),
        game.to_play
    );
    for note in &game.notes {
        println!("  note: {note}");
    }
    if let Some(illegal) = &game.illegal {
        println!("  line {}, column {}: {}", illegal.line, illegal.column, illegal.error);
    }
}
