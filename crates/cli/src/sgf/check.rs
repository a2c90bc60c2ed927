//! `tengen sgf check`: every variation replayed.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use serde_json::{Value, json};
use tengen_record::sgf::{SgfError, check_tree, parse_trees};
use tengen_rules::Rules;

use super::args::CheckArgs;
use super::files;

/// A problem and where it is.
struct Problem {
    file: String,
    game: usize,
    error: SgfError,
}

/// Fails if there is a problem.
pub fn run(args: &CheckArgs) -> Result<ExitCode> {
    let rules = Rules::parse_any(&args.rules)?;
    let files = files::find(&args.paths)?;
    let (mut games, mut moves, mut problems) = (0usize, 0usize, Vec::new());
    for path in &files {
        let bytes = files::read(path)?;
        for (number, tree) in (1..).zip(parse_trees(&bytes)) {
            games += 1;
            let found = match tree.and_then(|tree| check_tree(&tree, rules)) {
                Ok(check) => {
                    moves += check.moves;
                    check.problems
                }
                Err(error) => vec![error],
            };
            let problem = |error| Problem { file: name(path), game: number, error };
            problems.extend(found.into_iter().map(problem));
        }
    }
    if args.json {
        let list: Vec<Value> = problems.iter().map(facts).collect();
        let ok = list.is_empty();
        println!(
            "{}",
            json!({ "ok": ok, "files": files.len(), "games": games, "moves": moves,
                    "problems": list })
        );
    } else {
        for Problem { file, game, error } in &problems {
            println!("{file}: game {game}: {error}");
        }
        let word = if problems.is_empty() { "sound" } else { "not sound" };
        println!(
            "{word}: {} files, {games} games, {moves} moves, {} problems",
            files.len(),
            problems.len()
        );
    }
    Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn name(path: &Path) -> String {
    path.display().to_string()
}

fn facts(problem: &Problem) -> Value {
    let (place, error) = (problem.error.place(), &problem.error);
    let (number, mv) = error.illegal_move().unzip();
    json!({
        "file": problem.file, "game": problem.game, "node": error.node(), "number": number,
        "move": mv, "line": place.line, "column": place.column, "error": error.message(),
    })
}
