//! A finished game as training samples.

use tengen_record::{GameRecord, SearchRecord};
use tengen_rules::{GameState, Symmetry};

use crate::labels::short_term;
use crate::{FeatureError, FeatureSet, GameLabels, PointMap, encode, encode_globals};

/// One row of a training batch. All that has a place on the board shares one orientation.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Input planes, `[planes, H, W]` row-major; the last ones repeat `globals`.
    pub planes: Vec<f32>,
    /// Inputs without a place on the board, `[globals]`.
    pub globals: Vec<f32>,
    /// π: the search's probabilities over actions, `[H·W + 1]`, summing to 1, pass last.
    pub policy: Vec<f32>,
    /// 1 where the move is legal, 0 elsewhere, `[H·W + 1]`.
    pub legal: Vec<f32>,
    /// z: the game's result in `[-1, 1]` for the player to move in this position.
    pub value: f32,
    /// The sample's weight in the loss; 1 is ordinary.
    pub weight: f32,
    /// Who owns each point at the end, `[H·W]`: 1 the player to move, -1 the opponent; `None`
    /// unless the final board was counted.
    pub ownership: Option<Vec<f32>>,
    /// The final lead of the player to move in points, komi included; `None` as for `ownership`.
    pub score: Option<f32>,
    /// The search's policy at the *next* turn, the opponent's, `[H·W + 1]`; `None` when that turn
    /// has no search.
    pub opponent_policy: Option<Vec<f32>>,
    /// Exponential averages of the root values from here on, for the player to move, one a
    /// horizon of [`SHORT_TERM_HORIZONS`](crate::SHORT_TERM_HORIZONS); `None` for a game without a
    /// result.
    pub short_term: Option<[f32; 3]>,
}

impl Sample {
    /// The sample of `state`, the position before turn `turn` of `record`, turned by `symmetry`;
    /// `labels` are those of the same record.
    ///
    /// # Errors
    /// [`FeatureError::Policy`] if the turn has no search, or if the stored weights of it or of the
    /// next turn sum to nothing or point off the board, or here at an illegal move;
    /// [`FeatureError::Symmetry`] if `symmetry` would change the board's shape.
    pub fn new(
        set: FeatureSet,
        state: &GameState,
        record: &GameRecord,
        labels: &GameLabels,
        turn: usize,
        symmetry: Symmetry,
    ) -> Result<Self, FeatureError> {
        let size = state.size();
        if !symmetry.valid_for(size) {
            return Err(FeatureError::Symmetry {
                symmetry: symmetry.index(),
                width: size.width(),
                height: size.height(),
            });
        }
        let search_at = |turn: usize| record.turns.get(turn).and_then(|made| made.search.as_ref());
        let search = search_at(turn).ok_or_else(|| FeatureError::Policy {
            turn,
            problem: "is missing: nothing was searched there".to_owned(),
        })?;
        let map = PointMap::new(size, symmetry);

        let mut planes = vec![0.0; set.planes() * size.area()];
        encode(set, state, symmetry, &mut planes);
        let mut globals = vec![0.0; set.globals()];
        encode_globals(set, state, &mut globals);

        let mut legal = vec![0.0; size.actions()];
        for action in state.legal_moves().iter() {
            legal[map.action(action)] = 1.0;
        }
        let policy = distribution(search, &map, size.actions(), turn)?;
        if let Some(&(action, weight)) =
            search.policy.iter().find(|&&(action, _)| legal[map.action(usize::from(action))] == 0.0)
        {
            let problem = format!("gives {weight} to action {action}, which is not legal");
            return Err(FeatureError::Policy { turn, problem });
        }
        let opponent_policy = search_at(turn + 1)
            .map(|search| distribution(search, &map, size.actions(), turn + 1))
            .transpose()?;

        let player = state.to_play();
        let ownership = labels.ownership(player).map(|plain| {
            let mut turned = vec![0.0; plain.len()];
            plain.iter().enumerate().for_each(|(point, &owner)| turned[map.point(point)] = owner);
            turned
        });
        Ok(Self {
            planes,
            globals,
            policy,
            legal,
            value: record.outcome.value_for(player).get(),
            weight: search.weight,
            ownership,
            score: labels.score(player),
            opponent_policy,
            short_term: short_term(record, turn),
        })
    }
}

/// A stored policy as probabilities over the turned board's actions.
fn distribution(
    search: &SearchRecord,
    map: &PointMap,
    actions: usize,
    turn: usize,
) -> Result<Vec<f32>, FeatureError> {
    let total: u64 = search.policy.iter().map(|&(_, weight)| u64::from(weight)).sum();
    if total == 0 {
        return Err(FeatureError::Policy { turn, problem: "sums to zero".to_owned() });
    }
    let mut policy = vec![0.0; actions];
    for &(action, weight) in &search.policy {
        let action = usize::from(action);
        if action >= actions {
            let problem = format!("gives {weight} to action {action}, which is off the board");
            return Err(FeatureError::Policy { turn, problem });
        }
        policy[map.action(action)] += (f64::from(weight) / total as f64) as f32;
    }
    Ok(policy)
}

/// The sample of the `target`-th target position of `record` (full searches only, counted from
/// 0), turned by `symmetry`; `labels` are those of the same record.
///
/// # Errors
/// [`FeatureError::NoSuchTarget`] past the last target, [`FeatureError::Replay`] if the moves
/// before it are not legal, and what [`Sample::new`] refuses.
pub fn sample_at(
    set: FeatureSet,
    record: &GameRecord,
    labels: &GameLabels,
    target: usize,
    symmetry: Symmetry,
) -> Result<Sample, FeatureError> {
    let mut state = start(record)?;
    let mut seen = 0;
    for (turn, made) in record.turns.iter().enumerate() {
        if made.search.as_ref().is_some_and(|search| search.is_target) {
            if seen == target {
                return Sample::new(set, &state, record, labels, turn, symmetry);
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
/// As [`sample_at`], and [`FeatureError::Replay`] for a move after the last target too.
pub fn samples_of(set: FeatureSet, record: &GameRecord) -> Result<Vec<Sample>, FeatureError> {
    let labels = GameLabels::of(record)?;
    let mut samples = Vec::with_capacity(record.positions());
    let mut state = start(record)?;
    for (turn, made) in record.turns.iter().enumerate() {
        if made.search.as_ref().is_some_and(|search| search.is_target) {
            let symmetry = Symmetry::IDENTITY;
            samples.push(Sample::new(set, &state, record, &labels, turn, symmetry)?);
        }
        state
            .play(made.mv)
            .map_err(|refusal| FeatureError::Replay { turn, reason: refusal.to_string() })?;
    }
    Ok(samples)
}

pub(crate) fn start(record: &GameRecord) -> Result<GameState, FeatureError> {
    record
        .initial_state()
        .map_err(|refusal| FeatureError::Replay { turn: 0, reason: refusal.to_string() })
}
