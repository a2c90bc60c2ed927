//! What all games of a run have in common.

use tengen_rules::{GameState, Symmetry};
use tengen_search::SearchConfig;

use crate::{GameSettings, SelfPlayConfig};

/// Everything but the seed that decides how a game goes; shared by all slots of a run.
#[derive(Debug, Clone)]
pub struct GameDefinition {
    pub(crate) config: SelfPlayConfig,
    pub(crate) full: SearchConfig,
    pub(crate) cheap: SearchConfig,
    pub(crate) settings: GameSettings,
    /// The symmetries a leaf may be shown through.
    pub(crate) symmetries: Vec<Symmetry>,
    /// Moves after which the board is scored as it stands.
    pub(crate) move_limit: usize,
}

impl GameDefinition {
    /// Games of `settings`, played as `config` says, with full searches as `search` says.
    pub fn new(config: &SelfPlayConfig, search: &SearchConfig, settings: &GameSettings) -> Self {
        let size = settings.size;
        let symmetries = if config.symmetry {
            Symmetry::all().into_iter().filter(|s| s.valid_for(size)).collect()
        } else {
            vec![Symmetry::IDENTITY]
        };
        // A search without a simulation leaves no visit to learn from or play by.
        let visits = |v: u32| v.max(1);
        GameDefinition {
            full: SearchConfig { visits: visits(search.visits), ..search.clone() },
            cheap: SearchConfig { visits: visits(config.cheap_visits), ..search.clone() },
            config: config.clone(),
            settings: *settings,
            symmetries,
            move_limit: config.move_limit(size.area()),
        }
    }

    /// The game all slots play.
    pub fn settings(&self) -> &GameSettings {
        &self.settings
    }

    pub(crate) fn initial_state(&self) -> GameState {
        self.settings.initial_state()
    }
}
