//! How a game begins: its komi and the moves that no search chooses.
//!
//! All of it is drawn from a stream of its own, always the same number of draws, so that a switch
//! leaves what it does not concern as it was.

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use tengen_rules::{Color, GameState, Komi, Move, free_handicap};
use tengen_search::{RootStats, choose_move};

use crate::seed::variety_stream;
use crate::{GameDefinition, StartPosition};

/// A game before its first own move.
#[derive(Debug)]
pub(crate) struct Opening {
    /// The position to go on from.
    pub state: GameState,
    /// Where it began; its moves led to `state`.
    pub start: StartPosition,
    /// A move that is to be replaced by another one of the raw policy, at once.
    pub fork_from: Option<Move>,
    /// Whether its moves were given, so that no opening is drawn for it.
    pub given: bool,
}

impl Opening {
    /// Draws what game `seed` begins with.
    pub fn draw(game: &GameDefinition, seed: u64) -> Opening {
        let (config, settings) = (&game.config, &game.settings);
        let mut rng = variety_stream(seed);
        let [keeps_komi, starts, start_at, forks, fork_at, fork_ply] =
            [0; 6].map(|_| rng.random::<f64>());
        let offset: f64 = StandardNormal.sample(&mut rng);
        let [uneven, stones] = [0; 2].map(|_| rng.random::<f64>());
        let komi = if keeps_komi < config.plain_komi_fraction {
            settings.komi
        } else {
            moved_komi(settings.komi, offset * config.komi_stdev, settings.size.area())
        };
        let picked =
            |from: &[StartPosition], at: f64| from.get((at * from.len() as f64) as usize).cloned();
        let mut opening = Opening {
            state: GameState::new(settings.size, settings.rules, komi),
            start: StartPosition::of_moves(Vec::new()),
            fork_from: None,
            given: false,
        };
        if starts < config.start_fraction
            && let Some(start) = picked(&game.conditions.starts, start_at)
        {
            opening.begin(game, start, komi);
        } else if forks < config.fork_fraction
            && let Some(mut source) = picked(&game.conditions.forks, fork_at)
        {
            let replaceable = source.moves.len().min(config.fork_moves);
            let ply = (fork_ply * replaceable as f64) as usize;
            let replaced = source.moves.get(ply).copied();
            source.moves.truncate(ply);
            opening.begin(game, source, komi);
            opening.fork_from = replaced;
        } else if uneven < config.handicap_fraction {
            let count = 2 + (stones * (config.handicap_stones - 1) as f64) as usize;
            if let Ok(setup_black) = free_handicap(settings.size, count) {
                let first_to_play = Color::White;
                let plain = StartPosition::of_moves(Vec::new());
                opening.begin(game, StartPosition { setup_black, first_to_play, ..plain }, komi);
                opening.given = false;
            }
        }
        opening
    }

    fn begin(&mut self, game: &GameDefinition, start: StartPosition, komi: Komi) {
        let mut state = start
            .before(&game.settings, komi)
            .expect("the game's definition has checked its starts");
        for &mv in &start.moves {
            state.play(mv).expect("the game's definition has checked its starts");
        }
        (self.state, self.start, self.given) = (state, start, true);
    }
}

/// The komi moved by whole points, so that who can draw stays the same, and by no more than a third
/// of the board: a komi that decides the game alone teaches to pass.
fn moved_komi(plain: Komi, by: f64, area: usize) -> Komi {
    let most = (area / 3) as f64;
    let points = by.round().clamp(-most, most) as i32;
    Komi::from_half_points(plain.half_points() + 2 * points).unwrap_or(plain)
}

/// An action drawn in proportion to the evaluator's own priors; a pass, and the action `other_than`,
/// only where nothing else is legal. An opening is there to vary the start. Passes in it ended games
/// before their first search, and the answer "pass", which wins at once against a pass on the empty
/// board, spread from there.
pub(crate) fn draw_from_policy(
    mut root: RootStats,
    pass: usize,
    other_than: Option<usize>,
    rng: &mut ChaCha8Rng,
) -> usize {
    for unwanted in [Some(pass), other_than].into_iter().flatten() {
        if root.children.len() > 1 {
            root.children.retain(|child| child.action != unwanted);
        }
    }
    // A root without visits is judged by its priors.
    root.visits = 0;
    root.winner = None;
    root.children.iter_mut().for_each(|child| child.prior = child.raw_prior);
    choose_move(&root, 1.0, rng)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// KataGo's own automatic komi once drifted to 40 at 7×7: what is drawn here is anchored to the
    /// config, whatever was drawn before.
    #[test]
    fn the_komi_stays_near_the_one_configured_and_keeps_its_half() {
        let plain = Komi::from_points(8.5).unwrap();
        let moved = |by: f64| moved_komi(plain, by, 49).points();
        assert_eq!(moved(0.4), 8.5);
        assert_eq!(moved(-1.2), 7.5);
        assert_eq!(moved(2.6), 11.5);
        assert_eq!((moved(1e9), moved(-1e9)), (24.5, -7.5), "a third of 49 points at most");
    }
}
