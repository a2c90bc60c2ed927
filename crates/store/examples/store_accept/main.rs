//! How many games a second a run on PostgreSQL takes from its workers, every commit synced, and how long
//! leasing a block takes beside an open transaction that reads; and whether memory stays what it is.
//!
//! `cargo run --release -p tengen-store --features test-server --example store_accept --
//! [--seconds 600] [--burst 20000] [--workers 8] [--pace 1000] [--folder FOLDER]`
//! starts a server of its own with its data in FOLDER, so server and workers share this machine's cores.
//! A transaction is opened and stays open all through. First everybody sends `burst` games as fast as it can;
//! then `pace` games a second come in while blocks are leased and given back. At last some of the
//! games are settled. Exits 1 if fewer than 1,000 games a second were accepted, if the slowest hundredth of the
//! leases took 50 ms or more, or if memory grew from the first minute to the last.

mod load;
mod memory;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use load::{BATCH, Senders, game, lease_again_and_again, offer_matches};
use memory::Memory;
use tengen_record::encode;
use tengen_store::testing::PgServer;
use tengen_store::{NewRun, Store};

type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// Between two lines of the table.
const SAMPLE: Duration = Duration::from_secs(10);
/// What must be accepted of everybody's best, games a second.
const LEAST_RATE: f64 = 1000.0;
/// What the slowest hundredth of the leases must stay under, in milliseconds.
const LEASE_LIMIT: f64 = 50.0;
/// Games that are settled at the end.
const SETTLED: u64 = 10_000;

struct Args {
    seconds: u64,
    burst: u64,
    workers: u64,
    pace: u64,
    folder: PathBuf,
}

impl Args {
    fn parse() -> Result<Self, AnyError> {
        let folder = std::env::temp_dir();
        let mut args = Self { seconds: 600, burst: 20_000, workers: 8, pace: 1000, folder };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let value = words.next().ok_or_else(|| format!("{word}: what is its value?"))?;
            match word.as_str() {
                "--seconds" => args.seconds = value.parse()?,
                "--burst" => args.burst = value.parse()?,
                "--workers" => args.workers = value.parse::<u64>()?.max(1),
                "--pace" => args.pace = value.parse::<u64>()?.max(1),
                "--folder" => args.folder = value.into(),
                _ => return Err(format!("{word}: no such argument").into()),
            }
        }
        Ok(args)
    }
}

/// A line of the table.
struct Sample {
    at: f64,
    accepted: u64,
    leases: usize,
    memory: Memory,
}

fn main() -> Result<ExitCode, AnyError> {
    let args = Args::parse()?;
    let Some(server) = PgServer::start_in(&args.folder) else { return Ok(ExitCode::SUCCESS) };
    let url = server.url("accept");
    let data = server.folder().join("data");
    let mut store = Store::connect(&url)?;
    let digest = "c0ffee".to_owned();
    let run = store.init_run(&NewRun {
        name: "accept".to_owned(),
        config_text: String::new(),
        config_digest: digest.clone(),
        seed: 1,
    })?;
    store.grant_roles()?;
    offer_matches(&mut store, 4)?;
    let payload = encode(&game(&digest));
    let (workers, pace) = (args.workers, args.pace);
    println!(
        "games of {} bytes, {workers} workers, {BATCH} games a call, every commit synced",
        payload.len()
    );

    // A reader that keeps its snapshot open for the whole measurement.
    let opened = Instant::now();
    let mut reader =
        postgres::Client::connect(url.split("&schema").next().unwrap_or(&url), postgres::NoTls)?;
    reader.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT * FROM accept.runs")?;

    let accepted = AtomicU64::new(0);
    let senders = |phase| Senders {
        url: &url,
        uid: &run.uid,
        phase,
        workers,
        payload: &payload,
        accepted: &accepted,
    };
    senders("burst").send_all(args.burst, None, None)?;
    let rate = accepted.load(Ordering::Relaxed) as f64 / opened.elapsed().as_secs_f64();
    println!(
        "as fast as they can: {} games accepted, {rate:.0} games/s",
        accepted.load(Ordering::Relaxed)
    );

    println!("then {pace} games/s, and leases, beside the open transaction:");
    println!(
        "{:>6} {:>9} {:>8} {:>7} {:>10} {:>9} {:>8} {:>11} {:>12}",
        "open s",
        "accepted",
        "games/s",
        "leases",
        "median ms",
        "p99 ms",
        "own MB",
        "server's MB",
        "largest MB"
    );
    let (done, times) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    let until = opened + Duration::from_secs(args.seconds);
    let samples = std::thread::scope(|scope| {
        let leaser = scope.spawn(|| lease_again_and_again(&url, &done, &payload, &times));
        let sampler = scope.spawn(|| sample(opened, &done, &accepted, &times, &data));
        let sent = senders("paced").send_all(u64::MAX / 2, Some(pace), Some(until));
        done.store(true, Ordering::Relaxed);
        leaser.join().map_err(|_| "the leasing worker panicked")??;
        let samples = sampler.join().map_err(|_| "the sampler panicked")?;
        sent.map(|()| samples)
    })?;
    let open = opened.elapsed().as_secs_f64();
    reader.batch_execute("ROLLBACK")?;

    let times = times.into_inner().map_err(|_| "a thread panicked")?;
    let [median, p99] = quantiles(&times);
    let settled = settle(&mut store)?;
    println!("settled {:.0} games, each replayed: {:.0} games/s", settled.0, settled.0 / settled.1);
    let (grown, flat) = growth(&samples);
    println!(
        "{} games/s accepted; {} leases beside a transaction open for {open:.0} s: median {median:.1} ms, p99 \
         {p99:.1} ms; from the first minute to the last, memory grew by {grown}",
        rate.round(),
        times.len()
    );
    let good = rate >= LEAST_RATE && p99 < LEASE_LIMIT && flat;
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Median and ninety-ninth percentile, in milliseconds.
fn quantiles(times: &[Duration]) -> [f64; 2] {
    let mut sorted = times.to_vec();
    sorted.sort();
    let last = sorted.len().saturating_sub(1);
    let at = |share: f64| sorted.get((last as f64 * share) as usize).copied().unwrap_or_default();
    [0.5, 0.99].map(|share| at(share).as_secs_f64() * 1e3)
}

/// Prints a line every ten seconds until `done`, and returns them all.
fn sample(
    opened: Instant,
    done: &AtomicBool,
    accepted: &AtomicU64,
    times: &Mutex<Vec<Duration>>,
    data: &std::path::Path,
) -> Vec<Sample> {
    let mut samples: Vec<Sample> = Vec::new();
    let (mut next, mut before) =
        (Instant::now() + SAMPLE, (Instant::now(), accepted.load(Ordering::Relaxed), 0));
    while !done.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(50));
        if Instant::now() < next {
            continue;
        }
        next += SAMPLE;
        let (games, memory) = (accepted.load(Ordering::Relaxed), Memory::now(data));
        let new = times.lock().map(|times| times[before.2..].to_vec()).unwrap_or_default();
        let [median, p99] = quantiles(&new);
        let rate = (games - before.1) as f64 / before.0.elapsed().as_secs_f64();
        let at = opened.elapsed().as_secs_f64();
        println!(
            "{at:>6.0} {games:>9} {rate:>8.0} {:>7} {median:>10.1} {p99:>9.1} {:>8.1} {:>11.1} {:>12.1}",
            new.len(),
            memory.own,
            memory.server,
            memory.largest
        );
        before = (Instant::now(), games, before.2 + new.len());
        samples.push(Sample { at, accepted: games, leases: before.2, memory });
    }
    samples
}

/// How much more memory the last minute has than the first, in words, and whether that is next to nothing.
fn growth(samples: &[Sample]) -> (String, bool) {
    let (Some(first), Some(last)) = (samples.first(), samples.last()) else {
        return ("nothing that could be measured".to_owned(), true);
    };
    let mean = |of: fn(&Memory) -> f64, wanted: &dyn Fn(&Sample) -> bool| {
        let found: Vec<f64> = samples.iter().filter(|s| wanted(s)).map(|s| of(&s.memory)).collect();
        found.iter().sum::<f64>() / found.len().max(1) as f64
    };
    let grown = |of: fn(&Memory) -> f64| {
        let began = mean(of, &|sample| sample.at < first.at + 60.0);
        let ends = mean(of, &|sample| sample.at > last.at - 60.0);
        (ends - began, ends <= began * 1.1 + 4.0)
    };
    let (own, server) = (grown(|memory| memory.own), grown(|memory| memory.server));
    let told = format!(
        "{:.1} MB here and {:.1} MB in the server, over {} games and {} leases",
        own.0,
        server.0,
        last.accepted - first.accepted,
        last.leases - first.leases
    );
    (told, own.1 && server.1)
}

/// Settles some of the inbox; returns how many games, and in how many seconds.
fn settle(store: &mut Store) -> Result<(f64, f64), AnyError> {
    let (began, mut settled) = (Instant::now(), 0);
    while settled < SETTLED {
        let waiting = store.take_uploads(0, 256)?;
        if waiting.is_empty() {
            break;
        }
        settled += store.settle_uploads(&waiting, &mut |_, _| Ok(()))?.accepted;
    }
    Ok((settled as f64, began.elapsed().as_secs_f64()))
}
