//! What a stretch of self-play cost and brought.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// Counts over one call of [`SelfPlayPool::run`](crate::SelfPlayPool::run).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct PoolStats {
    /// Games handed over.
    pub games: u64,
    /// Moves of those games.
    pub game_moves: u64,
    /// Training targets in those games.
    pub targets: u64,
    /// Moves decided, in finished games or not.
    pub moves: u64,
    /// Leaves answered, those from memory included.
    pub evaluations: u64,
    /// Leaves answered from memory.
    pub cached: u64,
    /// Evaluator calls.
    pub batches: u64,
    /// Leaves those calls could have carried: evaluator calls × leaves asked for at full house.
    pub batch_capacity: u64,
    /// Wall-clock time of the call, in seconds.
    pub seconds: f64,
    /// The same times the workers: what there was to be used.
    pub thread_seconds: f64,
    /// Of that, what went into evaluators.
    pub evaluate_seconds: f64,
    /// Of that, what went into games and their trees: select, expand, backup, moves.
    pub tree_seconds: f64,
}

impl PoolStats {
    /// Leaves a second, those from memory included.
    pub fn evaluations_per_second(&self) -> f64 {
        per(self.evaluations as f64, self.seconds)
    }

    /// Leaves a second that the evaluator had to look at.
    pub fn real_evaluations_per_second(&self) -> f64 {
        per((self.evaluations - self.cached) as f64, self.seconds)
    }

    /// Share of the leaves that were answered from memory.
    pub fn hit_rate(&self) -> f64 {
        per(self.cached as f64, self.evaluations as f64)
    }

    /// Share of the workers' time that went into evaluators.
    pub fn evaluating_share(&self) -> f64 {
        per(self.evaluate_seconds, self.thread_seconds)
    }

    /// Share lost to walking trees and making moves.
    pub fn tree_share(&self) -> f64 {
        per(self.tree_seconds, self.thread_seconds)
    }

    /// Share lost to anything else: storing games, waiting for the other workers' last step.
    pub fn waiting_share(&self) -> f64 {
        let waited = self.thread_seconds - self.evaluate_seconds - self.tree_seconds;
        per(waited.max(0.0), self.thread_seconds)
    }

    /// Finished games a second.
    pub fn games_per_second(&self) -> f64 {
        per(self.games as f64, self.seconds)
    }

    /// How full the batches were, from 0 to 1.
    pub fn batch_fill(&self) -> f64 {
        per(self.evaluations as f64, self.batch_capacity as f64)
    }

    /// Leaves in a mean batch.
    pub fn mean_batch(&self) -> f64 {
        per(self.evaluations as f64, self.batches as f64)
    }

    /// Moves of a mean finished game.
    pub fn mean_length(&self) -> f64 {
        per(self.game_moves as f64, self.games as f64)
    }
}

impl AddAssign for PoolStats {
    /// Sums everything; of calls one after another the seconds too.
    fn add_assign(&mut self, other: Self) {
        self.games += other.games;
        self.game_moves += other.game_moves;
        self.targets += other.targets;
        self.moves += other.moves;
        self.evaluations += other.evaluations;
        self.cached += other.cached;
        self.batches += other.batches;
        self.batch_capacity += other.batch_capacity;
        self.seconds += other.seconds;
        self.thread_seconds += other.thread_seconds;
        self.evaluate_seconds += other.evaluate_seconds;
        self.tree_seconds += other.tree_seconds;
    }
}

fn per(amount: f64, of: f64) -> f64 {
    if of > 0.0 { amount / of } else { 0.0 }
}
