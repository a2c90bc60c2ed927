//! `tengen watch`: a game of a running run, drawn in the terminal with what the search thinks.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::{Value, json};
use tengen_record::{GameRecord, SearchRecord, decode};
use tengen_rules::{Color, GameState, Move};

use crate::players::short;
use crate::run_dir::RunDir;
use crate::stop::Stop;

/// A live file older than this is of a run that has stopped.
const STALE: Duration = Duration::from_secs(30);
/// Moves of the policy that are named.
const NAMED: usize = 5;

/// `tengen watch`.
#[derive(Debug, Args)]
pub struct WatchArgs {
    /// The run's folder.
    #[arg(long)]
    pub run: PathBuf,
    /// Draw once and end.
    #[arg(long)]
    pub once: bool,
    /// Seconds between two looks.
    #[arg(long, default_value_t = 0.5)]
    pub every: f64,
    /// A JSON object a look on standard output, in place of the drawing.
    #[arg(long)]
    pub json: bool,
}

/// A game and where it comes from.
struct Seen {
    record: GameRecord,
    /// Whether it is being played now; else it is the newest finished one.
    live: bool,
}

/// Draws until Ctrl-C, or once.
pub fn run(args: &WatchArgs) -> Result<()> {
    if !(0.05..=3600.0).contains(&args.every) {
        bail!("--every is {}, but must be 0.05 to 3600 seconds", args.every);
    }
    let dir = RunDir::new(&args.run);
    let stop = Stop::install(0.0)?;
    let clear = std::io::stdout().is_terminal() && !args.json && !args.once;
    let mut drawn = String::new();
    loop {
        let text = match look(&dir)? {
            Some(seen) if args.json => facts(&seen)?.to_string(),
            Some(seen) => draw(&seen)?,
            None if args.once => bail!("no game to see in {} yet", args.run.display()),
            None => "waiting for the first game".to_owned(),
        };
        if text != drawn {
            let home = if clear { "\x1b[H\x1b[2J" } else { "" };
            let mut out = std::io::stdout().lock();
            writeln!(out, "{home}{text}").and_then(|()| out.flush()).or_else(
                |error| match error.kind() {
                    std::io::ErrorKind::BrokenPipe => std::process::exit(0),
                    _ => Err(error),
                },
            )?;
            drawn = text;
        }
        if args.once || stop.now() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_secs_f64(args.every));
    }
}

/// The newest game in play, else the newest finished one.
fn look(dir: &RunDir) -> Result<Option<Seen>> {
    if let Some(path) = newest_live(dir.path()) {
        let bytes = std::fs::read(&path).with_context(|| path.display().to_string())?;
        let record = decode(&bytes).with_context(|| path.display().to_string())?;
        return Ok(Some(Seen { record, live: true }));
    }
    let (store, _) = dir.open_existing()?;
    let last = store.counts()?.last_seq;
    let games = store.games_in(last.saturating_sub(1), last)?;
    Ok(games.into_iter().next_back().map(|game| Seen { record: game.record, live: false }))
}

/// The live file written last, if that was a moment ago.
fn newest_live(run: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(run).ok()?.filter_map(Result::ok);
    let written = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let is_live = name.starts_with("live-") && name.ends_with(".game");
        is_live.then_some((entry.metadata().ok()?.modified().ok()?, entry.path()))
    });
    let (at, path) = written.max()?;
    let age = SystemTime::now().duration_since(at).unwrap_or_default();
    (age < STALE).then_some(path)
}

/// The position after the last move, and the last search with the position it was made in.
struct Standing<'a> {
    now: GameState,
    searched: Option<(GameState, &'a SearchRecord)>,
}

fn standing(record: &GameRecord) -> Result<Standing<'_>> {
    let mut now = record.initial_state()?;
    let mut searched = None;
    for (index, turn) in record.turns.iter().enumerate() {
        if let Some(search) = &turn.search {
            searched = Some((now.clone(), search));
        }
        now.play(turn.mv).with_context(|| format!("turn {index}"))?;
    }
    Ok(Standing { now, searched })
}

/// The likeliest moves of a search's policy, best first, with their shares.
fn policy(search: &SearchRecord) -> Vec<(usize, f64)> {
    let total: f64 = search.policy.iter().map(|&(_, weight)| f64::from(weight)).sum();
    let mut moves: Vec<(usize, f64)> = search
        .policy
        .iter()
        .map(|&(action, weight)| (usize::from(action), f64::from(weight) / total.max(1.0)))
        .collect();
    moves.sort_by(|a, b| b.1.total_cmp(&a.1));
    moves.truncate(NAMED);
    moves
}

fn for_black(state: &GameState, search: &SearchRecord) -> f32 {
    if state.to_play() == Color::Black { search.root_value } else { -search.root_value }
}

fn draw(seen: &Seen) -> Result<String> {
    let record = &seen.record;
    let Standing { now, searched } = standing(record)?;
    let state = if seen.live { "in play" } else { "finished, nothing is in play" };
    let mut text = format!(
        "{}x{}  komi {}  network {}  {state}\n\n{}\n",
        record.size.width(),
        record.size.height(),
        record.komi.points(),
        short(&record.players[0]),
        board(&now, record.turns.last().map(|turn| turn.mv)),
    );
    let vertex = |mv: Move| record.size.vertex(mv);
    if let Some(turn) = record.turns.last() {
        let by = record.color_at(record.turns.len() - 1);
        text += &format!("move {}: {by:?} {}\n", record.turns.len(), vertex(turn.mv));
    }
    if let Some((before, search)) = searched {
        let value = for_black(&before, search);
        let moves: Vec<String> = policy(search)
            .into_iter()
            .map(|(action, share)| {
                format!("{} {:.0} %", vertex(record.size.move_at(action)), 100.0 * share)
            })
            .collect();
        text += &format!(
            "value for Black {value:+.2} ({:.0} % to win) after {} visits{}\npolicy: {}\n",
            50.0 * (1.0 + value),
            search.visits,
            if search.is_target { ", a target" } else { "" },
            moves.join("  "),
        );
    }
    if !seen.live {
        text += &format!("result {} ({})\n", record.outcome.result_text(), record.end.name());
    }
    Ok(text.trim_end().to_owned())
}

/// The board with its letters and numbers, the last move in brackets.
fn board(state: &GameState, last: Option<Move>) -> String {
    let size = state.size();
    let letters: String = (0..size.width())
        .map(|col| {
            let name = size.vertex(Move::Play(size.point(col, 0)));
            format!(" {}", name.chars().next().unwrap_or(' '))
        })
        .collect();
    let mut text = format!("   {letters}\n");
    for row in 0..size.height() {
        text += &format!("{:>3}", size.height() - row);
        let mut closing = false;
        for col in 0..size.width() {
            let point = size.point(col, row);
            let stone = match state.stone(point) {
                Some(Color::Black) => 'X',
                Some(Color::White) => 'O',
                None => '.',
            };
            let is_last = last == Some(Move::Play(point));
            text.push(if is_last {
                '('
            } else if closing {
                ')'
            } else {
                ' '
            });
            text.push(stone);
            closing = is_last;
        }
        text.push_str(if closing { ")\n" } else { "\n" });
    }
    text
}

fn facts(seen: &Seen) -> Result<Value> {
    let record = &seen.record;
    let Standing { now, searched } = standing(record)?;
    let vertex = |mv: Move| record.size.vertex(mv);
    Ok(json!({
        "live": seen.live,
        "network": record.players[0],
        "komi": record.komi.points(),
        "moves": record.turns.iter().map(|turn| vertex(turn.mv)).collect::<Vec<_>>(),
        "to_play": format!("{:?}", now.to_play()).to_lowercase(),
        "board": now.to_string().lines().collect::<Vec<_>>(),
        "visits": searched.as_ref().map(|(_, search)| search.visits),
        "value_for_black": searched.as_ref().map(|(state, search)| for_black(state, search)),
        "policy": searched.as_ref().map(|(_, search)| {
            policy(search)
                .into_iter()
                .map(|(action, share)| json!({
                    "move": vertex(record.size.move_at(action)), "share": share,
                }))
                .collect::<Vec<_>>()
        }),
        "result": (!seen.live).then(|| record.outcome.result_text()),
    }))
}

#[cfg(test)]
mod tests {
    use tengen_rules::{BoardSize, Komi, Rules};

    use super::*;

    #[test]
    fn the_board_has_its_names_and_brackets_the_last_move() {
        let size = BoardSize::square(3).unwrap();
        let komi = Komi::from_points(0.5).unwrap();
        let mut state = GameState::new(size, Rules::tromp_taylor(), komi);
        let mut last = None;
        for vertex in ["B2", "C3"] {
            last = Some(size.parse_vertex(vertex).unwrap());
            state.play(last.unwrap()).unwrap();
        }
        assert_eq!(board(&state, last), "    A B C\n  3 . .(O)\n  2 . X .\n  1 . . .\n");
        let centre = Some(size.parse_vertex("B2").unwrap());
        assert_eq!(board(&state, centre), "    A B C\n  3 . . O\n  2 .(X).\n  1 . . .\n");
    }
}
