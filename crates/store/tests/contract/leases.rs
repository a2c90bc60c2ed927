//! One owner at a time, and a stale owner writes nothing.

use std::time::Duration;

cases! {
    a_lease_has_one_owner_until_it_runs_out_or_comes_back,
    a_sleeper_whose_lease_was_taken_over_writes_nothing,
}

use crate::common::{Bench, network};
use tengen_store::{Conclusion, NetworkStatus, StoreError};

const MINUTE: Duration = Duration::from_secs(60);

fn a_lease_has_one_owner_until_it_runs_out_or_comes_back(bench: &mut Bench) {
    let mut other = bench.again();
    let mine = bench.store.acquire("trainer", "me", MINUTE).unwrap().unwrap();
    assert_eq!(mine.epoch, 1);
    assert_eq!(other.acquire("trainer", "you", MINUTE).unwrap(), None);
    let refused = other.require("trainer", "you", MINUTE).unwrap_err();
    assert!(refused.to_string().contains("owned by me"), "{refused}");
    assert!(other.acquire("gate", "you", MINUTE).unwrap().is_some());
    assert!(bench.store.heartbeat(&mine, MINUTE).unwrap());
    bench.store.release(&mine).unwrap();
    assert!(!bench.store.heartbeat(&mine, MINUTE).unwrap());
    assert_eq!(other.require("trainer", "you", MINUTE).unwrap().epoch, 2);
    // Giving back what is no longer ours takes nothing from its owner.
    bench.store.release(&mine).unwrap();
    assert_eq!(bench.store.acquire("trainer", "me", MINUTE).unwrap(), None);
}

fn a_sleeper_whose_lease_was_taken_over_writes_nothing(bench: &mut Bench) {
    let id = bench.candidate("a", "b");
    let mine = bench.store.acquire("trainer", "me", Duration::ZERO).unwrap().unwrap();
    bench.store.fence_with(Some(mine.clone()));
    // Expired but not taken: the work may go on, and a heartbeat keeps it.
    bench.store.add_network(&network("c", Some("a"), NetworkStatus::Candidate)).unwrap();
    let theirs = bench.again().acquire("trainer", "you", MINUTE).unwrap().unwrap();
    assert_eq!(theirs.epoch, mine.epoch + 1);
    assert!(!bench.store.heartbeat(&mine, MINUTE).unwrap());
    let late = network("d", Some("a"), NetworkStatus::Candidate);
    let end =
        Conclusion { verdict: "promote".to_owned(), promote: true, detail_json: "{}".to_owned() };
    assert!(matches!(bench.store.add_network(&late), Err(StoreError::LeaseLost { .. })));
    assert!(matches!(bench.store.conclude(id, &end), Err(StoreError::LeaseLost { .. })));
    assert_eq!(bench.store.best().unwrap().unwrap().id, "a");
    let mut owner = bench.again();
    owner.fence_with(Some(theirs));
    assert!(owner.conclude(id, &end).unwrap());
}
