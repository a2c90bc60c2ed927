//! What a person sees while the work goes on: a live block on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use tengen_evaluator::Tally;
use tengen_trainer::StepReport;

/// Where the run stands, as far as this process knows.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    /// Games in the store.
    pub games: u64,
    /// Target positions in the store.
    pub positions: u64,
    /// Games finished by this process in each hour of its self-play.
    pub games_per_hour: f64,
    /// Target positions in the trainer's window.
    pub window: usize,
    /// The last training step's report.
    pub step: Option<StepReport>,
    /// Steps over the run.
    pub steps: u64,
    /// The match in progress: candidate and score so far.
    pub match_now: Option<(String, Tally)>,
    /// The share of points that promotes a candidate.
    pub threshold: f64,
    /// The best network.
    pub best: String,
    /// Promotions over the run.
    pub promotions: usize,
    /// The best network's rating, if one is known: Elo over the first network.
    pub rating: Option<f64>,
}

impl Standing {
    fn lines(&self) -> [String; 3] {
        let rating = self.rating.map_or_else(String::new, |elo| format!(" ({elo:+.0} Elo)"));
        let step = self.step.as_ref().map_or_else(
            || "no steps yet".to_string(),
            |s| {
                format!(
                    "policy loss {:.3}  value loss {:.3}  policy accuracy {:.0} %",
                    s.policy_loss,
                    s.value_loss,
                    100.0 * s.policy_accuracy
                )
            },
        );
        let gate = self.match_now.as_ref().map_or_else(
            || "none".to_string(),
            |(id, t)| {
                let score = if t.games() == 0 {
                    "-".to_string()
                } else {
                    format!("{:.0} %", 100.0 * t.score())
                };
                let needed = 100.0 * self.threshold;
                format!("{id} {}-{}-{}, {score} of {needed:.0} %", t.wins, t.losses, t.draws)
            },
        );
        [
            format!(
                "games {} ({:.0}/h)  positions {}  window {}",
                self.games, self.games_per_hour, self.positions, self.window
            ),
            format!("step {}  {step}", self.steps),
            format!("best {}{rating}  promotions {}  match {gate}", self.best, self.promotions),
        ]
    }
}

/// The display; writes to standard error alone.
pub struct Progress {
    bar: Option<ProgressBar>,
    last_line: Option<Instant>,
}

impl Progress {
    /// A live block if standard error is a terminal.
    pub fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner();
            bar.set_style(
                ProgressStyle::with_template("{spinner} {elapsed_precise}  {msg}")
                    .expect("the template is a constant"),
            );
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Self { bar, last_line: None }
    }

    /// Shows where the run stands: at once on a terminal, a line every ten seconds elsewhere.
    pub fn show(&mut self, standing: &Standing) {
        let lines = standing.lines();
        match &self.bar {
            Some(bar) => bar.set_message(lines.join("\n            ")),
            None => {
                let due = self.last_line.is_none_or(|at| at.elapsed() >= Duration::from_secs(10));
                if due {
                    eprintln!("{}", lines.join("  |  "));
                    self.last_line = Some(Instant::now());
                }
            }
        }
    }

    /// One event worth a line that stays.
    pub fn say(&mut self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(line),
            None => eprintln!("{line}"),
        }
    }

    /// Ends the live block.
    pub fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
