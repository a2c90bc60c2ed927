//! Moves that a search is told to leave out.

use tengen_rules::Color;

use crate::Tree;

/// Moves forbidden or exclusively allowed to a player near the root, for analysis. Plies count
/// from the root: a rule of depth 1 is about the root's own moves.
#[derive(Debug, Clone, Default)]
pub struct MoveLimits {
    rules: Vec<Rule>,
}

#[derive(Debug, Clone)]
struct Rule {
    player: Color,
    /// By action; actions beyond it are not listed.
    listed: Vec<bool>,
    until_depth: usize,
    /// Whether the listed moves are the only ones, and not the forbidden ones.
    only: bool,
}

impl MoveLimits {
    /// Forbids `actions` to `player` at less than `until_depth` plies from the root.
    pub fn avoid(&mut self, player: Color, actions: &[usize], until_depth: usize) {
        self.add(player, actions, until_depth, false);
    }

    /// Forbids all but `actions` to `player` at less than `until_depth` plies from the root.
    pub fn allow(&mut self, player: Color, actions: &[usize], until_depth: usize) {
        self.add(player, actions, until_depth, true);
    }

    /// Whether nothing is limited.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    fn add(&mut self, player: Color, actions: &[usize], until_depth: usize, only: bool) {
        let mut listed = vec![false; actions.iter().max().map_or(0, |most| most + 1)];
        actions.iter().for_each(|&action| listed[action] = true);
        self.rules.push(Rule { player, listed, until_depth, only });
    }

    /// Whether `action` may be tried by `player` at `depth` plies from the root.
    pub(crate) fn permits(&self, player: Color, action: usize, depth: usize) -> bool {
        self.rules
            .iter()
            .filter(|rule| rule.player == player && depth < rule.until_depth)
            .all(|rule| rule.listed.get(action).copied().unwrap_or(false) == rule.only)
    }
}

impl Tree {
    /// Leaves moves out of this tree. They bind where moves are listed from now on, so this is for
    /// a new tree; a position with every move left out keeps its pass. Advancing forgets them.
    #[must_use]
    pub fn with_limits(mut self, limits: MoveLimits) -> Tree {
        self.limits = limits;
        self
    }
}
