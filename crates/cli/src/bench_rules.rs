//! Speed of the rules on one core: random games, legal moves under superko, copies of a state.

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::Result;
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use tengen_rules::{BoardSize, GameState, Komi, LegalMask, Move, Playouts, Rules};

/// Board sides that are measured.
const SIDES: [usize; 3] = [9, 13, 19];
/// Random games a board that go into the signature.
const SIGNED_GAMES: usize = 200;
/// Positions a board that the operations are measured on.
const POSITIONS: u64 = 32;

/// Measures every figure in `rounds` rounds of `millis` milliseconds and gives the best and the
/// median round of each. The signature depends on the rules and the random stream alone: only a
/// change of behaviour moves it.
pub fn measure(rounds: usize, millis: u64) -> Result<Value> {
    let clock = Clock {
        rounds: rounds.clamp(1, 1000),
        round: Duration::from_millis(millis.clamp(1, 10_000)),
    };
    let mut signature = 0u64;
    let mut boards = Vec::new();
    for side in SIDES {
        boards.push(board(BoardSize::square(side)?, &clock, &mut signature)?);
    }
    Ok(json!({
        "what": "rules", "threads": 1, "rounds": clock.rounds, "boards": boards,
        "signature": format!("{signature:016x}"),
    }))
}

fn board(size: BoardSize, clock: &Clock, signature: &mut u64) -> Result<Value> {
    let games = (0..POSITIONS).map(|seed| middle_game(size, seed)).collect::<Result<Vec<_>>>()?;
    for (state, _) in &games {
        mix(signature, state.situation_hash());
        mix(signature, state.legal_moves().count() as u64);
    }
    let empty = GameState::new(size, Rules::tromp_taylor(), Komi::default());
    let mut playouts = Playouts::new(&empty);
    let mut rng = ChaCha8Rng::seed_from_u64(size.area() as u64);
    let mut moves = 0;
    for _ in 0..SIGNED_GAMES {
        let game = playouts.run(|| rng.next_u32());
        moves += game.moves;
        mix(signature, u64::from(game.moves) << 32 | u64::from(game.black_lead.unsigned_abs()));
    }

    let playout = clock.time(|_| {
        black_box(playouts.run(|| rng.next_u32()));
    });
    let at = |i: usize| &games[i % games.len()].0;
    let mut mask = LegalMask::empty(size);
    let legal = clock.time(|i| {
        at(i).legal_moves_into(&mut mask);
        black_box(&mask);
    });
    let clone = clock.time(|i| {
        black_box(at(i).clone());
    });
    // Whole games of moves, so that the cost of superko grows as it does in play.
    let replay = clock.time(|i| {
        let mut state = empty.clone();
        for &mv in &games[i % games.len()].1 {
            let _ = black_box(state.play(mv));
        }
    });
    let replayed: usize = games.iter().map(|(_, moves)| moves.len()).sum();
    let a_move = replayed as f64 / games.len() as f64;
    Ok(json!({
        "size": size.width(),
        "playouts_per_s": { "best": 1e9 / playout.best, "median": 1e9 / playout.median },
        "moves_per_playout": f64::from(moves) / SIGNED_GAMES as f64,
        "legal_moves_ns": legal.json(1.0),
        "clone_ns": clone.json(1.0),
        "play_ns": replay.json(a_move),
    }))
}

/// A position under positional superko after random moves on three points in five, and the moves.
fn middle_game(size: BoardSize, seed: u64) -> Result<(GameState, Vec<Move>)> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut state = GameState::new(size, Rules::tromp_taylor(), Komi::default());
    let mut moves = Vec::new();
    while moves.len() < size.area() * 3 / 5 {
        let legal = state.legal_moves();
        let points: Vec<usize> = legal.iter().filter(|&a| a != size.pass_action()).collect();
        let mv = size.move_at(points[rng.random_range(0..points.len())]);
        state.play(mv)?;
        moves.push(mv);
    }
    Ok((state, moves))
}

struct Clock {
    rounds: usize,
    round: Duration,
}

/// Nanoseconds a call.
struct Timing {
    best: f64,
    median: f64,
}

impl Clock {
    /// Times a call, which is told how many went before.
    fn time(&self, mut call: impl FnMut(usize)) -> Timing {
        let mut calls = 0;
        let mut rounds: Vec<f64> = Vec::with_capacity(self.rounds);
        for _ in 0..self.rounds {
            let (began, used, first) = (Instant::now(), on_processor(), calls);
            while began.elapsed() < self.round {
                for _ in 0..16 {
                    call(calls);
                    calls += 1;
                }
            }
            let spent = match (used, on_processor()) {
                (Some(before), Some(after)) => after - before,
                _ => began.elapsed().as_nanos() as f64,
            };
            rounds.push(spent / (calls - first) as f64);
        }
        rounds.sort_by(f64::total_cmp);
        Timing { best: rounds[0], median: rounds[rounds.len() / 2] }
    }
}

/// Nanoseconds that this thread has had a processor, where the system tells (Linux), so that other
/// programs on the machine don't count.
fn on_processor() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok()
}

impl Timing {
    fn json(&self, parts: f64) -> Value {
        json!({ "best": self.best / parts, "median": self.median / parts })
    }
}

fn mix(signature: &mut u64, word: u64) {
    *signature = (signature.rotate_left(7) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
}
