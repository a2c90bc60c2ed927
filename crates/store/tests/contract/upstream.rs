//! The conversation with workers, on a run in a file, on a run on a server, and through the login that may
//! do nothing else.

use std::time::Duration;

use crate::common::{Bench, game_bytes, hello, network, record, resigned, upload};
use tengen_rules::Color;
use tengen_store::{
    BLOCK_PAIRS, BlockGame, MAX_GAME_BYTES, MAX_NETWORK_BYTES, MAX_UPLOADS, NetworkStatus,
    NewMatch, Objection, PROTOCOL, RunMode, Settled, Store, StoreError, Submitted, Upload,
    Upstream, UpstreamError, WorkerCounts, WorkerHello, WorkerState,
};

conversations! {
    a_worker_registers_and_learns_how_the_run_stands,
    a_worker_that_speaks_another_version_is_told_which_one,
    a_name_that_cannot_stand_in_a_log_is_refused,
    a_worker_that_never_registered_is_refused,
    registering_again_begins_the_counts_anew,
    the_last_sign_of_life_is_by_the_databases_clock,
    a_paused_run_says_so,
    the_inbox_counts_when_the_run_is_ahead,
    a_game_handed_in_waits_and_no_window_sees_it,
    a_game_handed_in_twice_counts_once,
    a_game_twice_in_one_call_counts_once,
    the_same_number_with_other_bytes_is_put_aside_once,
    a_game_settled_before_is_already_there,
    a_refused_game_handed_in_again_is_not_looked_at_again,
    a_call_over_the_limits_keeps_nothing,
    a_game_as_large_as_allowed_is_taken_and_one_byte_more_is_not,
    an_empty_call_is_success,
    settled_games_are_numbered_without_gaps_in_the_order_they_came,
    an_illegal_game_never_enters_and_its_reason_is_kept,
    a_damaged_payload_is_put_aside,
    a_forged_result_is_put_aside,
    an_id_that_does_not_follow_from_its_origin_is_put_aside,
    a_game_of_another_configuration_is_put_aside,
    a_game_of_a_network_that_nobody_knows_is_put_aside,
    what_the_judge_refuses_is_put_aside,
    ten_unsound_games_block_a_worker_and_a_hand_lets_it_in_again,
    two_janitors_settle_a_game_once,
    a_networks_bytes_come_back_as_they_were,
    a_network_that_is_not_kept_is_refused,
    a_network_said_to_be_damaged_is_noted_once_a_worker_and_suspects_are_not_heard,
    nothing_to_play_is_no_block,
    a_match_is_leased_block_by_block_from_its_first_pairs,
    a_block_played_to_the_end_is_done,
    a_block_given_back_early_is_leased_again_with_what_is_missing,
    a_lease_that_ran_out_goes_to_the_next_and_the_late_result_is_refused,
    a_heartbeat_keeps_a_block,
    slots_of_another_block_are_refused,
    a_slot_handed_in_twice_counts_once,
    an_unsound_match_game_is_put_aside_and_its_slot_leased_again,
    a_decided_match_takes_no_more_games,
    a_block_that_nobody_can_play_is_given_up,
    a_verdict_on_games_of_workers_promotes,
}

fn counts(games: u64, evals: u64) -> WorkerCounts {
    WorkerCounts { games, evals }
}

fn register(up: &mut dyn Upstream) {
    up.register(&hello("w")).unwrap();
}

/// Games `from..to` of worker `w`, all sound.
fn sound(bench: &Bench, from: u64, to: u64) -> Vec<Upload> {
    (from..to).map(|k| upload(&bench.uid, "w", k, &record(k as usize % 5 + 1))).collect()
}

/// Settles whatever waits.
fn settle(bench: &mut Bench) -> Settled {
    let waiting = bench.store.take_uploads(0, 1000).unwrap();
    bench.store.settle_uploads(&waiting, &mut |_, _| Ok(())).unwrap()
}

fn settled(accepted: u64, already_there: u64, quarantined: u64) -> Settled {
    Settled { accepted, already_there, quarantined }
}

fn submitted(accepted: u64, already_there: u64, quarantined: u64) -> Submitted {
    Submitted { accepted, already_there, quarantined }
}

fn refusal<T: std::fmt::Debug>(answer: Result<T, UpstreamError>) -> String {
    match answer.unwrap_err() {
        UpstreamError::Refused(reason) => reason,
        other => panic!("{other:?}"),
    }
}

fn a_worker_registers_and_learns_how_the_run_stands(bench: &mut Bench, up: &mut dyn Upstream) {
    let state = up.register(&hello("w")).unwrap();
    assert_eq!(state.run_uid, bench.uid);
    assert_eq!((state.config_digest.as_str(), state.seed), ("c0ffee", 7));
    assert!(state.config_text.contains("name = \"test\""));
    assert_eq!((state.best.as_deref(), state.mode, state.ahead), (None, RunMode::Running, false));
    bench.store.add_network(&network("a", None, NetworkStatus::Best)).unwrap();
    let state = up.run_state("w", counts(3, 4000)).unwrap();
    assert_eq!(state.best.as_deref(), Some("a"));
    let workers = bench.store.workers().unwrap();
    assert_eq!(workers.len(), 1);
    let told = (workers[0].name.as_str(), workers[0].device.as_str(), workers[0].state);
    assert_eq!(told, ("w", "cpu", WorkerState::Ok));
    assert_eq!(workers[0].counts, counts(3, 4000));
}

fn a_worker_that_speaks_another_version_is_told_which_one(
    bench: &mut Bench,
    up: &mut dyn Upstream,
) {
    let old = WorkerHello { protocol: PROTOCOL + 1, ..hello("w") };
    let refused = up.register(&old).unwrap_err();
    assert!(
        matches!(refused, UpstreamError::Version { ours, theirs: PROTOCOL, .. } if ours == PROTOCOL + 1),
        "{refused:?}"
    );
    assert!(bench.store.workers().unwrap().is_empty());
}

fn a_name_that_cannot_stand_in_a_log_is_refused(bench: &mut Bench, up: &mut dyn Upstream) {
    for bad in ["", "a b", "a\nb", "../x", "\u{e9}", &"x".repeat(65), "a\"b"] {
        refusal(up.register(&hello(bad)));
    }
    assert!(bench.store.workers().unwrap().is_empty());
    up.register(&hello("Box-17.eu:gpu_0")).unwrap();
}

fn a_worker_that_never_registered_is_refused(bench: &mut Bench, up: &mut dyn Upstream) {
    assert!(refusal(up.run_state("w", counts(0, 0))).contains("has not registered"));
    refusal(up.submit(&sound(bench, 0, 1)));
    refusal(up.lease_block("w"));
    assert_eq!(bench.store.waiting_uploads().unwrap(), 0);
}

fn registering_again_begins_the_counts_anew(bench: &mut Bench, up: &mut dyn Upstream) {
    register(up);
    up.run_state("w", counts(9, 9)).unwrap();
    let moved = WorkerHello { host: "elsewhere".to_owned(), ..hello("w") };
    up.register(&moved).unwrap();
    let workers = bench.store.workers().unwrap();
    assert_eq!((workers.len(), workers[0].counts), (1, counts(0, 0)));
    assert_eq!(workers[0].host, "elsewhere");
}

fn the_last_sign_of_life_is_by_the_databases_clock(bench: &mut Bench, up: &mut dyn Upstream) {
    register(up);
    bench.sql("UPDATE workers SET last_seen_us = last_seen_us - 90000000");
    assert!(bench.store.workers().unwrap()[0].silent_seconds >= 89.0);
    up.run_state("w", counts(0, 0)).unwrap();
    assert!(bench.store.workers().unwrap()[0].silent_seconds < 60.0);
}

fn a_paused_run_says_so(bench: &mut Bench, up: &mut dyn Upstream) {
    register(up);
    for mode in [RunMode::Paused, RunMode::Draining, RunMode::Running] {
        bench.store.set_run_mode(mode).unwrap();
        assert_eq!(up.run_state("w", counts(0, 0)).unwrap().mode, mode);
        assert_eq!(bench.store.run().unwrap().unwrap().mode, mode);
    }
}

fn the_inbox_counts_when_the_run_is_ahead(bench: &mut Bench, up: &mut dyn Upstream) {
    register(up);
    bench.store.set_ahead_limit(Some(4)).unwrap();
    up.submit(&sound(bench, 0, 3)).unwrap();
    assert!(!up.run_state("w", counts(0, 0)).unwrap().ahead);
    up.submit(&sound(bench, 3, 4)).unwrap();
    // Nobody has settled them, but they were played.
    assert!(up.run_state("w", counts(0, 0)).unwrap().ahead);
    settle(bench);
    assert!(up.run_state("w", counts(0, 0)).unwrap().ahead);
    bench.store.set_trained(1).unwrap();
    assert!(!up.run_state("w", counts(0, 0)).unwrap().ahead);
}

fn a_game_handed_in_waits_and_no_window_sees_it(bench: &mut Bench, up: &mut dyn Upstream) {
    register(up);
    let digest = bench.store.digest().unwrap();
    assert_eq!(up.submit(&sound(bench, 0, 3)).unwrap(), submitted(3, 0, 0));
    assert_eq!(bench.store.waiting_uploads().unwrap(), 3);
    assert_eq!(bench.store.counts().unwrap().games, 0);
    assert!(bench.store.games_in(0, u64::MAX).unwrap().is_empty());
    assert_eq!(bench.store.digest().unwrap(), digest);
    assert!(bench.store.fsck().unwrap().ok);
}

fn a_game_handed_in_twice_counts_once(bench: &mut Bench, up: &mut dyn Upstream) {
    register(up);
    let games = sound(bench, 0, 3);
    up.submit(&games[..2]).unwrap();
    assert_eq!(up.submit(&games).unwrap(), submitted(1, 2, 0));
    assert_eq!(settle(bench), settled(3, 0, 0));
    assert_eq!(bench.store.counts().unwrap().games, 3);
}

fn a_game_twice_in_one_call_counts_once(bench: &mut Bench, up: &mut dyn Upstream) {
    register(up);
    let game = sound(bench, 0, 1).remove(0);
    assert_eq!(up.submit(&[game.clone(), game]).unwrap(), submitted(1, 1, 0));
    assert_eq!(settle(bench), settled(1, 0, 0));
}

fn the_same_number_with_other_bytes_is_put_aside_once(bench: &mut Bench, up: &mut dyn Upstream) {
    register(up);
    let first = upload(&bench.uid, "w", 0, &record(2));
    let other = upload(&bench.uid, "w", 0, &record(3));
    up.submit(std::slice::from_ref(&first)).unwrap();
    assert_eq!(up.submit(std::slice::from_ref(&other)).unwrap(), submitted(0, 0, 1));
    assert_eq!(up.submit(&[other.clone(), first]).unwrap(), submitted(0, 2, 0));
    let aside = bench.store.quarantined(9).unwrap();
    assert_eq!(aside.len(), 1);
    assert_eq!((aside[0].counter, &aside[0].payload), (Some(0), &other.payload));
    assert!(aside[0].reason.contains("other bytes"));
    assert_eq!(bench.store.events(1).unwrap()[0].kind, "game-quarantined");
    assert_eq!(settle(bench), settled(1, 0, 0));
    assert_eq!(bench.store.games_in(0, 1).unwrap()[0].record, record(2));
}

fn a_game_settled_before_is_already_there(bench: &mut Bench, up: &mut dyn Upstream) {
    register(up);
    up.submit(&sound(bench, 0, 2)).unwrap();
    settle(bench);
    assert_eq!(up.submit(&sound(bench, 0, 3)).unwrap(), submitted(1, 2, 0));
    assert_eq!(settle(bench), settled(1, 0, 0));
    assert_eq!(bench.store.counts().unwrap().last_seq, 3);
}

fn a_refused_game_handed_in_again_is_not_looked_at_again(bench: &mut Bench, up: &mut dyn Upstream) {
    register(up);
    let mut game = sound(bench, 0, 1);
    game[0].network = "nobody".to_owned();
    up.submit(&game).unwrap();
    assert_eq!(settle(bench), settled(0, 0, 1));
    assert_eq!(up.submit(&game).unwrap(), submitted(0, 1, 0));
    assert_eq!(settle(bench), settled(0, 0, 0));
    assert_eq!(bench.store.quarantined(9).unwrap().len(), 1);
}

fn a_call_over_the_limits_keeps_nothing(bench: &mut Bench, up: &mut dyn Upstream) {
    register(up);
    up.register(&hello("v")).unwrap();
    let small = upload(&bench.uid, "w", 0, &record(1));
    let many = vec![small.clone(); MAX_UPLOADS + 1];
    let two = [small.clone(), upload(&bench.uid, "v", 0, &record(1))];
    let far = [small, upload(&bench.uid, "w", u64::MAX, &record(1))];
    let mut large = sound(bench, 0, 65);
    large.iter_mut().for_each(|upload| upload.payload = vec![1; MAX_GAME_BYTES]);
    for call in [&many[..], &two, &far, &large] {
        refusal(up.submit(call));
    }
    assert_eq!(bench.store.waiting_uploads().unwrap(), 0);
}

fn a_game_as_large_as_allowed_is_taken_and_one_byte_more_is_not(
    bench: &mut Bench,
    up: &mut dyn Upstream,
) {
    register(up);
    let mut games = sound(bench, 0, 2);
    games[1].payload = vec![1; MAX_GAME_BYTES + 1];
    assert!(refusal(up.submit(&games)).contains("262144"));
    games[1].payload.pop();
    assert_eq!(up.submit(&games).unwrap(), submitted(2, 0, 0));
    assert_eq!(settle(bench), settled(1, 0, 1));
}

fn an_empty_call_is_success(bench: &mut Bench, up: &mut dyn Upstream) {
    assert_eq!(up.submit(&[]).unwrap(), Submitted::default());
    assert_eq!(settle(bench), Settled::default());
}

fn settled_games_are_numbered_without_gaps_in_the_order_they_came(
    bench: &mut Bench,
    up: &mut dyn Upstream,
) {
    register(up);
    bench.fill(0);
    let mut games = sound(bench, 0, 6);
    games[2].payload_hash[0] ^= 1;
    games.swap(0, 4);
    up.submit(&games).unwrap();
    assert_eq!(settle(bench), settled(5, 0, 1));
    let stored = bench.store.games_in(0, u64::MAX).unwrap();
    let told: Vec<_> = stored.iter().map(|game| (game.seq, game.counter)).collect();
    assert_eq!(told, [(1, 4), (2, 1), (3, 3), (4, 0), (5, 5)]);
    assert!(bench.store.fsck().unwrap().ok);
}

/// Hands in one sound game and `bad`, and returns why `bad` was put aside.
fn reason_of(bench: &mut Bench, up: &mut dyn Upstream, bad: Upload) -> String {
    register(up);
    up.submit(&[upload(&bench.uid, "w", 100, &record(1)), bad]).unwrap();
    assert_eq!(settle(bench), settled(1, 0, 1));
    assert_eq!(bench.store.counts().unwrap().games, 1);
    assert!(bench.store.fsck().unwrap().ok);
    bench.store.quarantined(1).unwrap().remove(0).reason
}

fn an_illegal_game_never_enters_and_its_reason_is_kept(bench: &mut Bench, up: &mut dyn Upstream) {
    let mut illegal = record(3);
    illegal.turns[1].mv = illegal.turns[0].mv;
    let bad = upload(&bench.uid, "w", 0, &illegal);
    let why = reason_of(bench, up, bad);
    assert!(why.contains("does not replay"), "{why}");
}

fn a_damaged_payload_is_put_aside(bench: &mut Bench, up: &mut dyn Upstream) {
    let mut bad = upload(&bench.uid, "w", 0, &record(3));
    let middle = bad.payload.len() / 2;
    bad.payload[middle] ^= 1;
    let why = reason_of(bench, up, bad);
    assert!(why.contains("hash"), "{why}");
}

fn a_forged_result_is_put_aside(bench: &mut Bench, up: &mut dyn Upstream) {
    let mut forged = record(3);
    forged.outcome = tengen_rules::Outcome::Score { winner: Color::White, margin_half_points: 9 };
    let bad = upload(&bench.uid, "w", 0, &forged);
    let why = reason_of(bench, up, bad);
    assert!(why.contains("does not replay"), "{why}");
}

fn an_id_that_does_not_follow_from_its_origin_is_put_aside(
    bench: &mut Bench,
    up: &mut dyn Upstream,
) {
    let mut bad = upload(&bench.uid, "w", 0, &record(3));
    bad.id = tengen_store::GameId::derive(&bench.uid, "somebody", 0);
    let why = reason_of(bench, up, bad);
    assert!(why.contains("origin"), "{why}");
}

fn a_game_of_another_configuration_is_put_aside(bench: &mut Bench, up: &mut dyn Upstream) {
    let mut other = record(3);
    other.config_digest = "other".to_owned();
    let bad = upload(&bench.uid, "w", 0, &other);
    let why = reason_of(bench, up, bad);
    assert!(why.contains("configuration"), "{why}");
}

fn a_game_of_a_network_that_nobody_knows_is_put_aside(bench: &mut Bench, up: &mut dyn Upstream) {
    let mut bad = upload(&bench.uid, "w", 0, &record(3));
    bad.network = "a".to_owned();
    let why = reason_of(bench, up, bad);
    assert!(why.contains("network"), "{why}");
    bench.store.add_network(&network("a", None, NetworkStatus::Initial)).unwrap();
    let mut good = upload(&bench.uid, "w", 1, &record(3));
    good.network = "a".to_owned();
    up.submit(&[good]).unwrap();
    assert_eq!(settle(bench), settled(1, 0, 0));
}

fn what_the_judge_refuses_is_put_aside(bench: &mut Bench, up: &mut dyn Upstream) {
    register(up);
    up.submit(&sound(bench, 0, 4)).unwrap();
    let waiting = bench.store.take_uploads(0, 1000).unwrap();
    assert_eq!(bench.store.take_uploads(waiting[1].id, 1).unwrap(), waiting[2..3]);
    let told = bench
        .store
        .settle_uploads(&waiting, &mut |upload, record| {
            assert!(!record.turns.is_empty());
            match upload.counter {
                2 => Err(Objection::fault("too few visits".to_owned())),
                3 => Err(Objection::no_fault("grown old".to_owned())),
                _ => Ok(()),
            }
        })
        .unwrap();
    assert_eq!((told, told.total()), (settled(2, 0, 2), 4));
    let reasons: Vec<String> =
        bench.store.quarantined(2).unwrap().into_iter().map(|game| game.reason).collect();
    assert!(reasons.iter().any(|reason| reason == "too few visits"), "{reasons:?}");
    assert!(reasons.iter().any(|reason| reason == "grown old"), "{reasons:?}");
    let refused: Vec<u64> = bench.store.workers().unwrap().iter().map(|w| w.refused).collect();
    assert_eq!(refused, [1], "only what is the worker's fault counts");
}

fn ten_unsound_games_block_a_worker_and_a_hand_lets_it_in_again(
    bench: &mut Bench,
    up: &mut dyn Upstream,
) {
    register(up);
    let bad = |bench: &Bench, from, to| {
        let mut games = sound(bench, from, to);
        games.iter_mut().for_each(|game| game.payload_hash[0] ^= 1);
        games
    };
    let state = |bench: &Bench| bench.store.workers().unwrap()[0].state;
    for (from, to, due) in
        [(0, 2, WorkerState::Ok), (2, 3, WorkerState::Suspect), (3, 10, WorkerState::Blocked)]
    {
        up.submit(&bad(bench, from, to)).unwrap();
        settle(bench);
        assert_eq!(state(bench), due);
    }
    let kinds: Vec<_> = bench.store.events(99).unwrap().into_iter().map(|e| e.kind).collect();
    assert!(kinds.contains(&"worker-suspect".to_owned()));
    assert!(kinds.contains(&"worker-blocked".to_owned()));
    let refused = up.submit(&sound(bench, 20, 21)).unwrap_err();
    assert_eq!(refused, UpstreamError::Blocked("w".to_owned()));
    assert!(matches!(up.register(&hello("w")), Err(UpstreamError::Blocked(_))));
    assert!(matches!(up.run_state("w", counts(0, 0)), Err(UpstreamError::Blocked(_))));
    assert!(matches!(up.lease_block("w"), Err(UpstreamError::Blocked(_))));
    bench.store.set_worker_state("w", WorkerState::Ok).unwrap();
    assert_eq!(up.submit(&sound(bench, 20, 21)).unwrap(), submitted(1, 0, 0));
    assert_eq!(bench.store.workers().unwrap()[0].refused, 0);
    let nobody = bench.store.set_worker_state("x", WorkerState::Ok);
    assert!(matches!(nobody, Err(StoreError::UnknownWorker(_))));
}

fn two_janitors_settle_a_game_once(bench: &mut Bench, up: &mut dyn Upstream) {
    register(up);
    up.submit(&sound(bench, 0, 5)).unwrap();
    let waiting = bench.store.take_uploads(0, 1000).unwrap();
    assert_eq!(settle(bench), settled(5, 0, 0));
    let late = bench.again().settle_uploads(&waiting, &mut |_, _| Ok(())).unwrap();
    assert_eq!(late, settled(0, 0, 0));
    assert_eq!(bench.store.counts().unwrap().last_seq, 5);
}

fn a_networks_bytes_come_back_as_they_were(bench: &mut Bench, up: &mut dyn Upstream) {
    let bytes: Vec<u8> = (0..2_500_000_u32).map(|k| (k.wrapping_mul(k) >> 7) as u8).collect();
    let hash = blake3::hash(&bytes).to_hex().to_string();
    for _ in 0..2 {
        bench.store.put_network_bytes(&hash, &bytes).unwrap();
    }
    assert_eq!(up.network(&hash).unwrap(), bytes);
    assert_eq!(bench.store.kept_networks().unwrap(), [(hash.clone(), 2_500_000)]);
    bench.store.drop_network_bytes(&hash).unwrap();
    assert_eq!(bench.store.network_bytes(&hash).unwrap(), None);
    refusal(up.network(&hash));
}

fn a_network_that_is_not_kept_is_refused(bench: &mut Bench, up: &mut dyn Upstream) {
    assert!(refusal(up.network("beef")).contains("beef"));
    let refused = bench.store.put_network_bytes("beef", &[1, 2]).unwrap_err();
    assert!(refused.to_string().contains("hash"), "{refused}");
    let large = vec![0; MAX_NETWORK_BYTES + 1];
    let hash = blake3::hash(&large).to_hex().to_string();
    assert!(matches!(
        bench.store.put_network_bytes(&hash, &large),
        Err(StoreError::RefusedNetwork { .. })
    ));
}

/// An open match of `pairs` pairs, offered to the fleet.
fn offered(bench: &mut Bench, pairs: u32) -> i64 {
    if bench.store.best().unwrap().is_none() {
        bench.store.add_network(&network("a", None, NetworkStatus::Best)).unwrap();
    }
    let plan = NewMatch {
        gate_config_json: "{\"pairs\":1}".to_owned(),
        pairs_planned: pairs,
        base: "a".to_owned(),
    };
    let name = format!("c{}", bench.store.matches().unwrap().len());
    let candidate = network(&name, Some("a"), NetworkStatus::Candidate);
    let id = bench.store.add_candidate(&candidate, &plan).unwrap();
    bench.store.offer_match(id).unwrap();
    bench.store.offer_match(id).unwrap();
    id
}

/// A game in which the candidate wins, or does not.
fn slot(pair: u32, colour: u8, wins: bool) -> BlockGame {
    let black_wins = (colour == 0) == wins;
    let game = resigned(if black_wins { Color::Black } else { Color::White });
    let (payload, payload_hash) = game_bytes(&game);
    BlockGame { pair, colour, payload, payload_hash }
}

fn slots(pairs: std::ops::Range<u32>) -> Vec<BlockGame> {
    pairs.flat_map(|pair| [slot(pair, 0, true), slot(pair, 1, true)]).collect()
}

fn settle_match(store: &mut Store) -> Settled {
    let waiting = store.take_match_uploads(1000).unwrap();
    store.settle_match_uploads(&waiting, &mut |_, _| Ok(())).unwrap()
}

fn a_network_said_to_be_damaged_is_noted_once_a_worker_and_suspects_are_not_heard(
    bench: &mut Bench,
    up: &mut dyn Upstream,
) {
    assert!(refusal(up.report_damaged("w", "a", "")).contains("registered"));
    for name in ["w", "v", "u"] {
        up.register(&hello(name)).unwrap();
    }
    assert!(refusal(up.report_damaged("w", "a", "")).contains("no network of this run: a"));
    for (id, parent) in [("a", None), ("b", Some("a"))] {
        let status = if parent.is_none() { NetworkStatus::Best } else { NetworkStatus::Candidate };
        bench.store.add_network(&network(id, parent, status)).unwrap();
    }
    bench.store.promote_by_hand("b", "test", "better").unwrap();
    up.report_damaged("w", "b", &"ä".repeat(400)).unwrap();
    up.report_damaged("w", "b", "cut short").unwrap();
    up.report_damaged("v", "b", "empty").unwrap();
    up.report_damaged("u", "b", "a lie").unwrap();
    bench.store.set_worker_state("u", WorkerState::Suspect).unwrap();
    let reports = bench.store.damage_reports().unwrap();
    let told: Vec<_> = reports.iter().map(|it| (&*it.network, &*it.worker, &*it.why)).collect();
    assert_eq!(told, [("b", "v", "empty"), ("b", "w", "cut short")]);
    // One step back, however often it is asked for.
    let back = bench.store.step_back_from("b", "test", "damaged").unwrap();
    assert_eq!(back.as_deref(), Some("a"));
    assert_eq!(bench.store.step_back_from("b", "test", "damaged").unwrap(), None);
    assert_eq!(bench.store.best().unwrap().unwrap().id, "a");
    assert!((0.0..60.0).contains(&bench.store.best_age_seconds().unwrap().unwrap()));
    bench.store.answer_damage("b", "network-withdrawn", r#"{"network":"b"}"#).unwrap();
    assert!(bench.store.damage_reports().unwrap().is_empty());
    assert_eq!(bench.store.events(1).unwrap()[0].kind, "network-withdrawn");
}

fn nothing_to_play_is_no_block(bench: &mut Bench, up: &mut dyn Upstream) {
    register(up);
    assert_eq!(up.lease_block("w").unwrap(), None);
    // A match that was not offered is played elsewhere.
    bench.candidate("a", "b");
    assert_eq!(up.lease_block("w").unwrap(), None);
}

fn a_match_is_leased_block_by_block_from_its_first_pairs(bench: &mut Bench, up: &mut dyn Upstream) {
    register(up);
    let id = offered(bench, BLOCK_PAIRS * 2 + 3);
    let second = offered(bench, 1);
    let mut told = Vec::new();
    while let Some(block) = up.lease_block("w").unwrap() {
        assert_eq!((block.base.as_str(), block.gate_config_json.as_str()), ("a", "{\"pairs\":1}"));
        assert_eq!((block.lease.epoch, block.lease_seconds), (1, 60));
        told.push((block.lease.match_id, block.lease.block, block.pairs));
    }
    assert_eq!(told, [(id, 0, 0..8), (id, 1, 8..16), (id, 2, 16..19), (second, 0, 0..1)]);
    let states: Vec<_> = bench.store.blocks(id).unwrap().into_iter().map(|b| b.state).collect();
    assert_eq!(states, ["leased"; 3]);
}

fn a_block_played_to_the_end_is_done(bench: &mut Bench, up: &mut dyn Upstream) {
    register(up);
    let id = offered(bench, 3);
    let block = up.lease_block("w").unwrap().unwrap();
    assert_eq!(block.candidate, "c0");
    assert!(up.finish_block(&block.lease, &slots(0..3)).unwrap());
    assert_eq!(bench.store.blocks(id).unwrap()[0].state, "done");
    assert!(bench.store.match_games(id).unwrap().is_empty(), "nobody has replayed them");
    assert_eq!(settle_match(&mut bench.store), settled(6, 0, 0));
    let games = bench.store.match_games(id).unwrap();
    assert_eq!(games.len(), 6);
    assert!(games.iter().all(|game| game.points == 1.0));
    assert_eq!(up.lease_block("w").unwrap(), None);
    assert!(bench.store.fsck().unwrap().ok);
}

fn a_block_given_back_early_is_leased_again_with_what_is_missing(
    bench: &mut Bench,
    up: &mut dyn Upstream,
) {
    register(up);
    let id = offered(bench, 2);
    let block = up.lease_block("w").unwrap().unwrap();
    assert!(block.done.is_empty());
    assert!(up.finish_block(&block.lease, &[slot(0, 1, true)]).unwrap());
    let again = up.lease_block("w").unwrap().unwrap();
    assert_eq!((again.lease.epoch, &again.done), (2, &vec![(0, 1)]));
    assert!(up.finish_block(&again.lease, &[slot(1, 0, false)]).unwrap());
    settle_match(&mut bench.store);
    let last = up.lease_block("w").unwrap().unwrap();
    assert_eq!(last.done, [(0, 1), (1, 0)]);
    assert_eq!(bench.store.blocks(id).unwrap()[0].attempts, 1);
}

fn a_lease_that_ran_out_goes_to_the_next_and_the_late_result_is_refused(
    bench: &mut Bench,
    up: &mut dyn Upstream,
) {
    register(up);
    up.register(&hello("v")).unwrap();
    let id = offered(bench, 1);
    let sleeper = up.lease_block("w").unwrap().unwrap();
    assert_eq!(up.lease_block("v").unwrap(), None);
    bench.sql("UPDATE match_blocks SET until_us = 1");
    let awake = up.lease_block("v").unwrap().unwrap();
    assert_eq!(awake.lease.epoch, sleeper.lease.epoch + 1);
    assert!(!up.heartbeat(&sleeper.lease).unwrap());
    assert!(!up.finish_block(&sleeper.lease, &slots(0..1)).unwrap());
    assert!(bench.store.take_match_uploads(9).unwrap().is_empty());
    assert!(up.finish_block(&awake.lease, &slots(0..1)).unwrap());
    // And what is done is done.
    assert!(!up.finish_block(&awake.lease, &slots(0..1)).unwrap());
    assert_eq!(settle_match(&mut bench.store), settled(2, 0, 0));
    assert_eq!(bench.store.match_games(id).unwrap().len(), 2);
}

fn a_heartbeat_keeps_a_block(bench: &mut Bench, up: &mut dyn Upstream) {
    register(up);
    offered(bench, 1);
    let block = up.lease_block("w").unwrap().unwrap();
    bench.sql("UPDATE match_blocks SET until_us = 1");
    // It ran out, but nobody took it.
    assert!(up.heartbeat(&block.lease).unwrap());
    assert_eq!(up.lease_block("w").unwrap(), None);
    let mut forged = block.lease.clone();
    forged.epoch += 1;
    assert!(!up.heartbeat(&forged).unwrap());
}

fn slots_of_another_block_are_refused(bench: &mut Bench, up: &mut dyn Upstream) {
    register(up);
    offered(bench, BLOCK_PAIRS + 2);
    let first = up.lease_block("w").unwrap().unwrap();
    let second = up.lease_block("w").unwrap().unwrap();
    let large = BlockGame { payload: vec![0; MAX_GAME_BYTES + 1], ..slot(0, 0, true) };
    for bad in [slot(8, 0, true), slot(0, 2, true), large] {
        refusal(up.finish_block(&first.lease, &[slot(0, 0, true), bad]));
    }
    refusal(up.finish_block(&second.lease, &[slot(10, 0, true)]));
    assert!(bench.store.take_match_uploads(9).unwrap().is_empty());
    assert!(up.heartbeat(&first.lease).unwrap(), "a refused call changes nothing");
}

fn a_slot_handed_in_twice_counts_once(bench: &mut Bench, up: &mut dyn Upstream) {
    register(up);
    let id = offered(bench, 2);
    let block = up.lease_block("w").unwrap().unwrap();
    up.finish_block(&block.lease, &[slot(0, 0, false), slot(0, 0, true)]).unwrap();
    let block = up.lease_block("w").unwrap().unwrap();
    up.finish_block(&block.lease, &[slot(0, 0, true)]).unwrap();
    assert_eq!(settle_match(&mut bench.store), settled(1, 0, 0));
    let games = bench.store.match_games(id).unwrap();
    assert_eq!((games.len(), games[0].points), (1, 1.0));
}

fn an_unsound_match_game_is_put_aside_and_its_slot_leased_again(
    bench: &mut Bench,
    up: &mut dyn Upstream,
) {
    register(up);
    let id = offered(bench, 1);
    let block = up.lease_block("w").unwrap().unwrap();
    let mut games = slots(0..1);
    games[1].payload_hash[0] ^= 1;
    up.finish_block(&block.lease, &games).unwrap();
    assert_eq!(bench.store.blocks(id).unwrap()[0].state, "done");
    assert_eq!(settle_match(&mut bench.store), settled(1, 0, 1));
    let aside = bench.store.quarantined(1).unwrap().remove(0);
    assert!(aside.reason.starts_with("pair 0, colour 1: "), "{}", aside.reason);
    assert_eq!((aside.counter, aside.worker.as_str()), (None, "w"));
    assert_eq!(bench.store.workers().unwrap()[0].refused, 1);
    let again = up.lease_block("w").unwrap().unwrap();
    assert_eq!(again.done, [(0, 0)]);
}

fn a_decided_match_takes_no_more_games(bench: &mut Bench, up: &mut dyn Upstream) {
    register(up);
    let id = offered(bench, BLOCK_PAIRS + 1);
    let (first, second) =
        (up.lease_block("w").unwrap().unwrap(), up.lease_block("w").unwrap().unwrap());
    up.finish_block(&first.lease, &[slot(0, 0, true)]).unwrap();
    let end = tengen_store::Conclusion {
        verdict: "reject".to_owned(),
        promote: false,
        detail_json: "{}".to_owned(),
    };
    bench.store.conclude(id, &end).unwrap();
    assert!(!up.heartbeat(&second.lease).unwrap());
    assert!(!up.finish_block(&second.lease, &slots(8..9)).unwrap());
    assert_eq!(up.lease_block("w").unwrap(), None);
    assert_eq!(settle_match(&mut bench.store), settled(0, 1, 0));
    assert!(bench.store.match_games(id).unwrap().is_empty());
    assert!(matches!(bench.store.offer_match(id), Err(StoreError::AlreadyConcluded { .. })));
}

fn a_block_that_nobody_can_play_is_given_up(bench: &mut Bench, up: &mut dyn Upstream) {
    register(up);
    let id = offered(bench, 1);
    for attempt in 1..=5 {
        assert_eq!(up.lease_block("w").unwrap().unwrap().lease.epoch, attempt);
        bench.sql("UPDATE match_blocks SET until_us = 1");
    }
    assert_eq!(up.lease_block("w").unwrap(), None);
    settle_match(&mut bench.store);
    assert_eq!(bench.store.blocks(id).unwrap()[0].state, "failed");
    assert_eq!(bench.store.events(1).unwrap()[0].kind, "block-failed");
}

fn a_verdict_on_games_of_workers_promotes(bench: &mut Bench, up: &mut dyn Upstream) {
    register(up);
    let id = offered(bench, 1);
    let lease = bench.store.require("gate", "me", Duration::from_secs(60)).unwrap();
    bench.store.fence_with(Some(lease));
    let block = up.lease_block("w").unwrap().unwrap();
    up.finish_block(&block.lease, &slots(0..1)).unwrap();
    settle_match(&mut bench.store);
    let end = tengen_store::Conclusion {
        verdict: "promote".to_owned(),
        promote: true,
        detail_json: "{}".to_owned(),
    };
    assert!(bench.store.conclude(id, &end).unwrap());
    assert_eq!(up.run_state("w", counts(0, 0)).unwrap().best.as_deref(), Some("c0"));
    assert!(bench.store.fsck().unwrap().ok);
}
