//! What `tengen sgf` can be asked for.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `tengen sgf`.
#[derive(Debug, Subcommand)]
pub enum SgfCommand {
    /// The facts of each game of a file.
    Info(InfoArgs),
    /// Whether every move of every variation is legal.
    Check(CheckArgs),
    /// Counts a position of a game.
    Score(ScoreArgs),
    /// Writes games of a run as SGF files.
    Export(ExportArgs),
    /// Fills a run's store with games from files, apart from its own.
    Import(ImportArgs),
}

/// `tengen sgf info`.
#[derive(Debug, Args)]
pub struct InfoArgs {
    /// The file; `-` is standard input.
    pub file: PathBuf,
    /// An array on standard output, an object for each game.
    #[arg(long)]
    pub json: bool,
}

/// `tengen sgf check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Files, and folders to look for `*.sgf` in.
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// Rules for games that name none.
    #[arg(long, default_value = "chinese")]
    pub rules: String,
    /// Facts as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

/// `tengen sgf score`.
#[derive(Debug, Args)]
pub struct ScoreArgs {
    /// The file; `-` is standard input.
    pub file: PathBuf,
    /// Which game of the file, from 1.
    #[arg(long, default_value_t = 1)]
    pub game: usize,
    /// The position after so many moves of the main line; default: all.
    #[arg(long = "move", value_name = "N")]
    pub moves: Option<usize>,
    /// Rules to count by; default: the file's.
    #[arg(long)]
    pub rules: Option<String>,
    /// Komi; default: the file's.
    #[arg(long, allow_negative_numbers = true)]
    pub komi: Option<f64>,
    /// Handicap stones; default: the file's.
    #[arg(long)]
    pub handicap: Option<u32>,
    /// Dead stones as vertices (`D4,E5`; each stands for its whole chain), or `auto` for those that
    /// are proven dead; default: none.
    #[arg(long, value_name = "VERTICES|auto")]
    pub dead: Option<String>,
    /// Facts as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

/// `tengen sgf export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The run's folder.
    #[arg(long)]
    pub run: PathBuf,
    /// How many, the newest ones.
    #[arg(long, default_value_t = 10)]
    pub games: u64,
    /// Folder to write to.
    #[arg(long)]
    pub to: PathBuf,
    /// The imported games instead of the run's own.
    #[arg(long)]
    pub imported: bool,
}

/// `tengen sgf import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Files, and folders to look for `*.sgf` in.
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// The run's folder; its store is made if there is none.
    #[arg(long)]
    pub run: PathBuf,
    /// Rules for games that name none.
    #[arg(long, default_value = "chinese")]
    pub rules: String,
    /// Threads that read and replay; 0 = one a core.
    #[arg(long, default_value_t = 0)]
    pub threads: usize,
    /// Facts as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}
