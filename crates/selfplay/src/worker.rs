//! What one thread of the pool does: many games, one batch, one evaluator.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use tengen_inference::{EvalError, LeafEvaluator};
use tengen_record::GameRecord;

use crate::batch::{LeafBatch, calls_for};
use crate::{GameDefinition, GameSlot, PoolStats, Spectator, game_seed};

/// Where games come from: shared by all workers of a run.
#[derive(Debug)]
pub(crate) struct Supply {
    pub game: Arc<GameDefinition>,
    pub run_seed: u64,
    pub next_counter: AtomicU64,
    pub config_digest: String,
    pub spectator: Spectator,
}

impl Supply {
    fn next(&self) -> Seat {
        let counter = self.next_counter.fetch_add(1, Ordering::Relaxed);
        self.seat(counter, Arc::clone(&self.game))
    }

    fn seat(&self, counter: u64, game: Arc<GameDefinition>) -> Seat {
        let slot = GameSlot::new(Arc::clone(&game), game_seed(self.run_seed, counter));
        Seat { counter, game, slot }
    }
}

/// A game with its number in the run.
#[derive(Debug)]
struct Seat {
    counter: u64,
    /// What the game began under.
    game: Arc<GameDefinition>,
    slot: GameSlot,
}

/// The games of one thread. Between steps each game has its leaves in the batch, waiting: that is
/// the state in which games rest between runs, and to which a failed evaluation falls back, so
/// that nothing is drawn or asked twice.
#[derive(Debug, Default)]
pub(crate) struct Worker {
    seats: Vec<Seat>,
    batch: LeafBatch,
    /// For each leaf of the batch, the seat it belongs to.
    owners: Vec<usize>,
}

/// A finished game and its number in the run.
pub(crate) type Finished = (u64, GameRecord);

impl Worker {
    /// Begins games until `seats` are in flight.
    pub fn fill(&mut self, seats: usize, supply: &Supply) {
        while self.seats.len() < seats {
            self.seats.push(supply.next());
        }
    }

    pub fn games(&self) -> usize {
        self.seats.len()
    }

    /// One batch: evaluates the waiting leaves, hands each to its game and lets every game go on to
    /// its next leaves. Games that end go to `finished`, and new ones take their seats.
    ///
    /// # Errors
    /// The evaluator's, and after a panic in it or in a game: all games are then as they were
    /// before, or after a panic back at their first move.
    pub fn step(
        &mut self,
        evaluator: &mut dyn LeafEvaluator,
        supply: &Supply,
        network: &str,
        finished: &mut Vec<Finished>,
    ) -> Result<PoolStats, EvalError> {
        let attempt = AssertUnwindSafe(|| self.try_step(evaluator, supply, network, finished));
        catch_unwind(attempt).unwrap_or_else(|panic| {
            // A game is a function of its number, so one in an unknown state can start over.
            self.batch.clear();
            self.owners.clear();
            for seat in &mut self.seats {
                *seat = supply.seat(seat.counter, Arc::clone(&seat.game));
            }
            Err(EvalError::Backend(format!("panic in self-play: {}", panic_text(&*panic))))
        })
    }

    fn try_step(
        &mut self,
        evaluator: &mut dyn LeafEvaluator,
        supply: &Supply,
        network: &str,
        finished: &mut Vec<Finished>,
    ) -> Result<PoolStats, EvalError> {
        let mut stats = PoolStats::default();
        let began = Instant::now();
        if self.batch.is_empty() {
            stats.moves += self.gather(supply, network, finished);
        }
        let (gathered, remembered) = (Instant::now(), evaluator.remembered());
        let answers = self.batch.evaluate(evaluator)?;
        let answered = Instant::now();
        stats.evaluate_seconds = (answered - gathered).as_secs_f64();
        stats.evaluations = answers.len() as u64;
        stats.cached = evaluator.remembered() - remembered;
        stats.batches = calls_for(evaluator, answers.len()) as u64;
        stats.batch_capacity = (self.seats.len() * supply.game.config.leaves_per_step) as u64;
        for ((leaf, owner), answer) in self.batch.drain().zip(self.owners.drain(..)).zip(&answers) {
            self.seats[owner].slot.answer(leaf, answer);
        }
        stats.moves += self.gather(supply, network, finished);
        stats.tree_seconds = began.elapsed().as_secs_f64() - stats.evaluate_seconds;
        Ok(stats)
    }

    /// Lets every game go on until it has a leaf to ask for; returns the moves made meanwhile.
    fn gather(&mut self, supply: &Supply, network: &str, finished: &mut Vec<Finished>) -> u64 {
        let mut moves = 0;
        for (index, seat) in self.seats.iter_mut().enumerate() {
            loop {
                let before = seat.slot.moves();
                let leaves = seat.slot.select(&mut self.batch);
                moves += (seat.slot.moves() - before) as u64;
                if leaves > 0 {
                    self.owners.extend(std::iter::repeat_n(index, leaves));
                    break;
                }
                let ended = std::mem::replace(seat, supply.next());
                let players = [network.to_owned(), network.to_owned()];
                let record = ended.slot.finish(players, supply.config_digest.clone());
                finished.push((ended.counter, record));
            }
        }
        if let Some(seat) = self.seats.first() {
            let players = || [network.to_owned(), network.to_owned()];
            supply.spectator.show(|| (seat.counter, seat.slot.so_far(players())));
        }
        moves
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a word")
}
