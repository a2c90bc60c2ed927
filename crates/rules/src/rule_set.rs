//! Rule sets: independent switches, and the names people know them by.

use crate::{rule_names, rule_text};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Which repetitions are forbidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KoRule {
    /// Only the immediate recapture of a single stone. A position that comes up for the third time
    /// with no pass between ends the game with no result; a player's second pass in one position
    /// ends it with a score.
    Simple,
    /// No board may come back.
    Positional,
    /// No board may come back with the same player to move.
    Situational,
}

/// What counts as a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scoring {
    /// Stones and the empty points that only they reach.
    Area,
    /// Surrounded points and prisoners.
    Territory,
}

/// Which groups pay for their eyes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tax {
    /// None.
    None,
    /// Groups in seki.
    Seki,
    /// Every group (ancient and stone scoring).
    All,
}

/// Points White gets for Black's handicap stones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HandicapBonus {
    /// None.
    Zero,
    /// One a stone (Chinese).
    N,
    /// One a stone but the first (AGA).
    NMinusOne,
}

/// The rules of a game. Shown and serialised as a name (`tromp-taylor`) or as its parts
/// (`ko=positional,scoring=area,tax=none,suicide=true,…`); either reads back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Rules {
    /// Repetitions that are forbidden.
    pub ko: KoRule,
    /// What counts as a point.
    pub scoring: Scoring,
    /// Which groups pay for their eyes.
    pub tax: Tax,
    /// Whether a move may kill its own chain of two stones or more. A single stone never may:
    /// that would leave the board as it was.
    pub suicide: bool,
    /// Whether the first pass earns half a point; it is then not one of the two that end the game.
    pub button: bool,
    /// White's points for handicap stones; whoever sets up the game adds them to the komi, with
    /// [`HandicapBonus::points`].
    pub handicap_bonus: HandicapBonus,
    /// Whether a player may pass before dead stones are taken; they are agreed on instead. Where
    /// nobody is there to agree, the stones that [`propose_dead`](crate::propose_dead) proves dead
    /// are taken.
    pub friendly_pass: bool,
}

/// Rules that have no name or contradict themselves.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RulesError {
    /// Neither a known name nor `key=value` parts.
    #[error("no rules are called {name:?}; known are {known}, or parts such as ko=simple", known = rule_names::known())]
    UnknownName {
        /// The text as given.
        name: String,
    },
    /// A part with an unknown key.
    #[error("rules have no part {key:?}; they have {known}", known = rule_text::KEYS.join(", "))]
    UnknownKey {
        /// The key as given.
        key: String,
    },
    /// A part with an unknown value.
    #[error("{value:?} is not a value of the rules' part {key}")]
    UnknownValue {
        /// The part.
        key: String,
        /// The value as given.
        value: String,
    },
    /// Text that begins like a JSON object and is none.
    #[error("the rules are no JSON object: {0}")]
    NotJson(String),
    /// The button under territory scoring.
    #[error("the button goes with area scoring: it evens out what territory scoring never has")]
    ButtonWithTerritory,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules::tromp_taylor()
    }
}

impl Rules {
    /// Whether a finished game's score is its area and nothing else: no prisoners, no tax, no button.
    pub fn counts_area_alone(&self) -> bool {
        self.scoring == Scoring::Area && self.tax == Tax::None && !self.button
    }

    /// Tromp–Taylor: positional superko, area scoring, suicide; what AlphaGo Zero scores by.
    pub const fn tromp_taylor() -> Rules {
        Rules {
            ko: KoRule::Positional,
            scoring: Scoring::Area,
            tax: Tax::None,
            suicide: true,
            button: false,
            handicap_bonus: HandicapBonus::Zero,
            friendly_pass: false,
        }
    }

    /// Whether a game can be played to its end and scored under these rules.
    ///
    /// # Errors
    /// The button together with territory scoring, which no rule set has and which KataGo's
    /// networks don't play either.
    pub fn playable(&self) -> Result<(), RulesError> {
        if self.button && self.scoring == Scoring::Territory {
            return Err(RulesError::ButtonWithTerritory);
        }
        Ok(())
    }
}

impl HandicapBonus {
    /// Points for White against `stones` handicap stones; one stone is no handicap.
    pub fn points(self, stones: u32) -> u32 {
        match self {
            _ if stones < 2 => 0,
            HandicapBonus::Zero => 0,
            HandicapBonus::N => stones,
            HandicapBonus::NMinusOne => stones - 1,
        }
    }
}
