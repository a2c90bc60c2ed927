//! `tengen sgf import`: games from files into a run's store, apart from its own games.

use std::process::ExitCode;
use std::sync::atomic::AtomicUsize;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use tengen_rules::Rules;
use tengen_store::{ImportBatch, ImportCounts, Store};

use super::args::ImportArgs;
use super::files;
use super::reader::{Chunk, Reader, Refusal};
use crate::parts::gate::threads;
use crate::run_dir::RunDir;
use crate::stop::Stop;

/// Games in a transaction: each costs a sync of the disk.
const GAMES_A_COMMIT: usize = 4_096;
/// The longest that games wait for others to share their transaction.
const COMMIT_EVERY: Duration = Duration::from_secs(1);
/// Refused games that are told of; the count holds all.
const REFUSALS_TOLD: usize = 1_000;

/// What an import came to.
#[derive(Default)]
struct Tally {
    counts: ImportCounts,
    known_files: u64,
    unread_files: u64,
    refusals: Vec<Refusal>,
}

/// Imports files; goes on where an earlier import stopped. A refused game is told of and costs
/// nothing but itself.
pub fn run(args: &ImportArgs) -> Result<ExitCode> {
    let rules = Rules::parse_any(&args.rules)?;
    let paths = files::find(&args.paths)?;
    let dir = RunDir::new(&args.run);
    dir.create()?;
    let mut store = dir.open_store()?;
    let stop = Stop::install(0.0)?;
    let reader = Reader {
        files: &paths,
        next: AtomicUsize::new(0),
        known: store.import_progress()?,
        rules,
        stop: &stop,
    };
    let workers = threads(args.threads);
    let total = paths.iter().filter_map(|path| path.metadata().ok()).map(|m| m.len()).sum();
    let (bar, began) = (progress_bar(total), Instant::now());
    let (sender, chunks) = sync_channel(4 * workers);
    let tally = std::thread::scope(|scope| {
        for _ in 0..workers {
            let (sender, reader) = (sender.clone(), &reader);
            scope.spawn(move || reader.run(&sender));
        }
        drop(sender);
        take_in(&mut store, chunks, &bar)
    })?;
    bar.finish_and_clear();
    report(args, &tally, &store, paths.len(), workers, began.elapsed())?;
    if stop.signalled() {
        eprintln!("stopped early: the same command goes on from here");
    }
    Ok(ExitCode::SUCCESS)
}

fn progress_bar(total: u64) -> ProgressBar {
    let style = "{elapsed_precise} {wide_bar} {bytes}/{total_bytes}, {eta} left  {msg}";
    let style = ProgressStyle::with_template(style).expect("the template is a constant");
    ProgressBar::new(total).with_style(style)
}

/// Stores what the readers send until they are done.
fn take_in(store: &mut Store, chunks: Receiver<Chunk>, bar: &ProgressBar) -> Result<Tally> {
    let mut tally = Tally::default();
    let mut waiting: Vec<ImportBatch> = Vec::new();
    let mut since = Instant::now();
    loop {
        let chunk = match chunks.recv_timeout(COMMIT_EVERY) {
            Ok(chunk) => Some(chunk),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        if let Some(Chunk { batch, refusals, bytes, known }) = chunk {
            bar.inc(bytes);
            tally.known_files += u64::from(known);
            tally.unread_files += refusals.iter().filter(|r| r.game.is_none()).count() as u64;
            let room = REFUSALS_TOLD.saturating_sub(tally.refusals.len());
            tally.refusals.extend(refusals.into_iter().take(room));
            waiting.extend(batch);
        }
        let games: usize = waiting.iter().map(|batch| batch.games.len()).sum();
        if games >= GAMES_A_COMMIT || since.elapsed() >= COMMIT_EVERY {
            commit(store, &mut waiting, &mut tally)?;
            let ImportCounts { stored, repeated, refused } = tally.counts;
            bar.set_message(format!("{stored} stored, {repeated} repeated, {refused} refused"));
            since = Instant::now();
        }
    }
    commit(store, &mut waiting, &mut tally)?;
    Ok(tally)
}

fn commit(store: &mut Store, waiting: &mut Vec<ImportBatch>, tally: &mut Tally) -> Result<()> {
    if !waiting.is_empty() {
        let more = store.append_imports(waiting)?;
        waiting.clear();
        tally.counts.stored += more.stored;
        tally.counts.repeated += more.repeated;
        tally.counts.refused += more.refused;
    }
    Ok(())
}

fn report(
    args: &ImportArgs,
    tally: &Tally,
    store: &Store,
    files: usize,
    threads: usize,
    took: Duration,
) -> Result<()> {
    let ImportCounts { stored, repeated, refused } = tally.counts;
    let rate = (stored + repeated + refused) as f64 / took.as_secs_f64().max(1e-6);
    let total = store.import_counts()?.stored;
    if args.json {
        let refusals: Vec<Value> = tally.refusals.iter().map(facts).collect();
        println!(
            "{}",
            json!({
                "files": files, "known_files": tally.known_files,
                "unread_files": tally.unread_files, "stored": stored, "repeated": repeated,
                "refused": refused, "total": total, "threads": threads,
                "seconds": took.as_secs_f64(), "games_per_s": rate, "refusals": refusals,
            })
        );
        return Ok(());
    }
    for refusal in &tally.refusals {
        let game = refusal.game.map_or_else(String::new, |game| format!(" game {game}:"));
        let place = refusal
            .place
            .map_or_else(String::new, |(line, column)| format!(" line {line}, column {column}:"));
        eprintln!("{}:{game}{place} {}", refusal.file, refusal.error);
    }
    println!(
        "{files} files, {} of them known: {stored} games stored, {repeated} repeated, {refused} \
         refused; {total} in the store; {rate:.0} games/s on {threads} threads",
        tally.known_files
    );
    Ok(())
}

fn facts(refusal: &Refusal) -> Value {
    let (line, column) = refusal.place.unzip();
    json!({
        "file": refusal.file, "game": refusal.game, "line": line, "column": column,
        "error": refusal.error,
    })
}
