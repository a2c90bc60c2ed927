//! The main job: generate → train → gate → promote, and its three parts alone.
//!
//! On one machine the parts take turns with the cores. Whose turn it is follows from the store and
//! the checkpoint alone: an open match first, then a due candidate, then training while the
//! samples-per-position quota allows it, else self-play. So a run can be cut anywhere and goes on
//! the same way.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::json;
use tengen_evaluator::{REJECTIONS_WORTH_A_WORD, advice};
use tengen_store::{Engine, RunRow, Store};

use crate::args::LoopArgs;
use crate::config::Config;
use crate::metrics::Metrics;
use crate::parts::{
    gate,
    generate::Generator,
    tenure::{self, Tenure},
    train::{Stored, Training},
};
use crate::players::{Player, short};
use crate::progress::{Progress, Standing};
use crate::run_dir::RunDir;
use crate::status::{promotions, rejections_in_a_row};
use crate::stop::Stop;

/// The parts of the job that one process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Plays games.
    pub generate: bool,
    /// Trains.
    pub train: bool,
    /// Judges candidates.
    pub gate: bool,
}

impl Parts {
    /// `tengen loop`.
    pub const ALL: Self = Self { generate: true, train: true, gate: true };
}

/// How long a part that has nothing to do waits before it looks again.
const IDLE: Duration = Duration::from_millis(500);

/// Name of the worker inside `tengen loop`.
pub const LOOP_WORKER: &str = "loop";

/// Refuses a worker's name that cannot stand in a file name.
pub fn check_worker(name: &str) -> Result<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.len() > 64 || !name.chars().all(plain) || name == LOOP_WORKER {
        bail!(
            "--worker {name:?}: give 1 to 64 letters, digits, `-`, `_` or `.`; \
             `{LOOP_WORKER}` is the loop's own worker"
        );
    }
    Ok(())
}

/// Runs the parts until a limit or a stop; the closing report is the caller's business.
pub fn run(
    config: &Config,
    dir: &RunDir,
    args: &LoopArgs,
    parts: Parts,
    worker: &str,
    stop: &Stop,
) -> Result<()> {
    dir.create()?;
    let mut locks = Vec::new();
    if parts.generate {
        let role = if worker == LOOP_WORKER {
            LOOP_WORKER.to_string()
        } else {
            format!("selfplay-{worker}")
        };
        locks.push(dir.lock(&role)?);
    }
    if parts.train {
        locks.push(dir.lock("train")?);
    }
    if parts.gate {
        locks.push(dir.lock("gate")?);
    }
    let (mut store, run) = dir.start(config, args.accept_config_change)?;
    let tenure = match parts.train {
        true => Tenure::take(dir, &mut store, stop)?,
        false => None,
    };
    // Whoever was told to stop while another trainer is at work has nothing to end.
    if parts.train && tenure.is_none() && store.engine() == Engine::Postgres {
        return Ok(());
    }
    store
        .set_ahead_limit((config.run.max_games_ahead > 0).then_some(config.run.max_games_ahead))?;
    Player::best_of_run(dir, &mut store, &config.device)?;
    let mut pipeline = Pipeline {
        config,
        dir,
        stop,
        generator: parts
            .generate
            .then(|| Generator::new(dir, config, &store, &run, worker))
            .transpose()?,
        training: parts
            .train
            .then(|| Training::open(dir, config, &mut store, run.seed))
            .transpose()?,
        tenure,
        judges: parts.gate,
        metrics: Metrics::open(dir.path())?,
        until_games: args.until_games.unwrap_or(u64::MAX),
        until_steps: args.until_steps.unwrap_or(u64::MAX),
        standing: Standing { threshold: config.gate.threshold, ..Standing::default() },
        progress: Progress::new(),
        selfplay_time: Duration::ZERO,
        selfplay_games: 0,
        store,
        run,
    };
    pipeline.refresh()?;
    let outcome = pipeline.turns();
    // Another trainer's checkpoints may lie in this very folder.
    let lost = outcome.as_ref().is_err_and(tenure::is_lost);
    let saved = match pipeline.training.as_mut() {
        Some(training) if !lost => training.save(),
        _ => Ok(()),
    };
    pipeline.progress.finish();
    outcome.and(saved)
}

struct Pipeline<'a> {
    config: &'a Config,
    dir: &'a RunDir,
    stop: &'a Stop,
    store: Store,
    run: RunRow,
    generator: Option<Generator>,
    training: Option<Training>,
    /// On a server: the proof that no other process trains.
    tenure: Option<Tenure>,
    judges: bool,
    metrics: Metrics,
    until_games: u64,
    until_steps: u64,
    standing: Standing,
    progress: Progress,
    selfplay_time: Duration,
    selfplay_games: u64,
}

impl Pipeline<'_> {
    fn turns(&mut self) -> Result<()> {
        while !self.stop.now() {
            self.progress.show(&self.standing);
            if let Some(tenure) = &self.tenure {
                tenure.check()?;
            }
            if self.judge()? || self.train()? {
                continue;
            }
            if self.limits_reached()? {
                break;
            }
            if !self.generate()? {
                std::thread::sleep(IDLE);
                self.refresh()?;
            }
        }
        Ok(())
    }

    fn limits_reached(&self) -> Result<bool> {
        let games_done = self.store.counts()?.games >= self.until_games;
        let steps_done = self.training.as_ref().is_some_and(|t| t.step() >= self.until_steps);
        Ok(games_done || steps_done)
    }

    /// Plays an open match to its verdict; false if there is none.
    fn judge(&mut self) -> Result<bool> {
        if !self.judges {
            return Ok(false);
        }
        let Some(open) = self.store.open_matches()?.into_iter().next() else {
            return Ok(false);
        };
        let name = short(&open.candidate);
        let (standing, progress) = (&mut self.standing, &mut self.progress);
        let result = gate::judge(
            self.dir,
            self.config,
            &mut self.store,
            &open,
            self.run.seed,
            self.stop,
            &mut |tally| {
                standing.match_now = Some((name.clone(), *tally));
                progress.show(standing);
            },
        )?;
        self.standing.match_now = None;
        let Some(end) = result.end else {
            self.refresh()?;
            return Ok(true);
        };
        let t = &result.tally;
        self.progress.say(&format!(
            "gate: {name} scored {}-{}-{} against {}: {end}",
            t.wins,
            t.losses,
            t.draws,
            short(&open.base),
        ));
        crate::ratings::update(&mut self.store)?;
        self.mind_rejections()?;
        self.refresh()?;
        let facts = json!({
            "candidate": open.candidate, "base": open.base, "end": end.to_string(),
            "wins": t.wins, "losses": t.losses, "draws": t.draws, "score": t.score(),
            "promotions": self.standing.promotions, "best_elo": self.standing.rating,
        });
        let step =
            self.store.networks()?.iter().find(|n| n.id == open.candidate).map_or(0, |n| n.step);
        self.metrics.add("gate", step, &facts)?;
        Ok(true)
    }

    /// After every tenth rejection in a row: what that points at, on the screen and in the diary.
    fn mind_rejections(&mut self) -> Result<()> {
        let matches = self.store.matches()?;
        let rejected = rejections_in_a_row(&matches);
        if rejected.is_empty() || !rejected.len().is_multiple_of(REJECTIONS_WORTH_A_WORD) {
            return Ok(());
        }
        let lines = advice(&rejected, &self.config.gate);
        self.progress.say(&format!("{} candidates in a row were rejected:", rejected.len()));
        for line in &lines {
            self.progress.say(&format!("  {line}"));
        }
        let detail = json!({ "in_a_row": rejected.len(), "look_at": lines });
        self.store.add_event("rejections", &detail.to_string())?;
        Ok(())
    }

    /// One turn of training, or a due candidate; false if the quota allows no step.
    fn train(&mut self) -> Result<bool> {
        let Some(training) = self.training.as_mut() else { return Ok(false) };
        if training.candidate_is_due(self.config, &self.store)? {
            training.add_candidate(self.dir, self.config, &mut self.store)?;
            return Ok(true);
        }
        let due = training
            .is_due(self.config, Stored::of(&self.store, self.store.counts()?.positions)?)
            && training.step() < self.until_steps;
        if due {
            training.steps(
                self.config,
                &mut self.store,
                &mut self.metrics,
                self.stop,
                self.until_steps,
            )?;
        }
        training.report_progress(self.config, &mut self.store)?;
        if due {
            self.refresh()?;
        }
        Ok(due)
    }

    /// One turn of self-play; false if this process plays no games.
    fn generate(&mut self) -> Result<bool> {
        let Some(generator) = self.generator.as_mut() else { return Ok(false) };
        // A separate trainer may lag: generation waits instead of running away from it.
        if self.training.is_none() && self.store.is_too_far_ahead()? {
            return Ok(false);
        }
        let missing = self.until_games.saturating_sub(self.store.counts()?.games);
        let games = (self.config.run.games_per_cycle as u64).min(missing) as usize;
        let began = Instant::now();
        let stats = generator.play(self.dir, &mut self.store, &self.run, games, self.stop)?;
        self.selfplay_time += began.elapsed();
        self.selfplay_games += stats.games;
        self.refresh()?;
        let mut facts = self.generator.as_ref().map_or_else(|| json!({}), |g| g.facts(&stats));
        facts["games"] = json!(self.standing.games);
        facts["positions"] = json!(self.standing.positions);
        facts["games_per_hour"] = json!(self.standing.games_per_hour);
        self.metrics.add("selfplay", self.standing.games, &facts)?;
        Ok(true)
    }

    fn refresh(&mut self) -> Result<()> {
        let counts = self.store.counts()?;
        let best = self.store.best()?.context("the run has no best network")?;
        self.standing.games = counts.games;
        self.standing.positions = counts.positions;
        let hours = self.selfplay_time.as_secs_f64() / 3600.0;
        self.standing.games_per_hour =
            if hours > 0.0 { self.selfplay_games as f64 / hours } else { 0.0 };
        if let Some(training) = &self.training {
            self.standing.window = training.window();
            self.standing.steps = training.step();
            self.standing.step.clone_from(&training.last);
        }
        self.standing.rating = best.elo.map(|e| e.elo);
        self.standing.best = short(&best.id);
        self.standing.promotions = promotions(&self.store.networks()?);
        Ok(())
    }
}
