//! `tengen match`: two players, pairs of games, a score that survives any kill.

mod contender;
mod duels;
mod folder;
mod summary;

use std::ops::ControlFlow;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::json;
use tengen_evaluator::{
    GateConfig, GateMode, PlayedGame, Verdict, decide, parse_openings, tally_every, tally_games,
};
use tengen_rules::{Move, Rules};
use tengen_selfplay::GameSettings;

use crate::args::MatchArgs;
use crate::commands::settings;
use crate::parts::gate::{MatchPlan, play_with_book, threads};
use crate::stop::Stop;
use crate::{logging, report};
pub use contender::Contender;
use folder::MatchFolder;
pub use folder::StoredGame;
use summary::Summary;

/// Plays or resumes a match and prints its table.
pub fn run(args: &MatchArgs) -> Result<ExitCode> {
    if args.games == 0 || args.visits == 0 {
        bail!("--games and --visits must be at least 1");
    }
    logging::init(None)?;
    let stop = Stop::install(0.0)?;
    let (a, config_a) = Contender::parse(&args.a)?;
    let (b, config_b) = Contender::parse(&args.b)?;
    let run = config_a.or(config_b);
    let rules = args.rules.as_deref().unwrap_or("tromp-taylor");
    let mut settings = settings(args.size, args.komi, rules, run.as_ref(), 9)?;
    if let Some(rules) = &args.rules {
        settings.rules = Rules::by_name(rules)?;
    }
    settings.rules.playable()?;
    let start = settings.initial_state();
    for contender in [&a, &b] {
        contender.check(&start)?;
    }
    let base = run.unwrap_or_default();
    let gate = gate_of(args, &base.gate)?;
    let book = match &args.openings {
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("cannot read the openings {}", path.display()))?;
            parse_openings(&text, &start).with_context(|| path.display().to_string())?
        }
        None => Vec::new(),
    };
    let plan = MatchPlan {
        gate: &gate,
        search: &base.search,
        settings: &settings,
        seed: args.seed,
        threads: threads(args.threads),
        digest: "",
    };
    // All that decides which games come out; how many are wanted does not.
    let identity = json!({
        "a": a.identity(), "b": b.identity(),
        "board": [settings.size.width(), settings.size.height()],
        "rules": settings.rules.to_string(), "komi": settings.komi.points(),
        "visits": args.visits, "search": base.search, "seed": args.seed,
        "opening_moves": gate.opening_moves, "opening_temperature": gate.opening_temperature,
        "max_moves_factor": gate.max_moves_factor, "openings": book_text(&book, &settings),
        "version": env!("CARGO_PKG_VERSION"),
    });
    let mut folder = MatchFolder::open(&args.dir, &a.name(), &b.name(), &identity, args.fresh)?;
    let mut games = folder.load(2 * gate.pairs)?;
    let resumed = games.len();
    if resumed > 0 {
        eprintln!("{resumed} games of this match are in {}; going on", folder.path().display());
    }
    let done: Vec<(u32, u8)> = games.iter().map(StoredGame::slot).collect();
    let mut live = Live::new(2 * gate.pairs);
    let sprt = args.sprt.is_some();
    let over = |games: &[StoredGame]| sprt && verdict(games, &gate) != Verdict::Undecided;
    if !over(&games) && done.len() < 2 * gate.pairs as usize {
        let mut keep = |game: StoredGame| -> Result<ControlFlow<()>> {
            folder.store(&game)?;
            if let Some(fault) = &game.fault {
                eprintln!("pair {} colour {}: {fault}", game.pair, game.colour);
            }
            games.push(game);
            live.show(&games);
            Ok(if over(&games) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        };
        play_match(&plan, &a, &b, &book, &done, args.limit()?, &stop, &mut keep)?;
    }
    games.sort_by_key(StoredGame::slot);
    if let Some(to) = &args.sgf {
        std::fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
        for game in &games {
            let path = to.join(format!("pair-{:03}-{}.sgf", game.pair, game.colour));
            report::write_sgf(&path, &game.record)?;
        }
    }
    let summary = Summary {
        names: [a.name(), b.name()],
        settings: &settings,
        visits: args.visits,
        gate: &gate,
        verdict: sprt.then(|| verdict(&games, &gate)),
        games: &games,
        folder: folder.path(),
        resumed,
    };
    if args.json {
        println!("{}", summary.json());
    } else {
        print!("{}", summary.table());
    }
    Ok(ExitCode::SUCCESS)
}

/// Plays the slots that are not in `done`: house players side by side in batches, games with a
/// program one by one. Each finished game goes to `on_game`, which may end the match.
#[allow(clippy::too_many_arguments, reason = "a match has as many sides to it")]
pub fn play_match(
    plan: &MatchPlan<'_>,
    a: &Contender,
    b: &Contender,
    book: &[Vec<Move>],
    done: &[(u32, u8)],
    limit: Duration,
    stop: &Stop,
    on_game: &mut dyn FnMut(StoredGame) -> Result<ControlFlow<()>>,
) -> Result<()> {
    match (a, b) {
        (Contender::House(a), Contender::House(b)) => {
            play_with_book(plan, a, b, book, done, stop, &mut |(pair, colour, _, record)| {
                on_game(StoredGame::of_batch(pair, colour, record))
            })
        }
        _ => duels::play(plan, a, b, book, done, limit, stop, on_game),
    }
}

/// The match as a gate: pairs, visits, openings, and how it stops.
fn gate_of(args: &MatchArgs, base: &GateConfig) -> Result<GateConfig> {
    let mut gate = GateConfig {
        pairs: args.games.div_ceil(2),
        visits: args.visits,
        mode: GateMode::Fixed,
        ..base.clone()
    };
    if let Some(moves) = args.opening_moves {
        gate.opening_moves = moves;
    }
    if let Some(leads) = &args.sprt {
        let [elo0, elo1] = leads[..] else {
            bail!("--sprt takes two leads, elo0,elo1; got {}", leads.len());
        };
        gate = GateConfig { mode: GateMode::Sprt, elo0, elo1, alpha: 0.05, beta: 0.05, ..gate };
    }
    let problems = gate.validate();
    if !problems.is_empty() {
        bail!("{}", problems.join("; "));
    }
    Ok(gate)
}

fn verdict(games: &[StoredGame], gate: &GateConfig) -> Verdict {
    decide(&tally_games(&played(games)), gate)
}

/// The games as tallies read them.
fn played(games: &[StoredGame]) -> Vec<PlayedGame> {
    games.iter().map(|game| PlayedGame::of(game.pair, game.colour, &game.record)).collect()
}

fn book_text(book: &[Vec<Move>], settings: &GameSettings) -> Vec<String> {
    let line = |moves: &Vec<Move>| {
        moves.iter().map(|&mv| settings.size.vertex(mv)).collect::<Vec<_>>().join(" ")
    };
    book.iter().map(line).collect()
}

/// The score while it grows: a line every ten seconds.
struct Live {
    planned: u32,
    last: Instant,
}

impl Live {
    fn new(planned: u32) -> Live {
        Live { planned, last: Instant::now() }
    }

    fn show(&mut self, games: &[StoredGame]) {
        if self.last.elapsed() < Duration::from_secs(10) {
            return;
        }
        self.last = Instant::now();
        let tally = tally_every(&played(games));
        let (elo, low, high) = summary::elo(&tally);
        eprintln!(
            "{} of {} games: {}-{}-{}, Elo {elo:+.0} [{low:+.0}, {high:+.0}]",
            games.len(),
            self.planned,
            tally.wins,
            tally.losses,
            tally.draws + tally.no_results,
        );
    }
}
