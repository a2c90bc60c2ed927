//! `tengen sgf score`: a position counted.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use serde_json::json;
use tengen_record::sgf::{Position, SgfGame, parse_collection};
use tengen_rules::{Color, Komi, Move, Point, Rules, propose_dead};

use super::args::ScoreArgs;
use super::files;

/// Prints winner, totals and the stones taken as dead.
pub fn run(args: &ScoreArgs) -> Result<ExitCode> {
    let game = the_game(args)?;
    let rules = match (&args.rules, game.rules) {
        (Some(name), _) => Rules::parse_any(name)?,
        (None, Some(rules)) => rules,
        (None, None) => bail!("the game names no rules that are known here: give --rules"),
    };
    rules.playable()?;
    let komi = match args.komi {
        Some(points) => Komi::from_points(points)?,
        None => game.komi.unwrap_or_default(),
    };
    for note in &game.notes {
        eprintln!("note: {note}");
    }
    let moves = args.moves.unwrap_or(game.moves.len());
    if moves > game.moves.len() {
        bail!("--move {moves}: the main line has {} moves", game.moves.len());
    }
    // Legality is by the rules of the game itself; only the counting is by those asked for.
    let position = game.position(game.rules.unwrap_or(rules), komi, moves)?;
    let dead = dead_stones(args.dead.as_deref(), &position)?;
    let handicap = args.handicap.unwrap_or_else(|| game.handicap_stones());
    let sheet = position.score(rules, komi, handicap, &dead);

    let (black, white) = (sheet.points(Color::Black), sheet.points(Color::White));
    let winner = sheet.winner().map_or("draw".to_owned(), |color| color.letter().to_string());
    let dead: Vec<String> =
        sheet.dead.iter().map(|&point| game.size.vertex(Move::Play(point))).collect();
    if args.json {
        println!(
            "{}",
            json!({
                "winner": winner, "margin": (black - white).abs(), "black": black, "white": white,
                "result": sheet.result_text(), "dead": dead, "rules": rules.to_string(),
                "komi": komi.points(), "handicap": handicap, "moves": moves,
                "prisoners": { "black": sheet.prisoners[0], "white": sheet.prisoners[1] },
            })
        );
    } else {
        println!("{}: Black {black}, White {white} ({rules}, komi {komi})", sheet.result_text());
        if !dead.is_empty() {
            println!("dead: {}", dead.join(" "));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn the_game(args: &ScoreArgs) -> Result<SgfGame> {
    let mut games = parse_collection(&files::read(&args.file)?);
    let count = games.len();
    if args.game == 0 || args.game > count {
        bail!("--game {}: {} has games 1 to {count}", args.game, args.file.display());
    }
    games.swap_remove(args.game - 1).with_context(|| format!("game {}", args.game))
}

/// The stones named, each with its whole chain.
fn dead_stones(named: Option<&str>, position: &Position) -> Result<Vec<Point>> {
    let state = position.state();
    let Some(named) = named else { return Ok(Vec::new()) };
    if named.eq_ignore_ascii_case("auto") {
        return Ok(propose_dead(state));
    }
    let mut dead = Vec::new();
    for vertex in named.split([',', ' ']).filter(|vertex| !vertex.is_empty()) {
        let point = state.size().parse_point(vertex)?;
        if state.stone(point).is_none() {
            bail!("--dead {vertex}: no stone lies there");
        }
        dead.extend(state.chain(point));
    }
    dead.sort_unstable();
    dead.dedup();
    Ok(dead)
}
