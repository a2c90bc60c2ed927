//! Thinking: how long, from which tree, and what the search decided.

use std::time::Instant;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tengen_inference::LeafEvaluator;
use tengen_rules::{Color, GameState, Move};
use tengen_search::{SearchConfig, Tree, choose_best};

use crate::engine::{Engine, Session};
use crate::error::GtpError;
use crate::live::Live;
use crate::searcher::Goal;

/// What a search decided.
pub(crate) enum Decision {
    Move(Move),
    Resign,
    /// Stopped by a new line before it was done.
    Cancelled,
}

/// How a move is asked for.
#[derive(Clone, Copy, Default)]
pub(crate) struct Wish {
    /// Whether any new line cancels the search.
    pub cancellable: bool,
    /// Whether a pass is only good enough when no stones of the opponent are left to take.
    pub cleanup: bool,
}

/// Looks at the tree from time to time while it grows.
pub(crate) type Watcher<'a> = &'a mut dyn FnMut(&Tree, &mut dyn LeafEvaluator, &mut dyn Live);

impl Engine {
    /// Searches for a move of `who` and takes the time off its clock. The board stays as it is.
    pub(crate) fn think(
        &mut self,
        who: Color,
        wish: Wish,
        session: &mut Session<'_>,
        watcher: Watcher<'_>,
    ) -> Result<Decision, GtpError> {
        let start = Instant::now();
        let decision = self.decide(who, wish, session, watcher);
        self.thought += start.elapsed();
        self.clock.spend(who.index(), start.elapsed());
        decision
    }

    fn decide(
        &mut self,
        who: Color,
        wish: Wish,
        session: &mut Session<'_>,
        watcher: Watcher<'_>,
    ) -> Result<Decision, GtpError> {
        let state = self.game.state_for(who)?;
        if state.is_over() {
            // Some controllers go on asking after both have passed.
            return Ok(Decision::Move(Move::Pass));
        }
        let budget = self.clock.budget(who.index(), moves_left(&state));
        let budget = [budget, self.max_time].into_iter().flatten().min();
        let config = self.search.clone();
        let mut rng = self.next_rng();
        let tree = self.tree_for(&state, &config);
        let goal = Goal { visits: config.visits, time: budget };
        let mut cancelled = false;
        let tree = self.searcher.grow(tree, goal, &mut rng, &mut |tree, evaluator| {
            watcher(tree, evaluator, session.live);
            cancelled = wish.cancellable && session.live.stopped();
            !cancelled && !session.live.interrupted()
        })?;
        let root = tree.root();
        self.tree = Some(tree);
        if cancelled {
            return Ok(Decision::Cancelled);
        }
        if root.children.is_empty() {
            return Ok(Decision::Move(Move::Pass));
        }
        let win_rate = (root.value.get() + 1.0) / 2.0;
        let lost = self.info.resign_below.is_some_and(|limit| win_rate < limit);
        let turns = &mut self.lost_turns[who.index()];
        *turns = if lost { *turns + 1 } else { 0 };
        if lost && *turns >= self.info.resign_turns {
            return Ok(Decision::Resign);
        }
        let mut action = choose_best(&root, &config);
        let pass = state.size().pass_action();
        if wish.cleanup && action == pass && self.has_prey(&state) {
            let others = root.children.iter().filter(|child| child.action != pass);
            let key = |visits: u32, prior: f32| (visits, prior.to_bits());
            action = others
                .max_by_key(|child| key(child.visits, child.prior))
                .map_or(pass, |child| child.action);
        }
        Ok(Decision::Move(state.size().move_at(action)))
    }

    /// A generator of its own for each search.
    pub(crate) fn next_rng(&mut self) -> ChaCha8Rng {
        self.searches += 1;
        ChaCha8Rng::seed_from_u64(self.info.seed.wrapping_add(self.searches))
    }

    /// The tree of the last search where it is about this very position, else a new one. A Gumbel
    /// root plans its visits from the start, so it always begins anew.
    pub(crate) fn tree_for(&mut self, state: &GameState, config: &SearchConfig) -> Tree {
        match self.tree.take() {
            Some(tree) if !config.gumbel && is_about(&tree, state) => tree,
            _ => Tree::new(state.clone(), config),
        }
    }

    /// Lets the tree follow a move of the game; `before` is the position it was played in.
    pub(crate) fn follow(&mut self, before: &GameState, mv: Move) {
        self.tree = self
            .tree
            .take()
            .filter(|tree| is_about(tree, before) && before.check(mv).is_ok())
            .map(|tree| tree.advance(mv));
    }

    /// Thinks on the opponent's time, after a move was made, until a line comes.
    pub(crate) fn ponder(&mut self, live: &mut dyn Live) {
        if !self.may_ponder || !self.info.ponder || self.search.gumbel || self.state().is_over() {
            return;
        }
        let state = self.state().clone();
        let config = self.search.clone();
        let mut rng = self.next_rng();
        if live.stopped() {
            return;
        }
        let tree = self.tree_for(&state, &config);
        let found = self.searcher.grow(tree, Goal::NONE, &mut rng, &mut |_, _| !live.stopped());
        // Of a failure the next search will speak.
        self.tree = found.ok();
    }
}

fn is_about(tree: &Tree, state: &GameState) -> bool {
    let root = tree.root_state();
    root.size() == state.size() && root.situation_hash() == state.situation_hash()
}

/// A guess of the moves a player still has to make: most of the empty half, never fewer than ten.
fn moves_left(state: &GameState) -> u32 {
    let area = state.size().area() as u32;
    (area / 2).saturating_sub(state.move_number() as u32 / 2).max(10)
}
