//! Which network and board a bench measures.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use tengen_rules::BoardSize;
use tengen_selfplay::GameSettings;

use crate::config::Config;

/// A config's network and game, or others.
#[derive(Clone, Debug, Args)]
pub struct SubjectArgs {
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
}

impl SubjectArgs {
    /// The config with the changes asked for, and its game.
    pub fn read(&self) -> Result<(Config, GameSettings)> {
        let mut config = self.config.as_deref().map(Config::load).transpose()?.unwrap_or_default();
        config.network.blocks = self.blocks.unwrap_or(config.network.blocks);
        config.network.channels = self.channels.unwrap_or(config.network.channels);
        let mut settings = config.rules.settings()?;
        if let Some(side) = self.size {
            settings.size = BoardSize::square(side)?;
        }
        Ok((config, settings))
    }
}
