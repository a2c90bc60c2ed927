//! Uploads of honest workers pass; forged, damaged and hostile ones do not, and nothing panics.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Model, plan};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tengen_fleet::{Checker, Plan, Unsound, worker_seed};
use tengen_inference::UniformEvaluator;
use tengen_record::{EndReason, GameRecord, encode};
use tengen_rules::{Color, Komi, Outcome, Rules};
use tengen_selfplay::SelfPlayPool;
use tengen_store::{GameId, MAX_GAME_BYTES, RunState, Upload};

fn run() -> RunState {
    Model::default().run(|run| run.state.clone())
}

/// Games `0..n` as an honest worker plays them.
fn honest(plan: &Plan, n: usize) -> Vec<GameRecord> {
    let run = run();
    let seed = worker_seed(run.seed, "box");
    let mut pool = SelfPlayPool::new(&plan.settings, &plan.selfplay, &plan.search, 0, seed)
        .with_config_digest(&run.config_digest);
    let mut games = std::collections::BTreeMap::new();
    let evaluators = &mut [Box::new(UniformEvaluator) as _];
    let mut keep = |counter, record| drop(games.insert(counter, record));
    while games_missing(&pool, n) {
        pool.run(evaluators, "uniform", 1, &|| false, &mut keep).unwrap();
    }
    games.into_iter().filter(|(counter, _)| *counter < n as u64).map(|(_, game)| game).collect()
}

/// Whether one of the games `0..n` may still be in flight.
fn games_missing(pool: &SelfPlayPool, n: usize) -> bool {
    pool.next_counter() < (n + 200) as u64
}

fn upload_bytes(counter: u64, payload: Vec<u8>) -> Upload {
    Upload {
        id: GameId::derive(&run().run_uid, "box", counter),
        worker: "box".into(),
        counter,
        network: "uniform".into(),
        payload_hash: *blake3::hash(&payload).as_bytes(),
        payload,
    }
}

fn upload(counter: u64, record: &GameRecord) -> Upload {
    upload_bytes(counter, encode(record))
}

fn checker(plan: &Plan) -> Checker {
    Checker::new(&run(), plan, &[])
}

#[test]
fn what_honest_workers_play_passes_under_every_switch() {
    let plain = plan();
    let mut switched = plain.clone();
    switched.selfplay.resign = true;
    switched.selfplay.soft_resign = true;
    switched.selfplay.end_when_settled = true;
    switched.selfplay.max_moves_factor = 1.0;
    switched.selfplay.komi_stdev = 1.0;
    switched.selfplay.full_search_fraction = 0.7;
    switched.selfplay.opening_policy_moves = 2;
    for plan in [plain, switched] {
        let games = honest(&plan, 60);
        assert_eq!(games.len(), 60);
        for (counter, game) in (0..).zip(&games) {
            let checked = checker(&plan).check(&upload(counter, game));
            assert_eq!(checked.as_ref(), Ok(game), "{counter}");
        }
    }
}

#[test]
fn each_forgery_is_told_by_what_it_forges() {
    let plan = plan();
    let games = honest(&plan, 20);
    let honest = games.iter().find(|game| game.end == EndReason::TwoPasses).unwrap();
    let counter = games.iter().position(|game| game == honest).unwrap() as u64;
    let checker = checker(&plan);
    let forge = |change: &dyn Fn(&mut GameRecord)| {
        let mut record = honest.clone();
        change(&mut record);
        checker.check(&upload(counter, &record)).unwrap_err()
    };
    assert!(matches!(forge(&|r| r.config_digest = "other".into()), Unsound::Digest { .. }));
    // Not the run's komi, and then perhaps not the score either.
    let komi = forge(&|r| r.komi = Komi::from_points(1.5).unwrap());
    assert!(matches!(komi, Unsound::OtherGame("komi") | Unsound::Record(_)), "{komi}");
    let japanese = Rules::parse_any("japanese").unwrap();
    let rules = forge(&|r| r.rules = japanese);
    assert!(matches!(rules, Unsound::OtherGame("rule set") | Unsound::Record(_)), "{rules}");
    assert!(matches!(forge(&|r| r.players[1] = "me".into()), Unsound::Players { .. }));
    assert_eq!(forge(&|r| r.seed += 1), Unsound::Seed(counter));
    let resigns = |r: &mut GameRecord| {
        r.turns.truncate(1);
        r.outcome = Outcome::Resignation { winner: Color::Black };
        r.end = EndReason::Resignation;
    };
    assert!(matches!(forge(&resigns), Unsound::End { .. }), "this run has no resignation");
    let cut = |r: &mut GameRecord| {
        r.turns.truncate(1);
        r.outcome = Outcome::Draw;
        r.end = EndReason::MoveLimit;
    };
    assert!(matches!(forge(&cut), Unsound::End { .. }), "before the limit");
    for end in [EndReason::Time, EndReason::Forfeit, EndReason::Reported] {
        let unsound = forge(&|r| {
            r.outcome = Outcome::NoResult;
            r.end = end;
        });
        assert!(matches!(unsound, Unsound::End { .. } | Unsound::Record(_)), "{unsound}");
    }
    let won = |r: &mut GameRecord| r.outcome = Outcome::parse_result("B+9").unwrap();
    let lost = |r: &mut GameRecord| r.outcome = Outcome::parse_result("W+9.5").unwrap();
    assert!([forge(&won), forge(&lost)].iter().any(|u| matches!(u, Unsound::Record(_))));
    let search = |change: fn(&mut tengen_record::SearchRecord)| {
        forge(&move |r: &mut GameRecord| {
            let searches = r.turns.iter_mut().filter_map(|turn| turn.search.as_mut());
            searches.for_each(change);
        })
    };
    assert!(matches!(search(|s| s.root_value = f32::NAN), Unsound::Record(_)));
    assert!(matches!(search(|s| s.policy.clear()), Unsound::Record(_)));
    assert!(matches!(search(|s| s.policy = vec![(999, 1)]), Unsound::Record(_)));
    assert!(matches!(
        search(|s| {
            s.is_target = true;
            s.visits = 1;
        }),
        Unsound::Search { .. }
    ));
    // The envelope.
    let sound = upload(counter, honest);
    let refuse = |change: &dyn Fn(&mut Upload)| {
        let mut upload = sound.clone();
        change(&mut upload);
        checker.check(&upload).unwrap_err()
    };
    assert_eq!(refuse(&|u| u.payload_hash[0] ^= 1), Unsound::Hash);
    assert_eq!(refuse(&|u| u.counter += 1), Unsound::Id);
    assert_eq!(refuse(&|u| u.worker = "other".into()), Unsound::Id);
    assert!(matches!(refuse(&|u| u.network = "a".repeat(64)), Unsound::Players { .. }));
    let large = upload_bytes(counter, vec![0; MAX_GAME_BYTES + 1]);
    assert!(matches!(checker.check(&large), Err(Unsound::TooLarge { .. })));
    let bomb = refuse(&|u| {
        u.payload[5..9].copy_from_slice(&u32::MAX.to_le_bytes());
        u.payload_hash = *blake3::hash(&u.payload).as_bytes();
    });
    assert!(matches!(bomb, Unsound::TooLarge { .. }), "{bomb}");
}

#[test]
fn a_network_may_be_two_promotions_old_and_no_older() {
    let plan = plan();
    let bests: Vec<String> = (0..5).map(|n| format!("{n}")).collect();
    let checker = Checker::new(&run(), &plan, &bests);
    let game = honest(&plan, 1).remove(0);
    for (network, sound) in [("4", true), ("2", true), ("1", false), ("uniform", false)] {
        let mut record = game.clone();
        record.players = [network.to_owned(), network.to_owned()];
        let upload = Upload { network: network.into(), ..upload(0, &record) };
        assert_eq!(checker.check(&upload).is_ok(), sound, "{network}");
    }
}

/// Two hundred damaged payloads and more: cut, flipped, spliced, random.
#[test]
fn damaged_bytes_are_refused_without_a_panic() {
    let plan = plan();
    let game = honest(&plan, 1).remove(0);
    let (sound, checker) = (encode(&game), checker(&plan));
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for round in 0..400 {
        let mut bytes = sound.clone();
        match round % 4 {
            0 => bytes.truncate(rng.random_range(0..sound.len())),
            1 => bytes[rng.random_range(0..sound.len())] ^= 1 << rng.random_range(0..8),
            2 => bytes.extend((0..rng.random_range(1..50)).map(|_| rng.random::<u8>())),
            _ => bytes = (0..rng.random_range(0..300)).map(|_| rng.random()).collect(),
        }
        assert!(checker.check(&upload_bytes(0, bytes)).is_err(), "round {round}");
    }
}
