//! A finished game as training samples.

use tengen_record::{GameRecord, SearchRecord};
use tengen_rules::{GameState, Outcome, Symmetry};

use crate::{FeatureError, FeatureSet, PointMap, encode};

/// One row of a training batch. Planes, policy and mask share one orientation.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Input planes, `[planes, H, W]` row-major, 0 or 1.
    pub planes: Vec<f32>,
    /// π: the search's probabilities over actions, `[H·W + 1]`, summing to 1, pass last.
    pub policy: Vec<f32>,
    /// 1 where the move is legal, 0 elsewhere, `[H·W + 1]`.
    pub legal: Vec<f32>,
    /// z: the game's result in `[-1, 1]` for the player to move in this position.
    pub value: f32,
    /// The sample's weight in the loss; 1 is ordinary.
    pub weight: f32,
}

impl Sample {
    /// The sample of one position, turned by `symmetry`: `search` is what was found there and
    /// `outcome` how the game ended. `turn` only names the position in errors.
    ///
    /// # Errors
    /// [`FeatureError::Policy`] if the stored weights sum to nothing or point off the board or at
    /// an illegal move, [`FeatureError::Symmetry`] if `symmetry` would change the board's shape.
    pub fn new(
        set: FeatureSet,
        state: &GameState,
        search: &SearchRecord,
        outcome: &Outcome,
        symmetry: Symmetry,
        turn: usize,
    ) -> Result<Self, FeatureError> {
        let size = state.size();
        if !symmetry.valid_for(size) {
            return Err(FeatureError::Symmetry {
                symmetry: symmetry.index(),
                width: size.width(),
                height: size.height(),
            });
        }
        let map = PointMap::new(size, symmetry);

        let mut planes = vec![0.0; set.planes() * size.area()];
        encode(set, state, symmetry, &mut planes);

        let mut legal = vec![0.0; size.actions()];
        for action in state.legal_moves().iter() {
            legal[map.action(action)] = 1.0;
        }

        let total: u64 = search.policy.iter().map(|&(_, weight)| u64::from(weight)).sum();
        if total == 0 {
            return Err(FeatureError::Policy { turn, problem: "sums to zero".to_owned() });
        }
        let mut policy = vec![0.0; size.actions()];
        for &(action, weight) in &search.policy {
            let action = usize::from(action);
            if action >= size.actions() || legal[map.action(action)] == 0.0 {
                let problem = format!("gives {weight} to action {action}, which is not legal");
                return Err(FeatureError::Policy { turn, problem });
            }
            policy[map.action(action)] += (f64::from(weight) / total as f64) as f32;
        }

        let value = outcome.value_for(state.to_play()).get();
        Ok(Self { planes, policy, legal, value, weight: search.weight })
    }
}

/// The sample of the `target`-th target position of `record` (full searches only, counted from
/// 0), turned by `symmetry`.
///
/// # Errors
/// [`FeatureError::NoSuchTarget`] past the last target, [`FeatureError::Replay`] if the moves
/// before it are not legal, and what [`Sample::new`] refuses.
pub fn sample_at(
    record: &GameRecord,
    target: usize,
    symmetry: Symmetry,
) -> Result<Sample, FeatureError> {
    let mut state = start(record)?;
    let mut seen = 0;
    for (turn, made) in record.turns.iter().enumerate() {
        if let Some(search) = made.search.as_ref().filter(|search| search.is_target) {
            if seen == target {
                let outcome = &record.outcome;
                return Sample::new(FeatureSet::Agz, &state, search, outcome, symmetry, turn);
            }
            seen += 1;
        }
        state
            .play(made.mv)
            .map_err(|refusal| FeatureError::Replay { turn, reason: refusal.to_string() })?;
    }
    Err(FeatureError::NoSuchTarget { index: target, targets: seen })
}

/// Every target position of `record` in order, unturned.
///
/// # Errors
/// As [`sample_at`].
pub fn samples_of(record: &GameRecord) -> Result<Vec<Sample>, FeatureError> {
    let mut samples = Vec::with_capacity(record.positions());
    let mut state = start(record)?;
    for (turn, made) in record.turns.iter().enumerate() {
        if let Some(search) = made.search.as_ref().filter(|search| search.is_target) {
            let symmetry = Symmetry::IDENTITY;
            let set = FeatureSet::Agz;
            samples.push(Sample::new(set, &state, search, &record.outcome, symmetry, turn)?);
        }
        state
            .play(made.mv)
            .map_err(|refusal| FeatureError::Replay { turn, reason: refusal.to_string() })?;
    }
    Ok(samples)
}

fn start(record: &GameRecord) -> Result<GameState, FeatureError> {
    record
        .initial_state()
        .map_err(|refusal| FeatureError::Replay { turn: 0, reason: refusal.to_string() })
}
