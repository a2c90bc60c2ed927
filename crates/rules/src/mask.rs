//! The legal actions of a position as a bit set.

use crate::BoardSize;

/// A set of actions of one board size; see [`BoardSize::action`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LegalMask {
    words: Vec<u64>,
    actions: usize,
}

impl LegalMask {
    /// The empty set over a size's actions.
    pub fn empty(size: BoardSize) -> LegalMask {
        let actions = size.actions();
        LegalMask { words: vec![0; actions.div_ceil(64)], actions }
    }

    /// Empties the set and fits it to a size; keeps the memory.
    pub fn reset(&mut self, size: BoardSize) {
        self.actions = size.actions();
        self.words.clear();
        self.words.resize(self.actions.div_ceil(64), 0);
    }

    /// Adds an action.
    ///
    /// # Panics
    /// When the action is not one of the size.
    pub fn insert(&mut self, action: usize) {
        assert!(action < self.actions, "action {action} of {}", self.actions);
        self.words[action / 64] |= 1 << (action % 64);
    }

    /// Adds the actions of one word of bits.
    pub(crate) fn insert_word(&mut self, word: usize, bits: u64) {
        self.words[word] |= bits;
    }

    /// Whether the action is in the set; an action beyond the size is not.
    pub fn contains(&self, action: usize) -> bool {
        action < self.actions && self.words[action / 64] >> (action % 64) & 1 == 1
    }

    /// How many actions are in the set.
    pub fn count(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// How many actions the size has, legal or not.
    pub fn actions(&self) -> usize {
        self.actions
    }

    /// The actions in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        self.words.iter().enumerate().flat_map(|(i, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                (rest != 0).then(|| {
                    let bit = rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    i * 64 + bit
                })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iter_count_and_contains_agree() {
        let mut mask = LegalMask::empty(BoardSize::square(9).unwrap());
        for action in [0, 63, 64, 81] {
            mask.insert(action);
        }
        assert_eq!(mask.iter().collect::<Vec<_>>(), [0, 63, 64, 81]);
        assert_eq!(mask.count(), 4);
        assert!(mask.contains(64) && !mask.contains(65) && !mask.contains(1000));
        mask.reset(BoardSize::square(2).unwrap());
        assert_eq!((mask.count(), mask.actions()), (0, 5));
    }
}
