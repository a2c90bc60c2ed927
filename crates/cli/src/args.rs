//! The command line: what can be asked for, and nothing of how it is done.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Go self-play training, the AlphaGo Zero way: generate, train, gate, promote.
#[derive(Debug, Parser)]
#[command(name = "tengen", version, about)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// The main job: generate, train, gate and promote, going on where the run stands.
    Loop(LoopArgs),
    /// Self-play alone, beside a trainer and a gate on the same run.
    Selfplay(SelfPlayArgs),
    /// Training alone.
    Train(LoopArgs),
    /// Gate matches alone.
    Gate(LoopArgs),
    /// Where a run stands.
    Status(RunArgs),
    /// The closing report of a run: table of nets, the empty board, `report.svg`.
    Report(RunArgs),
    /// Make a net of the run its best one, by hand.
    Promote(PromoteArgs),
    /// Go back to the best net before the present one, by hand.
    Rollback(RollbackArgs),
    /// A match between two players.
    Match(MatchArgs),
    /// A GTP engine on standard input and output.
    Gtp(GtpArgs),
    /// Counts move sequences by length: the rules, checked against published tables.
    Perft(PerftArgs),
    /// Care for the game store.
    #[command(subcommand)]
    Store(StoreCommand),
    /// Facts about a network.
    #[command(subcommand)]
    Net(NetCommand),
    /// Look at a config file without running it.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Games of a run as SGF.
    #[command(subcommand)]
    Sgf(SgfCommand),
    /// Speed, with a deterministic signature.
    #[command(subcommand)]
    Bench(BenchCommand),
    /// What of this machine can be used, and what to do about the rest.
    Doctor(DoctorArgs),
}

/// Arguments of the loop and its three parts.
#[derive(Debug, Args)]
pub struct LoopArgs {
    /// The config file.
    #[arg(long)]
    pub config: PathBuf,
    /// Another folder for the run than the config names.
    #[arg(long)]
    pub run: Option<PathBuf>,
    /// Another seed than the config names (new runs only).
    #[arg(long)]
    pub seed: Option<u64>,
    /// Stop once the run holds this many games.
    #[arg(long)]
    pub until_games: Option<u64>,
    /// Stop once the trainer has made this many steps.
    #[arg(long)]
    pub until_steps: Option<u64>,
    /// Stop this invocation after so many minutes; 0 = never.
    #[arg(long)]
    pub until_minutes: Option<f64>,
    /// Take a changed config for an existing run; the change is recorded.
    #[arg(long)]
    pub accept_config_change: bool,
}

/// `tengen selfplay`.
#[derive(Debug, Args)]
pub struct SelfPlayArgs {
    /// What the loop takes too.
    #[command(flatten)]
    pub job: LoopArgs,
    /// Name of this worker: each process on a run has its own, and goes on where its games end.
    #[arg(long, default_value = "worker-1")]
    pub worker: String,
}

/// A run and the form of the answer.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// The run's folder.
    #[arg(long)]
    pub run: PathBuf,
    /// Facts as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

/// `tengen promote`.
#[derive(Debug, Args)]
pub struct PromoteArgs {
    /// The run's folder.
    #[arg(long)]
    pub run: PathBuf,
    /// The net's id, or the start of it.
    #[arg(long)]
    pub net: String,
    /// Why; stored with the promotion.
    #[arg(long)]
    pub why: String,
}

/// `tengen rollback`.
#[derive(Debug, Args)]
pub struct RollbackArgs {
    /// The run's folder.
    #[arg(long)]
    pub run: PathBuf,
    /// Why; stored with the move.
    #[arg(long)]
    pub why: String,
}

/// `tengen match`.
#[derive(Debug, Args)]
pub struct MatchArgs {
    /// First player: a network file, a run's folder (its best net), RUN:ID, RUN:first or `uniform`.
    pub a: String,
    /// Second player.
    pub b: String,
    /// Games; each opening is played twice with colours exchanged, so an odd number is raised by one.
    #[arg(long, default_value_t = 100)]
    pub games: u32,
    /// Simulations a move, for both.
    #[arg(long, default_value_t = 64)]
    pub visits: u32,
    /// Board side; default: that of the run named, else 9.
    #[arg(long)]
    pub size: Option<usize>,
    /// Komi; default: that of the run named, else 7.5.
    #[arg(long)]
    pub komi: Option<f64>,
    /// Moves of each opening drawn from the policy.
    #[arg(long)]
    pub opening_moves: Option<u32>,
    /// Seed of the openings.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Worker threads; 0 = one a core.
    #[arg(long, default_value_t = 0)]
    pub threads: usize,
    /// Folder for the games as SGF.
    #[arg(long)]
    pub sgf: Option<PathBuf>,
    /// Result as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

/// `tengen gtp`.
#[derive(Debug, Args)]
pub struct GtpArgs {
    /// A network file, a run's folder (its best net), RUN:ID, RUN:first or `uniform`.
    #[arg(long, default_value = "uniform")]
    pub net: String,
    /// Simulations a move.
    #[arg(long, default_value_t = 200)]
    pub visits: u32,
    /// Board side at the start; default: that of the run named, else 19.
    #[arg(long)]
    pub size: Option<usize>,
    /// Komi at the start; default: that of the run named, else 7.5.
    #[arg(long)]
    pub komi: Option<f64>,
    /// Rules at the start.
    #[arg(long, default_value = "tromp-taylor")]
    pub rules: String,
}

/// `tengen perft`.
#[derive(Debug, Args)]
pub struct PerftArgs {
    /// Board side.
    #[arg(long)]
    pub size: usize,
    /// Rules by name or by parts.
    #[arg(long, default_value = "tromp-taylor")]
    pub rules: String,
    /// Longest sequence.
    #[arg(long)]
    pub depth: usize,
    /// Facts as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

/// `tengen store`.
#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    /// Check every game, number and promotion of the store.
    Fsck(RunArgs),
    /// Counts.
    Stats(RunArgs),
    /// A consistent copy of the store while it is in use.
    Backup {
        /// The run's folder.
        #[arg(long)]
        run: PathBuf,
        /// The copy; must not exist.
        to: PathBuf,
    },
}

/// `tengen net`.
#[derive(Debug, Subcommand)]
pub enum NetCommand {
    /// Parameters, FLOPs and receptive field of a config's net, before anything runs.
    Describe {
        /// The config file.
        #[arg(long)]
        config: PathBuf,
        /// Facts as JSON on standard output.
        #[arg(long)]
        json: bool,
    },
    /// Check a network file against its name and its contents.
    Verify {
        /// The network file.
        file: PathBuf,
    },
}

/// `tengen config`.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// List every problem of a config file.
    Check {
        /// The config file.
        file: PathBuf,
    },
    /// The effective config: the file over the defaults.
    Show {
        /// The config file.
        file: PathBuf,
    },
}

/// `tengen sgf`.
#[derive(Debug, Subcommand)]
pub enum SgfCommand {
    /// Writes the newest games of a run as SGF files.
    Export {
        /// The run's folder.
        #[arg(long)]
        run: PathBuf,
        /// How many.
        #[arg(long, default_value_t = 10)]
        games: u64,
        /// Folder to write to.
        #[arg(long)]
        to: PathBuf,
    },
}

/// `tengen bench`.
#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Evaluations per second of a net on the native path, beside the machine's own peak.
    Inference(InferenceBenchArgs),
    /// Simulations per second with an evaluator that costs nothing.
    Search {
        /// Board side.
        #[arg(long, default_value_t = 9)]
        size: usize,
        /// Simulations a move.
        #[arg(long, default_value_t = 400)]
        visits: u32,
        /// Moves to search.
        #[arg(long, default_value_t = 64)]
        moves: usize,
        /// Facts as JSON on standard output.
        #[arg(long)]
        json: bool,
    },
}

/// `tengen bench inference`.
#[derive(Clone, Debug, Args)]
pub struct InferenceBenchArgs {
    /// The config file; without one, the defaults.
    #[arg(long)]
    pub config: Option<PathBuf>,
    /// Another board side than the config's.
    #[arg(long)]
    pub size: Option<usize>,
    /// Another number of blocks than the config's.
    #[arg(long)]
    pub blocks: Option<usize>,
    /// Another number of channels than the config's.
    #[arg(long)]
    pub channels: Option<usize>,
    /// Positions a batch.
    #[arg(long, default_value_t = 32)]
    pub batch: usize,
    /// Threads, each with an evaluator and batches of its own.
    #[arg(long, default_value_t = 1)]
    pub threads: usize,
    /// Seconds to measure.
    #[arg(long, default_value_t = 3.0)]
    pub seconds: f64,
    /// Measure burn's forward pass on the same positions too.
    #[arg(long)]
    pub compare_burn: bool,
    /// Facts as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

/// `tengen doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// The folder that runs will lie in; it need not exist.
    #[arg(long, default_value = "data/runs")]
    pub dir: PathBuf,
    /// Facts as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}
