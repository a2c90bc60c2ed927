//! Candidates, matches, verdicts and the best pointer.

use crate::common::{Bench, network, record, resigned};
use tengen_rules::Color;
use tengen_store::{Conclusion, NetworkStatus, NewMatch, Rollback, StoreError};

cases! {
    a_promotion_moves_everything_at_once,
    a_failed_compare_and_set_leaves_nothing,
    a_match_is_concluded_once,
    a_slot_counts_once_and_slots_come_in_order,
    a_candidate_trained_again_after_a_crash_has_the_same_match,
    hands_move_the_pointer_and_rollbacks_take_it_back_step_by_step,
    ratings_metrics_and_events_are_kept,
}

fn verdict(promote: bool) -> Conclusion {
    let verdict = if promote { "promote" } else { "reject" }.to_owned();
    Conclusion { verdict, promote, detail_json: "{}".to_owned() }
}

fn a_promotion_moves_everything_at_once(bench: &mut Bench) {
    let id = bench.candidate("a", "b");
    assert_eq!(bench.store.open_matches().unwrap()[0].candidate, "b");
    assert!(bench.store.conclude(id, &verdict(true)).unwrap());
    assert_eq!(bench.store.best().unwrap().unwrap().id, "b");
    let rows = bench.again().networks().unwrap();
    let told: Vec<_> = rows.iter().map(|n| (n.id.as_str(), n.status)).collect();
    assert_eq!(told, [("a", NetworkStatus::Promoted), ("b", NetworkStatus::Best)]);
    assert_eq!(rows[1].verdict.as_deref(), Some("promote"));
    assert!(rows[1].decided_us.is_some());
    assert!(bench.store.open_matches().unwrap().is_empty());
    let last = bench.store.promotions().unwrap().pop().unwrap();
    assert_eq!((last.kind.as_str(), last.match_id), ("match", Some(id)));
    assert!(bench.store.fsck().unwrap().ok);
}

fn a_failed_compare_and_set_leaves_nothing(bench: &mut Bench) {
    let (b, c) = (bench.candidate("a", "b"), bench.candidate("a", "c"));
    bench.store.conclude(b, &verdict(true)).unwrap();
    let (before, events) = (bench.store.networks().unwrap(), bench.store.events(99).unwrap());
    let refused = bench.store.conclude(c, &verdict(true)).unwrap_err();
    assert!(matches!(refused, StoreError::BestMoved { ref found, .. } if found == "b"));
    assert_eq!(bench.store.networks().unwrap(), before);
    assert_eq!(bench.store.events(99).unwrap(), events);
    assert_eq!(bench.store.open_matches().unwrap().len(), 1);
    assert!(bench.store.fsck().unwrap().ok);
    // The way out: no promotion, and the store takes the next candidate.
    assert!(!bench.store.conclude(c, &verdict(false)).unwrap());
    assert_eq!(bench.store.network("c").unwrap().unwrap().status, NetworkStatus::Rejected);
}

fn a_match_is_concluded_once(bench: &mut Bench) {
    let id = bench.candidate("a", "b");
    bench.store.conclude(id, &verdict(false)).unwrap();
    for promote in [false, true] {
        let refused = bench.again().conclude(id, &verdict(promote)).unwrap_err();
        assert!(matches!(refused, StoreError::AlreadyConcluded { .. }), "{refused}");
    }
    let late = bench.store.record_match_game(id, 0, 0, 1.0, &resigned(Color::Black));
    assert!(matches!(late, Err(StoreError::AlreadyConcluded { .. })));
    assert_eq!(bench.store.best().unwrap().unwrap().id, "a");
    assert!(matches!(bench.store.conclude(99, &verdict(true)), Err(StoreError::UnknownMatch(99))));
}

fn a_slot_counts_once_and_slots_come_in_order(bench: &mut Bench) {
    let id = bench.candidate("a", "b");
    let (black, white) = (resigned(Color::Black), resigned(Color::White));
    for (pair, colour, points, game) in
        [(1, 0, 0.0, &white), (0, 1, 1.0, &white), (0, 0, 0.0, &white), (0, 0, 1.0, &black)]
    {
        bench.store.record_match_game(id, pair, colour, points, game).unwrap();
    }
    let games = bench.store.match_games(id).unwrap();
    let slots: Vec<_> = games.iter().map(|g| (g.pair, g.colour, g.points)).collect();
    assert_eq!(slots, [(0, 0, 1.0), (0, 1, 1.0), (1, 0, 0.0)]);
    assert_eq!((games[0].moves, games[0].result.as_str()), (1, "B+R"));
    let records = bench.store.match_records(id).unwrap();
    assert_eq!(records[1], (0, 1, white.clone()));
    for (pair, colour, points) in [(2, 0, 1.0), (0, 2, 1.0), (0, 0, 0.0), (0, 1, 1.0)] {
        let refused = bench.store.record_match_game(id, pair, colour, points, &black);
        assert!(matches!(refused, Err(StoreError::RefusedMatchGame { .. })), "{pair} {colour}");
    }
    assert!(bench.store.fsck().unwrap().ok);
}

fn a_candidate_trained_again_after_a_crash_has_the_same_match(bench: &mut Bench) {
    let id = bench.candidate("a", "b");
    assert_eq!(bench.candidate("a", "b"), id);
    assert_eq!(bench.store.matches().unwrap().len(), 1);
    let plan = |base: &str| NewMatch {
        gate_config_json: "{}".to_owned(),
        pairs_planned: 1,
        base: base.to_owned(),
    };
    let same = network("a", None, NetworkStatus::Candidate);
    assert!(matches!(bench.store.add_candidate(&same, &plan("a")), Err(StoreError::SelfMatch(_))));
    let orphan = network("d", Some("nobody"), NetworkStatus::Candidate);
    assert!(matches!(
        bench.store.add_candidate(&orphan, &plan("a")),
        Err(StoreError::UnknownNetwork(id)) if id == "nobody"
    ));
    assert!(bench.store.network("d").unwrap().is_none());
}

fn hands_move_the_pointer_and_rollbacks_take_it_back_step_by_step(bench: &mut Bench) {
    let id = bench.candidate("a", "b");
    bench.store.conclude(id, &verdict(true)).unwrap();
    bench.store.add_network(&network("c", Some("b"), NetworkStatus::Candidate)).unwrap();
    bench.store.promote_by_hand("c", "me", "stronger in another test").unwrap();
    let told: Vec<_> =
        (0..2).map(|_| bench.store.rollback(Rollback::Pointer, "me", "no").unwrap()).collect();
    assert_eq!(told, ["b", "a"]);
    assert!(matches!(
        bench.store.rollback(Rollback::Pointer, "me", "no"),
        Err(StoreError::NoEarlierBest)
    ));
    assert_eq!(bench.store.best().unwrap().unwrap().id, "a");
    let unknown = bench.store.promote_by_hand("x", "me", "");
    assert!(matches!(unknown, Err(StoreError::UnknownNetwork(_))));
    assert_eq!(bench.store.best().unwrap().unwrap().status, NetworkStatus::Best);
    let second = bench.store.set_initial_best("b");
    assert!(matches!(second, Err(StoreError::BestExists(best)) if best == "a"));
    assert_eq!(bench.store.promotions().unwrap().len(), 5);
    assert!(bench.store.fsck().unwrap().ok);
}

fn ratings_metrics_and_events_are_kept(bench: &mut Bench) {
    bench.store.add_network(&network("a", None, NetworkStatus::Initial)).unwrap();
    bench.store.set_initial_best("a").unwrap();
    bench.store.set_initial_best("a").unwrap();
    bench.store.set_elo("a", 12.5, -3.0, 28.0).unwrap();
    let elo = bench.store.best().unwrap().unwrap().elo.unwrap();
    assert_eq!((elo.elo, elo.low, elo.high), (12.5, -3.0, 28.0));
    assert!(bench.store.set_elo("x", 0.0, 0.0, 0.0).is_err());
    for step in [1, 2] {
        bench.store.add_metric(step, "{}").unwrap();
    }
    let steps: Vec<_> = bench.store.metrics().unwrap().iter().map(|m| m.step).collect();
    assert_eq!(steps, [1, 2]);
    for kind in ["x", "y", "z"] {
        bench.store.add_event(kind, "{}").unwrap();
    }
    let kinds: Vec<_> = bench.store.events(2).unwrap().into_iter().map(|e| e.kind).collect();
    assert_eq!(kinds, ["y", "z"]);
    assert!(record(1).validate().is_ok());
}
