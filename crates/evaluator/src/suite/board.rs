//! Small boards with known results.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tengen_inference::{EvalError, LeafEvaluator};
use tengen_rules::{GameState, Move};
use tengen_search::{SearchConfig, Tree, choose_move, run_search};

/// An empty board whose best result is known: area scoring, superko, Black first.
#[derive(Clone, Copy, Debug)]
pub struct SmallBoard {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Black's lead on the board with best play, without komi.
    pub margin: i32,
    /// First moves that reach it, one of each class of symmetric ones; empty where not published.
    pub first: &'static [&'static str],
    /// Who says so.
    pub source: &'static str,
}

const DRANGE: &str = "T. Drange et al., Mini-Go table, 1998 (mathpuzzle.com/go)";
const VAN_DER_WERF: &str = "E. van der Werf, 5x5 Go is solved, 2002; T. Drange et al., 1998";

const fn board(
    width: usize,
    height: usize,
    margin: i32,
    first: &'static [&'static str],
    source: &'static str,
) -> SmallBoard {
    SmallBoard { width, height, margin, first, source }
}

/// The boards that a network can be held against, smallest first.
pub const SMALL_BOARDS: [SmallBoard; 10] = [
    board(2, 2, 1, &[], DRANGE),
    board(3, 2, 0, &["pass"], DRANGE),
    board(7, 2, 14, &[], DRANGE),
    board(3, 3, 9, &["B2"], DRANGE),
    board(5, 3, 15, &[], DRANGE),
    board(6, 3, 18, &[], DRANGE),
    board(7, 3, 5, &[], DRANGE),
    board(5, 4, 20, &[], DRANGE),
    board(6, 4, 1, &[], DRANGE),
    board(5, 5, 25, &["C3"], VAN_DER_WERF),
];

/// Plays from `start` with one evaluator on both sides, most visited move each time, and returns
/// the first move and the final position; at most four moves a point.
///
/// # Errors
/// The evaluator's.
pub fn play_out(
    evaluator: &mut dyn LeafEvaluator,
    start: &GameState,
    search: &SearchConfig,
    seed: u64,
) -> Result<(Move, GameState), EvalError> {
    let (mut state, mut first) = (start.clone(), None);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    while !state.is_over() && state.move_number() < 4 * state.size().area() {
        let mut tree = Tree::new(state.clone(), search);
        run_search(&mut tree, evaluator, search.visits, &mut rng)?;
        let mv = state.size().move_at(choose_move(&tree.root(), 0.0, &mut rng));
        state.play(mv).expect("the search offers legal moves only");
        first.get_or_insert(mv);
    }
    Ok((first.unwrap_or(Move::Pass), state))
}
