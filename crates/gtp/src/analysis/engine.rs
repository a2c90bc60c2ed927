//! The loop: lines in, batches of leaves from all jobs to the evaluator, answers out.

use std::io::{self, BufRead, Write};
use std::rc::Rc;

use serde_json::{Value, json};
use tengen_inference::{CachedEvaluator, Leaf, LeafEvaluator, evaluate_in_batches};
use tengen_rules::Symmetry;
use tengen_search::{PendingLeaf, SearchConfig};

use super::job::Job;
use super::query;
use super::report::report;
use crate::estimate::Judge;
use crate::info::Perspective;
use crate::live::Input;
use crate::params::Params;

/// How the analysis engine works, and what it says of itself.
#[derive(Clone, Debug)]
pub struct AnalysisOptions {
    /// The answer to `query_version`.
    pub version: String,
    /// The network's name, for `query_models`.
    pub model: String,
    /// For whom values are reported unless a query says otherwise. Default Black, as in KataGo's
    /// example.
    pub perspective: Perspective,
    /// Positions searched side by side, at least 1. Default 16.
    pub parallel: usize,
    /// Evaluations remembered, for all queries together. Default 100,000.
    pub cache: usize,
    /// Random games behind each move's score, and four times as many behind the position's; 0
    /// leaves scores and ownership out. Default 16.
    pub score_games: u32,
    /// Whether to stop at the end of the input instead of finishing what was asked.
    pub quit_without_waiting: bool,
    /// Seed of every draw.
    pub seed: u64,
}

impl Default for AnalysisOptions {
    fn default() -> Self {
        AnalysisOptions {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            model: "uniform".to_owned(),
            perspective: Perspective::Black,
            parallel: 16,
            cache: 100_000,
            score_games: 16,
            quit_without_waiting: false,
            seed: 0,
        }
    }
}

fn leaves(pending: &[(PendingLeaf, Symmetry)]) -> Vec<Leaf<'_>> {
    pending
        .iter()
        .map(|(leaf, symmetry)| Leaf { state: leaf.state(), symmetry: *symmetry })
        .collect()
}

/// An engine for KataGo's analysis protocol.
pub struct AnalysisEngine {
    pub(crate) options: AnalysisOptions,
    evaluator: CachedEvaluator<Box<dyn LeafEvaluator>>,
    defaults: Params,
    waiting: Vec<Job>,
    active: Vec<Job>,
    arrived: u64,
    answers: Vec<Value>,
}

impl AnalysisEngine {
    /// An engine that thinks with `evaluator`; queries may override `search`, whose visits are the
    /// default of `maxVisits`.
    pub fn new(
        evaluator: Box<dyn LeafEvaluator>,
        search: SearchConfig,
        options: AnalysisOptions,
    ) -> AnalysisEngine {
        let perspective = options.perspective;
        AnalysisEngine {
            evaluator: CachedEvaluator::new(evaluator, options.cache),
            options,
            defaults: Params { search, max_time: None, perspective },
            waiting: Vec::new(),
            active: Vec::new(),
            arrived: 0,
            answers: Vec::new(),
        }
    }

    /// Answers queries until the input ends and (unless told otherwise) all is answered.
    ///
    /// # Errors
    /// When reading or writing fails; a client that closes its end is a normal end.
    pub fn run(
        &mut self,
        reader: impl BufRead + Send + 'static,
        mut writer: impl Write,
    ) -> io::Result<()> {
        let mut input = Input::read(reader);
        let mut ended = false;
        loop {
            while !ended && (self.is_idle() || input.has_come()) {
                if !self.flush(&mut writer)? {
                    return Ok(());
                }
                match input.next()? {
                    Some(line) => self.take(&String::from_utf8_lossy(&line)),
                    None => ended = true,
                }
            }
            if ended && self.options.quit_without_waiting {
                self.terminate(None, None);
            }
            self.step();
            if !self.flush(&mut writer)? || (ended && self.is_idle()) {
                return Ok(());
            }
        }
    }

    /// Reads one line; its answers come with [`step`](Self::step)s.
    pub fn take(&mut self, line: &str) {
        let line = line.trim();
        if line.is_empty() {
            return;
        }
        let object = match serde_json::from_str(line) {
            Ok(Value::Object(object)) => object,
            Ok(_) => return self.send(json!({ "error": "Request must be a JSON object" })),
            Err(error) => {
                let text = format!("Could not parse input line as json request: {error}");
                return self.send(json!({ "error": text }));
            }
        };
        let Some(id) = object.get("id").and_then(Value::as_str) else {
            return self.send(json!({ "error": "Request must have a string id", "field": "id" }));
        };
        match object.get("action") {
            Some(Value::String(action)) => return self.act(id, action, &object),
            Some(_) => {
                let error = json!({ "error": "Must be a string", "field": "action", "id": id });
                return self.send(error);
            }
            None => {}
        }
        match query::parse(id, &object, &self.defaults, self.options.score_games > 0) {
            Err(error) => self.send(error.to_json(id)),
            Ok(parsed) => {
                for (field, warning) in parsed.warnings {
                    self.send(json!({ "warning": warning, "field": field, "id": id }));
                }
                let query = Rc::new(parsed.query);
                for turn in parsed.turns {
                    self.arrived += 1;
                    let job = Job::new(&query, turn, self.arrived, self.options.seed);
                    self.waiting.push(job);
                }
            }
        }
    }

    /// Whether everything asked is answered.
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.active.is_empty()
    }

    /// One batch: leaves of all active jobs to the evaluator and back, then what is to be reported.
    pub fn step(&mut self) {
        self.admit();
        let mut owners = Vec::new();
        let mut pending = Vec::new();
        for (index, job) in self.active.iter_mut().enumerate().filter(|(_, job)| !job.is_done()) {
            for leaf in job.select() {
                owners.push(index);
                pending.push(leaf);
            }
        }
        self.evaluate(&owners, pending);
        let mut index = 0;
        while index < self.active.len() {
            let AnalysisOptions { score_games: games, seed, .. } = self.options;
            let judge = Judge { evaluator: &mut self.evaluator, games, seed };
            let job = &mut self.active[index];
            if job.is_done() {
                let mut job = self.active.remove(index);
                let answer = match &job.failure {
                    Some(why) => {
                        json!({ "error": why, "id": job.query.id, "turnNumber": job.turn })
                    }
                    None => report(&mut job, false, Some(judge)),
                };
                self.send(answer);
            } else {
                if job.report_is_due() {
                    let answer = report(job, true, Some(judge));
                    self.send(answer);
                }
                index += 1;
            }
        }
    }

    /// The answers since the last call, one line each.
    pub fn take_answers(&mut self) -> Vec<String> {
        self.answers.drain(..).map(|answer| answer.to_string()).collect()
    }

    /// Lets the most urgent jobs begin, the earliest of equals.
    fn admit(&mut self) {
        while self.active.len() < self.options.parallel.max(1) {
            let urgency = |job: &Job| (job.priority, std::cmp::Reverse(job.number));
            let next = (0..self.waiting.len()).max_by_key(|&i| urgency(&self.waiting[i]));
            let Some(next) = next else { return };
            let mut job = self.waiting.remove(next);
            job.begin();
            self.active.push(job);
        }
    }

    /// Answers leaves in as few calls as possible. A call that fails is repeated job by job, so
    /// that only those fail whose leaves the evaluator can't answer.
    fn evaluate(&mut self, owners: &[usize], pending: Vec<(PendingLeaf, Symmetry)>) {
        if pending.is_empty() {
            return;
        }
        if let Ok(answers) = evaluate_in_batches(&mut self.evaluator, &leaves(&pending)) {
            for ((owner, (leaf, _)), answer) in owners.iter().zip(pending).zip(&answers) {
                self.active[*owner].answer(leaf, answer);
            }
            return;
        }
        let mut rest = owners.iter().copied().zip(pending).peekable();
        while let Some((owner, first)) = rest.next() {
            let mut own = vec![first];
            while let Some((_, leaf)) = rest.next_if(|(other, _)| *other == owner) {
                own.push(leaf);
            }
            let job = &mut self.active[owner];
            match evaluate_in_batches(&mut self.evaluator, &leaves(&own)) {
                Ok(answers) => {
                    let answered = own.into_iter().zip(&answers);
                    answered.for_each(|((leaf, _), answer)| job.answer(leaf, answer));
                }
                Err(error) => {
                    let why = error.to_string();
                    own.into_iter().for_each(|(leaf, _)| job.fail(leaf, &why));
                }
            }
        }
    }

    /// Ends jobs early: those of a query, of some turns, or all.
    pub(crate) fn terminate(&mut self, id: Option<&str>, turns: Option<&[i64]>) {
        let meant = |job: &Job| {
            id.is_none_or(|id| job.query.id == id)
                && turns.is_none_or(|turns| turns.contains(&(job.turn as i64)))
        };
        self.active.iter_mut().filter(|job| meant(job)).for_each(|job| job.terminated = true);
        let (ended, kept) = std::mem::take(&mut self.waiting).into_iter().partition(meant);
        self.waiting = kept;
        let ended: Vec<Job> = ended;
        for mut job in ended {
            let answer = report(&mut job, false, None);
            self.send(answer);
        }
    }

    pub(crate) fn send(&mut self, answer: Value) {
        self.answers.push(answer);
    }

    pub(crate) fn clear_cache(&mut self) {
        self.evaluator.clear();
    }

    pub(crate) fn max_batch(&self) -> usize {
        self.evaluator.max_batch().get()
    }

    /// Writes what is to be said; `false` when nobody listens any more.
    fn flush(&mut self, writer: &mut impl Write) -> io::Result<bool> {
        if self.answers.is_empty() {
            return Ok(true);
        }
        let lines: String = self.take_answers().into_iter().map(|line| line + "\n").collect();
        match writer.write_all(lines.as_bytes()).and_then(|()| writer.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
            written => written.map(|()| true),
        }
    }
}
