//! Games reach the run once, whatever happens to calls and answers.
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeSet;
use std::time::Duration;

use common::{Fault, Model};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tengen_fleet::{ShipError, Shipper, Spool};
use tengen_store::{GameId, OutboxGame, UpstreamError};

struct Scene {
    folder: tempfile::TempDir,
    model: Model,
    shipper: Shipper,
    spool: Spool,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let model = Model::default();
        let shipper = Shipper::new("0123");
        let spool = Spool::open(folder.path(), "box", u64::MAX).unwrap();
        Self { folder, model, shipper, spool }
    }

    /// The process ends and another one takes over.
    fn restart(self) -> Self {
        let Self { folder, model, spool, .. } = self;
        drop(spool);
        let spool = Spool::open(folder.path(), "box", u64::MAX).unwrap();
        Self { folder, model, shipper: Shipper::new("0123"), spool }
    }

    fn push(&self, counters: impl IntoIterator<Item = u64>) {
        for counter in counters {
            let payload = counter.to_le_bytes().to_vec();
            self.spool.push(&OutboxGame { counter, network: "uniform".into(), payload }).unwrap();
        }
    }

    fn fault(&self, faults: &[Option<Fault>]) {
        self.model.run(|run| run.faults.extend(faults));
    }

    fn ship(&mut self) -> Result<tengen_fleet::Shipped, ShipError> {
        self.shipper.ship(&self.spool, &mut self.model.clone())
    }

    fn ship_all(&mut self) {
        while !self.ship().unwrap().is_nothing() {}
    }

    fn stored(&self) -> Vec<u64> {
        let mut counters: Vec<u64> =
            self.model.run(|run| run.games.values().map(|game| game.counter).collect());
        counters.sort_unstable();
        counters
    }
}

#[test]
fn a_batch_holds_256_games_at_most_and_ids_follow_from_run_worker_and_counter() {
    let mut scene = Scene::new();
    scene.push(0..600);
    scene.ship_all();
    assert_eq!(scene.model.run(|run| run.batches.clone()), [256, 256, 88]);
    assert_eq!((scene.stored().len(), scene.spool.waiting()), (600, 0));
    let id = GameId::derive("0123", scene.spool.worker(), 5);
    assert_eq!(scene.model.run(|run| run.games[&id].counter), 5);
}

#[test]
fn an_answer_lost_after_the_commit_makes_no_game_count_twice() {
    let mut scene = Scene::new();
    scene.push(0..10);
    scene.fault(&[Some(Fault::ReplyLost)]);
    assert!(matches!(scene.ship(), Err(ShipError::Upstream(UpstreamError::Away(_)))));
    assert_eq!((scene.stored().len(), scene.spool.waiting()), (10, 10));
    scene.ship_all();
    assert_eq!((scene.stored(), scene.spool.waiting()), ((0..10).collect(), 0));
    assert_eq!(scene.model.run(|run| run.quarantined), 0);
}

#[test]
fn a_process_that_dies_between_commit_and_acknowledgement_sends_the_same_ids_again() {
    let mut scene = Scene::new();
    scene.push(0..10);
    scene.fault(&[Some(Fault::ReplyLost)]);
    scene.ship().unwrap_err();
    let mut scene = scene.restart();
    scene.push(10..12);
    scene.ship_all();
    assert_eq!(scene.stored(), (0..12).collect::<Vec<_>>());
}

#[test]
fn one_game_that_the_run_refuses_does_not_hold_up_the_others() {
    let mut scene = Scene::new();
    scene.push(0..300);
    scene.model.run(|run| run.hates = vec![3, 130]);
    scene.ship_all();
    let counts = scene.spool.counts().unwrap();
    assert_eq!((counts.refused, counts.waiting, scene.stored().len()), (2, 0, 298));
}

/// The replica that took over lacked the last commits.
#[test]
fn a_run_that_came_back_without_its_newest_games_gets_them_again() {
    let mut scene = Scene::new();
    scene.push(0..20);
    scene.ship_all();
    // An outage that loses nothing sends one game again, no more.
    scene.push(20..21);
    scene.fault(&[Some(Fault::Away)]);
    scene.ship().unwrap_err();
    scene.model.run(|run| run.batches.clear());
    scene.ship_all();
    assert_eq!(scene.model.run(|run| run.batches.clone()), [1, 1]);
    scene.model.run(|run| run.games.retain(|_, game| game.counter < 8));
    scene.fault(&[Some(Fault::Away)]);
    scene.push(21..22);
    scene.ship().unwrap_err();
    // The very question for the newest game may be what brings it back, and its answer lost.
    scene.fault(&[Some(Fault::ReplyLost)]);
    scene.ship().unwrap_err();
    let mut scene = scene.restart();
    let shipped = scene.ship().unwrap();
    assert_eq!(shipped.again, 21);
    scene.ship_all();
    assert_eq!(scene.stored(), (0..22).collect::<Vec<_>>());
    assert_eq!(scene.model.run(|run| run.quarantined), 0);
    // After ten minutes the log forgets.
    assert_eq!(scene.shipper.forget_sent(&scene.spool, Duration::ZERO).unwrap(), 22);
}

/// Any order of pushing, shipping, losing answers, dying and losing commits: at the end the run has
/// what was finished, once.
#[test]
fn whatever_happens_in_whatever_order_every_finished_game_is_there_once() {
    for seed in 0..3 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (mut scene, mut next) = (Scene::new(), 0);
        for _ in 0..60 {
            match rng.random_range(0..10) {
                0..=3 => {
                    let games = rng.random_range(1..20);
                    scene.push(next..next + games);
                    next += games;
                }
                4..=6 => drop(scene.ship()),
                7 => {
                    let fault = if rng.random() { Fault::Away } else { Fault::ReplyLost };
                    scene.fault(&[None, Some(fault)][rng.random_range(0..2)..]);
                }
                8 => scene = scene.restart(),
                _ => {
                    // The newest part of what the run has is gone, and the connection with it.
                    let keep = rng.random_range(0..=next);
                    let sent: BTreeSet<u64> = scene.stored().into_iter().collect();
                    if sent.iter().next_back().is_some_and(|&newest| newest >= keep) {
                        scene.model.run(|run| run.games.retain(|_, game| game.counter < keep));
                        scene.shipper.doubt();
                    }
                }
            }
        }
        scene.model.run(|run| run.faults.clear());
        scene.ship_all();
        assert_eq!(scene.stored(), (0..next).collect::<Vec<_>>(), "seed {seed}");
        assert_eq!(scene.model.run(|run| run.quarantined), 0, "seed {seed}");
    }
}
