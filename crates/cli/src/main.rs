//! The `tengen` binary: the one place that joins networks to the workers.
//!
//! Exit codes: 0 done, 1 a refusal or a failed check with one clear message, 2 usage. Facts go to
//! standard output, progress and logs to standard error.

mod ablate;
mod args;
mod bench;
mod bench_inference;
mod bench_rules;
mod bench_selfplay;
mod bench_subject;
mod bench_train;
mod commands;
mod config;
mod devices;
mod doctor;
mod engines;
mod fleet;
mod gate_stats;
mod ladder;
mod logging;
mod matches;
mod metrics;
mod net_files;
mod parts;
mod pipeline;
mod players;
mod progress;
mod ratings;
mod report;
mod run_dir;
mod scaling;
mod sgf;
mod status;
mod stop;
mod store_move;
mod suite;
mod tensorboard;
mod watch;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    end_quietly_without_a_reader();
    match commands::run(args::Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// `tengen status | head` closes the pipe before all is said: that is an end, not a panic. The
/// signal itself stays ignored, as a GTP program that dies must not take a match with it.
fn end_quietly_without_a_reader() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let told = panic.payload_as_str().unwrap_or_default();
        if told.starts_with("failed printing to stdout") && told.contains("Broken pipe") {
            std::process::exit(0);
        }
        usual(panic);
    }));
}
