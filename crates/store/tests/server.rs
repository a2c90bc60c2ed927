//! What only a server can do: be away, come back, and refuse a login what is not its business.

#![allow(clippy::unwrap_used)]

#[path = "common/mod.rs"]
mod common;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::{Bench, game, hello, new_run, record, upload};
use tengen_store::testing::PgServer;
use tengen_store::{
    SharedUpstream, Store, StoreError, Upstream, UpstreamError, WorkerClient, WorkerCounts,
};

#[test]
fn a_server_that_is_away_is_told_from_a_refusal_and_used_again_when_it_is_back() {
    let Some(server) = PgServer::start() else { return };
    let url = server.url("run_0");
    let mut store = Store::connect(&url).unwrap();
    let uid = store.init_run(&new_run(7)).unwrap().uid;
    let record = record(1);
    store.append_games(&[game(&uid, "w", 0, &record)]).unwrap();
    let mut worker = WorkerClient::connect(&url).unwrap();
    worker.register(&hello("w")).unwrap();

    server.crash().unwrap();
    let away = store.append_games(&[game(&uid, "w", 1, &record)]).unwrap_err();
    assert!(matches!(away, StoreError::Unavailable { .. }), "{away}");
    assert!(away.is_temporary() && !away.to_string().contains("password"));
    assert!(matches!(store.counts(), Err(StoreError::Unavailable { .. })));
    let away = worker.submit(&[upload(&uid, "w", 2, &record)]).unwrap_err();
    assert!(matches!(away, UpstreamError::Away(_)) && away.is_temporary(), "{away}");
    assert!(matches!(Store::connect(&url), Err(StoreError::Unavailable { .. })));

    server.start_again().unwrap();
    // The same handles, without a word about it.
    assert_eq!(store.append_games(&[game(&uid, "w", 1, &record)]).unwrap().last_seq, 2);
    assert_eq!(worker.submit(&[upload(&uid, "w", 2, &record)]).unwrap().accepted, 1);
    assert!(store.fsck().unwrap().ok);
}

#[test]
fn a_crash_within_a_transaction_leaves_nothing_of_it() {
    let Some(server) = PgServer::start() else { return };
    let url = server.url("run_0");
    let mut store = Store::connect(&url).unwrap();
    let uid = store.init_run(&new_run(7)).unwrap().uid;
    let record = record(3);
    let (acknowledged, stop) = (std::sync::atomic::AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut counter = 0;
            while !stop.load(Ordering::Relaxed) {
                let batch: Vec<_> =
                    (counter..counter + 20).map(|k| game(&uid, "w", k, &record)).collect();
                // What came to nothing is sent again, as an outbox does.
                match store.append_games(&batch) {
                    Ok(_) => {
                        counter += 20;
                        acknowledged.store(counter, Ordering::Relaxed);
                    }
                    Err(error) => assert!(error.is_temporary(), "{error}"),
                }
            }
        });
        for _ in 0..3 {
            let before = acknowledged.load(Ordering::Relaxed);
            let begun = Instant::now();
            while acknowledged.load(Ordering::Relaxed) < before + 60 {
                assert!(begun.elapsed() < Duration::from_secs(60), "nothing is stored any more");
                std::thread::sleep(Duration::from_millis(5));
            }
            server.crash().unwrap();
            server.start_again().unwrap();
        }
        stop.store(true, Ordering::Relaxed);
        writer.join().unwrap();
    });
    let report = Store::connect(&url).unwrap().fsck().unwrap();
    assert!(report.ok, "{:?}", report.problems);
    assert!(report.games >= acknowledged.load(Ordering::Relaxed));
}

#[test]
fn a_workers_login_can_call_its_eight_functions_and_nothing_else() {
    let Some(mut bench) = Bench::postgres() else { return };
    let mut worker = bench.worker_login();
    worker.register(&hello("w")).unwrap();
    let schema = bench.place.split_once("&schema=").unwrap().1;
    let url = PgServer::shared().unwrap().url_of("box", schema);
    let (plain, _) = url.split_once("&schema=").unwrap();
    let mut raw = postgres::Client::connect(plain, postgres::NoTls).unwrap();
    raw.batch_execute(&format!("SET search_path TO {schema}")).unwrap();
    let tables = bench
        .raw_postgres()
        .query("SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname = $1", &[&schema])
        .unwrap();
    assert!(tables.len() > 20, "{}", tables.len());
    for table in tables {
        let table: String = table.get(0);
        for sql in [format!("SELECT * FROM {table}"), format!("DELETE FROM {table}")] {
            let refused = raw.batch_execute(&sql).unwrap_err();
            let code = refused.code().unwrap().code();
            assert_eq!(code, "42501", "{sql}: {refused}");
        }
    }
    for sql in [
        "SELECT worker_gate('w')",
        "SELECT run_row()",
        "SELECT block_slots(1, 0, 8)",
        "SELECT clock_us()",
        "CREATE TABLE mine (x BIGINT)",
        "CREATE FUNCTION clock_us() RETURNS BIGINT LANGUAGE sql AS 'SELECT 0'",
        "SET ROLE tengen_owner",
    ] {
        assert!(raw.batch_execute(sql).is_err(), "{sql}");
    }
    // A table of its own in the way of the run's changes nothing: functions look in their schema first.
    raw.batch_execute("CREATE TEMPORARY TABLE workers (name TEXT)").unwrap();
    raw.batch_execute("SELECT * FROM run_state('w', 1, 2)").unwrap();
    assert_eq!(bench.store.workers().unwrap()[0].counts.games, 1);
    assert!(matches!(Store::connect(&url), Err(StoreError::Denied { .. })));
}

#[test]
fn a_workers_name_belongs_to_the_login_that_registered_it() {
    let Some(mut bench) = Bench::postgres() else { return };
    let mut worker = bench.worker_login();
    worker.register(&hello("w")).unwrap();
    // The owner's login, through the functions.
    let mut other = WorkerClient::connect(&bench.place).unwrap();
    for refused in [
        other.register(&hello("w")).map(drop),
        other.run_state("w", WorkerCounts::default()).map(drop),
        other.submit(&[upload(&bench.uid, "w", 0, &record(1))]).map(drop),
    ] {
        assert!(matches!(refused, Err(UpstreamError::Refused(why)) if why.contains("login")));
    }
    worker.run_state("w", WorkerCounts::default()).unwrap();
}

#[test]
fn the_trainers_role_may_do_a_trainers_work_and_no_more() {
    let Some(mut bench) = Bench::postgres() else { return };
    bench.worker_login();
    bench.sql(
        "DO $$ BEGIN
             IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'trainer') THEN CREATE ROLE trainer LOGIN; END IF;
             GRANT tengen_trainer TO trainer;
         END $$",
    );
    let schema = bench.place.split_once("&schema=").unwrap().1.to_owned();
    let url = PgServer::shared().unwrap().url_of("trainer", &schema);
    let owner = std::mem::replace(&mut bench.store, Store::connect(&url).unwrap());
    bench.fill(3);
    let id = bench.candidate("a", "b");
    let end = tengen_store::Conclusion {
        verdict: "promote".into(),
        promote: true,
        detail_json: "{}".into(),
    };
    bench.store.conclude(id, &end).unwrap();
    bench.store.add_event("x", "{}").unwrap();
    assert_eq!(owner.best().unwrap().unwrap().id, "b");
    assert!(bench.store.fsck().unwrap().ok);
    assert!(matches!(bench.store.grant_roles(), Err(StoreError::Denied { .. })));
}

#[test]
fn a_reader_with_an_open_transaction_makes_nobody_wait() {
    let Some(mut bench) = Bench::postgres() else { return };
    let mut reader = bench.raw_postgres();
    reader.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT * FROM runs").unwrap();
    bench.fill(20);
    let began = Instant::now();
    bench.store.acquire("gate", "me", Duration::from_secs(9)).unwrap().unwrap();
    assert!(began.elapsed() < Duration::from_secs(5));
    let seen: i64 = reader.query_one("SELECT count(*) FROM games", &[]).unwrap().get(0);
    assert_eq!(seen, 0, "and it sees what it saw");
}

#[test]
fn somebody_elses_schema_is_refused_and_left_alone() {
    let Some(bench) = Bench::postgres() else { return };
    bench.sql("CREATE SCHEMA mail; CREATE TABLE mail.letters (x BIGINT)");
    let refused = Store::connect(&PgServer::shared().unwrap().url("mail")).unwrap_err();
    assert!(matches!(refused, StoreError::NotAStore { .. }), "{refused}");
    let refused = bench.store.backup(&bench.folder.path().join("x.db")).unwrap_err();
    assert!(refused.to_string().contains("pg_dump"), "{refused}");
}

#[test]
fn a_login_that_is_refused_is_no_server_that_is_away() {
    let Some(server) = PgServer::shared() else { return };
    let refused = Store::connect(&server.url_of("nobody_of_that_name", "run_x")).unwrap_err();
    assert!(matches!(refused, StoreError::Connect { .. }), "{refused}");
    assert!(!refused.is_temporary());
}

#[test]
fn a_server_elsewhere_must_prove_its_name() {
    let Some(server) = PgServer::start() else { return };
    let (port, authority) = match server.serve_tls() {
        Ok(served) => served,
        Err(why) => return eprintln!("SKIPPED: TLS: {why}"),
    };
    let url = |host: &str, rest: &str| {
        format!("postgres://tengen@{host}:{port}/postgres?schema=run_0&{rest}")
    };
    let trusted = format!("sslmode=verify-full&sslrootcert={}", authority.display());
    let mut store = Store::connect(&url("localhost", &trusted)).unwrap();
    store.init_run(&new_run(7)).unwrap();
    for (host, rest, words) in [
        // The certificate is for another name, or from nobody we know, or not asked for at all.
        ("127.0.0.1", trusted.as_str(), "certificate"),
        ("localhost", "sslmode=verify-full", "certificate"),
        ("localhost", "sslmode=disable", "no encryption"),
    ] {
        let refused = Store::connect(&url(host, rest)).unwrap_err();
        assert!(matches!(refused, StoreError::Connect { .. }), "{host} {rest}: {refused}");
        assert!(refused.to_string().contains(words), "{host} {rest}: {refused}");
    }
}

#[test]
fn a_login_speaks_for_parties_of_its_own_alone_and_goes_on_doing_so_on_a_new_connection() {
    let Some(server) = PgServer::start() else { return };
    let place = server.url("run_0");
    let mut store = Store::connect(&place).unwrap();
    store.init_run(&new_run(7)).unwrap();
    store.grant_roles().unwrap();
    let mut raw =
        postgres::Client::connect(&place.replace("&schema=run_0", ""), postgres::NoTls).unwrap();
    raw.batch_execute(
        "CREATE ROLE front LOGIN; CREATE ROLE box LOGIN; GRANT tengen_worker TO front, box",
    )
    .unwrap();
    let mut front = WorkerClient::connect(&server.url_of("front", "run_0")).unwrap();
    let mut other = WorkerClient::connect(&server.url_of("box", "run_0")).unwrap();
    front.speak_for("one").unwrap();
    front.register(&hello("w")).unwrap();
    other.speak_for("one").unwrap();
    let refused = other.run_state("w", WorkerCounts::default());
    assert!(matches!(refused, Err(UpstreamError::Refused(why)) if why.contains("login")));
    server.crash().unwrap();
    server.start_again().unwrap();
    // The connection is another one now, and speaks for the same party.
    front.run_state("w", WorkerCounts::default()).unwrap();
    front.speak_for("two").unwrap();
    assert!(front.run_state("w", WorkerCounts::default()).is_err());
}
