//! Forged, broken and hostile uploads made from real games: some sixty kinds, each with its dice.
#![allow(dead_code, missing_docs, clippy::unwrap_used)]

use std::sync::OnceLock;

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use tengen_fleet::{MAX_UNPACKED_BYTES, Plan, worker_seed};
use tengen_inference::UniformEvaluator;
use tengen_record::{EndReason, GameRecord, SearchRecord, Turn, encode};
use tengen_rules::{BoardSize, Color, Komi, Move, Outcome, Rules};
use tengen_selfplay::SelfPlayPool;
use tengen_store::{GameId, MAX_GAME_BYTES, Upload};

use super::laws::framed;

/// Where a forger starts: what it honestly played.
pub struct Origin {
    pub run_uid: String,
    pub run_seed: u64,
    pub worker: String,
    /// By counter.
    pub games: Vec<GameRecord>,
    blobs: Vec<Vec<u8>>,
}

impl Origin {
    /// The first `n` games of a worker of the run, as it honestly plays them.
    pub fn new(plan: &Plan, run_uid: &str, run_seed: u64, worker: &str, n: usize) -> Self {
        let games = honest(plan, worker_seed(run_seed, worker), n);
        Self {
            run_uid: run_uid.to_owned(),
            run_seed,
            worker: worker.to_owned(),
            blobs: games.iter().map(encode).collect(),
            games,
        }
    }

    /// The numbers of games that ended by two passes and have some searches to forge.
    pub fn usual(&self) -> Vec<u64> {
        let searched = |game: &GameRecord| {
            let mut targets = game.turns.iter().filter_map(|turn| turn.search.as_ref());
            targets.any(|search| search.is_target && search.policy.len() > 1)
        };
        let usual = |game: &GameRecord| {
            game.end == EndReason::TwoPasses && game.turns.len() > 5 && searched(game)
        };
        (0..).zip(&self.games).filter(|(_, game)| usual(game)).map(|(counter, _)| counter).collect()
    }

    pub fn honest(&self, counter: u64) -> Upload {
        self.upload(counter, self.blobs[counter as usize].clone())
    }

    /// Any bytes as game `counter`, with everything around them right.
    pub fn upload(&self, counter: u64, payload: Vec<u8>) -> Upload {
        Upload {
            id: GameId::derive(&self.run_uid, &self.worker, counter),
            worker: self.worker.clone(),
            counter,
            network: "uniform".into(),
            payload_hash: *blake3::hash(&payload).as_bytes(),
            payload,
        }
    }
}

/// Games `0..n` from a seed.
fn honest(plan: &Plan, seed: u64, n: usize) -> Vec<GameRecord> {
    let mut pool = SelfPlayPool::new(&plan.settings, &plan.selfplay, &plan.search, 0, seed)
        .with_config_digest("c0ffee");
    let mut games = std::collections::BTreeMap::new();
    let evaluators = &mut [Box::new(UniformEvaluator) as _];
    // Seats that fall free are taken by new games: whoever was seated among the first has ended by then.
    while (0..n as u64).any(|counter| !games.contains_key(&counter)) {
        let mut keep = |counter, record| drop(games.insert(counter, record));
        pool.run(evaluators, "uniform", 1, &|| false, &mut keep).unwrap();
    }
    games.into_values().take(n).collect()
}

/// How a record is forged; `false` where this game does not lend itself to it.
type Change = fn(&mut GameRecord, &mut ChaCha8Rng) -> bool;
/// How the bytes or what goes with them are forged.
type Wrap = fn(&Origin, u64, &mut ChaCha8Rng) -> Upload;

/// One way to cheat.
pub struct Kind {
    pub name: &'static str,
    forge: Forge,
    /// Words of the reason for which it is put aside: one of these at least.
    pub reasons: &'static [&'static str],
}

enum Forge {
    Record(Change),
    Upload(Wrap),
}

impl Kind {
    const fn record(name: &'static str, reasons: &'static [&'static str], change: Change) -> Self {
        Self { name, forge: Forge::Record(change), reasons }
    }

    const fn upload(name: &'static str, reasons: &'static [&'static str], wrap: Wrap) -> Self {
        Self { name, forge: Forge::Upload(wrap), reasons }
    }

    /// A forgery of game `counter`, which is one of the [`usual`](Origin::usual).
    pub fn forge(&self, origin: &Origin, counter: u64, rng: &mut ChaCha8Rng) -> Option<Upload> {
        let upload = match &self.forge {
            Forge::Upload(wrap) => wrap(origin, counter, rng),
            Forge::Record(change) => {
                let mut record = origin.games[counter as usize].clone();
                if !change(&mut record, rng) {
                    return None;
                }
                let mut upload = origin.upload(counter, encode(&record));
                // A forger's story is a consistent one, where it can be.
                if record.players[0] == record.players[1] {
                    upload.network.clone_from(&record.players[0]);
                }
                upload
            }
        };
        (upload != origin.honest(counter)).then_some(upload)
    }
}

fn searches(record: &mut GameRecord) -> Vec<&mut SearchRecord> {
    record.turns.iter_mut().filter_map(|turn| turn.search.as_mut()).collect()
}

/// Changes one search that is a training target and has a policy of two moves at least.
fn a_search(record: &mut GameRecord, rng: &mut ChaCha8Rng, change: fn(&mut SearchRecord)) -> bool {
    let mut targets: Vec<_> = searches(record)
        .into_iter()
        .filter(|search| search.is_target && search.policy.len() > 1)
        .collect();
    let at = rng.random_range(0..targets.len());
    change(targets[at]);
    true
}

/// Ends the game after some of its moves, as `end`.
fn cut(record: &mut GameRecord, rng: &mut ChaCha8Rng, outcome: Outcome, end: EndReason) -> bool {
    let moves = rng.random_range(1..record.turns.len() - 1);
    record.turns.truncate(moves);
    (record.outcome, record.end) = (outcome, end);
    true
}

fn winner(rng: &mut ChaCha8Rng) -> Color {
    if rng.random() { Color::Black } else { Color::White }
}

fn other_bytes(origin: &Origin, counter: u64, change: impl FnOnce(&mut Vec<u8>)) -> Upload {
    let mut payload = origin.honest(counter).payload;
    change(&mut payload);
    origin.upload(counter, payload)
}

/// The content of a game blob.
pub fn content(blob: &[u8]) -> Vec<u8> {
    let told = u32::from_le_bytes(blob[5..9].try_into().unwrap());
    zstd::bulk::decompress(&blob[13..], told as usize).unwrap()
}

fn frame_content(content: &[u8]) -> Vec<u8> {
    framed(&zstd::bulk::compress(content, 3).unwrap(), content.len() as u32)
}

/// A move that the rules refuse for `why` in the game up to some turn.
fn refused_move(record: &mut GameRecord, why: fn(&tengen_rules::IllegalMove) -> bool) -> bool {
    let mut state = record.initial_state().unwrap();
    for at in 0..record.turns.len() {
        let points = (0..record.size.area()).map(|point| record.size.move_at(point));
        let found =
            points.into_iter().find(|&mv| state.check(mv).is_err_and(|refusal| why(&refusal)));
        if let Some(mv) = found {
            record.turns.insert(at, Turn { mv, search: None });
            return true;
        }
        state.play(record.turns[at].mv).unwrap();
    }
    false
}

/// Every kind. What each is put aside for is a promise to whoever looks into the quarantine.
pub fn kinds() -> Vec<Kind> {
    use tengen_rules::IllegalMove;
    const SCORE: &[&str] = &["but the board scores"];
    const SEARCH: &[&str] = &["turn "];
    const BYTES: &[&str] = &["game record"];
    let mut kinds = vec![
        // Another game than the run's.
        Kind::record("another komi", &["komi", "but the board scores"], |r, rng| {
            r.komi =
                Komi::from_half_points(r.komi.half_points() + rng.random_range(1..20)).unwrap();
            true
        }),
        Kind::record("a komi for White's sake", &["komi", "but the board scores"], |r, rng| {
            r.komi = Komi::from_half_points(-rng.random_range(1..20)).unwrap();
            true
        }),
        Kind::record("a larger board", &["board"], |r, rng| {
            r.size = BoardSize::square(rng.random_range(4..=19)).unwrap();
            r.turns = vec![Turn { mv: Move::Pass, search: None }; 2];
            r.outcome = Outcome::parse_result("W+0.5").unwrap();
            true
        }),
        Kind::record(
            "another rule set",
            &["rule set", "but the board scores", "turn "],
            |r, rng| {
                let names = ["japanese", "chinese", "aga", "new-zealand"];
                r.rules = Rules::parse_any(names[rng.random_range(0..names.len())]).unwrap();
                true
            },
        ),
        Kind::record(
            "stones before the game",
            &["set-up", "turn ", "but the board", "setup"],
            |r, rng| {
                let at = rng.random_range(0..r.size.area());
                if let Move::Play(point) = r.size.move_at(at) {
                    r.setup_black.push(point);
                }
                true
            },
        ),
        Kind::record("White begins", &["but the board scores", "turn ", "set-up"], |r, _| {
            r.first_to_play = Color::White;
            true
        }),
        // Results.
        Kind::record("the other side wins", SCORE, |r, rng| {
            let winner = r.outcome.winner();
            let text = if winner == Some(Color::Black) { "W" } else { "B" };
            let score = [0.5, 1.5, 8.5][rng.random_range(0..3)];
            r.outcome = Outcome::parse_result(&format!("{text}+{score}")).unwrap();
            true
        }),
        Kind::record("another score", SCORE, |r, rng| {
            let text = r.outcome.result_text();
            let (side, points) = text.split_once('+').unwrap();
            let points: f64 = points.parse().unwrap();
            let claimed = points + f64::from(rng.random_range(1..9));
            r.outcome = Outcome::parse_result(&format!("{side}+{claimed}")).unwrap();
            true
        }),
        Kind::record("a draw", SCORE, |r, _| {
            r.outcome = Outcome::Draw;
            true
        }),
        Kind::record("no result", SCORE, |r, _| {
            r.outcome = Outcome::NoResult;
            true
        }),
        Kind::record("a resignation", &["resignation"], |r, rng| {
            let winner = winner(rng);
            cut(r, rng, Outcome::Resignation { winner }, EndReason::Resignation)
        }),
        Kind::record("a loss on time", &["by time"], |r, rng| {
            cut(r, rng, Outcome::NoResult, EndReason::Time)
        }),
        Kind::record("a forfeit", &["by forfeit"], |r, rng| {
            let winner = winner(rng);
            cut(r, rng, Outcome::Resignation { winner }, EndReason::Forfeit)
        }),
        Kind::record("a reported result", &["by reported", "reported"], |r, rng| {
            cut(r, rng, Outcome::NoResult, EndReason::Reported)
        }),
        Kind::record("a limit that it never met", &["by move-limit"], |r, rng| {
            cut(r, rng, Outcome::Draw, EndReason::MoveLimit)
        }),
        Kind::record("settled where this run plays on", &["settled"], |r, rng| {
            let outcome = r.outcome;
            cut(r, rng, outcome, EndReason::Settled)
        }),
        // Moves.
        Kind::record("a stone on a stone", &["is occupied"], |r, _| {
            refused_move(r, |why| matches!(why, IllegalMove::Occupied(_)))
        }),
        Kind::record("a repeated position", &["repeats an earlier position"], |r, _| {
            refused_move(r, |why| matches!(why, IllegalMove::Superko(_)))
        }),
        Kind::record("moves after the end", &["the game is over"], |r, rng| {
            for _ in 0..rng.random_range(1..4) {
                r.turns.push(Turn { mv: Move::Pass, search: None });
            }
            true
        }),
        Kind::record("an end before the end", &["the game is not over"], |r, rng| {
            let moves = r.turns.len() - rng.random_range(1..3);
            r.turns.truncate(moves);
            true
        }),
        Kind::record("no moves at all", &["the game is not over"], |r, _| {
            r.turns.clear();
            true
        }),
        Kind::record(
            "moves in another order",
            &["turn ", "but the board", "not over"],
            |r, rng| {
                let plays = r.turns.len() - 2;
                let (a, b) = (rng.random_range(0..plays), rng.random_range(0..plays));
                r.turns.swap(a, b);
                // A mirror image may be as good a game; one whose searches fit no more is not.
                r.turns[a].mv != r.turns[b].mv && r.validate().is_err()
            },
        ),
        Kind::record("ten thousand turns and more", &["turns", "over"], |r, _| {
            r.turns = vec![Turn { mv: Move::Pass, search: None }; 10_001];
            true
        }),
        // Who played, under what.
        Kind::record("a network that nobody knows", &["is none of this run's"], |r, rng| {
            let name: String = (0..64).map(|_| char::from(b'a' + rng.random_range(0..6))).collect();
            r.players = [name.clone(), name];
            true
        }),
        Kind::record("a player of another name", &["but was played by"], |r, rng| {
            r.players[rng.random_range(0..2)] = "me".into();
            true
        }),
        Kind::record("a player of no name", &["but was played by"], |r, rng| {
            r.players[rng.random_range(0..2)].clear();
            true
        }),
        Kind::record("a name of two kilobytes", &["name"], |r, rng| {
            r.players[rng.random_range(0..2)] = "x".repeat(2048);
            true
        }),
        Kind::record("another configuration", &["is none of this run's"], |r, rng| {
            r.config_digest = format!("{:016x}", rng.random::<u64>());
            true
        }),
        Kind::record("a configuration of two kilobytes", &["digest"], |r, _| {
            r.config_digest = "c0ffee".repeat(400);
            true
        }),
        Kind::record("another seed", &["seed"], |r, rng| {
            r.seed ^= 1 << rng.random_range(0..64);
            true
        }),
        // Searches.
        Kind::record("a value that is no number", SEARCH, |r, rng| {
            a_search(r, rng, |s| s.root_value = f32::NAN)
        }),
        Kind::record("an infinite value", SEARCH, |r, rng| {
            a_search(r, rng, |s| s.root_value = f32::NEG_INFINITY)
        }),
        Kind::record("a value beyond a win", SEARCH, |r, rng| {
            a_search(r, rng, |s| s.root_value = 1.000_1)
        }),
        Kind::record("a weight that is no number", SEARCH, |r, rng| {
            a_search(r, rng, |s| s.weight = f32::NAN)
        }),
        Kind::record("an infinite weight", SEARCH, |r, rng| {
            a_search(r, rng, |s| s.weight = f32::INFINITY)
        }),
        Kind::record("a weight below nothing", SEARCH, |r, rng| {
            a_search(r, rng, |s| s.weight = -1.0)
        }),
        Kind::record("a weight of a thousand games", SEARCH, |r, rng| {
            a_search(r, rng, |s| s.weight = 1000.0)
        }),
        Kind::record("an empty policy", SEARCH, |r, rng| a_search(r, rng, |s| s.policy.clear())),
        Kind::record("a policy of nothing", SEARCH, |r, rng| {
            a_search(r, rng, |s| s.policy.iter_mut().for_each(|entry| entry.1 = 0))
        }),
        Kind::record("a policy off the board", SEARCH, |r, rng| {
            a_search(r, rng, |s| s.policy.last_mut().unwrap().0 = 999)
        }),
        Kind::record("a policy that names a move twice", SEARCH, |r, rng| {
            a_search(r, rng, |s| s.policy[1].0 = s.policy[0].0)
        }),
        Kind::record("a policy out of order", SEARCH, |r, rng| {
            a_search(r, rng, |s| s.policy.swap(0, 1))
        }),
        Kind::record("a policy longer than the board", &["policy entries"], |r, rng| {
            a_search(r, rng, |s| s.policy = (0..200).map(|action| (action, 1)).collect())
        }),
        Kind::record("a policy for a stone on a stone", SEARCH, |r, _| {
            let mut state = r.initial_state().unwrap();
            for turn in &mut r.turns {
                let taken = (0..r.size.area())
                    .find(|&at| state.check(r.size.move_at(at)).is_err())
                    .map(|at| at as u16);
                if let (Some(search), Some(action)) = (&mut turn.search, taken) {
                    search.policy = vec![(action, search.visits as u16)];
                    return true;
                }
                state.play(turn.mv).unwrap();
            }
            false
        }),
        Kind::record("more visits than the policy has", SEARCH, |r, rng| {
            a_search(r, rng, |s| s.visits += 1)
        }),
        Kind::record("a policy of more than its visits", SEARCH, |r, rng| {
            a_search(r, rng, |s| s.policy[0].1 += 1)
        }),
        Kind::record("a policy of all its visits on one move, and more", SEARCH, |r, rng| {
            a_search(r, rng, |s| s.policy[0].1 = u16::MAX - 1)
        }),
        Kind::record("a target of one visit", SEARCH, |r, rng| {
            a_search(r, rng, |s| {
                s.policy = vec![(s.policy[0].0, 1)];
                s.visits = 1;
            })
        }),
        Kind::record("a target of fewer visits than the run's", SEARCH, |r, rng| {
            a_search(r, rng, |s| {
                s.policy = vec![(s.policy[0].0, 7)];
                s.visits = 7;
            })
        }),
        Kind::record("more visits than anybody makes", SEARCH, |r, rng| {
            a_search(r, rng, |s| {
                s.policy = vec![(s.policy[0].0, 60_000)];
                s.visits = 60_000;
            })
        }),
        // What goes with the bytes.
        Kind::upload("another hash", &["hash"], |origin, counter, rng| {
            let mut upload = origin.honest(counter);
            upload.payload_hash[rng.random_range(0..32)] ^= 1 << rng.random_range(0..8);
            upload
        }),
        Kind::upload("another id", &["its id is"], |origin, counter, rng| {
            let mut upload = origin.honest(counter);
            upload.id.0[rng.random_range(0..16)] ^= 1 << rng.random_range(0..8);
            upload
        }),
        Kind::upload("the id of another worker's game", &["its id is"], |origin, counter, _| {
            let id = GameId::derive(&origin.run_uid, "somebody-else", counter);
            Upload { id, ..origin.honest(counter) }
        }),
        Kind::upload("the id of another run's game", &["its id is"], |origin, counter, rng| {
            let run = format!("{:032x}", rng.random::<u128>());
            let id = GameId::derive(&run, &origin.worker, counter);
            Upload { id, ..origin.honest(counter) }
        }),
        Kind::upload("a game of another number", &["seed"], |origin, counter, rng| {
            let other =
                (counter as usize + rng.random_range(1..origin.games.len())) % origin.games.len();
            origin.upload(counter, encode(&origin.games[other]))
        }),
        Kind::upload("a game under a number far away", &["seed"], |origin, counter, rng| {
            let far = counter + rng.random_range(1_000..1_000_000);
            origin.upload(far, encode(&origin.games[counter as usize]))
        }),
        Kind::upload(
            "a network that did not play",
            &["but was played by", "is none of this"],
            |origin, counter, rng| {
                let network = format!("{:064x}", rng.random::<u128>());
                Upload { network, ..origin.honest(counter) }
            },
        ),
        Kind::upload(
            "no network's name",
            &["but was played by", "is none of this"],
            |origin, counter, _| Upload { network: String::new(), ..origin.honest(counter) },
        ),
        // The bytes themselves, with their right hash.
        Kind::upload("a flipped bit", BYTES, |origin, counter, rng| {
            other_bytes(origin, counter, |bytes| {
                let at = rng.random_range(0..bytes.len());
                bytes[at] ^= 1 << rng.random_range(0..8);
            })
        }),
        Kind::upload("cut short", BYTES, |origin, counter, rng| {
            other_bytes(origin, counter, |bytes| bytes.truncate(rng.random_range(0..bytes.len())))
        }),
        Kind::upload("bytes behind the end", BYTES, |origin, counter, rng| {
            other_bytes(origin, counter, |bytes| {
                bytes.extend((0..rng.random_range(1..100)).map(|_| rng.random::<u8>()));
            })
        }),
        Kind::upload("two games in one", BYTES, |origin, counter, _| {
            other_bytes(origin, counter, |bytes| bytes.extend(bytes.clone()))
        }),
        Kind::upload("any bytes", BYTES, |origin, counter, rng| {
            let bytes = (0..rng.random_range(0..2_000)).map(|_| rng.random()).collect();
            origin.upload(counter, bytes)
        }),
        Kind::upload("nothing", BYTES, |origin, counter, _| origin.upload(counter, Vec::new())),
        Kind::upload("zeros up to the limit", BYTES, |origin, counter, rng| {
            origin.upload(counter, vec![0; MAX_GAME_BYTES - rng.random_range(0..3)])
        }),
        Kind::upload("another version", BYTES, |origin, counter, rng| {
            other_bytes(origin, counter, |bytes| bytes[4] = rng.random_range(2..=255))
        }),
        Kind::upload("another file's mark", BYTES, |origin, counter, _| {
            other_bytes(origin, counter, |bytes| bytes[..4].copy_from_slice(b"PNG\r"))
        }),
        Kind::upload(
            "a promise of four gigabytes",
            &["game record claims"],
            |origin, counter, _| {
                let packed = origin.honest(counter).payload[13..].to_vec();
                origin.upload(counter, framed(&packed, u32::MAX))
            },
        ),
        Kind::upload("sixty megabytes in sixty kilobytes", BYTES, |origin, counter, rng| {
            static BOMB: OnceLock<Vec<u8>> = OnceLock::new();
            let bomb = BOMB.get_or_init(|| zstd::bulk::compress(&vec![0_u8; 60 << 20], 1).unwrap());
            let told = [1_000, MAX_UNPACKED_BYTES, 5 << 20, 60 << 20][rng.random_range(0..4)];
            origin.upload(counter, framed(bomb, told))
        }),
    ];
    kinds.extend(content_kinds());
    kinds
}

/// Frames whose checksum and length are right and whose content is not.
fn content_kinds() -> Vec<Kind> {
    const CONTENT: &[&str] = &["malformed game record", "does not replay"];
    vec![
        Kind::upload("content cut short", CONTENT, |origin, counter, rng| {
            let mut content = content(&origin.honest(counter).payload);
            content.truncate(rng.random_range(0..content.len()));
            origin.upload(counter, frame_content(&content))
        }),
        Kind::upload("content that goes on", CONTENT, |origin, counter, rng| {
            let mut content = content(&origin.honest(counter).payload);
            content.extend((0..rng.random_range(1..64)).map(|_| rng.random::<u8>()));
            origin.upload(counter, frame_content(&content))
        }),
        Kind::upload("a board of no size", CONTENT, |origin, counter, rng| {
            let mut content = content(&origin.honest(counter).payload);
            content[rng.random_range(0..2)] = [0, 1, 26, 255][rng.random_range(0..4)];
            origin.upload(counter, frame_content(&content))
        }),
        Kind::upload("rules of a length beyond all memory", CONTENT, |origin, counter, rng| {
            let mut content = content(&origin.honest(counter).payload);
            content[2 + rng.random_range(3..8)] = rng.random_range(1..=255);
            origin.upload(counter, frame_content(&content))
        }),
        Kind::upload("random content", CONTENT, |origin, counter, rng| {
            let content: Vec<u8> = (0..rng.random_range(0..3_000)).map(|_| rng.random()).collect();
            origin.upload(counter, frame_content(&content))
        }),
    ]
}
