//! How fast the tree alone is, with a signature that only a change of behaviour moves.

use std::time::{Duration, Instant};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tengen_inference::Evaluation;
use tengen_rules::{BoardSize, GameState, Komi, Rules, Value};

use crate::{SearchConfig, Selected, Tree, choose_move};

/// What [`bench()`] found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BenchReport {
    /// Simulations made, those that ended at a finished game included.
    pub simulations: u64,
    /// What they took, moves and reuse of subtrees included.
    pub elapsed: Duration,
    /// What of that a core spent on it, so that a busy machine makes no difference; `None` where
    /// the system does not say (it does on Linux).
    pub on_core: Option<Duration>,
    /// Fold of every root's visits and every move: the same on every machine and in every build.
    pub signature: u64,
    /// Bytes that the largest tree reserved.
    pub tree_bytes: usize,
    /// Positions in that tree.
    pub tree_nodes: usize,
}

impl BenchReport {
    /// Simulations per second of a core: of its own time where that is known.
    pub fn rate(&self) -> f64 {
        let time = self.on_core.filter(|t| !t.is_zero()).unwrap_or(self.elapsed);
        self.simulations as f64 / time.as_secs_f64().max(1e-9)
    }
}

/// Searches `moves` moves in each of `games` games side by side, as self-play does: one leaf a game
/// in turn, [`visits`](SearchConfig::visits) simulations a move, the subtree reused. One thread, and
/// an evaluator that costs nothing: every answer is the same, even priors and value 0. The games
/// differ by up to sixteen random moves at their starts.
///
/// # Panics
/// Never: a search plays legal moves.
pub fn bench(size: BoardSize, config: &SearchConfig, games: usize, moves: usize) -> BenchReport {
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let share = 1.0 / size.actions() as f32;
    let answer = Evaluation::new(vec![share; size.actions()], Value::DRAW);
    let openings: Vec<GameState> = (0..games).map(|_| opening(size, &mut rng)).collect();
    let mut report = BenchReport {
        simulations: 0,
        elapsed: Duration::ZERO,
        on_core: None,
        signature: 0xcbf2_9ce4_8422_2325,
        tree_bytes: 0,
        tree_nodes: 0,
    };
    let (began, core_began) = (Instant::now(), time_on_core());
    let mut trees: Vec<Option<Tree>> =
        openings.iter().map(|state| Some(Tree::new(state.clone(), config))).collect();
    for _ in 0..moves {
        let mut busy = true;
        while busy {
            busy = false;
            for tree in trees.iter_mut().flatten() {
                if tree.is_root_expanded() && tree.simulations() >= config.visits {
                    continue;
                }
                busy = true;
                if let Selected::Leaf(leaf) = tree.select() {
                    tree.expand_and_backup(leaf, &answer);
                }
            }
        }
        for (slot, opening) in trees.iter_mut().zip(&openings) {
            let Some(tree) = slot.take() else { continue };
            *slot = Some(make_move(tree, opening, &mut report, &mut rng));
        }
    }
    report.elapsed = began.elapsed();
    report.on_core = time_on_core().zip(core_began).map(|(now, then)| now.saturating_sub(then));
    report
}

/// This thread's time on a core so far, from the scheduler's own count.
fn time_on_core() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

fn opening(size: BoardSize, rng: &mut ChaCha8Rng) -> GameState {
    let komi = Komi::from_points(7.5).expect("a usual komi");
    let mut state = GameState::new(size, Rules::tromp_taylor(), komi);
    for _ in 0..rng.random_range(0..=16.min(size.area() / 4)) {
        let points: Vec<usize> =
            state.legal_moves().iter().filter(|&a| a != size.pass_action()).collect();
        if points.is_empty() {
            break;
        }
        let action = points[rng.random_range(0..points.len())];
        state.play(size.move_at(action)).expect("a legal move");
    }
    state
}

/// Counts a finished search and moves on; a game that ends begins anew.
fn make_move(
    tree: Tree,
    opening: &GameState,
    report: &mut BenchReport,
    rng: &mut ChaCha8Rng,
) -> Tree {
    let root = tree.root();
    report.simulations += u64::from(tree.simulations());
    if tree.node_count() > report.tree_nodes {
        (report.tree_nodes, report.tree_bytes) = (tree.node_count(), tree.memory_bytes());
    }
    let action = choose_move(&root, 1.0, rng);
    let mut fold = |word: u64| {
        report.signature = (report.signature ^ word).wrapping_mul(0x0100_0000_01b3);
    };
    root.children.iter().for_each(|child| fold(u64::from(child.visits)));
    fold(action as u64);
    let mv = tree.root_state().size().move_at(action);
    let config = tree.config().clone();
    let next = tree.advance(mv);
    if next.root_state().is_over() { Tree::new(opening.clone(), &config) } else { next }
}
