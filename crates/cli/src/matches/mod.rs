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
use tengen_rules::{BoardSize, Color, GameState, Move, Rules, free_handicap};

use crate::args::{MatchArgs, MatchTerms};
use crate::commands::settings;
use crate::config::Config;
use crate::parts::gate::{Clock, MatchPlan, play_with_book, threads};
use crate::stop::Stop;
use crate::{logging, report};
pub use contender::Contender;
use folder::MatchFolder;
pub use folder::StoredGame;
pub use summary::{Played, elo};

/// Plays or resumes a match and prints its table.
pub fn run(args: &MatchArgs) -> Result<ExitCode> {
    logging::init(None)?;
    let stop = Stop::install(0.0)?;
    let wanted = Wanted {
        a: &args.a,
        b: &args.b,
        visits: visits_of(&args.visits)?,
        handicap: args.handicap,
        clock: args.clock()?,
        sprt: args.sprt.as_deref(),
        fresh: args.fresh,
        terms: &args.terms,
    };
    let played = play_out(&wanted, &stop)?;
    if let Some(to) = &args.sgf {
        std::fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
        for game in &played.games {
            let path = to.join(format!("pair-{:03}-{}.sgf", game.pair, game.colour));
            report::write_sgf(&path, &game.record)?;
        }
    }
    if args.json {
        println!("{}", played.json());
    } else {
        print!("{}", played.table());
    }
    Ok(ExitCode::SUCCESS)
}

/// A match that somebody asks for.
pub struct Wanted<'a> {
    /// The first player, as on the command line.
    pub a: &'a str,
    /// The second.
    pub b: &'a str,
    /// Simulations a move of either.
    pub visits: [u32; 2],
    /// Stones for the second player.
    pub handicap: u32,
    /// Time in place of visits.
    pub clock: Option<Clock>,
    /// Stop when a sequential test between two leads is decided.
    pub sprt: Option<&'a [f64]>,
    /// Drop the games that there are.
    pub fresh: bool,
    /// The rest.
    pub terms: &'a MatchTerms,
}

/// Plays or resumes a match until it is whole, decided or stopped.
pub fn play_out(wanted: &Wanted<'_>, stop: &Stop) -> Result<Played> {
    let Wanted { visits, handicap, terms, .. } = *wanted;
    let devices = terms.devices.alone()?;
    let (a, config_a) = Contender::parse(wanted.a, &devices)?;
    let (b, config_b) = Contender::parse(wanted.b, &devices)?;
    let run = config_a.or(config_b);
    let start = start_of(wanted, run.as_ref())?;
    for contender in [&a, &b] {
        contender.check(&start)?;
    }
    let base = run.unwrap_or_default();
    let one_colour = handicap > 0;
    let gate = gate_of(wanted, &base.gate)?;
    let book = match &terms.openings {
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("cannot read the openings {}", path.display()))?;
            parse_openings(&text, &start).with_context(|| path.display().to_string())?
        }
        None => Vec::new(),
    };
    let plan = MatchPlan {
        visits,
        one_colour,
        clock: wanted.clock,
        seed: terms.seed,
        threads: threads(terms.threads),
        ..MatchPlan::even(&gate, &base.search, &start)
    };
    // All that decides which games come out; how many are wanted does not.
    let identity = json!({
        "a": a.identity(), "b": b.identity(),
        "board": [start.size().width(), start.size().height()],
        "rules": start.rules().to_string(), "komi": start.komi().points(),
        "handicap": handicap, "visits": visits,
        "clock": wanted.clock.map(|clock| json!([clock.time.as_secs_f64(), clock.threads])), "search": base.search, "seed": terms.seed,
        "opening_moves": gate.opening_moves, "opening_temperature": gate.opening_temperature,
        "max_moves_factor": gate.max_moves_factor, "openings": book_text(&book, start.size()),
        "version": env!("CARGO_PKG_VERSION"),
    });
    let mut folder = MatchFolder::open(&terms.dir, &a.name(), &b.name(), &identity, wanted.fresh)?;
    let mut games = folder.load(2 * gate.pairs)?;
    let resumed = games.len();
    if resumed > 0 {
        eprintln!("{resumed} games of this match are in {}; going on", folder.path().display());
    }
    let done: Vec<(u32, u8)> = games.iter().map(StoredGame::slot).collect();
    let planned = if one_colour { gate.pairs } else { gate.games() };
    let mut live = Live::new(planned);
    let sprt = wanted.sprt.is_some();
    let over = |games: &[StoredGame]| sprt && verdict(games, &gate) != Verdict::Undecided;
    if !over(&games) && done.len() < planned as usize {
        let mut keep = |game: StoredGame| -> Result<ControlFlow<()>> {
            folder.store(&game)?;
            if let Some(fault) = &game.fault {
                eprintln!("pair {} colour {}: {fault}", game.pair, game.colour);
            }
            games.push(game);
            live.show(&games);
            Ok(if over(&games) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        };
        play_match(&plan, &a, &b, &book, &done, terms.limit()?, stop, &mut keep)?;
    }
    games.sort_by_key(StoredGame::slot);
    Ok(Played {
        names: [a.name(), b.name()],
        handicap,
        visits,
        clock: wanted.clock,
        planned,
        verdict: sprt.then(|| verdict(&games, &gate)),
        folder: folder.path().to_owned(),
        start,
        games,
        resumed,
    })
}

/// `--visits` for either side.
fn visits_of(given: &[u32]) -> Result<[u32; 2]> {
    match *given {
        [both] => Ok([both; 2]),
        [a, b] => Ok([a, b]),
        _ => bail!("--visits takes one number for both sides or two, A,B"),
    }
}

/// The first position: an empty board, or one with the second player's handicap stones.
fn start_of(wanted: &Wanted<'_>, run: Option<&Config>) -> Result<GameState> {
    let terms = wanted.terms;
    let rules = terms.rules.as_deref().unwrap_or("tromp-taylor");
    let mut settings = settings(terms.size, terms.komi, rules, run, 9)?;
    if let Some(rules) = &terms.rules {
        settings.rules = Rules::parse_any(rules)?;
    }
    settings.rules.playable()?;
    if wanted.handicap == 0 {
        return Ok(settings.initial_state());
    }
    if wanted.sprt.is_some() {
        bail!(
            "--sprt tests pairs with colours exchanged; with --handicap the second player is Black"
        );
    }
    let komi = match terms.komi {
        Some(_) => settings.komi,
        None => settings.rules.usual_komi(wanted.handicap),
    };
    let stones = free_handicap(settings.size, wanted.handicap as usize)?;
    Ok(GameState::with_setup(settings.size, settings.rules, komi, &stones, &[], Color::White)?)
}

/// Plays the slots that are not in `done`: house players side by side in batches, games with a
/// program or by the clock one by one. Each finished game goes to `on_game`, which may end the match.
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
        (Contender::House(a), Contender::House(b)) if plan.clock.is_none() => {
            play_with_book(plan, a, b, book, done, stop, &mut |(pair, colour, _, record)| {
                on_game(StoredGame::of_batch(pair, colour, record))
            })
        }
        _ => duels::play(plan, a, b, book, done, limit, stop, on_game),
    }
}

/// The match as a gate: pairs, visits, openings, and how it stops.
fn gate_of(wanted: &Wanted<'_>, base: &GateConfig) -> Result<GateConfig> {
    let games = wanted.terms.games;
    if games == 0 || wanted.visits.contains(&0) {
        bail!("--games and --visits must be at least 1");
    }
    let mut gate = GateConfig {
        pairs: if wanted.handicap > 0 { games } else { games.div_ceil(2) },
        visits: wanted.visits[0],
        mode: GateMode::Fixed,
        ..base.clone()
    };
    if let Some(moves) = wanted.terms.opening_moves {
        gate.opening_moves = moves;
    }
    if let Some(leads) = wanted.sprt {
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

fn book_text(book: &[Vec<Move>], size: BoardSize) -> Vec<String> {
    let line =
        |moves: &Vec<Move>| moves.iter().map(|&mv| size.vertex(mv)).collect::<Vec<_>>().join(" ");
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
        let (elo, low, high) = elo(&tally);
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
