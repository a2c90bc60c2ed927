//! What the store's own work costs on a file in memory: appending, reading back, counting.
//!
//! `cargo run --release -p tengen-store --example store_speed -- [GAMES] [FOLDER]`

use std::time::Instant;

use tengen_record::{EndReason, GameRecord, SearchRecord, Turn};
use tengen_rules::{BoardSize, Color, GameState, Komi, Move, Rules};
use tengen_store::{GameId, NewGame, NewRun, Store};

type AnyError = Box<dyn std::error::Error>;

fn main() -> Result<(), AnyError> {
    let mut args = std::env::args().skip(1);
    let games: u64 = args.next().map_or(Ok(20_000), |text| text.parse())?;
    let folder = args.next().unwrap_or_else(|| "/dev/shm".to_owned());
    let folder = tempfile::tempdir_in(folder)?;
    let mut store = Store::open(&folder.path().join("tengen.db"))?;
    let run = store.init_run(&NewRun {
        name: "speed".to_owned(),
        config_text: String::new(),
        config_digest: "c0ffee".to_owned(),
        seed: 1,
    })?;
    let record = game(40)?;
    let told = |what: &str, count: u64, began: Instant| {
        let each = began.elapsed().as_secs_f64() * 1e6 / count as f64;
        println!("{what:<28} {each:9.3} µs each");
    };
    // One at a time and in batches; packing a game is part of it.
    for (what, share, batch) in [("append, 1 at a time", 4, 1), ("append, 64 at a time", 1, 64)] {
        let name = format!("w{batch}");
        let began = Instant::now();
        for first in (0..games / share).step_by(batch) {
            let batch: Vec<_> = (first..first + batch as u64)
                .map(|counter| NewGame {
                    id: GameId::derive(&run.uid, &name, counter),
                    worker: name.clone(),
                    counter,
                    network: "uniform".to_owned(),
                    record: &record,
                })
                .collect();
            store.append_games(&batch)?;
        }
        told(what, games / share, began);
    }
    let last = store.counts()?.last_seq;
    let began = Instant::now();
    for after in (0..last).step_by(512) {
        store.games_in(after, after + 512)?;
    }
    told("games_in, 512 at a time", last, began);
    let began = Instant::now();
    for _ in 0..10 {
        store.positions_by_seq(0, last)?;
    }
    told("positions_by_seq, all", 10 * last, began);
    let began = Instant::now();
    for k in 0..2000 {
        store.window_start(last, k * 10)?;
    }
    told("window_start", 2000, began);
    let began = Instant::now();
    for _ in 0..2000 {
        store.is_too_far_ahead()?;
    }
    told("is_too_far_ahead", 2000, began);
    let began = Instant::now();
    store.digest()?;
    told("digest", last, began);
    Ok(())
}

/// Stones row by row on 9×9, two passes; every move is a target.
fn game(stones: usize) -> Result<GameRecord, AnyError> {
    let size = BoardSize::square(9)?;
    let (rules, komi) = (Rules::tromp_taylor(), Komi::from_points(7.5)?);
    let mut state = GameState::new(size, rules, komi);
    let mut turns = Vec::new();
    for index in 0..stones + 2 {
        let mv = if index < stones { size.move_at(index) } else { Move::Pass };
        let search = (index < stones).then(|| SearchRecord {
            policy: vec![(size.action(mv) as u16, 1)],
            root_value: 0.25,
            visits: 8,
            is_target: true,
            weight: 1.0,
        });
        state.play(mv)?;
        turns.push(Turn { mv, search });
    }
    Ok(GameRecord {
        size,
        rules,
        komi,
        setup_black: Vec::new(),
        setup_white: Vec::new(),
        first_to_play: Color::Black,
        seed: 1,
        players: ["uniform".to_owned(), "uniform".to_owned()],
        config_digest: "c0ffee".to_owned(),
        turns,
        outcome: state.outcome().ok_or("two passes end a game")?,
        end: EndReason::TwoPasses,
    })
}
