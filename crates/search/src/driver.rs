//! The plain loop: one tree, one evaluator, nothing beside it.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tengen_inference::{EvalError, Leaf, LeafEvaluator};
use tengen_rules::{BoardSize, GameState, Symmetry};

use crate::{RootStats, SearchConfig, Selected, Tree, choose_best};

/// Runs `simulations` more simulations on `tree` (evaluating the root first if it is new), each
/// leaf through a random symmetry drawn from `rng`, as in the AlphaGo Zero paper. On a root where
/// the game is over there is nothing to do.
///
/// # Errors
/// The evaluator's; the tree is then as if the failed batch had not been selected.
pub fn run_search(
    tree: &mut Tree,
    evaluator: &mut dyn LeafEvaluator,
    simulations: u32,
    rng: &mut impl Rng,
) -> Result<(), EvalError> {
    if tree.root_state().is_over() {
        return Ok(());
    }
    let symmetries = symmetries_of(tree.root_state().size());
    let batch = (tree.config.leaves_per_batch as usize).clamp(1, evaluator.max_batch().get());
    let target = tree.simulations().saturating_add(simulations);
    while !tree.is_root_expanded() || tree.simulations() < target {
        let wanted = if tree.is_root_expanded() {
            batch.min((target - tree.simulations()) as usize)
        } else {
            1
        };
        let mut leaves = Vec::with_capacity(wanted);
        // A finished game is a simulation done already, so it takes a place in the batch.
        for _ in 0..wanted {
            if let Selected::Leaf(leaf) = tree.select() {
                leaves.push(leaf);
            }
        }
        if leaves.is_empty() {
            continue;
        }
        let questions: Vec<Leaf<'_>> = leaves
            .iter()
            .map(|leaf| Leaf {
                state: leaf.state(),
                symmetry: symmetries[rng.random_range(0..symmetries.len())],
            })
            .collect();
        let asked = questions.len();
        let answers = evaluator.evaluate(&questions).and_then(|answers| match answers.len() {
            answered if answered == asked => Ok(answers),
            answered => Err(EvalError::WrongCount { asked, answered }),
        });
        match answers {
            Ok(answers) => {
                for (leaf, answer) in leaves.into_iter().zip(&answers) {
                    tree.expand_and_backup(leaf, answer);
                }
            }
            Err(error) => {
                leaves.into_iter().for_each(|leaf| tree.abandon(leaf));
                return Err(error);
            }
        }
    }
    Ok(())
}

/// Searches `state` with [`visits`](SearchConfig::visits) simulations and no noise, and answers
/// the best action ([`choose_best`]) with the root's numbers. Same seed and evaluator, same answer. Where
/// the game is over the answer is a pass and a root without children.
///
/// # Errors
/// The evaluator's.
pub fn search_move(
    evaluator: &mut dyn LeafEvaluator,
    state: &GameState,
    config: &SearchConfig,
    seed: u64,
) -> Result<(usize, RootStats), EvalError> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut tree = Tree::new(state.clone(), config);
    run_search(&mut tree, evaluator, config.visits, &mut rng)?;
    let root = tree.root();
    let action = if root.children.is_empty() {
        state.size().pass_action()
    } else {
        choose_best(&root, config)
    };
    Ok((action, root))
}

fn symmetries_of(size: BoardSize) -> Vec<Symmetry> {
    Symmetry::all().into_iter().filter(|s| s.valid_for(size)).collect()
}
