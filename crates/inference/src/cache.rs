//! Remembering answers: transpositions and reused openings cost the network nothing.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::num::NonZeroUsize;

use tengen_rules::{BoardSize, Komi, LegalMask, Rules, Symmetry};

use crate::{EvalError, Evaluation, Leaf, LeafEvaluator};

/// What a cache saved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheStats {
    /// Leaves answered from memory.
    pub hits: u64,
    /// Leaves passed on.
    pub misses: u64,
}

/// A bounded memory in front of an evaluator.
///
/// Two generations: when the young one is full it becomes the old one, whose entries are forgotten
/// together unless used again. Which entries live depends on the order of questions alone, so a
/// seeded run stays reproducible. Assumes the inner evaluator answers the same leaf the same way.
#[derive(Debug)]
pub struct CachedEvaluator<E> {
    inner: E,
    generation: usize,
    young: HashMap<Key, Entry>,
    old: HashMap<Key, Entry>,
    stats: CacheStats,
}

/// All that an evaluation may depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Key {
    situation: u64,
    size: BoardSize,
    symmetry: usize,
    rules: Rules,
    komi: Komi,
}

impl Hash for Key {
    // The situation hash alone spreads well; the rest only has to tell equal ones apart.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.situation.hash(state);
        self.symmetry.hash(state);
    }
}

#[derive(Debug, Clone)]
struct Entry {
    // Under superko, legality can depend on boards older than the situation hash sees; an entry
    // answers only for positions with the very same legal moves.
    legal: LegalMask,
    evaluation: Evaluation,
}

impl<E: LeafEvaluator> CachedEvaluator<E> {
    /// Remembers at most `capacity` evaluations (at least 2).
    pub fn new(inner: E, capacity: usize) -> Self {
        CachedEvaluator {
            inner,
            generation: (capacity / 2).max(1),
            young: HashMap::new(),
            old: HashMap::new(),
            stats: CacheStats::default(),
        }
    }

    /// Hits and misses so far.
    pub fn stats(&self) -> CacheStats {
        self.stats
    }

    /// Forgets everything; the counts of hits and misses stay.
    pub fn clear(&mut self) {
        self.young.clear();
        self.old.clear();
    }

    /// Evaluations remembered now.
    pub fn len(&self) -> usize {
        self.young.len() + self.old.len()
    }

    /// Whether nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn look_up(&mut self, key: &Key, legal: &LegalMask) -> Option<Evaluation> {
        if let Some(entry) = self.young.get(key) {
            return entry.agrees(legal).then(|| entry.evaluation.clone());
        }
        let entry = self.old.remove(key)?;
        let answer = entry.agrees(legal).then(|| entry.evaluation.clone());
        self.remember(*key, entry);
        answer
    }

    fn remember(&mut self, key: Key, entry: Entry) {
        if self.young.len() >= self.generation {
            self.old = std::mem::take(&mut self.young);
        }
        self.old.remove(&key);
        self.young.insert(key, entry);
    }
}

impl Key {
    fn of(leaf: &Leaf<'_>) -> Self {
        let Leaf { state, symmetry } = *leaf;
        let symmetry: Symmetry = symmetry;
        Key {
            situation: state.situation_hash(),
            size: state.size(),
            symmetry: symmetry.index(),
            rules: state.rules(),
            komi: state.komi(),
        }
    }
}

impl Entry {
    fn agrees(&self, legal: &LegalMask) -> bool {
        self.legal.iter().eq(legal.iter())
    }
}

impl<E: LeafEvaluator> LeafEvaluator for CachedEvaluator<E> {
    fn max_batch(&self) -> NonZeroUsize {
        self.inner.max_batch()
    }

    fn evaluate(&mut self, leaves: &[Leaf<'_>]) -> Result<Vec<Evaluation>, EvalError> {
        let asked: Vec<(Key, LegalMask)> =
            leaves.iter().map(|leaf| (Key::of(leaf), leaf.state.legal_moves())).collect();
        let mut answers: Vec<Option<Evaluation>> =
            asked.iter().map(|(key, legal)| self.look_up(key, legal)).collect();
        let missing: Vec<usize> = (0..leaves.len()).filter(|&i| answers[i].is_none()).collect();
        self.stats.hits += (leaves.len() - missing.len()) as u64;
        self.stats.misses += missing.len() as u64;
        if !missing.is_empty() {
            let passed_on: Vec<Leaf<'_>> = missing.iter().map(|&i| leaves[i]).collect();
            let fresh = self.inner.evaluate(&passed_on)?;
            if fresh.len() != missing.len() {
                return Err(EvalError::WrongCount { asked: missing.len(), answered: fresh.len() });
            }
            for (&i, evaluation) in missing.iter().zip(fresh) {
                let (key, legal) = &asked[i];
                answers[i] = Some(evaluation.clone());
                self.remember(*key, Entry { legal: legal.clone(), evaluation });
            }
        }
        Ok(answers.into_iter().map(|a| a.expect("hit or freshly evaluated")).collect())
    }

    fn remembered(&self) -> u64 {
        self.stats.hits + self.inner.remembered()
    }
}

#[cfg(test)]
mod tests {
    use tengen_rules::{GameState, Move, Value};

    use super::*;
    use crate::{CountingEvaluator, ScriptedEvaluator, UniformEvaluator};

    fn opening(col: usize) -> GameState {
        let size = BoardSize::square(5).unwrap();
        let komi = Komi::from_points(0.5).unwrap();
        let mut state = GameState::new(size, Rules::tromp_taylor(), komi);
        state.play(Move::Play(size.point(col, 2))).unwrap();
        state
    }

    #[test]
    fn a_second_look_is_answered_from_memory_and_the_same() {
        let states: Vec<GameState> = (0..3).map(opening).collect();
        let mut cached = CachedEvaluator::new(CountingEvaluator::new(UniformEvaluator), 100);
        let leaves: Vec<Leaf<'_>> = states.iter().map(Leaf::new).collect();
        let first = cached.evaluate(&leaves).unwrap();
        let second = cached.evaluate(&leaves).unwrap();
        assert_eq!(first, second);
        assert_eq!(cached.stats(), CacheStats { hits: 3, misses: 3 });
        assert_eq!((&mut cached as &mut dyn LeafEvaluator).remembered(), 3);
        assert_eq!(cached.inner.stats(), crate::EvalStats { evaluations: 3, batches: 1 });
    }

    #[test]
    fn hits_and_misses_of_one_batch_keep_their_order() {
        let script = ScriptedEvaluator::new(|leaf| {
            let value = leaf.state.size().col(match leaf.state.last_move() {
                Some(Move::Play(p)) => p,
                _ => unreachable!("each state has one stone"),
            });
            let mut answer = UniformEvaluator.evaluate(&[*leaf])?.remove(0);
            answer.value = Value::new(value as f32 / 10.0);
            Ok(answer)
        });
        let mut cached = CachedEvaluator::new(script, 100);
        let states: Vec<GameState> = (0..5).map(opening).collect();
        cached.evaluate(&[Leaf::new(&states[1]), Leaf::new(&states[3])]).unwrap();
        let leaves: Vec<Leaf<'_>> = states.iter().map(Leaf::new).collect();
        let answers = cached.evaluate(&leaves).unwrap();
        for (col, answer) in answers.iter().enumerate() {
            assert_eq!(answer.value, Value::new(col as f32 / 10.0));
        }
        assert_eq!(cached.stats(), CacheStats { hits: 2, misses: 5 });
    }

    #[test]
    fn symmetries_are_remembered_apart_and_the_bound_holds() {
        let states: Vec<GameState> = (0..5).map(opening).collect();
        let mut cached = CachedEvaluator::new(UniformEvaluator, 6);
        for symmetry in Symmetry::all() {
            for state in &states {
                cached.evaluate(&[Leaf { state, symmetry }]).unwrap();
                assert!(cached.len() <= 6);
            }
        }
        assert_eq!(cached.stats(), CacheStats { hits: 0, misses: 40 });
    }
}
