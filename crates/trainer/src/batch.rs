//! Drawn positions, encoded side by side.

use rayon::prelude::*;
use tengen_features::sample_at;
use tengen_rules::BoardSize;

use crate::{Draw, TrainError};

/// One step's samples, ready for the network. Row order is the order of the draws.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// The board of all samples.
    pub size: BoardSize,
    /// Rows.
    pub len: usize,
    /// `[B, 17, H, W]`, row-major.
    pub planes: Vec<f32>,
    /// π, `[B, A]` with `A = H·W + 1`; each row sums to 1.
    pub policy: Vec<f32>,
    /// 1 where a move is legal, else 0: `[B, A]`.
    pub legal: Vec<f32>,
    /// z for the player to move, `[B]`.
    pub value: Vec<f32>,
    /// The samples' weights in the loss, `[B]`: those of the draws.
    pub weight: Vec<f32>,
}

impl Batch {
    /// Replays each draw's game up to its position and encodes it, on all of rayon's threads; the
    /// result does not depend on how many there are.
    ///
    /// # Errors
    /// [`TrainError::EmptyWindow`] without draws, [`TrainError::Sample`] for the first position
    /// that cannot be encoded.
    pub fn encode(draws: &[Draw<'_>]) -> Result<Self, TrainError> {
        let size = draws.first().ok_or(TrainError::EmptyWindow)?.record.size;
        let samples = draws
            .par_iter()
            .map(|draw| sample_at(draw.record, draw.target, draw.symmetry))
            .collect::<Vec<_>>();
        let mut batch = Self {
            size,
            len: draws.len(),
            planes: Vec::new(),
            policy: Vec::new(),
            legal: Vec::new(),
            value: Vec::new(),
            weight: Vec::new(),
        };
        for (draw, sample) in draws.iter().zip(samples) {
            let sample = sample.map_err(|source| TrainError::Sample {
                seq: draw.seq,
                target: draw.target,
                source,
            })?;
            batch.planes.extend_from_slice(&sample.planes);
            batch.policy.extend_from_slice(&sample.policy);
            batch.legal.extend_from_slice(&sample.legal);
            batch.value.push(sample.value);
            batch.weight.push(draw.weight);
        }
        Ok(batch)
    }
}
