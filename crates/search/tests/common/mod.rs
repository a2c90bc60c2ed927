//! Positions and evaluators that the tests of the tree share.
#![allow(dead_code, clippy::unwrap_used)] // each test binary uses its own part of the helpers

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tengen_inference::{Evaluation, Leaf, LeafEvaluator, ScriptedEvaluator, UniformEvaluator};
use tengen_rules::{BoardSize, Color, GameState, Komi, Move, Outcome, Point, Rules, Value};
use tengen_search::{SearchConfig, Selected, Tree};

/// An empty board under Tromp-Taylor rules.
pub fn empty(side: usize, komi: f64) -> GameState {
    let size = BoardSize::square(side).unwrap();
    GameState::new(size, Rules::tromp_taylor(), Komi::from_points(komi).unwrap())
}

/// A drawn position: `X` Black, `O` White, rows from the top.
pub fn drawn(rows: &[&str], to_play: Color, komi: f64) -> GameState {
    let size = BoardSize::new(rows[0].len(), rows.len()).unwrap();
    let stones = |wanted: char| -> Vec<Point> {
        let cells = rows.iter().flat_map(|row| row.chars());
        cells.enumerate().filter(|&(_, c)| c == wanted).map(|(i, _)| Point::from_index(i)).collect()
    };
    let komi = Komi::from_points(komi).unwrap();
    GameState::with_setup(size, Rules::tromp_taylor(), komi, &stones('X'), &stones('O'), to_play)
        .unwrap()
}

pub fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// PUCT with `c = 1` whatever the visits, no first-play reduction, no noise: sums a hand can do.
pub fn by_hand() -> SearchConfig {
    SearchConfig {
        c_puct_init: 1.0,
        c_puct_base: 1e12,
        fpu_reduction: 0.0,
        root_fpu_reduction: 0.0,
        dirichlet_fraction: 0.0,
        leaves_per_batch: 1,
        ..SearchConfig::default()
    }
}

/// Uniform priors with the value `value` says.
pub fn uniform_with(value: impl Fn(&GameState) -> f32 + Send + 'static) -> ScriptedEvaluator {
    ScriptedEvaluator::new(move |leaf| {
        let mut answer = UniformEvaluator.evaluate(&[*leaf])?.remove(0);
        answer.value = Value::new(value(leaf.state));
        Ok(answer)
    })
}

/// Who would win if the game ended here.
pub fn counts_the_board() -> ScriptedEvaluator {
    uniform_with(|state| {
        let outcome: Outcome = state.score_now();
        outcome.value_for(state.to_play()).get()
    })
}

/// Runs one simulation; answers the leaf's moves from the root, or `None` at a finished game.
pub fn simulate(tree: &mut Tree, evaluator: &mut dyn LeafEvaluator) -> Option<GameState> {
    match tree.select() {
        Selected::Terminal => None,
        Selected::Leaf(leaf) => {
            let state = leaf.state().clone();
            assert!(!state.is_over(), "a finished game needs no evaluation");
            let answer = ask(evaluator, &state);
            tree.expand_and_backup(leaf, &answer);
            Some(state)
        }
    }
}

pub fn ask(evaluator: &mut dyn LeafEvaluator, state: &GameState) -> Evaluation {
    let answer = evaluator.evaluate(&[Leaf::new(state)]).unwrap().remove(0);
    answer.check(state).unwrap();
    answer
}

pub fn play_at(state: &GameState, col: usize, row: usize) -> Move {
    Move::Play(state.size().point(col, row))
}

/// Priors and values that depend on the position's stones and player alone, without pattern: no
/// ties, and every search has something to find.
pub fn opinionated() -> ScriptedEvaluator {
    ScriptedEvaluator::new(|leaf| {
        let state = leaf.state;
        let mut word = state.hash() ^ (state.to_play() == Color::White) as u64;
        let mut draw = || {
            word = word.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            ((word >> 40) as f32 + 0.5) / (1 << 24) as f32
        };
        let mut policy = vec![0.0; state.size().actions()];
        state.legal_moves().iter().for_each(|a| policy[a] = draw().powi(4));
        let sum: f32 = policy.iter().sum();
        policy.iter_mut().for_each(|p| *p /= sum);
        Ok(Evaluation::new(policy, Value::new(draw() * 1.6 - 0.8)))
    })
}

/// Priors and values that hang on distances between stones and on whose they are, nothing else: a
/// turned board gets turned answers, swapped colours the same. In whole numbers, so exactly so.
pub fn impartial() -> ScriptedEvaluator {
    ScriptedEvaluator::new(|leaf| {
        let state = leaf.state;
        let size = state.size();
        let stones: Vec<(usize, usize, u64)> = size
            .points()
            .filter_map(|p| {
                let own = u64::from(state.stone(p)? == state.to_play());
                Some((size.col(p), size.row(p), own))
            })
            .collect();
        let look = |col: usize, row: usize| {
            let edges = [col.min(size.width() - 1 - col), row.min(size.height() - 1 - row)];
            let place = edges[0].max(edges[1]) * 32 + edges[0].min(edges[1]);
            stones.iter().fold(scramble(place as u64), |sum, &(c, r, own)| {
                let apart = c.abs_diff(col).pow(2) + r.abs_diff(row).pow(2);
                sum.wrapping_add(scramble(1_000 + (apart as u64) * 2 + own))
            })
        };
        let whole = stones.iter().fold(7u64, |sum, &(c, r, own)| {
            sum.wrapping_add(scramble(look(c, r).wrapping_add(own)))
        });
        let fraction = |word: u64| ((scramble(word) >> 40) as f32 + 0.5) / (1 << 24) as f32;
        let mut policy = vec![0.0; size.actions()];
        for action in state.legal_moves().iter() {
            let word = match size.move_at(action) {
                Move::Play(p) => look(size.col(p), size.row(p)),
                Move::Pass => whole,
            };
            policy[action] = fraction(word).powi(4);
        }
        let sum: f32 = policy.iter().sum();
        policy.iter_mut().for_each(|p| *p /= sum);
        Ok(Evaluation::new(policy, Value::new(fraction(whole ^ 1) * 1.6 - 0.8)))
    })
}

fn scramble(word: u64) -> u64 {
    let z = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
