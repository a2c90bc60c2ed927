//! Lets what workers hand in become part of the run, once it is checked.

use std::collections::HashMap;

use serde::Serialize;
use tengen_record::GameRecord;
use tengen_store::{GameId, Objection, RunState, Settled, Store};

use crate::check::Checker;
use crate::{FleetError, Plan, Recheck};

/// Games looked at in one transaction.
const BATCH: usize = 256;

/// Reads a run's configuration text, as [`Host::plan`](crate::Host::plan).
pub type PlanOf<'a> = dyn Fn(&RunState) -> Result<Plan, String> + 'a;

/// Mean distance of values above which a game is told of as doubtful. Honest games of a network that
/// has learnt something stay under half of it (`tests/recheck.rs`).
const DOUBTFUL_VALUE: f64 = 0.3;
/// The same for the divergence of policies, in nats.
const DOUBTFUL_POLICY: f64 = 1.0;

/// Makes a game's searches again with the network of that name, where it can.
pub type Look<'a> = dyn FnMut(&str, &Plan, &GameRecord) -> Option<Recheck> + 'a;

/// A closer look at a share of the games that pass.
pub struct Looking<'a> {
    /// From 0 to 1.
    pub share: f64,
    /// What workers cannot know, so that none can tell which games will be looked at.
    pub salt: u64,
    /// Takes the look.
    pub look: &'a mut Look<'a>,
}

impl Looking<'_> {
    fn is_chosen(&self, id: GameId) -> bool {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.salt.to_le_bytes());
        hasher.update(&id.0);
        let digest = hasher.finalize();
        let mut draw = [0; 4];
        draw.copy_from_slice(&digest.as_bytes()[..4]);
        f64::from(u32::from_le_bytes(draw)) < self.share * f64::from(u32::MAX)
    }
}

/// Settles the inbox of a run.
#[derive(Debug, Default)]
pub struct Janitor {
    /// The networks that the checkers below let pass.
    bests: Vec<String>,
    /// By config digest; `None`: a configuration that this program cannot read.
    checkers: HashMap<String, Option<Checker>>,
}

/// What a round of the janitor came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Swept {
    /// Games that are part of the run now.
    pub accepted: u64,
    /// Games that were part of it before.
    pub already_there: u64,
    /// Games put aside as unsound, with the reason.
    pub quarantined: u64,
    /// Games whose searches were made again.
    pub looked_at: u64,
    /// Of these, those that came out very differently.
    pub doubtful: u64,
}

impl Swept {
    /// Games looked at.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.accepted + self.already_there + self.quarantined
    }

    fn add(&mut self, settled: Settled) {
        self.accepted += settled.accepted;
        self.already_there += settled.already_there;
        self.quarantined += settled.quarantined;
    }
}

impl std::ops::AddAssign for Swept {
    /// One round after another.
    fn add_assign(&mut self, other: Self) {
        self.accepted += other.accepted;
        self.already_there += other.already_there;
        self.quarantined += other.quarantined;
        self.looked_at += other.looked_at;
        self.doubtful += other.doubtful;
    }
}

impl Janitor {
    /// Settles up to 256 games, the oldest first. A game is held to the configuration that it was
    /// played under, which the store knows to be one of the run's, and to the three newest best
    /// networks. Several janitors at once do no harm. Games that `looking` finds doubtful count all
    /// the same, as honest games differ too: an event `game-doubtful` tells of each.
    ///
    /// # Errors
    /// The store's; then nothing has moved.
    pub fn sweep(
        &mut self,
        store: &mut Store,
        plan_of: &PlanOf<'_>,
        mut looking: Option<&mut Looking<'_>>,
    ) -> Result<Swept, FleetError> {
        let uploads = store.take_uploads(0, BATCH)?;
        let mut swept = Swept::default();
        if uploads.is_empty() {
            return Ok(swept);
        }
        let bests: Vec<String> = store.promotions()?.into_iter().map(|row| row.network).collect();
        if bests != self.bests {
            self.checkers.clear();
            self.bests = bests;
        }
        let run = store.run()?.ok_or(tengen_store::StoreError::NoRun)?;
        let mut texts = HashMap::new();
        for waiting in &uploads {
            // The digest is in the game; the text to it is read before the store is busy.
            let digest = digest_of(&waiting.upload.payload);
            if !self.checkers.contains_key(&digest) && !texts.contains_key(&digest) {
                texts.insert(digest.clone(), store.config(&digest)?);
            }
        }
        for (digest, text) in texts {
            let checker = text.and_then(|config_text| {
                let state = RunState {
                    run_uid: run.uid.clone(),
                    config_text,
                    config_digest: digest.clone(),
                    seed: run.seed,
                    best: run.best.clone(),
                    mode: tengen_store::RunMode::Running,
                    ahead: false,
                };
                let plan = plan_of(&state);
                let plan = plan
                    .inspect_err(|why| tracing::warn!(%digest, "no game can be checked: {why}"));
                Some(Checker::new(&state, &plan.ok()?, &self.bests))
            });
            self.checkers.insert(digest, checker);
        }
        let checkers = &self.checkers;
        let mut doubtful = Vec::new();
        let settled = store.settle_uploads(&uploads, &mut |upload, record| {
            let Some(Some(checker)) = checkers.get(&record.config_digest) else {
                let unread = "nobody here can read the configuration that it was played under";
                return Err(Objection::no_fault(unread.to_owned()));
            };
            checker.judge(upload, record).map_err(|unsound| Objection {
                reason: unsound.to_string(),
                is_fault: unsound.is_fault(),
            })?;
            if let Some(looking) = looking.as_deref_mut().filter(|l| l.is_chosen(upload.id))
                && let Some(seen) = (looking.look)(&upload.network, checker.plan(), record)
            {
                swept.looked_at += 1;
                if seen.value_gap > DOUBTFUL_VALUE || seen.policy_gap > DOUBTFUL_POLICY {
                    doubtful.push((upload.id, upload.worker.clone(), seen));
                }
            }
            Ok(())
        })?;
        swept.doubtful = doubtful.len() as u64;
        for (id, worker, seen) in doubtful {
            let game = id.to_string();
            let detail = serde_json::json!({ "game": game, "worker": worker, "seen": seen });
            store.add_event("game-doubtful", &detail.to_string())?;
        }
        swept.add(settled);
        Ok(swept)
    }
}

/// The digest in a game blob, empty where it is none: the store will say so.
fn digest_of(payload: &[u8]) -> String {
    tengen_record::decode(payload).map(|record| record.config_digest).unwrap_or_default()
}
