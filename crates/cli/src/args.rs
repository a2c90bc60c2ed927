//! The command line: what can be asked for, and nothing of how it is done.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use tengen_network::{DeviceKind, Precision};

use crate::bench_subject::SubjectArgs;
use crate::devices::{DeviceArgs, precision};
use crate::engines::{AnalysisArgs, GtpArgs};

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
    /// Gate matches alone (`--config FILE`), and the gate's arithmetic.
    Gate(GateArgs),
    /// Takes in what a fleet's workers hand in, hands networks out, and decides matches.
    Janitor(crate::fleet::janitor::JanitorArgs),
    /// Lets workers outside the trust boundary hand games in: HTTPS with tokens.
    Serve(crate::fleet::serve::ServeArgs),
    /// A fleet's roles, workers and mode.
    #[command(subcommand)]
    Fleet(crate::fleet::operations::FleetCommand),
    /// Where a run stands.
    Status(RunArgs),
    /// A game of a running run, drawn in the terminal.
    Watch(crate::watch::WatchArgs),
    /// The closing report of a run: table of nets, the empty board, `report.svg`.
    Report(RunArgs),
    /// Make a net of the run its best one, by hand.
    Promote(PromoteArgs),
    /// Go back to the best net before the present one, by hand.
    Rollback(RollbackArgs),
    /// The same budget with one switch off at a time, and what each is worth.
    Ablate(crate::ablate::AblateArgs),
    /// A match between two players.
    Match(MatchArgs),
    /// Ratings of all nets of a run on one scale, and games where they tell most.
    Ladder(LadderArgs),
    /// Strength against visits, or against handicap stones, measured in matches.
    #[command(subcommand)]
    Scaling(crate::scaling::ScalingCommand),
    /// Nets against positions whose answers are known.
    Suite(SuiteCommand),
    /// A GTP engine on standard input and output.
    Gtp(GtpArgs),
    /// KataGo's JSON analysis protocol on standard input and output.
    Analysis(AnalysisArgs),
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
    /// Game files: read, checked, counted, written and stored.
    #[command(subcommand)]
    Sgf(crate::sgf::SgfCommand),
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
    // Not flattened: an optional group of arguments that holds another group reads as absent.
    /// Where the network is computed: cpu, libtorch:cpu, cuda:0, …; several with commas are shared by
    /// the workers. Default: the config's.
    #[arg(long, value_delimiter = ',')]
    pub device: Vec<DeviceKind>,
    /// Numbers of the network's tower in evaluation: f32, bf16 or fp16. Default: the config's.
    #[arg(long, value_parser = precision)]
    pub precision: Option<Precision>,
}

impl LoopArgs {
    /// The devices asked for.
    pub fn devices(&self) -> DeviceArgs {
        DeviceArgs { device: self.device.clone(), precision: self.precision }
    }
}

/// `tengen selfplay`: beside the run's folder with `--config`, or from anywhere with `--store`.
#[derive(Debug, Args)]
pub struct SelfPlayArgs {
    /// The config file, for a worker beside the run's folder.
    #[arg(long, required_unless_present = "store", conflicts_with = "store")]
    pub config: Option<PathBuf>,
    /// The run to work for as a worker of a fleet (docs/fleet.md): `postgres://…`, `https://…` of a
    /// `tengen serve`, or the run's folder.
    #[arg(long)]
    pub store: Option<String>,
    /// With --store https://…: where the token is, `env:NAME` or a file. Default: env:TENGEN_TOKEN.
    #[arg(long, requires = "store")]
    pub token: Option<String>,
    /// With --store: folder for finished games until the run has them; each process has its own.
    /// Default: data/spool/NAME.
    #[arg(long, requires = "store")]
    pub spool: Option<PathBuf>,
    /// With --store: begins the worker's name. Default: the machine's name.
    #[arg(long, requires = "store")]
    pub name: Option<String>,
    /// With --store: gigabytes of unsent games above which play pauses.
    #[arg(long, requires = "store", default_value_t = 2.0)]
    pub spool_gb: f64,
    /// With --store: threads that play. Default: as the run's config says.
    #[arg(long, requires = "store")]
    pub workers: Option<usize>,
    /// With --store: where to look for networks before the run is asked, as the janitor hands them out:
    /// `folder:PATH`, `s3://BUCKET/PREFIX` (with the feature `s3`), or `env:NAME`.
    #[arg(long, requires = "store")]
    pub blobs: Option<String>,
    /// With --store: play no blocks of matches.
    #[arg(long, requires = "store")]
    pub no_matches: bool,
    /// With --store: facts as JSON on standard output at the end.
    #[arg(long, requires = "store")]
    pub json: bool,
    /// Name of this worker beside the run's folder: each process has its own, and goes on where its
    /// games end.
    #[arg(long, default_value = "worker-1", conflicts_with = "store")]
    pub worker: String,
    /// Another folder for the run than the config names.
    #[arg(long, conflicts_with = "store")]
    pub run: Option<PathBuf>,
    /// Another seed than the config names (new runs only).
    #[arg(long, conflicts_with = "store")]
    pub seed: Option<u64>,
    /// Stop once the run holds this many games.
    #[arg(long, conflicts_with = "store")]
    pub until_games: Option<u64>,
    /// Stop this invocation after so many minutes; 0 = never.
    #[arg(long)]
    pub until_minutes: Option<f64>,
    /// Take a changed config for an existing run; the change is recorded.
    #[arg(long, conflicts_with = "store")]
    pub accept_config_change: bool,
    /// Where the network is computed.
    #[command(flatten)]
    pub devices: DeviceArgs,
}

impl SelfPlayArgs {
    /// The same as a part of the loop, for a worker beside the run's folder.
    pub fn job(&self) -> Option<LoopArgs> {
        Some(LoopArgs {
            config: self.config.clone()?,
            run: self.run.clone(),
            seed: self.seed,
            until_games: self.until_games,
            until_steps: None,
            until_minutes: self.until_minutes,
            accept_config_change: self.accept_config_change,
            device: self.devices.device.clone(),
            precision: self.devices.precision,
        })
    }
}

/// `tengen gate`: a part of the loop, or a question about its arithmetic.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct GateArgs {
    /// The question.
    #[command(subcommand)]
    pub question: Option<GateCommand>,
    /// The part.
    #[command(flatten)]
    pub part: Option<LoopArgs>,
}

/// Questions to the gate.
#[derive(Debug, Subcommand)]
pub enum GateCommand {
    /// The likelihood ratio, its bounds, the verdict and the Elo of a result.
    Llr(LlrArgs),
    /// The chance to pass and the games it costs, of several gates, by simulation.
    Simulate(SimulateArgs),
}

/// `tengen gate llr`.
#[derive(Debug, Args)]
pub struct LlrArgs {
    /// Games the candidate won.
    #[arg(long)]
    pub wins: Option<u32>,
    /// Games it lost.
    #[arg(long)]
    pub losses: Option<u32>,
    /// Games without a winner.
    #[arg(long)]
    pub draws: Option<u32>,
    /// Pairs of games by their points 0, 0.5, 1, 1.5, 2: five counts, in place of single games.
    #[arg(long, value_delimiter = ',')]
    pub pairs: Option<Vec<u32>>,
    /// The lead that a pass must exclude.
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true)]
    pub elo0: f64,
    /// The lead that a rejection must exclude.
    #[arg(long, default_value_t = 35.0, allow_negative_numbers = true)]
    pub elo1: f64,
    /// Chance of passing at `elo0`.
    #[arg(long, default_value_t = 0.05)]
    pub alpha: f64,
    /// Chance of rejecting at `elo1`.
    #[arg(long, default_value_t = 0.05)]
    pub beta: f64,
    /// What an Elo is: logistic, bayeselo or normalized.
    #[arg(long, default_value = "logistic", value_parser = crate::gate_stats::model)]
    pub model: tengen_evaluator::SprtModel,
    /// Facts as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

/// `tengen gate simulate`.
#[derive(Debug, Args)]
pub struct SimulateArgs {
    /// Simulated matches for each gate and each strength.
    #[arg(long, default_value_t = 1000)]
    pub games: u32,
    /// Share of games without a winner.
    #[arg(long, default_value_t = 0.0)]
    pub draw_rate: f64,
    /// Seed of the simulation.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Simulate this config's gate in place of the well-known ones.
    #[arg(long)]
    pub config: Option<PathBuf>,
    /// Facts as JSON on standard output.
    #[arg(long)]
    pub json: bool,
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
    /// Take the games of the net that falls out of training too; they stay in the store.
    #[arg(long)]
    pub games: bool,
}

/// `tengen match`.
#[derive(Debug, Args)]
pub struct MatchArgs {
    /// First player: a network file, a run's folder (its best net), RUN:ID, RUN:first, `uniform`,
    /// `rollouts`, or any GTP program as `gtp:COMMAND`.
    pub a: String,
    /// Second player.
    pub b: String,
    /// Simulations a move: one number for both sides, or `A,B` for either.
    #[arg(long, default_value = "64", value_delimiter = ',')]
    pub visits: Vec<u32>,
    /// Seconds a move in place of visits; games are played one by one then, and differ from run to run.
    #[arg(long, conflicts_with = "visits")]
    pub seconds: Option<f64>,
    /// Threads that search with `--seconds`: one number for both sides, or `A,B` for either.
    #[arg(long, default_value = "1", value_delimiter = ',', requires = "seconds")]
    pub search_threads: Vec<usize>,
    /// Handicap stones for the second player, who is Black in every game then; komi is 0.5 unless
    /// given.
    #[arg(long, default_value_t = 0)]
    pub handicap: u32,
    /// Stop as soon as a sequential test between two leads is decided: `elo0,elo1` (both risks 5 %).
    #[arg(long, value_delimiter = ',', allow_negative_numbers = true)]
    pub sprt: Option<Vec<f64>>,
    /// What holds for matches of every kind.
    #[command(flatten)]
    pub terms: MatchTerms,
    /// Drop the games that this match has and play anew.
    #[arg(long)]
    pub fresh: bool,
    /// Folder for the games as SGF.
    #[arg(long)]
    pub sgf: Option<PathBuf>,
    /// Result as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

/// What holds for matches of every kind.
#[derive(Debug, Args)]
pub struct MatchTerms {
    /// Games; each opening is played twice with colours exchanged, so an odd number is raised by one.
    #[arg(long, default_value_t = 100)]
    pub games: u32,
    /// Board side; default: that of the run named, else 9.
    #[arg(long)]
    pub size: Option<usize>,
    /// Komi; default: that of the run named, else 7.5.
    #[arg(long)]
    pub komi: Option<f64>,
    /// Rules by name or by parts; default: those of the run named, else tromp-taylor.
    #[arg(long)]
    pub rules: Option<String>,
    /// Moves of each opening drawn from the policy.
    #[arg(long)]
    pub opening_moves: Option<u32>,
    /// Openings from a file instead: one a line, as GTP vertices.
    #[arg(long)]
    pub openings: Option<PathBuf>,
    /// Seed of the openings.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Seconds that a GTP program has for one answer.
    #[arg(long, default_value_t = 60.0)]
    pub answer_seconds: f64,
    /// Folder of match folders; the same match asked for again goes on in its own.
    #[arg(long, default_value = "data/matches")]
    pub dir: PathBuf,
    /// Worker threads; 0 = one a core.
    #[arg(long, default_value_t = 0)]
    pub threads: usize,
    /// Where the network is computed.
    #[command(flatten)]
    pub devices: DeviceArgs,
}

/// `tengen suite`: tactical positions, or small boards.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct SuiteCommand {
    /// Another suite than the tactical one.
    #[command(subcommand)]
    pub other: Option<OtherSuite>,
    /// The tactical one.
    #[command(flatten)]
    pub tactical: SuiteArgs,
}

/// Suites besides the tactical one.
#[derive(Debug, Subcommand)]
pub enum OtherSuite {
    /// Empty small boards with published results: the net plays both sides.
    SmallBoards(SuiteArgs),
}

/// Who is held against a suite.
#[derive(Debug, Args)]
pub struct SuiteArgs {
    /// A player, as for `tengen match`.
    #[arg(long)]
    pub net: Option<String>,
    /// All nets of this run instead, oldest first.
    #[arg(long)]
    pub run: Option<PathBuf>,
    /// Where the network is computed.
    #[command(flatten)]
    pub devices: DeviceArgs,
    /// Simulations a move.
    #[arg(long, default_value_t = 200)]
    pub visits: u32,
    /// Facts as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

/// `tengen ladder`.
#[derive(Debug, Args)]
pub struct LadderArgs {
    /// The run's folder; the ladder's files are written there.
    #[arg(long)]
    pub run: PathBuf,
    /// Games to play now where they tell most; 0 = rate the games there are.
    #[arg(long, default_value_t = 0)]
    pub games: u32,
    /// Simulations a move; default: the run's gate's.
    #[arg(long)]
    pub visits: Option<u32>,
    /// A player besides the run's nets (`uniform`, a network file, `gtp:COMMAND`); may be repeated.
    /// The first one pins the scale; without one the run's first net does.
    #[arg(long)]
    pub anchor: Vec<String>,
    /// Mean power of the machines in watts, for a view of strength against energy.
    #[arg(long)]
    pub watts: Option<f64>,
    /// The rating of whoever pins the scale.
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true)]
    pub anchor_elo: f64,
    /// Where the network is computed.
    #[command(flatten)]
    pub devices: DeviceArgs,
    /// Facts as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

impl MatchArgs {
    /// Time in place of visits, if so.
    pub fn clock(&self) -> anyhow::Result<Option<crate::parts::gate::Clock>> {
        let Some(seconds) = self.seconds else { return Ok(None) };
        let threads = match self.search_threads[..] {
            [both] => [both; 2],
            [a, b] => [a, b],
            _ => anyhow::bail!("--search-threads takes one number for both sides or two, A,B"),
        };
        crate::parts::gate::Clock::new(seconds, threads).map(Some)
    }
}

impl MatchTerms {
    /// The time for one answer of a GTP program.
    pub fn limit(&self) -> anyhow::Result<std::time::Duration> {
        match self.answer_seconds {
            s if (0.001..=1e6).contains(&s) => Ok(std::time::Duration::from_secs_f64(s)),
            s => anyhow::bail!("--answer-seconds is {s}, but must be 0.001 to 1000000"),
        }
    }
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
    /// Carry a whole run from a file to a PostgreSQL server, or back.
    Move(crate::store_move::MoveArgs),
}

/// `tengen net`.
#[derive(Debug, Subcommand)]
pub enum NetCommand {
    /// Parameters, FLOPs, receptive field and training memory of a config's net, before anything runs.
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
    /// Write a network as an ONNX model.
    Export(crate::net_files::ExportArgs),
    /// Take a PyTorch network (a safetensors file of its `state_dict`, docs/networks.md) as ours.
    Import(crate::net_files::ImportArgs),
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

/// `tengen bench`.
#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Evaluations per second of a net, beside the machine's own peak.
    Inference(InferenceBenchArgs),
    /// Evaluations per second that self-play makes of a net, beside the net alone.
    Selfplay(crate::bench_selfplay::SelfPlayBenchArgs),
    /// Training steps of a net on random games.
    Train(TrainBenchArgs),
    /// Random games per second, legal moves under superko, copies of a state.
    Rules {
        /// Rounds a figure, of 200 ms each; the best and the median are given.
        #[arg(long, default_value_t = 9)]
        rounds: usize,
        /// Facts as JSON on standard output.
        #[arg(long)]
        json: bool,
    },
    /// Simulations per second with an evaluator that costs nothing.
    Search {
        /// Board side.
        #[arg(long, default_value_t = 9)]
        size: usize,
        /// Simulations a move.
        #[arg(long, default_value_t = 400)]
        visits: u32,
        /// Games searched side by side, one leaf each in turn.
        #[arg(long, default_value_t = 64)]
        games: usize,
        /// Moves to search in each game.
        #[arg(long, default_value_t = 10)]
        moves: usize,
        /// Facts as JSON on standard output.
        #[arg(long)]
        json: bool,
    },
}

/// `tengen bench inference`.
#[derive(Clone, Debug, Args)]
pub struct InferenceBenchArgs {
    /// What is measured.
    #[command(flatten)]
    pub subject: SubjectArgs,
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
    /// Measure the native CPU pass on the same positions too, in turns, and how far the answers are
    /// from its.
    #[arg(long)]
    pub compare_native: bool,
    /// Where the network is computed; threads take the devices in turn.
    #[command(flatten)]
    pub devices: DeviceArgs,
    /// Facts as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

/// `tengen bench train`.
#[derive(Clone, Debug, Args)]
pub struct TrainBenchArgs {
    /// What is measured.
    #[command(flatten)]
    pub subject: SubjectArgs,
    /// Another batch than the config's.
    #[arg(long)]
    pub batch: Option<usize>,
    /// Steps to measure, after one that is not.
    #[arg(long, default_value_t = 30)]
    pub steps: u64,
    /// Measure the same steps on the native CPU pass too.
    #[arg(long)]
    pub compare_native: bool,
    /// Where the steps are computed; the first one named.
    #[command(flatten)]
    pub devices: DeviceArgs,
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
    /// Also whether a worker here would come through to this run: `postgres://…`, `https://…` (its token in
    /// TENGEN_TOKEN), the run's folder, or `env:NAME` for a variable with any of them.
    #[arg(long, value_name = "STORE")]
    pub fleet: Option<String>,
    /// Facts as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}
