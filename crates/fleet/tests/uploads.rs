//! What workers hand in by a login of their own, forged in sixty ways: nothing of it enters the run, each is
//! put aside for its reason, and whoever goes on is blocked. Then uploads from a machine that never tires.
#![allow(clippy::unwrap_used)]

mod common;
#[path = "../../../fuzz/seeds.rs"]
mod seeds;

use std::slice::from_ref;
use std::time::{Duration, Instant};

use common::forge::{Kind, Origin, content, kinds};
use common::laws::{self, framed};
use common::plan;

use common::scene::{Scene, hello};
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tengen_fleet::{Checker, Janitor};
use tengen_record::{decode, encode};
use tengen_store::{
    MAX_GAME_BYTES, MAX_UPLOADS, PROTOCOL, Store, Upload, Upstream, UpstreamError, WorkerClient,
    WorkerHello, WorkerState,
};

/// The run's keeper and a worker's login, whose worker changes once it is blocked.
struct Court {
    store: Store,
    janitor: Janitor,
    client: WorkerClient,
    origin: Origin,
    /// Numbers of the worker's games that were not handed in yet.
    left: Vec<u64>,
    faults: u64,
    workers: u32,
    honest: u64,
}

impl Court {
    fn new(scene: &Scene) -> Self {
        let client = WorkerClient::connect(&scene.url_of_a_worker()).unwrap();
        let origin = Origin::new(&plan(), "", 7, "nobody", 0);
        let (store, janitor) = (scene.store(), Janitor::default());
        let mut court =
            Self { store, janitor, client, origin, left: vec![], faults: 0, workers: 0, honest: 0 };
        court.next_worker();
        court
    }

    fn next_worker(&mut self) {
        self.workers += 1;
        let name = format!("forger-{}", self.workers);
        let run = self.client.register(&hello(&name)).unwrap();
        self.origin = Origin::new(&plan(), &run.run_uid, run.seed, &name, 32);
        self.left = self.origin.usual();
        self.faults = 0;
        assert!(self.left.len() > 14, "{} usual games", self.left.len());
    }

    fn sweep(&mut self) -> tengen_fleet::Swept {
        self.janitor.sweep(&mut self.store, &|_| Ok(plan()), None).unwrap()
    }

    /// Hands a forgery in, which must be put aside for one of its reasons and count against the worker.
    fn judge(&mut self, kind: &Kind, upload: &Upload) {
        let name = kind.name;
        let told = self.client.submit(from_ref(upload)).unwrap();
        assert_eq!((told.accepted, told.quarantined), (1, 0), "{name}: into the inbox");
        let swept = self.sweep();
        assert_eq!((swept.accepted, swept.quarantined), (0, 1), "{name}: {swept:?}");
        let aside = self.store.quarantined(1).unwrap().remove(0);
        assert_eq!(
            (&aside.worker, aside.counter),
            (&upload.worker, Some(upload.counter)),
            "{name}"
        );
        assert!(
            kind.reasons.iter().any(|words| aside.reason.contains(words)),
            "{name} is put aside for another reason: {}",
            aside.reason
        );
        self.count();
    }

    /// Ten unsound games block a worker, three make it suspect.
    fn count(&mut self) {
        self.faults += 1;
        let row = self.store.workers().unwrap();
        let row = row.iter().find(|row| row.name == self.origin.worker).unwrap();
        let due = match self.faults {
            ..3 => WorkerState::Ok,
            3..10 => WorkerState::Suspect,
            _ => WorkerState::Blocked,
        };
        assert_eq!((row.refused, row.state), (self.faults, due), "{}", row.name);
        if due == WorkerState::Suspect && self.faults == 3 {
            // The honest games of a suspect count.
            let Some(counter) = self.left.pop() else { return };
            self.client.submit(&[self.origin.honest(counter)]).unwrap();
            assert_eq!(self.sweep().accepted, 1);
            self.honest += 1;
        }
        if due == WorkerState::Blocked {
            let honest = self.origin.honest(0);
            let refused = self.client.submit(&[honest]);
            assert!(matches!(refused, Err(UpstreamError::Blocked(_))), "{refused:?}");
            let refused = self.client.register(&hello(&self.origin.worker));
            assert!(matches!(refused, Err(UpstreamError::Blocked(_))), "{refused:?}");
            self.next_worker();
        }
    }
}

/// Every kind four times, each time from another game with other dice.
#[test]
fn two_hundred_forgeries_by_a_workers_login_and_none_is_accepted() {
    const ROUNDS: usize = 4;
    let Some(scene) = Scene::new() else { return };
    let mut court = Court::new(&scene);
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let (mut kinds, mut forged) = (kinds(), 0);
    for _ in 0..ROUNDS {
        kinds.shuffle(&mut rng);
        for kind in &kinds {
            // Not every game lends itself to every forgery.
            let upload = loop {
                let Some(counter) = court.left.pop() else {
                    court.next_worker();
                    continue;
                };
                if let Some(upload) = kind.forge(&court.origin, counter, &mut rng) {
                    break upload;
                }
            };
            court.judge(kind, &upload);
            forged += 1;
        }
    }
    assert!(forged >= 200, "{forged}");
    assert_eq!(court.store.counts().unwrap().games, court.honest);
    assert!(court.store.fsck().unwrap().ok);
    println!(
        "{forged} forgeries of {} kinds by {} workers: 0 accepted, 0 panics; {} honest games of theirs count",
        kinds.len(),
        court.workers,
        court.honest
    );
}

#[test]
fn a_call_beyond_its_limits_leaves_nothing_behind() {
    let Some(scene) = Scene::new() else { return };
    let mut court = Court::new(&scene);
    let sound = court.origin.honest(court.left[0]);
    let with = |change: &dyn Fn(&mut Upload)| {
        let mut upload = sound.clone();
        change(&mut upload);
        upload
    };
    let large = court.origin.upload(0, vec![0; MAX_GAME_BYTES + 1]);
    for call in [
        vec![sound.clone(); MAX_UPLOADS + 1],
        vec![sound.clone(), with(&|u| u.worker = "somebody-else".into())],
        vec![with(&|u| u.worker = "somebody-else".into())],
        vec![sound.clone(), large.clone()],
        vec![with(&|u| u.network = "x".repeat(129))],
        vec![with(&|u| u.counter = u64::MAX)],
    ] {
        let refused = court.client.submit(&call);
        assert!(matches!(refused, Err(UpstreamError::Refused(_))), "{refused:?}");
    }
    // Without the client's manners.
    let mut raw = scene.raw_of("box");
    let worker = court.origin.worker.clone();
    let mut call = |ids: &str, counters: &str, networks: &str, payloads: &str, hashes: &str| {
        let sql = format!(
            "SELECT status FROM submit_uploads('{worker}', {ids}, {counters}, {networks}, {payloads}, {hashes})"
        );
        raw.query_one(&sql, &[]).map(|row| row.get::<_, String>(0))
    };
    let (id, hash) = ("decode(repeat('00', 16), 'hex')", "decode(repeat('00', 32), 'hex')");
    let one = |of: &str| format!("ARRAY[{of}]");
    for (ids, counters, networks, payloads, hashes) in [
        (one("decode('00', 'hex')"), one("5::BIGINT"), one("'u'"), one("'x'::BYTEA"), one(hash)),
        (one(id), one("-1::BIGINT"), one("'u'"), one("'x'::BYTEA"), one(hash)),
        (one(id), one("5::BIGINT"), one("repeat('x', 129)"), one("'x'::BYTEA"), one(hash)),
        (one(id), one("5::BIGINT"), one("'u'"), one("repeat('x', 262145)::BYTEA"), one(hash)),
        (one(id), one("5::BIGINT"), one("'u'"), one("'x'::BYTEA"), one("'h'::BYTEA")),
        (one(id), one("NULL::BIGINT"), one("'u'"), one("'x'::BYTEA"), one(hash)),
        (one(id), one("5::BIGINT"), one("NULL::TEXT"), one("'x'::BYTEA"), one(hash)),
        (one(id), one("5::BIGINT"), one("'u'"), one("NULL::BYTEA"), one(hash)),
        (one(id), "ARRAY[5, 6]::BIGINT[]".into(), one("'u'"), one("'x'::BYTEA"), one(hash)),
        (
            format!("array_fill({id}, ARRAY[257])"),
            "array_fill(5::BIGINT, ARRAY[257])".into(),
            "array_fill('u'::TEXT, ARRAY[257])".into(),
            "array_fill('x'::BYTEA, ARRAY[257])".into(),
            format!("array_fill({hash}, ARRAY[257])"),
        ),
        (
            format!("array_fill({id}, ARRAY[65])"),
            "array_fill(5::BIGINT, ARRAY[65])".into(),
            "array_fill('u'::TEXT, ARRAY[65])".into(),
            "array_fill(repeat('x', 262144)::BYTEA, ARRAY[65])".into(),
            format!("array_fill({hash}, ARRAY[65])"),
        ),
    ] {
        let told = call(&ids, &counters, &networks, &payloads, &hashes);
        assert!(
            told.as_ref().is_ok_and(|status| status.starts_with("refused")),
            "{counters}: {told:?}"
        );
    }
    assert_eq!(court.store.waiting_uploads().unwrap(), 0, "none of a refused call is kept");
    assert_eq!(court.store.workers().unwrap()[0].refused, 0, "and nobody is to blame for a game");
    assert_eq!(court.client.submit(&[sound]).unwrap().accepted, 1);
}

#[test]
fn a_game_handed_in_again_with_other_bytes_is_put_aside_and_the_first_one_stays() {
    let Some(scene) = Scene::new() else { return };
    let mut court = Court::new(&scene);
    let counter = court.left.pop().unwrap();
    let first = court.origin.honest(counter);
    let mut record = decode(&first.payload).unwrap();
    record
        .turns
        .iter_mut()
        .filter_map(|turn| turn.search.as_mut())
        .for_each(|s| s.root_value = 0.0);
    let other = court.origin.upload(counter, encode(&record));
    assert_eq!(court.client.submit(from_ref(&first)).unwrap().accepted, 1);
    // While the first waits, once it counts, and twice in one call.
    assert_eq!(court.client.submit(from_ref(&other)).unwrap().quarantined, 1);
    assert_eq!(court.sweep().accepted, 1);
    assert_eq!(court.client.submit(&[other.clone(), first.clone()]).unwrap().already_there, 2);
    record.seed += 1;
    let third = court.origin.upload(counter, encode(&record));
    assert_eq!(court.client.submit(&[third.clone(), third]).unwrap().quarantined, 1);
    let reasons = court.store.quarantined(9).unwrap();
    assert_eq!(reasons.len(), 2);
    assert!(reasons.iter().all(|game| game.reason.contains("with other bytes")));
    let stored = court.store.games_in(0, 9).unwrap();
    assert_eq!(stored.len(), 1);
    assert_eq!(stored[0].record, decode(&first.payload).unwrap());
}

#[test]
fn another_protocol_and_a_name_that_is_none_are_turned_away() {
    let Some(scene) = Scene::new() else { return };
    let mut court = Court::new(&scene);
    for protocol in [0, PROTOCOL + 1, u32::MAX] {
        let refused = court.client.register(&WorkerHello { protocol, ..hello("w") });
        assert!(matches!(refused, Err(UpstreamError::Version { .. })), "{refused:?}");
    }
    for name in ["", "a b", "x'; DROP TABLE games; --", &"x".repeat(65), "ümlaut", "a\nb"] {
        let refused = court.client.register(&hello(name));
        assert!(matches!(refused, Err(UpstreamError::Refused(_))), "{name:?}: {refused:?}");
    }
    assert_eq!(court.store.workers().unwrap().len(), 1);
}

/// Every table of the run, every way to touch one, and nothing else of the server's that holds data.
#[test]
fn a_workers_login_can_touch_no_table() {
    let Some(scene) = Scene::new() else { return };
    let court = Court::new(&scene);
    let mut raw = scene.raw_of("box");
    let tables = scene
        .raw()
        .query(
            "SELECT quote_ident(c.relname), coalesce((SELECT quote_ident(attname) FROM pg_attribute
                 WHERE attrelid = c.oid AND attnum = 1), 'ctid')
             FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
             WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname = $1",
            &[&scene.schema],
        )
        .unwrap();
    assert!(tables.len() > 20, "{}", tables.len());
    for row in &tables {
        let (table, column): (String, String) = (row.get(0), row.get(1));
        let table = format!("{}.{table}", scene.schema);
        // Of a table without columns nothing can be updated.
        let has_columns = |sql: &String| column != "ctid" || !sql.starts_with("UPDATE");
        let touches = [
            format!("SELECT 1 FROM {table}"),
            format!("SELECT {column} FROM {table} LIMIT 1"),
            format!("INSERT INTO {table} DEFAULT VALUES"),
            format!("UPDATE {table} SET {column} = {column}"),
            format!("DELETE FROM {table}"),
            format!("TRUNCATE {table}"),
            format!("DO $$ BEGIN LOCK TABLE {table} IN ACCESS SHARE MODE; END $$"),
            format!("COPY {table} TO STDOUT"),
            format!(
                "CREATE TRIGGER mine AFTER INSERT ON {table} EXECUTE FUNCTION suppress_redundant_updates_trigger()"
            ),
            format!("DROP TABLE {table}"),
        ];
        for sql in touches.into_iter().filter(has_columns) {
            let refused = raw.batch_execute(&sql).unwrap_err();
            // 42501: insufficient privilege.
            assert_eq!(refused.code().map(|code| code.code()), Some("42501"), "{sql}: {refused}");
        }
    }
    // No sequence, no other role, no file of the server's, no look at what others ask.
    for sql in [
        "SET ROLE tengen_owner",
        "SET ROLE tengen_trainer",
        "SET SESSION AUTHORIZATION tengen",
        "SELECT pg_read_file('PG_VERSION')",
        "COPY (SELECT 1) TO PROGRAM 'true'",
        "SELECT rolpassword FROM pg_authid",
        "ALTER ROLE box SUPERUSER",
        "CREATE SCHEMA mine",
    ] {
        assert!(raw.batch_execute(sql).is_err(), "{sql}");
    }
    let said: i64 = raw
        .query_one("SELECT count(*) FROM pg_stat_activity WHERE usename <> 'box' AND query NOT LIKE '<%' AND query <> ''", &[])
        .unwrap()
        .get(0);
    assert_eq!(said, 0, "another login's statements");
    drop(court);
}

/// Uploads changed by a machine, as a janitor and a worker's checker look at them.
fn fuzz(lasting: Duration, seed: u64) {
    let run = laws::run();
    let origin = Origin::new(&plan(), &run.run_uid, run.seed, laws::WORKER, 80);
    let (usual, kinds) = (origin.usual(), kinds());
    let checker = Checker::new(&run, &plan(), &[]);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let begun = Instant::now();
    let (mut tried, mut decoded, mut same, mut plausible) = (0_u64, 0_u64, 0_u64, 0_u64);
    while begun.elapsed() < lasting {
        for _ in 0..100 {
            tried += 1;
            let counter = usual[rng.random_range(0..usual.len())];
            let upload = mutate(&origin, counter, &kinds, &mut rng);
            decoded += u64::from(decode(&upload.payload).is_ok());
            let Some(record) = laws::judge(&checker, &upload) else { continue };
            if record == origin.games[counter as usize] {
                // One change undid another, or changed what nobody reads.
                same += 1;
            } else {
                plausible += 1;
            }
        }
    }
    println!(
        "{tried} uploads in {:.0} s, {decoded} of them decodable: 0 unsound ones accepted, 0 panics; {same} were the \
         honest game itself, {plausible} one that could have been played as it says",
        begun.elapsed().as_secs_f64()
    );
    assert!(decoded > tried / 100, "structure survives often enough to be looked at");
    assert!(plausible < tried / 10, "and most changes are told");
}

/// One to three changes of a game, of its bytes, of its content or of what its record says.
fn mutate(origin: &Origin, counter: u64, kinds: &[Kind], rng: &mut ChaCha8Rng) -> Upload {
    match rng.random_range(0..10) {
        0..3 => {
            let kind = &kinds[rng.random_range(0..kinds.len())];
            kind.forge(origin, counter, rng).unwrap_or_else(|| origin.honest(counter))
        }
        3..6 => {
            let mut bytes = origin.honest(counter).payload;
            scramble(&mut bytes, rng);
            origin.upload(counter, bytes)
        }
        _ => {
            let mut content = content(&origin.honest(counter).payload);
            scramble(&mut content, rng);
            let packed = zstd::bulk::compress(&content, 1).unwrap();
            origin.upload(counter, framed(&packed, content.len() as u32))
        }
    }
}

fn scramble(bytes: &mut Vec<u8>, rng: &mut ChaCha8Rng) {
    for _ in 0..rng.random_range(1..4) {
        let len = bytes.len().max(1);
        let at = rng.random_range(0..len).min(bytes.len());
        match rng.random_range(0..7) {
            0 if !bytes.is_empty() => {
                let at = at.min(bytes.len() - 1);
                bytes[at] ^= 1 << rng.random_range(0..8);
            }
            1 if !bytes.is_empty() => {
                let at = at.min(bytes.len() - 1);
                bytes[at] = [0, 1, 0x7f, 0x80, 0xff, rng.random()][rng.random_range(0..6)];
            }
            2 => bytes.truncate(at),
            3 => bytes.insert(at, rng.random()),
            4 if at < bytes.len() => drop(bytes.remove(at)),
            5 => {
                // A piece of it once more, elsewhere.
                let end = (at + rng.random_range(1..64)).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                let to = rng.random_range(0..=bytes.len());
                bytes.splice(to..to, piece);
            }
            _ => {
                // A number of four bytes, at its ends.
                let value =
                    [0_u32, 1, 255, 65_535, u32::MAX, i32::MAX as u32][rng.random_range(0..6)];
                if let Some(place) = bytes.get_mut(at..at + 4) {
                    place.copy_from_slice(&value.to_le_bytes());
                }
            }
        }
    }
}

/// The seeds of the fuzz target, on every run: honest games, and some that were forged.
#[test]
fn each_seed_of_the_fuzzer_is_accepted_if_it_is_honest_and_else_refused() {
    for (file, bytes) in seeds::seeds("upload") {
        assert_eq!(laws::any_bytes(&bytes), file.contains("honest"), "{file}");
    }
}

#[test]
fn five_seconds_of_fuzzing() {
    fuzz(Duration::from_secs(5), 1);
}

/// `make test-fleet`; `TENGEN_FUZZ_SECONDS` for another length, `TENGEN_FUZZ_SEED` for other dice.
#[test]
#[ignore = "ten minutes"]
fn ten_minutes_of_fuzzing() {
    let of = |name, usual| std::env::var(name).map_or(usual, |text| text.parse().unwrap());
    fuzz(Duration::from_secs(of("TENGEN_FUZZ_SECONDS", 600)), of("TENGEN_FUZZ_SEED", 2));
}
