//! How many 19×19 games a second one core imports: text to stored rows, disk syncs included.
//!
//! `cargo run --release -p tengen-store --example import_speed -- [GAMES]` makes its own corpus:
//! random legal games of 230 moves with names, result and a comment now and then.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tengen_record::sgf::{SgfGame, for_each_tree};
use tengen_rules::{BoardSize, GameState, Komi, Rules};
use tengen_store::{ImportBatch, ImportGame, Store};

type AnyError = Box<dyn std::error::Error>;

fn main() -> Result<(), AnyError> {
    let count = std::env::args().nth(1).map_or(Ok(10_000), |text| text.parse())?;
    let corpus = corpus(count)?;
    println!("{count} games, {:.1} MB", corpus.len() as f64 / 1e6);
    let folder = tempfile::tempdir()?;
    let mut store = Store::open(&folder.path().join("tengen.db"))?;
    let rules = Rules::by_name("chinese")?;

    let (began, cpu) = (Instant::now(), on_cpu());
    let (mut batches, mut games, mut index) = (Vec::new(), Vec::new(), 0);
    let mut refused = None;
    let mut times = [Duration::ZERO; 2];
    let mut mark = Instant::now();
    for_each_tree(&corpus, |tree| {
        times[0] += mark.elapsed();
        mark = Instant::now();
        let game = tree.and_then(|tree| SgfGame::from_tree(&tree));
        match game.and_then(|game| game.to_sound_record(rules)) {
            Ok(record) => games.push(ImportGame::pack(index, &record)),
            Err(error) => refused = Some(error.to_string()),
        }
        index += 1;
        if index % 256 == 0 || index == count {
            batches.push(ImportBatch {
                hash: [7; 32],
                path: "corpus.sgf".to_owned(),
                from: index - games.len() as u64,
                to: index,
                games: std::mem::take(&mut games),
                complete: index == count,
            });
        }
        times[1] += mark.elapsed();
        mark = Instant::now();
        if refused.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if let Some(refused) = refused {
        return Err(refused.into());
    }
    let storing = Instant::now();
    let mut stored = 0;
    for some in batches.chunks(16) {
        stored += store.append_imports(some)?.stored;
    }
    let (wall, storing) = (began.elapsed().as_secs_f64(), storing.elapsed().as_secs_f64());
    let core = (on_cpu() - cpu).as_secs_f64();
    println!(
        "{stored} stored: {:.0} games/s by the clock, {:.0} games/s of processor time",
        stored as f64 / wall,
        stored as f64 / core
    );
    println!(
        "µs a game by the clock: reading {:.0}, replaying and packing {:.0}, storing {:.0}",
        1e6 * times[0].as_secs_f64() / count as f64,
        1e6 * times[1].as_secs_f64() / count as f64,
        1e6 * storing / count as f64
    );
    Ok(())
}

/// The time that this thread was on a processor, which other programs don't lengthen.
fn on_cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(0))
}

fn corpus(count: u64) -> Result<Vec<u8>, AnyError> {
    let size = BoardSize::square(19)?;
    let mut text = String::new();
    let mut chance = 2_016_u64;
    let mut roll = |below: usize| {
        chance =
            chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((chance >> 33) % below as u64) as usize
    };
    for game in 0..count {
        let rules = Rules::by_name("chinese")?;
        let mut state = GameState::new(size, rules, Komi::from_points(7.5)?);
        text.push_str(&format!(
            "(;GM[1]FF[4]CA[UTF-8]SZ[19]KM[7.5]RU[Chinese]GN[game {game}]DT[2016-01-27]\
             PB[player {}]PW[player {}]BR[9d]WR[8d]RE[W+R]\n",
            roll(900),
            roll(900)
        ));
        while state.move_number() < 230 {
            let point = size.point(roll(19), roll(19));
            let letter = state.to_play().letter();
            if state.play(tengen_rules::Move::Play(point)).is_err() {
                continue;
            }
            let xy = [size.col(point), size.row(point)].map(|n| char::from(b'a' + n as u8));
            text.push_str(&format!(";{letter}[{}{}]", xy[0], xy[1]));
            if roll(40) == 0 {
                text.push_str("C[A move that people would talk about, with a \\] in it.]");
            }
        }
        text.push_str(")\n");
    }
    Ok(text.into_bytes())
}
