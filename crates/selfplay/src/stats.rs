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
    /// Leaves answered.
    pub evaluations: u64,
    /// Evaluator calls.
    pub batches: u64,
    /// Leaves those calls could have carried: evaluator calls × leaves asked for at full house.
    pub batch_capacity: u64,
    /// Wall-clock time of the call, in seconds.
    pub seconds: f64,
}

impl PoolStats {
    /// Leaves a second.
    pub fn evaluations_per_second(&self) -> f64 {
        per(self.evaluations as f64, self.seconds)
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
        self.batches += other.batches;
        self.batch_capacity += other.batch_capacity;
        self.seconds += other.seconds;
    }
}

fn per(amount: f64, of: f64) -> f64 {
    if of > 0.0 { amount / of } else { 0.0 }
}
