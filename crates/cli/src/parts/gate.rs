//! Matches on the run's cores: pairs are dealt to threads, the verdict looks at the prefix of
//! complete pairs in slot order, so that quick games do not vote first.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use tengen_evaluator::{
    GateConfig, MatchRunner, PlayedGame, Tally, Verdict, check_sanity, decide, match_seed,
    tally_games,
};
use tengen_record::GameRecord;
use tengen_rules::{GameState, Move};
use tengen_search::SearchConfig;
use tengen_store::{Conclusion, MatchRow, Store, StoreError};

use crate::config::Config;
use crate::players::{Player, short};
use crate::run_dir::{RunDir, is_lost};
use crate::stop::Stop;

/// One finished game of a match: pair, colour (0 = first player Black), points of the first
/// player, and the record.
pub type Slot = (u32, u8, f32, GameRecord);

/// What a match is played with.
pub struct MatchPlan<'a> {
    /// Pairs, visits, openings.
    pub gate: &'a GateConfig,
    /// Search of both sides; noise is off in matches.
    pub search: &'a SearchConfig,
    /// The game's first position.
    pub start: &'a GameState,
    /// Simulations a move of either side.
    pub visits: [u32; 2],
    /// Whether the second player is Black in every game, as in handicap matches: of each pair the
    /// game with colour 1 alone is played.
    pub one_colour: bool,
    /// Time a move in place of visits; games are played one by one then.
    pub clock: Option<Clock>,
    /// Seed of the openings.
    pub seed: u64,
    /// Threads; each plays its share of the pairs.
    pub threads: usize,
    /// Digest of the config, for the records; empty outside a run.
    pub digest: &'a str,
}

impl<'a> MatchPlan<'a> {
    /// Both sides alike, with the gate's visits and colours exchanged; what is left to say is seed,
    /// threads and digest.
    pub fn even(gate: &'a GateConfig, search: &'a SearchConfig, start: &'a GameState) -> Self {
        Self {
            gate,
            search,
            start,
            visits: [gate.visits; 2],
            one_colour: false,
            clock: None,
            seed: 0,
            threads: 1,
            digest: "",
        }
    }
}

/// How long either side thinks, and on how many threads.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// For each move of either side.
    pub time: Duration,
    /// Threads of either side.
    pub threads: [usize; 2],
}

impl Clock {
    /// So many seconds a move, on so many threads.
    pub fn new(seconds: f64, threads: [usize; 2]) -> Result<Self> {
        if !(0.001..=86_400.0).contains(&seconds) {
            bail!("--seconds is {seconds}, but must be 0.001 to 86400");
        }
        if threads.iter().any(|&n| n == 0 || n > 1024) {
            bail!("a search has 1 to 1024 threads, not {threads:?}");
        }
        Ok(Self { time: Duration::from_secs_f64(seconds), threads })
    }
}

/// Plays the slots that are not in `done`; each finished game goes to `on_game`, which may end the
/// match.
pub fn play(
    plan: &MatchPlan<'_>,
    a: &Player,
    b: &Player,
    done: &[(u32, u8)],
    stop: &Stop,
    on_game: &mut dyn FnMut(Slot) -> Result<ControlFlow<()>>,
) -> Result<()> {
    play_with_book(plan, a, b, &[], done, stop, on_game)
}

/// [`play`] with the openings of `book` in turn; an empty one draws them from the policies.
pub fn play_with_book(
    plan: &MatchPlan<'_>,
    a: &Player,
    b: &Player,
    book: &[Vec<Move>],
    done: &[(u32, u8)],
    stop: &Stop,
    on_game: &mut dyn FnMut(Slot) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let threads = plan.threads.clamp(1, plan.gate.pairs.max(1) as usize) as u32;
    let ended = std::sync::atomic::AtomicBool::new(false);
    let ended = &ended;
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel::<Slot>();
        let mut workers = Vec::new();
        for thread in 0..threads {
            let mut skip = done.to_vec();
            skip.extend((0..plan.gate.pairs).flat_map(|pair| [(pair, 0), (pair, 1)]).filter(
                |&(pair, colour)| pair % threads != thread || (plan.one_colour && colour == 0),
            ));
            let worker = thread as usize;
            let (mut first, mut second) = (a.evaluator_of(worker)?, b.evaluator_of(worker)?);
            let sender = sender.clone();
            workers.push(scope.spawn(move || -> Result<()> {
                let mut runner =
                    MatchRunner::new(plan.gate, plan.search, plan.start, plan.seed, &skip);
                runner.set_visits(plan.visits);
                runner.set_names(a.name(), b.name());
                runner.set_config_digest(plan.digest);
                runner.set_openings(book.to_vec());
                let halt = || stop.now() || ended.load(std::sync::atomic::Ordering::Relaxed);
                runner.run(
                    &mut *first,
                    &mut *second,
                    &halt,
                    &mut |pair, colour, points, record| match sender
                        .send((pair, colour, points, record))
                    {
                        Ok(()) => ControlFlow::Continue(()),
                        Err(_) => ControlFlow::Break(()),
                    },
                )?;
                Ok(())
            }));
        }
        drop(sender);
        let mut result = Ok(());
        for slot in receiver {
            if result.is_ok() && !ended.load(std::sync::atomic::Ordering::Relaxed) {
                match on_game(slot) {
                    Ok(ControlFlow::Continue(())) => {}
                    Ok(ControlFlow::Break(())) => {
                        ended.store(true, std::sync::atomic::Ordering::Relaxed)
                    }
                    Err(error) => {
                        ended.store(true, std::sync::atomic::Ordering::Relaxed);
                        result = Err(error);
                    }
                }
            }
        }
        for worker in workers {
            worker.join().map_err(|_| anyhow!("a match thread panicked"))??;
        }
        result
    })
}

/// How a gate match ended.
#[derive(Clone, Debug)]
pub enum GateEnd {
    /// The candidate is the best network now.
    Promoted,
    /// The candidate is kept and never plays.
    Rejected,
    /// The match says nothing: why.
    Void(String),
}

impl fmt::Display for GateEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Promoted => f.write_str("promoted"),
            Self::Rejected => f.write_str("rejected"),
            Self::Void(why) => write!(f, "void, {why}"),
        }
    }
}

/// Where one gate match stands, from the candidate's side.
pub struct GateResult {
    /// Over the prefix of complete pairs.
    pub tally: Tally,
    /// None if the match was stopped before its verdict.
    pub end: Option<GateEnd>,
}

/// Plays an open match on from where it stands; verdict and promotion are one transaction.
///
/// A match whose base is no longer the best network, or whose candidate's file is lost, is void:
/// it ends without a promotion, and the next candidate meets the best network of its day.
pub fn judge(
    dir: &RunDir,
    config: &Config,
    store: &mut Store,
    open: &MatchRow,
    run_seed: u64,
    stop: &Stop,
    on_tally: &mut dyn FnMut(&Tally),
) -> Result<GateResult> {
    let gate: GateConfig = serde_json::from_str(&open.gate_config_json)
        .with_context(|| format!("the gate config stored with match {}", open.id))?;
    let mut games: Vec<PlayedGame> = store
        .match_records(open.id)?
        .iter()
        .map(|(pair, colour, record)| PlayedGame::of(*pair, *colour, record))
        .collect();
    let mut tally = tally_games(&games);
    let (best, base) = Player::best_of_run(dir, store, &config.device)?;
    if best != open.base {
        return void(store, open, tally, format!("{} is the best network now", short(&best)));
    }
    let candidate = match Player::of_run(dir, &open.candidate, &config.device) {
        Ok(candidate) => candidate,
        Err(error) if is_lost(&error) => return void(store, open, tally, format!("{error:#}")),
        Err(error) => return Err(error),
    };
    let start = config.rules.settings()?.initial_state();
    // A net whose answers are not sound is turned away before it plays.
    let sane = check_sanity(&mut *candidate.evaluator()?, &start, false);
    if let Err(error) = sane {
        return void(store, open, tally, format!("the candidate is not fit to play: {error}"));
    }
    let plan = MatchPlan {
        seed: match_seed(run_seed, open.id),
        threads: threads(config.selfplay.workers),
        digest: &config.digest()?,
        ..MatchPlan::even(&gate, &config.search, &start)
    };
    let done: Vec<(u32, u8)> = games.iter().map(|game| (game.pair, game.colour)).collect();
    if decide(&tally, &gate) == Verdict::Undecided {
        play(&plan, &candidate, &base, &done, stop, &mut |(pair, colour, points, record)| {
            store.record_match_game(open.id, pair, colour, points, &record)?;
            games.push(PlayedGame::of(pair, colour, &record));
            tally = tally_games(&games);
            on_tally(&tally);
            Ok(match decide(&tally, &gate) {
                Verdict::Undecided => ControlFlow::Continue(()),
                Verdict::Promote | Verdict::Reject => ControlFlow::Break(()),
            })
        })?;
    }
    let verdict = decide(&tally, &gate);
    if verdict == Verdict::Undecided {
        return Ok(GateResult { tally, end: None });
    }
    let conclusion = Conclusion {
        verdict: verdict.to_string(),
        promote: verdict == Verdict::Promote,
        detail_json: serde_json::to_string(&tally)?,
    };
    let end = match store.conclude(open.id, &conclusion) {
        Ok(true) => GateEnd::Promoted,
        Ok(false) => GateEnd::Rejected,
        // Somebody moved the best pointer by hand while the match was played.
        Err(StoreError::BestMoved { found, .. }) => {
            return void(store, open, tally, format!("{} is the best network now", short(&found)));
        }
        Err(error) => return Err(error.into()),
    };
    Ok(GateResult { tally, end: Some(end) })
}

fn void(store: &mut Store, open: &MatchRow, tally: Tally, why: String) -> Result<GateResult> {
    store.conclude(
        open.id,
        &Conclusion {
            verdict: "void".into(),
            promote: false,
            detail_json: serde_json::json!({ "why": why, "tally": tally }).to_string(),
        },
    )?;
    tracing::warn!("match {} is void: {why}", open.id);
    Ok(GateResult { tally, end: Some(GateEnd::Void(why)) })
}

/// Threads for a setting where 0 means one a core.
pub fn threads(setting: usize) -> usize {
    match setting {
        0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        n => n,
    }
}
