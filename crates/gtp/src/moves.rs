//! Moves: played, thought of, taken back.

use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tengen_rules::{Color, GameState, Move};
use tengen_search::{Tree, choose_move, run_search};

use crate::engine::{Engine, color};
use crate::error::GtpError;

/// What a search decided.
enum Decision {
    Move(Move),
    Resign,
}

impl Engine {
    pub(crate) fn play(&mut self, args: &[String]) -> Result<String, GtpError> {
        let [who, vertex] = args else { return Err(GtpError::Syntax) };
        let (who, mv) = (color(who)?, self.game.size.parse_vertex(vertex)?);
        self.game.play(who, mv)?;
        Ok(String::new())
    }

    pub(crate) fn undo(&mut self, _: &[String]) -> Result<String, GtpError> {
        self.game.undo()?;
        Ok(String::new())
    }

    pub(crate) fn genmove(&mut self, args: &[String]) -> Result<String, GtpError> {
        let [who] = args else { return Err(GtpError::Syntax) };
        let who = color(who)?;
        let start = Instant::now();
        let decision = self.think(who)?;
        self.clock.spend(who.index(), start.elapsed());
        match decision {
            Decision::Resign => Ok("resign".to_owned()),
            Decision::Move(mv) => {
                self.game.play(who, mv)?;
                Ok(self.game.size.vertex(mv))
            }
        }
    }

    /// `genmove` for regression tests: the board stays as it is.
    pub(crate) fn reg_genmove(&mut self, args: &[String]) -> Result<String, GtpError> {
        let [who] = args else { return Err(GtpError::Syntax) };
        match self.think(color(who)?)? {
            Decision::Resign => Ok("resign".to_owned()),
            Decision::Move(mv) => Ok(self.game.size.vertex(mv)),
        }
    }

    fn think(&mut self, who: Color) -> Result<Decision, GtpError> {
        let state = self.game.state_for(who)?;
        if state.is_over() {
            // Some controllers go on asking after both have passed.
            return Ok(Decision::Move(Move::Pass));
        }
        let budget = self.clock.budget(who.index(), moves_left(&state));
        self.searches += 1;
        let mut rng = ChaCha8Rng::seed_from_u64(self.info.seed.wrapping_add(self.searches));
        let mut tree = Tree::new(state, &self.search);
        self.search_within(&mut tree, budget, &mut rng)?;
        let root = tree.root();
        if root.children.is_empty() {
            return Ok(Decision::Move(Move::Pass));
        }
        let win_rate = (root.value.get() + 1.0) / 2.0;
        if self.info.resign_below.is_some_and(|limit| win_rate < limit) {
            return Ok(Decision::Resign);
        }
        Ok(Decision::Move(self.game.size.move_at(choose_move(&root, 0.0, &mut rng))))
    }

    /// All visits at once without a clock, so that the answer is the same on every machine; a batch
    /// at a time with one.
    fn search_within(
        &mut self,
        tree: &mut Tree,
        budget: Option<Duration>,
        rng: &mut ChaCha8Rng,
    ) -> Result<(), GtpError> {
        let evaluator = self.evaluator.as_mut();
        let Some(budget) = budget else {
            return Ok(run_search(tree, evaluator, self.search.visits, rng)?);
        };
        let start = Instant::now();
        let mut left = self.search.visits.max(1);
        loop {
            let slice = left.min(self.search.leaves_per_batch.max(1));
            run_search(tree, evaluator, slice, rng)?;
            left -= slice;
            if left == 0 || start.elapsed() >= budget {
                return Ok(());
            }
        }
    }
}

/// A guess of the moves a player still has to make: most of the empty half, never fewer than ten.
fn moves_left(state: &GameState) -> u32 {
    let area = state.size().area() as u32;
    (area / 2).saturating_sub(state.move_number() as u32 / 2).max(10)
}
