//! What analysis asks of a tree: lines of play, and moves left out.
#![allow(clippy::unwrap_used)]

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tengen_inference::UniformEvaluator;
use tengen_rules::{BoardSize, Color, GameState, Komi, Rules};
use tengen_search::{MoveLimits, SearchConfig, Tree, run_search};

fn empty(side: usize) -> GameState {
    let size = BoardSize::square(side).unwrap();
    GameState::new(size, Rules::tromp_taylor(), Komi::from_points(0.5).unwrap())
}

fn searched(limits: MoveLimits, simulations: u32) -> Tree {
    let mut tree = Tree::new(empty(3), &SearchConfig::default()).with_limits(limits);
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    run_search(&mut tree, &mut UniformEvaluator, simulations, &mut rng).unwrap();
    tree
}

#[test]
fn a_variation_is_a_legal_line_of_falling_visits() {
    let tree = searched(MoveLimits::default(), 500);
    for child in tree.root().children {
        let line = tree.variation(child.action, 20);
        assert_eq!(line[0], (child.action, child.visits));
        assert!(line.windows(2).all(|pair| pair[0].1 >= pair[1].1), "{line:?}");
        let mut state = empty(3);
        line.iter().for_each(|&(action, _)| state.play(state.size().move_at(action)).unwrap());
    }
    assert_eq!(tree.variation(4, 1).len(), 1);
    assert_eq!(tree.variation(99, 20), []);
}

#[test]
fn an_avoided_move_is_never_tried_before_its_depth() {
    let mut limits = MoveLimits::default();
    limits.avoid(Color::Black, &[4, 9], 1);
    let tree = searched(limits, 200);
    let actions: Vec<usize> = tree.root().children.iter().map(|c| c.action).collect();
    assert_eq!(actions, [0, 1, 2, 3, 5, 6, 7, 8]);
}

#[test]
fn only_allowed_moves_are_tried_and_a_pass_is_left_at_the_worst() {
    let mut limits = MoveLimits::default();
    limits.allow(Color::Black, &[0, 4], 1);
    limits.allow(Color::White, &[], 2);
    let tree = searched(limits, 200);
    assert_eq!(tree.root().children.len(), 2);
    for child in tree.root().children {
        assert_eq!(tree.variation(child.action, 2)[1].0, 9, "White can only pass at ply 1");
    }
}
