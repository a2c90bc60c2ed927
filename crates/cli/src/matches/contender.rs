//! Either side of a match: a player of our own, or a foreign program.

use std::time::Duration;

use anyhow::{Context, Result};
use tengen_evaluator::{Program, check_sanity};
use tengen_inference::{LeafEvaluator, UniformEvaluator};
use tengen_network::DeviceConfig;
use tengen_rules::GameState;

use crate::config::Config;
use crate::players::Player;

/// Who plays.
pub enum Contender {
    /// A network, or search without one.
    House(Player),
    /// A GTP program, by its command line.
    Program(String),
}

impl Contender {
    /// Reads `gtp:COMMAND`, or whatever [`Player::parse`] takes.
    pub fn parse(text: &str, devices: &DeviceConfig) -> Result<(Self, Option<Config>)> {
        match text.strip_prefix("gtp:") {
            Some(command) => Ok((Self::Program(command.trim().to_owned()), None)),
            None => {
                Player::parse(text, devices).map(|(player, config)| (Self::House(player), config))
            }
        }
    }

    /// Its name in tables and records.
    pub fn name(&self) -> String {
        match self {
            Self::House(player) => player.name().to_owned(),
            Self::Program(command) => {
                let program = command.split_whitespace().next().unwrap_or("program");
                program.rsplit('/').next().unwrap_or(program).to_owned()
            }
        }
    }

    /// What tells it from every other player.
    pub fn identity(&self) -> String {
        match self {
            Self::House(player) => player.name().to_owned(),
            Self::Program(command) => format!("gtp:{command}"),
        }
    }

    /// What must hold before the first game: a network's answers are sound on a fixed set of
    /// positions, a program starts and takes the board, komi and rules.
    pub fn check(&self, start: &GameState) -> Result<()> {
        match self {
            // Only networks promise what is checked: random games differ from look to look.
            Self::House(player) if matches!(player, Player::Network { .. }) => {
                let seen = check_sanity(&mut *player.evaluator()?, start, false)
                    .with_context(|| format!("{} is not fit to play", player.name()))?;
                tracing::debug!("{}: {seen:?}", player.name());
            }
            Self::House(_) => {}
            Self::Program(command) => {
                let mut program = Program::start(command, start.rules(), Duration::from_secs(30))?;
                program.new_game(start, 0)?;
                eprintln!("{}: {}", self.name(), program.title);
            }
        }
        Ok(())
    }

    /// What draws openings for worker number `worker`: its own policy, or for a program none.
    pub fn evaluator(&self, worker: usize) -> Result<Option<Box<dyn LeafEvaluator>>> {
        match self {
            Self::House(player) => player.evaluator_of(worker).map(Some),
            Self::Program(_) => Ok(None),
        }
    }
}

/// Evaluators to draw openings from: a program has none, so the other side's policy stands for
/// both; two programs begin with random stones.
pub fn opening_evaluators(
    a: &Contender,
    b: &Contender,
    worker: usize,
) -> Result<[Box<dyn LeafEvaluator>; 2]> {
    let uniform = || Box::new(UniformEvaluator) as Box<dyn LeafEvaluator>;
    Ok(match (a.evaluator(worker)?, b.evaluator(worker)?) {
        (Some(a), Some(b)) => [a, b],
        (Some(one), None) => [one, a.evaluator(worker)?.unwrap_or_else(uniform)],
        (None, Some(one)) => [b.evaluator(worker)?.unwrap_or_else(uniform), one],
        (None, None) => [uniform(), uniform()],
    })
}
