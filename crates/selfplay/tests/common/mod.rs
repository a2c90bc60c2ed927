//! Small games that are quick to play, and evaluators that never change their mind.

#![allow(dead_code, reason = "each test file uses its part")]

use std::num::NonZeroUsize;

use tengen_inference::{EvalError, Evaluation, Leaf, LeafEvaluator, ScriptedEvaluator};
use tengen_rules::{BoardSize, Komi, Rules, Value};
use tengen_search::SearchConfig;
use tengen_selfplay::{GameSettings, SelfPlayConfig};

pub fn settings(side: usize) -> GameSettings {
    GameSettings {
        size: BoardSize::square(side).unwrap(),
        rules: Rules::tromp_taylor(),
        komi: Komi::from_points(0.5).unwrap(),
    }
}

pub fn config() -> SelfPlayConfig {
    SelfPlayConfig {
        workers: 1,
        games_in_flight: 4,
        cheap_visits: 4,
        temperature_moves: 6,
        ..SelfPlayConfig::default()
    }
}

pub fn search() -> SearchConfig {
    SearchConfig { visits: 12, ..SearchConfig::default() }
}

pub fn players() -> [String; 2] {
    ["net".into(), "net".into()]
}

/// An opinion about each position, made of its hash: uneven, repeatable, and of the board as it
/// lies, whatever the symmetry.
pub fn opinion(leaf: &Leaf<'_>) -> Evaluation {
    let mut noise = leaf.state.situation_hash();
    let mut next = || {
        noise =
            noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (noise >> 40) as f32 / (1u64 << 24) as f32
    };
    let mut policy = vec![0.0; leaf.state.size().actions()];
    leaf.state.legal_moves().iter().for_each(|a| policy[a] = 0.05 + next());
    let sum: f32 = policy.iter().sum();
    policy.iter_mut().for_each(|p| *p /= sum);
    Evaluation::new(policy, Value::new(next() - 0.5))
}

pub fn hashed() -> ScriptedEvaluator {
    ScriptedEvaluator::new(|leaf| Ok(opinion(leaf)))
}

pub fn boxed(evaluator: impl LeafEvaluator + 'static) -> Vec<Box<dyn LeafEvaluator>> {
    vec![Box::new(evaluator)]
}

pub fn never() -> bool {
    false
}

/// Answers `good` batches, then fails as `how` says.
pub struct Failing {
    pub good: usize,
    pub how: Failure,
}

#[derive(Clone, Copy, Debug)]
pub enum Failure {
    Error,
    Panic,
    TooFew,
    NotANumber,
}

impl LeafEvaluator for Failing {
    fn max_batch(&self) -> NonZeroUsize {
        NonZeroUsize::MAX
    }

    fn evaluate(&mut self, leaves: &[Leaf<'_>]) -> Result<Vec<Evaluation>, EvalError> {
        let mut answers: Vec<Evaluation> = leaves.iter().map(opinion).collect();
        if self.good > 0 {
            self.good -= 1;
            return Ok(answers);
        }
        match self.how {
            Failure::Error => return Err(EvalError::Backend("device lost".into())),
            Failure::Panic => panic!("device gone"),
            Failure::TooFew => drop(answers.pop()),
            Failure::NotANumber => answers[0].policy[0] = f32::NAN,
        }
        Ok(answers)
    }
}
