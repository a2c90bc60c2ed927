//! One connection that speaks for several parties: each has workers of its own.

use crate::common::{Bench, hello, record, upload};
use tengen_store::{SharedUpstream, Store, Upstream, UpstreamError, WorkerCounts};

conversations! {
    a_workers_name_belongs_to_the_party_that_registered_it,
    a_party_does_not_speak_for_workers_of_a_trusted_process_nor_that_one_be_kept_out,
    a_party_with_a_name_that_is_none_is_refused,
}

fn foreign<T: std::fmt::Debug>(answer: Result<T, UpstreamError>) {
    let refused = answer.unwrap_err();
    assert!(
        matches!(&refused, UpstreamError::Refused(why) if why.contains("belongs to another login")),
        "{refused:?}"
    );
}

/// Every call that names a worker.
fn all_foreign(bench: &Bench, up: &mut dyn SharedUpstream, worker: &str) {
    let lease = tengen_store::BlockLease { match_id: 1, block: 0, worker: worker.into(), epoch: 1 };
    foreign(up.register(&hello(worker)));
    foreign(up.run_state(worker, WorkerCounts { games: 999, evals: 999 }));
    foreign(up.submit(&[upload(&bench.uid, worker, 0, &record(1))]));
    foreign(up.report_damaged(worker, "a", "cut short"));
    foreign(up.lease_block(worker));
    foreign(up.heartbeat(&lease));
    foreign(up.finish_block(&lease, &[]));
}

fn a_workers_name_belongs_to_the_party_that_registered_it(
    bench: &mut Bench,
    up: &mut dyn SharedUpstream,
) {
    up.speak_for("one").unwrap();
    up.register(&hello("w")).unwrap();
    up.speak_for("two").unwrap();
    all_foreign(bench, up, "w");
    assert_eq!(bench.store.waiting_uploads().unwrap(), 0);
    assert_eq!(bench.store.workers().unwrap()[0].counts, WorkerCounts::default());
    up.register(&hello("v")).unwrap();
    up.speak_for("one").unwrap();
    up.run_state("w", WorkerCounts::default()).unwrap();
    up.register(&hello("w")).unwrap();
    up.submit(&[upload(&bench.uid, "w", 0, &record(1))]).unwrap();
    foreign(up.run_state("v", WorkerCounts::default()));
    // And it stays so over a restart.
    drop(bench.again());
    up.speak_for("two").unwrap();
    all_foreign(bench, up, "w");
}

fn a_party_does_not_speak_for_workers_of_a_trusted_process_nor_that_one_be_kept_out(
    bench: &mut Bench,
    up: &mut dyn SharedUpstream,
) {
    let mut trusted: Store = bench.again();
    trusted.register(&hello("here")).unwrap();
    up.speak_for("one").unwrap();
    all_foreign(bench, up, "here");
    up.register(&hello("there")).unwrap();
    trusted.register(&hello("there")).unwrap();
    trusted.run_state("there", WorkerCounts::default()).unwrap();
    up.run_state("there", WorkerCounts::default()).unwrap();
}

fn a_party_with_a_name_that_is_none_is_refused(_: &mut Bench, up: &mut dyn SharedUpstream) {
    for bad in ["", "a b", "a/b", "a'b", "a\\b", "\u{e9}", &"x".repeat(65)] {
        assert!(matches!(up.speak_for(bad), Err(UpstreamError::Refused(_))), "{bad:?}");
    }
    up.speak_for("Box-17.eu_0").unwrap();
}
