//! Matches played by the fleet: offered in blocks, settled slot by slot, decided on the prefix of
//! complete pairs.

use tengen_evaluator::{GateConfig, PlayedGame, Tally, Verdict, decide, tally_games};
use tengen_record::{EndReason, GameRecord};
use tengen_store::{Conclusion, MatchRow, Store, StoreError, WaitingMatchGame};

use crate::FleetError;
use crate::check::is_scored;

/// Games of matches settled in one transaction.
const BATCH: usize = 64;

/// Where an open match stands after a round.
#[derive(Clone, Debug, PartialEq)]
pub enum MatchEnd {
    /// The candidate is the best network now.
    Promoted,
    /// The candidate is kept and never plays.
    Rejected,
    /// The match says nothing: why.
    Void(String),
}

/// What a round came to.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchRound {
    /// The match.
    pub match_id: i64,
    /// The network on trial.
    pub candidate: String,
    /// Over the prefix of complete pairs.
    pub tally: Tally,
    /// Once it has its verdict.
    pub end: Option<MatchEnd>,
}

/// Offers the oldest open match to the fleet, takes in what was played of it, and concludes it as soon as
/// the gate's rule allows; `None` while no match is open. Verdict and promotion are one transaction, so
/// of two matchmakers one concludes and the other finds the match gone, which is `None` too; fence the
/// store with a lease all the same, so that only one works.
///
/// # Errors
/// The store's; then the match stands as before.
pub fn attend_match(store: &mut Store) -> Result<Option<MatchRound>, FleetError> {
    let Some(open) = store.open_matches()?.into_iter().next() else { return Ok(None) };
    match attend(store, open) {
        // Another matchmaker was quicker.
        Err(FleetError::Store(StoreError::AlreadyConcluded { .. })) => Ok(None),
        round => round.map(Some),
    }
}

fn attend(store: &mut Store, open: MatchRow) -> Result<MatchRound, FleetError> {
    store.offer_match(open.id)?;
    settle(store, &open)?;
    let gate: GateConfig = serde_json::from_str(&open.gate_config_json)
        .map_err(|error| FleetError::Host(format!("the gate's configuration: {error}")))?;
    let records = store.match_records(open.id)?;
    let played: Vec<PlayedGame> = records
        .iter()
        .map(|(pair, colour, record)| PlayedGame::of(*pair, *colour, record))
        .collect();
    let tally = tally_games(&played);
    let end = conclude(store, &open, &gate, &tally)?;
    Ok(MatchRound { match_id: open.id, candidate: open.candidate, tally, end })
}

/// Takes in the games that wait: those of `open`, and what came too late for the matches before it, which
/// the store drops. Games of a later match, which another matchmaker has offered meanwhile, wait for its turn:
/// they are not judged here.
fn settle(store: &mut Store, open: &MatchRow) -> Result<(), FleetError> {
    loop {
        let mut waiting = store.take_match_uploads(BATCH)?;
        waiting.retain(|game| game.match_id <= open.id);
        // Also without games: blocks that nobody could play are given up here.
        let digests = known_digests(store, &waiting)?;
        let settled = store.settle_match_uploads(&waiting, &mut |game, record| {
            if game.match_id != open.id {
                return Ok(());
            }
            judge(open, game, record, &digests)
        })?;
        if settled.total() < BATCH as u64 {
            return Ok(());
        }
    }
}

/// The config digests of waiting games that are the run's.
fn known_digests(store: &Store, waiting: &[WaitingMatchGame]) -> Result<Vec<String>, StoreError> {
    let mut known: Vec<String> = Vec::new();
    for game in waiting {
        let Ok(record) = tengen_record::decode(&game.game.payload) else { continue };
        let digest = record.config_digest;
        if !known.contains(&digest) && store.config(&digest)?.is_some() {
            known.push(digest);
        }
    }
    Ok(known)
}

/// What a game that replays must show besides to count in its slot.
fn judge(
    open: &MatchRow,
    waiting: &WaitingMatchGame,
    record: &GameRecord,
    digests: &[String],
) -> Result<(), String> {
    let (candidate, base) = (open.candidate.as_str(), open.base.as_str());
    let due = if waiting.game.colour == 0 { [candidate, base] } else { [base, candidate] };
    if record.players != due {
        return Err(format!("it was played by {:?}, not by {due:?}", record.players));
    }
    if !digests.contains(&record.config_digest) {
        return Err(format!("its configuration {:?} is none of this run's", record.config_digest));
    }
    match record.end {
        EndReason::TwoPasses => Ok(()),
        EndReason::MoveLimit if is_scored(record) => Ok(()),
        end => Err(format!("it ends by {}", end.name())),
    }
}

/// Ends the match if there is a verdict, or if it can have none any more.
fn conclude(
    store: &mut Store,
    open: &MatchRow,
    gate: &GateConfig,
    tally: &Tally,
) -> Result<Option<MatchEnd>, FleetError> {
    let best = store.best()?.map(|best| best.id);
    if best.as_deref() != Some(&open.base) {
        let best = best.as_deref().unwrap_or("none");
        return void(store, open, tally, format!("{best} is the best network now")).map(Some);
    }
    let verdict = decide(tally, gate);
    if verdict == Verdict::Undecided {
        let failed = store.blocks(open.id)?.into_iter().find(|block| block.state == "failed");
        let Some(failed) = failed else { return Ok(None) };
        let why =
            format!("no worker could play block {} in {} tries", failed.block, failed.attempts);
        return void(store, open, tally, why).map(Some);
    }
    let conclusion = Conclusion {
        verdict: verdict.to_string(),
        promote: verdict == Verdict::Promote,
        detail_json: serde_json::json!(tally).to_string(),
    };
    match store.conclude(open.id, &conclusion) {
        Ok(true) => Ok(Some(MatchEnd::Promoted)),
        Ok(false) => Ok(Some(MatchEnd::Rejected)),
        // Somebody moved the best pointer by hand meanwhile.
        Err(StoreError::BestMoved { found, .. }) => {
            void(store, open, tally, format!("{found} is the best network now")).map(Some)
        }
        Err(error) => Err(error.into()),
    }
}

fn void(
    store: &mut Store,
    open: &MatchRow,
    tally: &Tally,
    why: String,
) -> Result<MatchEnd, FleetError> {
    let detail_json = serde_json::json!({ "why": why, "tally": tally }).to_string();
    let conclusion = Conclusion { verdict: "void".into(), promote: false, detail_json };
    store.conclude(open.id, &conclusion)?;
    tracing::warn!("match {} is void: {why}", open.id);
    Ok(MatchEnd::Void(why))
}
