//! Many games on several threads, in flight from one call to the next.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use tengen_inference::{EvalError, LeafEvaluator};
use tengen_record::GameRecord;
use tengen_search::SearchConfig;

use crate::worker::{Finished, Supply, Worker};
use crate::{
    Conditions, GameDefinition, GameSettings, PoolStats, SelfPlayConfig, Spectator, StartError,
};

/// How often the calling thread looks whether to stop while its workers play.
const STOP_POLL: Duration = Duration::from_millis(10);

/// A pool whose games stay in flight between calls of [`run`](Self::run): a new network takes over
/// the games where they stand, and the record names the network that finished a game.
///
/// Each worker owns `games_in_flight` games and, for a call, one evaluator. One worker plays on the
/// calling thread, so its games are handed over in an order that is always the same; several play
/// on threads of their own, and then only the order depends on timing, never a game.
#[derive(Debug)]
pub struct SelfPlayPool {
    supply: Supply,
    workers: Vec<Worker>,
    games_in_flight: usize,
    /// Games that ended in the same step as the last one wanted; the next call hands them over.
    ready: VecDeque<Finished>,
}

impl SelfPlayPool {
    /// A pool of [`worker_count`](SelfPlayConfig::worker_count) workers whose first game has the
    /// number `first_game`. Records carry no config digest unless
    /// [`with_config_digest`](Self::with_config_digest) gives one.
    pub fn new(
        settings: &GameSettings,
        config: &SelfPlayConfig,
        search: &SearchConfig,
        first_game: u64,
        run_seed: u64,
    ) -> Self {
        SelfPlayPool {
            supply: Supply {
                game: Arc::new(GameDefinition::new(config, search, settings)),
                run_seed,
                next_counter: AtomicU64::new(first_game),
                config_digest: String::new(),
                spectator: Spectator::default(),
            },
            workers: (0..config.worker_count()).map(|_| Worker::default()).collect(),
            games_in_flight: config.games_in_flight.max(1),
            ready: VecDeque::new(),
        }
    }

    /// The same pool, with games of other boards, rules or komi among its games, each with its share.
    #[must_use]
    pub fn with_others(mut self, others: &[(f64, GameSettings)]) -> Self {
        let game = GameDefinition::clone(&self.supply.game);
        self.supply.game = Arc::new(game.with_others(others));
        self
    }

    /// The same pool, writing `digest` into every record.
    #[must_use]
    pub fn with_config_digest(mut self, digest: &str) -> Self {
        digest.clone_into(&mut self.supply.config_digest);
        self
    }

    /// Sets what games begun from now on are played under; those in flight keep theirs.
    ///
    /// # Errors
    /// The first start or fork that no game can begin from; the conditions are as before then.
    pub fn set_conditions(&mut self, conditions: Conditions) -> Result<(), StartError> {
        self.supply.game = Arc::new(self.supply.game.under(conditions)?);
        Ok(())
    }

    /// A window on a game of the first worker's.
    pub fn spectator(&self) -> Spectator {
        self.supply.spectator.clone()
    }

    /// How many workers there are, hence how many evaluators a run takes.
    pub fn workers(&self) -> usize {
        self.workers.len()
    }

    /// Games begun and not handed over yet.
    pub fn games_in_flight(&self) -> usize {
        self.workers.iter().map(Worker::games).sum::<usize>() + self.ready.len()
    }

    /// The number the next new game will have; every smaller one from the first on is finished or
    /// in flight.
    pub fn next_counter(&self) -> u64 {
        self.supply.next_counter.load(Ordering::Relaxed)
    }

    /// Plays until `games` games have been handed to `on_game` (their number in the run and their
    /// record, on the calling thread) or `should_stop` says so, which is asked between steps. The
    /// games not finished stay in flight. There is one evaluator a worker, all of the network
    /// `network_id`.
    ///
    /// # Errors
    /// The first error of an evaluator, or a panic in one; every game finished by then has been
    /// handed over, the others remain in flight, and the call may be repeated. Also when there are
    /// not as many evaluators as workers.
    pub fn run(
        &mut self,
        evaluators: &mut [Box<dyn LeafEvaluator>],
        network_id: &str,
        games: usize,
        should_stop: &dyn Fn() -> bool,
        on_game: &mut dyn FnMut(u64, GameRecord),
    ) -> Result<PoolStats, EvalError> {
        let (have, need) = (evaluators.len(), self.workers.len());
        if have != need {
            let what = format!("{have} evaluators for {need} self-play workers");
            return Err(EvalError::Backend(what));
        }
        let begun = Instant::now();
        let mut desk = Desk { wanted: games, stats: PoolStats::default(), on_game };
        while let Some(game) = desk.open().then(|| self.ready.pop_front()).flatten() {
            desk.hand_over(game, &mut self.ready);
        }
        if desk.open() {
            for worker in &mut self.workers {
                worker.fill(self.games_in_flight, &self.supply);
            }
            if need == 1 {
                self.run_here(&mut *evaluators[0], network_id, should_stop, &mut desk)?;
            } else {
                self.run_threads(evaluators, network_id, should_stop, &mut desk)?;
            }
        }
        desk.stats.seconds = begun.elapsed().as_secs_f64();
        desk.stats.thread_seconds = desk.stats.seconds * need as f64;
        Ok(desk.stats)
    }

    /// One worker, on the calling thread.
    fn run_here(
        &mut self,
        evaluator: &mut dyn LeafEvaluator,
        network: &str,
        should_stop: &dyn Fn() -> bool,
        desk: &mut Desk<'_>,
    ) -> Result<(), EvalError> {
        let mut finished = Vec::new();
        while desk.open() && !should_stop() {
            let step = self.workers[0].step(evaluator, &self.supply, network, &mut finished);
            for game in finished.drain(..) {
                desk.hand_over(game, &mut self.ready);
            }
            desk.stats += step?;
        }
        Ok(())
    }

    /// A thread a worker; this one collects the games and watches for the stop.
    fn run_threads(
        &mut self,
        evaluators: &mut [Box<dyn LeafEvaluator>],
        network: &str,
        should_stop: &dyn Fn() -> bool,
        desk: &mut Desk<'_>,
    ) -> Result<(), EvalError> {
        let (supply, ready) = (&self.supply, &mut self.ready);
        let stop = AtomicBool::new(false);
        let left = AtomicUsize::new(desk.left());
        thread::scope(|scope| {
            // Dropped on every way out of here, a panic of `on_game` included: a scope waits for
            // its threads, and they play until they are told.
            let _stop_at_exit = StopOnDrop(&stop);
            let (sender, games) = mpsc::channel();
            let mut threads = Vec::new();
            for (worker, evaluator) in self.workers.iter_mut().zip(evaluators) {
                let (sender, stop, left) = (sender.clone(), &stop, &left);
                threads.push(scope.spawn(move || {
                    let _stop_others = StopOnDrop(stop);
                    play_until_told(worker, &mut **evaluator, supply, network, stop, left, &sender)
                }));
            }
            drop(sender);
            loop {
                match games.recv_timeout(STOP_POLL) {
                    Ok(game) => desk.hand_over(game, ready),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
                if should_stop() {
                    stop.store(true, Ordering::Relaxed);
                }
            }
            let mut result = Ok(());
            for thread in threads {
                let (stats, end) = thread.join().unwrap_or_else(|_| {
                    let lost = EvalError::Backend("a self-play thread panicked".into());
                    (PoolStats::default(), Err(lost))
                });
                desk.stats += stats;
                result = result.and(end);
            }
            result
        })
    }
}

/// Steps until the games wanted are finished, all are told to stop, or the evaluator fails.
fn play_until_told(
    worker: &mut Worker,
    evaluator: &mut dyn LeafEvaluator,
    supply: &Supply,
    network: &str,
    stop: &AtomicBool,
    left: &AtomicUsize,
    sender: &mpsc::Sender<Finished>,
) -> (PoolStats, Result<(), EvalError>) {
    let mut stats = PoolStats::default();
    let mut finished = Vec::new();
    while !stop.load(Ordering::Relaxed) && left.load(Ordering::Relaxed) > 0 {
        let step = worker.step(evaluator, supply, network, &mut finished);
        for game in finished.drain(..) {
            let count_down = |n: usize| Some(n.saturating_sub(1));
            // Cannot fail: `count_down` always answers.
            let _ = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, count_down);
            // Nobody listens only while `on_game` unwinds.
            let _ = sender.send(game);
        }
        match step {
            Ok(step) => stats += step,
            Err(error) => return (stats, Err(error)),
        }
    }
    (stats, Ok(()))
}

struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Hands finished games over and counts them, up to the number wanted.
struct Desk<'a> {
    wanted: usize,
    stats: PoolStats,
    on_game: &'a mut dyn FnMut(u64, GameRecord),
}

impl Desk<'_> {
    fn left(&self) -> usize {
        self.wanted.saturating_sub(self.stats.games as usize)
    }

    fn open(&self) -> bool {
        self.left() > 0
    }

    fn hand_over(&mut self, game: Finished, later: &mut VecDeque<Finished>) {
        if !self.open() {
            later.push_back(game);
            return;
        }
        let (counter, record) = game;
        self.stats.games += 1;
        self.stats.game_moves += record.turns.len() as u64;
        self.stats.targets += record.positions() as u64;
        (self.on_game)(counter, record);
    }
}
