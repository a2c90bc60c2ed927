//! What holds for any search: a naive twin, mirrors, totals.

#![allow(clippy::unwrap_used)] // helpers of tests may panic

mod common;

use std::collections::BTreeMap;

use common::*;
use tengen_inference::{Evaluation, LeafEvaluator};
use tengen_rules::{Color, GameState, Point, Symmetry};
use tengen_search::{SearchConfig, Tree, run_search};

/// Monte Carlo tree search as a page of a book has it: every node with its position, every score
/// computed afresh.
struct Twin {
    state: GameState,
    answer: Option<Evaluation>,
    children: BTreeMap<usize, (u32, f32, Twin)>,
}

impl Twin {
    fn new(state: GameState) -> Twin {
        Twin { state, answer: None, children: BTreeMap::new() }
    }

    /// One simulation; the value for the player to move here.
    fn simulate(
        &mut self,
        evaluator: &mut dyn LeafEvaluator,
        config: &SearchConfig,
        fpu: f32,
    ) -> f32 {
        if let Some(outcome) = self.state.outcome() {
            return outcome.value_for(self.state.to_play()).get();
        }
        let Some(answer) = &self.answer else {
            let answer = ask(evaluator, &self.state);
            let value = answer.value.get();
            self.answer = Some(answer);
            return value;
        };
        let visits: u32 = self.children.values().map(|c| c.0).sum();
        let sum: f32 = self.children.values().map(|c| c.1).sum();
        let mass: f32 = self.children.keys().map(|&a| answer.policy[a]).sum();
        let mean = (answer.value.get() + sum) / (1 + visits) as f32;
        let n = visits as f32;
        let rate = ((1.0 + n + config.c_puct_base) / config.c_puct_base).ln() + config.c_puct_init;
        let score = |action: usize| {
            let (n_a, q) = match self.children.get(&action) {
                Some((n_a, w, _)) => (*n_a as f32, w / *n_a as f32),
                None => (0.0, mean - fpu * mass.sqrt()),
            };
            q + rate * answer.policy[action] * n.max(1.0).sqrt() / (1.0 + n_a)
        };
        let legal: Vec<usize> = self.state.legal_moves().iter().collect();
        let best =
            legal.into_iter().reduce(|a, b| if score(b) > score(a) { b } else { a }).unwrap();
        let state = &self.state;
        let (n_a, w, child) = self.children.entry(best).or_insert_with(|| {
            let mut next = state.clone();
            next.play(state.size().move_at(best)).unwrap();
            (0, 0.0, Twin::new(next))
        });
        let value = -child.simulate(evaluator, config, config.fpu_reduction);
        *n_a += 1;
        *w += value;
        value
    }
}

#[test]
fn the_tree_searches_as_its_naive_twin() {
    let config = SearchConfig { leaves_per_batch: 1, ..SearchConfig::default() };
    let capture = drawn(&["XOO.", "XOOX", ".XXX"], Color::Black, 5.5);
    for (state, simulations) in [(empty(5, 0.5), 400), (empty(3, 0.5), 800), (capture, 400)] {
        let mut tree = Tree::new(state.clone(), &config);
        run_search(&mut tree, &mut opinionated(), simulations, &mut rng(1)).unwrap();
        let mut twin = Twin::new(state);
        for _ in 0..=simulations {
            twin.simulate(&mut opinionated(), &config, config.root_fpu_reduction);
        }
        for child in tree.root().children {
            let (n, w) = twin.children.get(&child.action).map_or((0, 0.0), |c| (c.0, c.1));
            assert_eq!(child.visits, n, "{child:?}");
            assert!(n == 0 || (child.q.get() - w / n as f32).abs() < 1e-5, "{child:?} {w}");
        }
    }
}

/// Black's and White's stones of an open position without any symmetry.
const STONES: [[(usize, usize); 3]; 2] = [[(1, 0), (2, 3), (4, 4)], [(0, 2), (3, 1), (2, 4)]];

fn position(symmetry: Symmetry, swapped: bool) -> GameState {
    let size = empty(5, 0.5).size();
    let mut points = STONES.map(|stones| -> Vec<Point> {
        stones.iter().map(|&(c, r)| symmetry.apply(size, size.point(c, r))).collect()
    });
    if swapped {
        points.swap(0, 1);
    }
    let komi = empty(5, if swapped { -2.5 } else { 2.5 }).komi();
    let to_play = if swapped { Color::White } else { Color::Black };
    let rules = tengen_rules::Rules::tromp_taylor();
    GameState::with_setup(size, rules, komi, &points[0], &points[1], to_play).unwrap()
}

fn visits(state: GameState, config: &SearchConfig) -> Vec<u32> {
    let mut visits = vec![0; state.size().actions()];
    let mut tree = Tree::new(state, config);
    run_search(&mut tree, &mut impartial(), 400, &mut rng(2)).unwrap();
    tree.root().children.iter().for_each(|c| visits[c.action] = c.visits);
    visits
}

fn configs() -> [SearchConfig; 3] {
    let plain = SearchConfig { leaves_per_batch: 1, ..SearchConfig::default() };
    let all =
        SearchConfig { c_puct_stdev_scale: 0.85, fpu_by_mass: true, solve: true, ..plain.clone() };
    let gumbel = SearchConfig { gumbel: true, visits: 400, ..plain.clone() };
    [plain, all, gumbel]
}

#[test]
fn swapped_colours_are_searched_alike() {
    for config in configs() {
        let plain = visits(position(Symmetry::IDENTITY, false), &config);
        assert!(plain.iter().filter(|&&n| n > 0).count() > 3, "{plain:?}");
        assert_eq!(plain, visits(position(Symmetry::IDENTITY, true), &config));
    }
}

#[test]
fn a_turned_board_is_searched_as_it_was_turned() {
    for config in configs() {
        let plain = visits(position(Symmetry::IDENTITY, false), &config);
        for symmetry in Symmetry::all() {
            let turned = visits(position(symmetry, false), &config);
            let size = empty(5, 0.5).size();
            for (action, &n) in plain.iter().enumerate() {
                assert_eq!(turned[symmetry.apply_action(size, action)], n, "{symmetry:?} {action}");
            }
        }
    }
}

#[test]
fn batches_of_any_size_make_the_same_number_of_visits() {
    for leaves_per_batch in [1, 2, 5, 8, 32] {
        for config in configs() {
            let config = SearchConfig { leaves_per_batch, ..config };
            let mut tree = Tree::new(empty(4, 0.5), &config);
            for wanted in [1, 64, 400] {
                let more = wanted - tree.simulations();
                run_search(&mut tree, &mut opinionated(), more, &mut rng(3)).unwrap();
                let root = tree.root();
                assert_eq!((tree.simulations(), root.visits), (wanted, wanted));
                assert_eq!(root.children.iter().map(|c| c.visits).sum::<u32>(), wanted);
            }
        }
    }
}
