//! Drawn positions, encoded side by side.

use rayon::prelude::*;
use tengen_features::{FeatureSet, SHORT_TERM_HORIZONS, Sample, sample_at};
use tengen_network::{HostTensor, Weights};
use tengen_rules::BoardSize;

use crate::{Draw, TrainError};

/// One step's samples, ready for the network. Row order is the order of the draws.
///
/// A label that a sample lacks is a row of zeros, and 0 in the mask beside it: the mask, 1 or 0 a
/// sample, must multiply the label's loss.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// The board of all samples.
    pub size: BoardSize,
    /// Rows.
    pub len: usize,
    /// `[B, planes, H, W]`, row-major.
    pub planes: Vec<f32>,
    /// Inputs without a place on the board, `[B, globals]`.
    pub globals: Vec<f32>,
    /// π, `[B, A]` with `A = H·W + 1`; each row sums to 1.
    pub policy: Vec<f32>,
    /// 1 where a move is legal, else 0: `[B, A]`.
    pub legal: Vec<f32>,
    /// z for the player to move, `[B]`.
    pub value: Vec<f32>,
    /// The samples' weights in the loss, `[B]`: those of the draws.
    pub weight: Vec<f32>,
    /// Final owner of each point, 1 the player to move, -1 the opponent: `[B, H, W]`.
    pub ownership: Vec<f32>,
    /// Final lead of the player to move in points, komi included: `[B]`.
    pub score: Vec<f32>,
    /// Which samples have `ownership` and `score`, `[B]`: those of games whose board was counted.
    pub has_score: Vec<f32>,
    /// The policy of the next turn's search, `[B, A]`.
    pub opponent_policy: Vec<f32>,
    /// Which samples have `opponent_policy`, `[B]`.
    pub has_opponent_policy: Vec<f32>,
    /// Exponentially averaged root values, shortest horizon first, `[B, 3]`.
    pub short_term: Vec<f32>,
    /// Which samples have `short_term`, `[B]`.
    pub has_short_term: Vec<f32>,
}

impl Batch {
    /// `len` rows of zeros without any label, for inputs of `set`.
    #[must_use]
    pub fn blank(set: FeatureSet, size: BoardSize, len: usize) -> Self {
        let zeros = |columns: usize| vec![0.0; len * columns];
        Self {
            size,
            len,
            planes: zeros(set.planes() * size.area()),
            globals: zeros(set.globals()),
            policy: zeros(size.actions()),
            legal: zeros(size.actions()),
            value: zeros(1),
            weight: zeros(1),
            ownership: zeros(size.area()),
            score: zeros(1),
            has_score: zeros(1),
            opponent_policy: zeros(size.actions()),
            has_opponent_policy: zeros(1),
            short_term: zeros(SHORT_TERM_HORIZONS.len()),
            has_short_term: zeros(1),
        }
    }

    /// Replays each draw's game up to its position and encodes it by `set`, on all of rayon's
    /// threads; the result does not depend on how many there are.
    ///
    /// # Errors
    /// [`TrainError::EmptyWindow`] without draws, [`TrainError::Sample`] for the first position
    /// that cannot be encoded.
    pub fn encode(set: FeatureSet, draws: &[Draw<'_>]) -> Result<Self, TrainError> {
        let size = draws.first().ok_or(TrainError::EmptyWindow)?.record.size;
        let samples = draws
            .par_iter()
            .map(|draw| sample_at(set, draw.record, draw.labels, draw.target, draw.symmetry))
            .collect::<Vec<_>>();
        let mut batch = Self::blank(set, size, draws.len());
        for (row, (draw, sample)) in draws.iter().zip(samples).enumerate() {
            let sample = sample.map_err(|source| TrainError::Sample {
                seq: draw.seq,
                target: draw.target,
                source,
            })?;
            batch.write(row, &sample, draw.weight);
            if let Err((what, remedy)) = batch.check(row) {
                let (seq, target) = (draw.seq, draw.target);
                return Err(TrainError::BadSample { seq, target, what, remedy });
            }
        }
        Ok(batch)
    }

    /// What is wrong with a row and what to do about it: each of these once cost somebody a run.
    fn check(&self, row: usize) -> Result<(), (String, &'static str)> {
        let actions = self.size.actions();
        let legal = &self.legal[row * actions..][..actions];
        let policy = &self.policy[row * actions..][..actions];
        if legal.iter().all(|&x| x == 0.0) {
            let remedy = "the game went on after its end: `tengen store fsck` names what is damaged, `tengen rollback` takes a network's games out";
            return Err(("no move is legal".to_owned(), remedy));
        }
        let astray = legal.iter().zip(policy).position(|(&legal, &pi)| legal == 0.0 && pi > 0.0);
        if let Some(action) = astray {
            let what =
                format!("π gives {} to action {action}, which the mask forbids", policy[action]);
            return Err((
                what,
                "labels and planes are turned differently: report it, it is a fault",
            ));
        }
        let sum: f32 = policy.iter().sum();
        if (sum - 1.0).abs() > 1e-3 {
            let remedy = "the stored search is damaged: `tengen store fsck` names what is, `tengen rollback` takes a network's games out";
            return Err((format!("π sums to {sum}"), remedy));
        }
        // An empty board with White to move is all zeros in AlphaGo Zero's planes.
        let width = self.planes.len() / self.len;
        let planes = &self.planes[row * width..][..width];
        let stones = legal.iter().filter(|&&x| x == 0.0).count();
        if planes.iter().all(|&x| x == 0.0) && stones > 0 {
            let remedy = "the feature set encodes nothing: report it, it is a fault";
            return Err(("all planes are zero on a board with stones".to_owned(), remedy));
        }
        Ok(())
    }

    /// The batch as named tensors, to be looked at elsewhere.
    pub(crate) fn to_tensors(&self) -> Weights {
        let parts = [
            ("planes", &self.planes),
            ("globals", &self.globals),
            ("policy", &self.policy),
            ("legal", &self.legal),
            ("value", &self.value),
            ("weight", &self.weight),
            ("ownership", &self.ownership),
            ("score", &self.score),
            ("has_score", &self.has_score),
            ("opponent_policy", &self.opponent_policy),
            ("has_opponent_policy", &self.has_opponent_policy),
            ("short_term", &self.short_term),
            ("has_short_term", &self.has_short_term),
        ];
        let tensors = parts.into_iter().filter(|(_, data)| !data.is_empty()).map(|(name, data)| {
            let shape = vec![self.len, data.len() / self.len.max(1)];
            (name.to_owned(), HostTensor { shape, data: data.clone() })
        });
        Weights(tensors.collect())
    }

    fn write(&mut self, row: usize, sample: &Sample, weight: f32) {
        let put = |column: &mut [f32], values: &[f32]| {
            column[row * values.len()..][..values.len()].copy_from_slice(values);
        };
        put(&mut self.planes, &sample.planes);
        put(&mut self.globals, &sample.globals);
        put(&mut self.policy, &sample.policy);
        put(&mut self.legal, &sample.legal);
        self.value[row] = sample.value;
        self.weight[row] = weight;
        if let (Some(ownership), Some(score)) = (&sample.ownership, sample.score) {
            put(&mut self.ownership, ownership);
            self.score[row] = score;
            self.has_score[row] = 1.0;
        }
        if let Some(policy) = &sample.opponent_policy {
            put(&mut self.opponent_policy, policy);
            self.has_opponent_policy[row] = 1.0;
        }
        if let Some(values) = &sample.short_term {
            put(&mut self.short_term, values);
            self.has_short_term[row] = 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One sound row: π on the pass, two of four points occupied.
    fn sound() -> Batch {
        let size = BoardSize::square(2).unwrap();
        let mut batch = Batch::blank(FeatureSet::Agz, size, 1);
        batch.planes[0] = 1.0;
        batch.legal = vec![0.0, 0.0, 1.0, 1.0, 1.0];
        batch.policy = vec![0.0, 0.0, 0.0, 0.25, 0.75];
        batch
    }

    #[test]
    fn a_row_that_contradicts_itself_is_named() {
        assert_eq!(sound().check(0), Ok(()));
        let wrong = |spoil: fn(&mut Batch)| {
            let mut batch = sound();
            spoil(&mut batch);
            batch.check(0).unwrap_err().0
        };
        assert_eq!(wrong(|batch| batch.legal.fill(0.0)), "no move is legal");
        assert_eq!(wrong(|batch| batch.policy[3] = 0.5), "π sums to 1.25");
        let shifted = wrong(|batch| batch.policy.rotate_left(3));
        assert_eq!(shifted, "π gives 0.25 to action 0, which the mask forbids");
        assert!(wrong(|batch| batch.planes.fill(0.0)).contains("all planes are zero"));
        // Nothing on the board and White to move: AlphaGo Zero's planes are all zero, and right.
        let mut empty = sound();
        empty.planes.fill(0.0);
        empty.legal.fill(1.0);
        assert_eq!(empty.check(0), Ok(()));
    }
}
