//! What a game from elsewhere must show before it can enter a window.

use tengen_record::{EndReason, GameRecord, decode};
use tengen_rules::Color;
use tengen_selfplay::{GameSettings, game_seed};
use tengen_store::{GameId, MAX_GAME_BYTES, RunState, Upload};
use thiserror::Error;

use crate::Plan;
use crate::searches::check_searches;
use crate::table::{UNIFORM, worker_seed};

/// Bytes of one game once unpacked, at most.
pub const MAX_UNPACKED_BYTES: u32 = tengen_record::MAX_INFLATED_BYTES as u32;
/// Where a game blob tells its unpacked size: after the mark and the version.
const UNPACKED_AT: std::ops::Range<usize> = 5..9;

/// Why an upload is not a game of this run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unsound {
    /// Larger than any honest game.
    #[error("{bytes} bytes are more than the limit of {limit}")]
    TooLarge {
        /// Packed or unpacked.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// The bytes are not those that were promised.
    #[error("its bytes do not match their hash")]
    Hash,
    /// The id is not that of run, worker and counter.
    #[error("its id does not follow from run, worker and counter")]
    Id,
    /// The bytes are no game.
    #[error("{0}")]
    Codec(String),
    /// The game could not have been played as it says.
    #[error("{0}")]
    Record(String),
    /// Played under another configuration than the run's.
    #[error("its config digest is {found:?}, the run's is {expected:?}")]
    Digest {
        /// The game's.
        found: String,
        /// The run's.
        expected: String,
    },
    /// Another game than the run's: board, rules or komi.
    #[error("its {0} is not the run's")]
    OtherGame(&'static str),
    /// Played by a network that is neither the best one nor one of the two before.
    #[error("its network {0} is neither the best nor one of the two before it")]
    Network(String),
    /// The network named is not the one in the record.
    #[error("it is handed in for network {claimed}, but was played by {found}")]
    Players {
        /// In the upload.
        claimed: String,
        /// In the record.
        found: String,
    },
    /// The random stream is not that of this worker's game of this number.
    #[error("its seed is not that of this worker's game {0}")]
    Seed(u64),
    /// It ends in a way that self-play under this configuration does not.
    #[error("it ends by {end}: {why}")]
    End {
        /// How.
        end: &'static str,
        /// What is wrong with that.
        why: &'static str,
    },
    /// A search that self-play under this configuration does not make.
    #[error("turn {turn}: {what}")]
    Search {
        /// The turn, from 0.
        turn: usize,
        /// What is wrong.
        what: String,
    },
}

impl Unsound {
    /// Whether an honest worker cannot hand in such a game. Networks and configurations grow old while a
    /// worker is out of reach, and what it played by then has no other fault.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        !matches!(self, Self::Digest { .. } | Self::Network(_))
    }
}

/// Holds uploads to one state of a run.
#[derive(Clone, Debug)]
pub struct Checker {
    run: RunState,
    plan: Plan,
    networks: Vec<String>,
}

impl Checker {
    /// A checker for the run as it stands, configured as `plan` says; `bests` are its best networks,
    /// the present one last, of which the last three may have played.
    #[must_use]
    pub fn new(run: &RunState, plan: &Plan, bests: &[String]) -> Self {
        let mut networks: Vec<String> = bests.iter().rev().take(3).cloned().collect();
        if networks.is_empty() {
            networks.push(UNIFORM.to_owned());
        }
        Self { run: run.clone(), plan: plan.clone(), networks }
    }

    /// The configuration that games are held to.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Unpacks, replays and checks an upload. Costs bounded time and memory whatever the bytes.
    ///
    /// # Errors
    /// The first thing found wrong.
    pub fn check(&self, upload: &Upload) -> Result<GameRecord, Unsound> {
        let record = unpack(&upload.payload, &upload.payload_hash)?;
        if upload.id != GameId::derive(&self.run.run_uid, &upload.worker, upload.counter) {
            return Err(Unsound::Id);
        }
        record.validate().map_err(|error| Unsound::Record(error.to_string()))?;
        self.judge(upload, &record)?;
        Ok(record)
    }

    /// Checks what a game that replays must show besides.
    ///
    /// # Errors
    /// The first thing found wrong.
    pub fn judge(&self, upload: &Upload, record: &GameRecord) -> Result<(), Unsound> {
        self.check_origin(upload, record)?;
        self.check_end(record)?;
        check_searches(record, &self.plan)
    }

    fn check_origin(&self, upload: &Upload, record: &GameRecord) -> Result<(), Unsound> {
        if record.config_digest != self.run.config_digest {
            let (found, expected) = (record.config_digest.clone(), self.run.config_digest.clone());
            return Err(Unsound::Digest { found, expected });
        }
        self.check_game(record)?;
        let claimed = upload.network.clone();
        if let Some(found) = record.players.iter().find(|player| **player != claimed) {
            return Err(Unsound::Players { claimed, found: found.clone() });
        }
        if !self.networks.contains(&claimed) {
            return Err(Unsound::Network(claimed));
        }
        let seed = worker_seed(self.run.seed, &upload.worker);
        if record.seed != game_seed(seed, upload.counter) {
            return Err(Unsound::Seed(upload.counter));
        }
        Ok(())
    }

    /// The game is the run's, or one of those that it plays beside.
    fn check_game(&self, record: &GameRecord) -> Result<(), Unsound> {
        let selfplay = &self.plan.selfplay;
        let others = self.plan.others.iter().map(|(_, settings)| settings);
        let games: Vec<&GameSettings> =
            std::iter::once(&self.plan.settings).chain(others).collect();
        let board = |game: &GameSettings| game.size == record.size;
        let rules = |game: &GameSettings| board(game) && game.rules == record.rules;
        let komi = |game: &GameSettings| {
            rules(game) && (selfplay.komi_stdev > 0.0 || game.komi == record.komi)
        };
        if !games.iter().any(|game| board(game)) {
            return Err(Unsound::OtherGame("board"));
        }
        if !games.iter().any(|game| rules(game)) {
            return Err(Unsound::OtherGame("rule set"));
        }
        if !games.iter().any(|game| komi(game)) {
            return Err(Unsound::OtherGame("komi"));
        }
        let bare = record.setup_black.is_empty() && record.setup_white.is_empty();
        let bare = bare && record.first_to_play == Color::Black;
        let may_differ = selfplay.handicap_fraction > 0.0 || !selfplay.start_positions.is_empty();
        if !bare && !may_differ {
            return Err(Unsound::OtherGame("set-up position"));
        }
        Ok(())
    }

    /// The record's own check knows every way a game can end; self-play has fewer.
    fn check_end(&self, record: &GameRecord) -> Result<(), Unsound> {
        let selfplay = &self.plan.selfplay;
        let limit = selfplay.move_limit(record.size.area());
        let why = match record.end {
            EndReason::TwoPasses if record.turns.len() > limit => "after the move limit",
            EndReason::TwoPasses => return Ok(()),
            EndReason::MoveLimit if record.turns.len() < limit => "before the move limit",
            // The record's own check also lets a game pass that nobody won.
            EndReason::MoveLimit if !is_scored(record) => "without the score of the board",
            EndReason::MoveLimit => return Ok(()),
            EndReason::Resignation if !selfplay.resign => "which this run does not allow",
            EndReason::Resignation => return Ok(()),
            EndReason::Settled if !selfplay.end_when_settled => "which this run does not allow",
            EndReason::Settled => return Ok(()),
            EndReason::Time | EndReason::Forfeit | EndReason::Reported => "which no self-play does",
        };
        Err(Unsound::End { end: record.end.name(), why })
    }
}

/// Bytes as a game, if they are no bomb.
fn unpack(payload: &[u8], hash: &[u8; 32]) -> Result<GameRecord, Unsound> {
    let too_large = |bytes, limit| Unsound::TooLarge { bytes, limit };
    if payload.len() > MAX_GAME_BYTES {
        return Err(too_large(payload.len(), MAX_GAME_BYTES));
    }
    if blake3::hash(payload).as_bytes() != hash {
        return Err(Unsound::Hash);
    }
    if let Some(Ok(told)) = payload.get(UNPACKED_AT).map(<[u8; 4]>::try_from) {
        let told = u32::from_le_bytes(told);
        if told > MAX_UNPACKED_BYTES {
            return Err(too_large(told as usize, MAX_UNPACKED_BYTES as usize));
        }
    }
    decode(payload).map_err(|error| Unsound::Codec(error.to_string()))
}

/// Whether a game cut at its limit has the score of its last position.
pub(crate) fn is_scored(record: &GameRecord) -> bool {
    record.validate().is_ok_and(|last| last.score_now() == record.outcome)
}
