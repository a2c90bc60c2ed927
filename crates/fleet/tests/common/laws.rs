//! The law of uploads: whatever the bytes, nothing panics, and what passes could have been played as it says.
//! For the tests here and for `fuzz/fuzz_targets/upload.rs`.
#![allow(dead_code, missing_docs, clippy::unwrap_used)]

use std::sync::Arc;

use tengen_fleet::{Checker, Plan, worker_seed};
use tengen_record::{EndReason, GameRecord, decode};
use tengen_rules::{BoardSize, Color, GameState, Komi, Rules};
use tengen_search::SearchConfig;
use tengen_selfplay::{GameSettings, SelfPlayConfig, game_seed};
use tengen_store::{GameId, RunMode, RunState, Upload};

/// The worker whose uploads these are.
pub const WORKER: &str = "box";

/// A 3×3 game with few visits, one thread, four games in flight.
pub fn plan() -> Plan {
    Plan {
        settings: GameSettings {
            size: BoardSize::square(3).unwrap(),
            rules: Rules::tromp_taylor(),
            komi: Komi::from_points(0.5).unwrap(),
        },
        others: Vec::new(),
        selfplay: SelfPlayConfig { workers: 1, games_in_flight: 4, ..SelfPlayConfig::default() },
        search: SearchConfig { visits: 8, ..SearchConfig::default() },
        starts: Arc::default(),
    }
}

/// The run that they are handed in for; it has no network yet.
pub fn run() -> RunState {
    RunState {
        run_uid: "0123".into(),
        config_text: String::new(),
        config_digest: "c0ffee".into(),
        seed: 7,
        best: None,
        mode: RunMode::Running,
        ahead: false,
    }
}

/// Any bytes as game `counter`, with everything around them right.
pub fn upload(counter: u64, payload: Vec<u8>) -> Upload {
    Upload {
        id: GameId::derive(&run().run_uid, WORKER, counter),
        worker: WORKER.into(),
        counter,
        network: "uniform".into(),
        payload_hash: *blake3::hash(&payload).as_bytes(),
        payload,
    }
}

/// A blob with the right mark, version, length and checksum around whatever packed content.
pub fn framed(packed: &[u8], told: u32) -> Vec<u8> {
    let length = told.to_le_bytes();
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&[1]);
    hasher.update(&length);
    hasher.update(packed);
    [b"TGNR\x01".as_slice(), &length, &hasher.finalize().to_le_bytes(), packed].concat()
}

/// Hands in any bytes, as they are and as the content of a frame that only a forger could make, and returns
/// whether either was accepted.
pub fn any_bytes(bytes: &[u8]) -> bool {
    let packed = zstd::bulk::compress(bytes, 1).unwrap();
    let accepted = [bytes.to_vec(), framed(&packed, bytes.len() as u32)].map(|payload| {
        // A forger gives a game the number that its seed asks for.
        let of_seed = |record: GameRecord| {
            let first = worker_seed(run().seed, WORKER);
            (0..8).find(|&counter| game_seed(first, counter) == record.seed)
        };
        let counter = decode(&payload).ok().and_then(of_seed).unwrap_or_default();
        judge(&Checker::new(&run(), &plan(), &[]), &upload(counter, payload)).is_some()
    });
    accepted.contains(&true)
}

/// The game of an upload if the checker accepts it.
///
/// # Panics
/// If it accepts what nobody could have played.
pub fn judge(checker: &Checker, upload: &Upload) -> Option<GameRecord> {
    let record = checker.check(upload).ok()?;
    if let Err(why) = could_have_been(&record, upload.counter) {
        panic!("accepted, but {why}: {:?}", upload.payload);
    }
    Some(record)
}

/// A slow twin of the checker: whether a game could have been played as number `counter`, as far as anybody can
/// tell without the network. Other moves, other values, visits dealt out otherwise: for those, searches are
/// made again (`recheck`).
fn could_have_been(record: &GameRecord, counter: u64) -> Result<(), String> {
    let (plan, run) = (plan(), run());
    let due = GameRecord {
        size: plan.settings.size,
        rules: plan.settings.rules,
        komi: plan.settings.komi,
        setup_black: Vec::new(),
        setup_white: Vec::new(),
        first_to_play: Color::Black,
        seed: game_seed(worker_seed(run.seed, WORKER), counter),
        players: ["uniform".into(), "uniform".into()],
        config_digest: run.config_digest,
        turns: record.turns.clone(),
        outcome: record.outcome,
        end: record.end,
    };
    // NaNs are equal to nothing; the searches are looked at below.
    let bare = |game: &GameRecord| GameRecord { turns: Vec::new(), ..game.clone() };
    if bare(record) != bare(&due) {
        return Err(format!("it is not the worker's game {counter}"));
    }
    let mut state = GameState::new(record.size, record.rules, record.komi);
    let (mut weight, mut targets) = (0.0, 0.0);
    for (at, turn) in record.turns.iter().enumerate() {
        if let Some(search) = &turn.search {
            let visits: u32 = search.policy.iter().map(|&(_, weight)| u32::from(weight)).sum();
            let legal = |&(action, _): &(u16, u16)| {
                usize::from(action) < record.size.actions()
                    && state.check(record.size.move_at(action.into())).is_ok()
            };
            let number = search.root_value.abs() <= 1.0 && search.weight >= 0.0;
            let full = !search.is_target || search.visits >= plan.search.visits;
            if visits != search.visits || !search.policy.iter().all(legal) || !number || !full {
                return Err(format!("nobody searches as at turn {at}: {search:?}"));
            }
            if search.is_target {
                weight += search.weight;
                targets += 1.0;
            }
        }
        state.play(turn.mv).map_err(|why| format!("turn {at}: {why}"))?;
    }
    if weight > targets * 1.01 {
        return Err(format!("{targets} targets weigh {weight}"));
    }
    let over = match record.end {
        EndReason::TwoPasses => state.outcome() == Some(record.outcome),
        EndReason::MoveLimit => record.turns.len() == 18 && state.score_now() == record.outcome,
        _ => false,
    };
    over.then_some(()).ok_or_else(|| format!("it does not end as {:?}", record.end))
}
