//! `tengen sgf`: game files read, judged, counted, written and stored.

mod args;
mod check;
mod export;
mod files;
mod import;
mod info;
mod reader;
mod score;

use std::process::ExitCode;

use anyhow::Result;

pub use args::SgfCommand;

/// Does one of the subcommands.
pub fn run(command: &SgfCommand) -> Result<ExitCode> {
    match command {
        SgfCommand::Info(args) => info::run(args),
        SgfCommand::Check(args) => check::run(args),
        SgfCommand::Score(args) => score::run(args),
        SgfCommand::Export(args) => export::run(args),
        SgfCommand::Import(args) => import::run(args),
    }
}
