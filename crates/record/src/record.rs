//! The record itself: plain fields, no behaviour that could go wrong.

use tengen_rules::{BoardSize, Color, Komi, Move, Outcome, Point, Rules};

/// One game, finished or stopped, with all that is needed to replay it and to train on it.
#[derive(Clone, Debug, PartialEq)]
pub struct GameRecord {
    /// The board.
    pub size: BoardSize,
    /// The rules that decided legality and the score.
    pub rules: Rules,
    /// Points given to White, in half points.
    pub komi: Komi,
    /// Black stones on the board before the first move (handicap or a test position).
    pub setup_black: Vec<Point>,
    /// White stones on the board before the first move.
    pub setup_white: Vec<Point>,
    /// Who makes the first turn; colours alternate from there, a skipped turn is a pass.
    pub first_to_play: Color,
    /// The seed that every random draw of this game came from.
    pub seed: u64,
    /// Black, then White: network ids (hex) or engine names.
    pub players: [String; 2],
    /// Digest of the effective configuration that produced the game; empty when it has none.
    pub config_digest: String,
    /// The moves in order.
    pub turns: Vec<Turn>,
    /// How it ended up.
    pub outcome: Outcome,
    /// Why it ended.
    pub end: EndReason,
}

/// One move and, where a search chose it, what the search found.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// The move played.
    pub mv: Move,
    /// The search behind it; `None` for moves of people and foreign engines.
    pub search: Option<SearchRecord>,
}

/// What a search leaves for training and for curious readers.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchRecord {
    /// The policy target π as `(action, weight)`, in rising order of action, each action legal.
    /// Only proportions matter; the sum is above zero.
    pub policy: Vec<(u16, u16)>,
    /// The root's value after the search, in `[-1, 1]` for the player to move.
    pub root_value: f32,
    /// Visits of the root.
    pub visits: u32,
    /// Whether this was a full search, hence a training sample (cheap searches only move the game).
    pub is_target: bool,
    /// The sample's weight in the loss, at least 0; 1 is an ordinary sample.
    pub weight: f32,
}

/// Why a game stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndReason {
    /// Both players passed: the rules scored the board.
    TwoPasses,
    /// The move limit was reached: the board was scored as it stood, or left undecided.
    MoveLimit,
    /// One side gave up.
    Resignation,
    /// One side ran out of time.
    Time,
    /// One side played an illegal move, crashed or did not answer.
    Forfeit,
    /// The result was taken from elsewhere (an imported file) and can't be recomputed.
    Reported,
    /// Every point was pass-alive for one side, so that playing on could not change the score
    /// ([`GameState::settled`](tengen_rules::GameState::settled)).
    Settled,
}

impl EndReason {
    /// Every reason, in the order of their stored codes.
    pub const ALL: [EndReason; 7] = [
        EndReason::TwoPasses,
        EndReason::MoveLimit,
        EndReason::Resignation,
        EndReason::Time,
        EndReason::Forfeit,
        EndReason::Reported,
        EndReason::Settled,
    ];

    /// The name used in reports: `two-passes`, `move-limit`, ….
    pub fn name(self) -> &'static str {
        match self {
            EndReason::TwoPasses => "two-passes",
            EndReason::MoveLimit => "move-limit",
            EndReason::Resignation => "resignation",
            EndReason::Time => "time",
            EndReason::Forfeit => "forfeit",
            EndReason::Reported => "reported",
            EndReason::Settled => "settled",
        }
    }
}

impl GameRecord {
    /// How many turns are training samples.
    pub fn positions(&self) -> usize {
        self.turns.iter().filter(|turn| turn.search.as_ref().is_some_and(|s| s.is_target)).count()
    }

    /// The colour that makes turn `index`.
    pub fn color_at(&self, index: usize) -> Color {
        if index.is_multiple_of(2) { self.first_to_play } else { self.first_to_play.opponent() }
    }
}
