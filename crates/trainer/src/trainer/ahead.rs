//! The next step's batch, encoded while this step computes.
//!
//! The draw is made on a copy of the random stream, and the trainer's own stream takes the copy's
//! place only when the batch is used. A game that arrives in between makes the batch void, and the
//! next draw is the one that would have been made without it: what is drawn never depends on time.

use rand_chacha::ChaCha8Rng;

use tengen_features::FeatureSet;

use crate::{Batch, Draw, TrainError};

/// A batch made ahead, good as long as the window stays as it is.
pub(super) struct Ahead {
    parts: Result<Vec<Batch>, TrainError>,
    /// The stream after the batch's draw.
    rng: ChaCha8Rng,
}

impl Ahead {
    /// Encodes `draws` by `set`, after which the stream stood at `rng`.
    pub(super) fn encode(set: FeatureSet, draws: &[Vec<Draw<'_>>], rng: ChaCha8Rng) -> Self {
        Self { parts: draws.iter().map(|draws| Batch::encode(set, draws)).collect(), rng }
    }

    /// The batch, with `rng` moved past its draw.
    pub(super) fn take(self, rng: &mut ChaCha8Rng) -> Result<Vec<Batch>, TrainError> {
        *rng = self.rng;
        self.parts
    }
}
