//! What all games of a run have in common.

use std::sync::Arc;

use rand::Rng;
use tengen_rules::Symmetry;
use tengen_search::SearchConfig;

use crate::seed::mixture_stream;
use crate::{Conditions, GameSettings, ResignStudy, SelfPlayConfig, StartError};

/// Everything but the seed that decides how a game goes; shared by all slots of a run.
#[derive(Debug, Clone)]
pub struct GameDefinition {
    pub(crate) config: SelfPlayConfig,
    pub(crate) full: SearchConfig,
    pub(crate) cheap: SearchConfig,
    pub(crate) settings: GameSettings,
    pub(crate) conditions: Conditions,
    /// The symmetries a leaf may be shown through.
    pub(crate) symmetries: Vec<Symmetry>,
    /// Moves after which the board is scored as it stands.
    pub(crate) move_limit: usize,
    /// As the run's config has it, before growth.
    search: SearchConfig,
    /// Games of other boards, rules or komi, each with its share of all.
    others: Vec<(f64, Arc<GameDefinition>)>,
}

impl GameDefinition {
    /// Games of `settings`, played as `config` says, with full searches as `search` says, under the
    /// conditions of a run that begins: no game behind it, nothing to fork, the resignation
    /// threshold of the config.
    pub fn new(config: &SelfPlayConfig, search: &SearchConfig, settings: &GameSettings) -> Self {
        let size = settings.size;
        let symmetries = if config.symmetry {
            Symmetry::all().into_iter().filter(|s| s.valid_for(size)).collect()
        } else {
            vec![Symmetry::IDENTITY]
        };
        let resign_below = ResignStudy::new(config).threshold();
        let mut game = GameDefinition {
            full: search.clone(),
            cheap: search.clone(),
            search: search.clone(),
            config: config.clone(),
            settings: *settings,
            conditions: Conditions { resign_below, ..Conditions::default() },
            symmetries,
            move_limit: config.move_limit(size.area()),
            others: Vec::new(),
        };
        game.set_visits();
        game
    }

    /// The same games with others among them, each with its share of all; what is left is the share
    /// of these.
    #[must_use]
    pub fn with_others(mut self, others: &[(f64, GameSettings)]) -> Self {
        let other = |settings| Arc::new(Self::new(&self.config, &self.search, settings));
        self.others = others.iter().map(|(share, settings)| (*share, other(settings))).collect();
        self
    }

    /// The one of these games that game `seed` is.
    pub(crate) fn drawn(self: Arc<Self>, seed: u64) -> Arc<Self> {
        let mut draw: f64 = mixture_stream(seed).random();
        for (share, other) in &self.others {
            if draw < *share {
                return Arc::clone(other);
            }
            draw -= share;
        }
        self
    }

    /// The same games under other conditions. Starts and forks are positions of the main game's board
    /// and stay with it.
    ///
    /// # Errors
    /// The first start or fork that no game can begin from.
    pub fn under(&self, conditions: Conditions) -> Result<Self, StartError> {
        let mut game = self.clone();
        for start in conditions.starts.iter() {
            start.state(&self.settings)?;
        }
        for fork in conditions.forks.iter() {
            // Only its moves up to the last one replaced are ever played.
            let mut fork = fork.clone();
            fork.moves.truncate(self.config.fork_moves.saturating_sub(1));
            fork.state(&self.settings)?;
        }
        for (_, other) in &mut game.others {
            let conditions =
                Conditions { starts: Arc::default(), forks: Arc::default(), ..conditions.clone() };
            *other = Arc::new(other.under(conditions)?);
        }
        game.conditions = conditions;
        game.set_visits();
        Ok(game)
    }

    /// The main game.
    pub fn settings(&self) -> &GameSettings {
        &self.settings
    }

    /// Sets the visits that the run has come to. A search without a simulation would leave no
    /// visit to learn from or play by, so there is always one.
    fn set_visits(&mut self) {
        let games = self.conditions.games;
        self.full.visits = self.config.grown_visits(self.search.visits, games);
        self.cheap.visits = self.config.grown_visits(self.config.cheap_visits, games);
    }
}
