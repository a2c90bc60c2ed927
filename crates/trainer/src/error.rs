//! Why the trainer refused.

use std::path::PathBuf;

use tengen_features::FeatureError;
use tengen_network::NetworkError;

/// What can keep a step, a game or a checkpoint from being taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrainError {
    /// The section is not one that can be trained with.
    #[error("the trainer config is refused: {}", .0.join("; "))]
    Config(Vec<String>),
    /// Games must arrive in the order of their sequence numbers, without gaps.
    #[error(
        "game {found} was offered, game {expected} is next: games enter in order, without gaps"
    )]
    OutOfOrder {
        /// The sequence number that was due.
        expected: u64,
        /// The one that came.
        found: u64,
    },
    /// The games handed back after a resume do not fill the window.
    #[error(
        "the reloaded games hold {found} target positions, the window needs {needed}: start the reload earlier"
    )]
    ReloadTooShort {
        /// Target positions reloaded.
        found: usize,
        /// Target positions that the window had.
        needed: usize,
    },
    /// A held-out game could not be judged.
    #[error("held-out game {seq}: {why}")]
    HeldOut {
        /// The game's sequence number.
        seq: u64,
        /// What the evaluator said.
        why: String,
    },
    /// The games were trained on as often as allowed.
    #[error(
        "{samples} samples of {positions} positions: `trainer.reuse_cap` = {cap} samples a position is \
         reached; play more games, lower `trainer.samples_per_position`, or raise the cap"
    )]
    ReuseCap {
        /// Samples trained on.
        samples: u64,
        /// Positions seen.
        positions: u64,
        /// The cap.
        cap: f64,
    },
    /// There is nothing to train on.
    #[error("the window is empty: no target position has been ingested")]
    EmptyWindow,
    /// A position of the window cannot be encoded.
    #[error("target {target} of game {seq}: {source}")]
    Sample {
        /// The game's sequence number.
        seq: u64,
        /// Index among the game's targets.
        target: usize,
        /// Why.
        source: FeatureError,
    },
    /// A row of a batch contradicts itself.
    #[error("target {target} of game {seq}: {what}; {remedy}")]
    BadSample {
        /// The game's sequence number.
        seq: u64,
        /// Index among the game's targets.
        target: usize,
        /// What is wrong.
        what: String,
        /// What to do about it.
        remedy: &'static str,
    },
    /// A step met a number that is not finite. The step is undone, the weights are good again and
    /// the step size is halved: the caller may go on.
    #[error(
        "step {step} is refused: {what} is not finite; {restored}, step size halved to {learning_rate}; its batch is kept in {}", .batch.display()
    )]
    NonFinite {
        /// The step that was tried, from 0.
        step: u64,
        /// Which number: the loss, or a tensor's gradient or update.
        what: String,
        /// Which weights stand now.
        restored: String,
        /// The step size of the next try.
        learning_rate: f64,
        /// Where the batch lies, as safetensors.
        batch: PathBuf,
    },
    /// Step after step was refused: halving the step size does not help.
    #[error(
        "{refused} steps in a row were refused, the last because {what} is not finite: the data or the config needs a look; the last batch is kept in {}", .batch.display()
    )]
    Diverged {
        /// Refused steps in a row.
        refused: u32,
        /// What was not finite in the last.
        what: String,
        /// Where the last batch lies, as safetensors.
        batch: PathBuf,
    },
    /// Checkpoints exist and none can be used.
    #[error("none of the checkpoints in {} can be used: {}", .folder.display(), .problems.join("; "))]
    NoUsableCheckpoint {
        /// Where they lie.
        folder: PathBuf,
        /// What is wrong with each, newest first.
        problems: Vec<String>,
    },
    /// One checkpoint is damaged.
    #[error("checkpoint {} is damaged: {why}", .path.display())]
    Checkpoint {
        /// Its folder.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A checkpoint was made by another network or another run.
    #[error("checkpoint {} belongs to another run: {why}", .path.display())]
    Foreign {
        /// Its folder.
        path: PathBuf,
        /// What differs.
        why: String,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The network refused.
    #[error(transparent)]
    Network(#[from] NetworkError),
}

impl TrainError {
    /// Names the path that an I/O error was about.
    pub(crate) fn io(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}
