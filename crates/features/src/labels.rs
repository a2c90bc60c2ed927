//! What a game's end and its later searches say about an earlier position.

use tengen_record::{EndReason, GameRecord};
use tengen_rules::{Color, GameState, Outcome, Rules, Scoring, Tax, propose_dead, score_position};

use crate::FeatureError;

/// Mean horizons of the short-term values in turns, on 361 points and in proportion to the area on
/// other boards: KataGo's (docs/KataGoMethods.md, "Short-term value and score targets").
pub const SHORT_TERM_HORIZONS: [f64; 3] = [6.0, 16.0, 50.0];

/// The final board of a game, which labels every position before it.
///
/// Empty unless the board was counted and the count is the recorded result: a game that ended by
/// resignation, on time, by forfeit or undecided has no final board, and none is invented.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GameLabels {
    counted: Option<Counted>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Counted {
    /// By point: 1 Black's, -1 White's, 0 nobody's.
    owner: Box<[i8]>,
    /// Black's points less White's, komi included, in half points.
    black_lead: i32,
}

impl GameLabels {
    /// Replays `record` to its end and counts the board.
    ///
    /// Stones are owned by area whatever the scoring: living stones belong to their colour, and
    /// stones that are proven dead to the other one, unless the rules count every stone as alive.
    ///
    /// # Errors
    /// [`FeatureError::Replay`] at the first move that is not legal.
    pub fn of(record: &GameRecord) -> Result<Self, FeatureError> {
        let counts =
            matches!(record.end, EndReason::TwoPasses | EndReason::MoveLimit | EndReason::Settled);
        let Some(black_lead) = record.outcome.lead_for(Color::Black).filter(|_| counts) else {
            return Ok(Self::default());
        };
        let mut state = crate::sample::start(record)?;
        for (turn, made) in record.turns.iter().enumerate() {
            state
                .play(made.mv)
                .map_err(|refusal| FeatureError::Replay { turn, reason: refusal.to_string() })?;
        }
        Ok(Self { counted: count(record, &state, black_lead) })
    }

    /// Who owns each point at the end, `[H·W]`: 1 is `player`'s, -1 the opponent's, 0 nobody's.
    pub fn ownership(&self, player: Color) -> Option<Vec<f32>> {
        let sign = sign_of(player);
        let counted = self.counted.as_ref()?;
        Some(counted.owner.iter().map(|&owner| sign * f32::from(owner)).collect())
    }

    /// The final lead of `player` in points, komi included.
    pub fn score(&self, player: Color) -> Option<f32> {
        let counted = self.counted.as_ref()?;
        Some(sign_of(player) * counted.black_lead as f32 / 2.0)
    }
}

/// The counted board, unless it does not come to the recorded result.
fn count(record: &GameRecord, last: &GameState, black_lead: i32) -> Option<Counted> {
    let rules = record.rules;
    let takes_dead = record.end == EndReason::Settled
        || rules.friendly_pass
        || rules.scoring == Scoring::Territory;
    let dead = if takes_dead { propose_dead(last) } else { Vec::new() };
    let sheet = score_position(last, rules, record.komi, 0, &dead);
    if sheet.black_lead_half_points() != black_lead {
        return None;
    }
    let by_area = Rules { scoring: Scoring::Area, tax: Tax::None, ..rules };
    let owner = score_position(last, by_area, record.komi, 0, &dead).owner;
    let owner = owner.into_iter().map(|owner| match owner {
        Some(Color::Black) => 1,
        Some(Color::White) => -1,
        None => 0,
    });
    Some(Counted { owner: owner.collect(), black_lead })
}

fn sign_of(player: Color) -> f32 {
    if player == Color::Black { 1.0 } else { -1.0 }
}

/// The exponentially averaged values of the searches from `turn` on and of the result at last, for
/// the player to move at `turn`, one a horizon of [`SHORT_TERM_HORIZONS`], shortest first. Turns
/// without a search are passed over.
///
/// `None` when the game has no result, or no search from `turn` on.
pub(crate) fn short_term(record: &GameRecord, turn: usize) -> Option<[f32; 3]> {
    if record.outcome == Outcome::NoResult {
        return None;
    }
    let player = record.color_at(turn);
    let roots = record.turns.iter().enumerate().skip(turn).filter_map(|(index, made)| {
        let value = f64::from(made.search.as_ref()?.root_value);
        Some(if record.color_at(index) == player { value } else { -value })
    });
    let scale = record.size.area() as f64 / 361.0;
    let now = SHORT_TERM_HORIZONS.map(|turns| 1.0 / (1.0 + turns * scale));
    let (mut sums, mut left, mut seen) = ([0.0; 3], [1.0; 3], false);
    for value in roots {
        seen = true;
        for ((sum, left), now) in sums.iter_mut().zip(&mut left).zip(now) {
            *sum += *left * now * value;
            *left *= 1.0 - now;
        }
    }
    let result = f64::from(record.outcome.value_for(player).get());
    seen.then(|| [0, 1, 2].map(|horizon| (sums[horizon] + left[horizon] * result) as f32))
}
