//! What a worker must be told by the program around it: the fleet reads no config files and knows no
//! tensors.

use std::path::Path;
use std::sync::Arc;

use tengen_inference::LeafEvaluator;
use tengen_search::SearchConfig;
use tengen_selfplay::{GameSettings, SelfPlayConfig, StartPosition};
use tengen_store::{RunState, Upstream, UpstreamError};

/// What a run's configuration asks of those who play for it.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The game.
    pub settings: GameSettings,
    /// Games played beside it, each with its share of all.
    pub others: Vec<(f64, GameSettings)>,
    /// How self-play games are played.
    pub selfplay: SelfPlayConfig,
    /// How moves are searched.
    pub search: SearchConfig,
    /// Positions to begin from, read from the file that the configuration names.
    pub starts: Arc<[StartPosition]>,
}

/// The program around a worker.
pub trait Host {
    /// Reads the run's configuration.
    ///
    /// # Errors
    /// Why this machine cannot play by it, in one line.
    fn plan(&self, run: &RunState) -> Result<Plan, String>;

    /// `count` evaluators of the network in the file, which is verified.
    ///
    /// # Errors
    /// Why this machine cannot evaluate it, in one line.
    fn evaluators(
        &self,
        network: &Path,
        count: usize,
    ) -> Result<Vec<Box<dyn LeafEvaluator>>, String>;
}

/// Makes a connection to the run; called again after each failure.
pub type Connect = Box<dyn FnMut() -> Result<Box<dyn Upstream>, UpstreamError> + Send>;
