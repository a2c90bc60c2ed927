//! The last boards of a game as bitboards, newest first, in a ring that never reallocates.

use crate::board::Watch;
use crate::{BoardSize, Color};

/// Boards kept for encoding, the current one included: AlphaGo Zero shows the network eight.
pub const HISTORY: usize = 8;

/// A ring of [`HISTORY`] boards, two bitboards each, with the hash of each board.
#[derive(Debug)]
pub(crate) struct History {
    words: usize,
    newest: usize,
    len: usize,
    /// `[slot][colour][word]`.
    bits: Box<[u64]>,
    hashes: [u64; HISTORY],
}

impl Clone for History {
    fn clone(&self) -> History {
        History { bits: self.bits.clone(), ..*self }
    }

    fn clone_from(&mut self, source: &History) {
        self.words = source.words;
        self.newest = source.newest;
        self.len = source.len;
        self.bits.clone_from(&source.bits);
        self.hashes = source.hashes;
    }
}

impl History {
    /// One empty board.
    pub fn new(size: BoardSize) -> History {
        let words = size.area().div_ceil(64);
        let bits = vec![0; HISTORY * 2 * words].into_boxed_slice();
        History { words, newest: 0, len: 1, bits, hashes: [0; HISTORY] }
    }

    /// Boards held, the current one included.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Begins a new current board as a copy of the last.
    pub fn advance(&mut self) {
        let next = (self.newest + 1) % HISTORY;
        let board = 2 * self.words;
        let from = self.newest * board;
        self.bits.copy_within(from..from + board, next * board);
        self.hashes[next] = self.hashes[self.newest];
        self.newest = next;
        self.len = (self.len + 1).min(HISTORY);
    }

    /// The bitboard of a colour `plies_ago`; must be less than [`len`](Self::len).
    pub fn stones(&self, plies_ago: usize, color: Color) -> &[u64] {
        debug_assert!(plies_ago < self.len);
        let start = (self.slot(plies_ago) * 2 + color.index()) * self.words;
        &self.bits[start..start + self.words]
    }

    /// The stone at a point `plies_ago`.
    pub fn stone(&self, plies_ago: usize, point: usize) -> Option<Color> {
        let has = |c: Color| self.stones(plies_ago, c)[point / 64] >> (point % 64) & 1 == 1;
        Color::BOTH.into_iter().find(|&c| has(c))
    }

    /// The hash of the board `plies_ago`.
    pub fn hash(&self, plies_ago: usize) -> u64 {
        self.hashes[self.slot(plies_ago)]
    }

    fn toggle(&mut self, point: usize, color: Color, key: u64) {
        let start = (self.newest * 2 + color.index()) * self.words;
        self.bits[start + point / 64] ^= 1 << (point % 64);
        self.hashes[self.newest] ^= key;
    }

    fn slot(&self, plies_ago: usize) -> usize {
        (self.newest + HISTORY - plies_ago % HISTORY) % HISTORY
    }
}

impl Watch for History {
    fn placed(&mut self, point: usize, color: Color, key: u64) {
        self.toggle(point, color, key);
    }

    fn removed(&mut self, point: usize, color: Color, key: u64) {
        self.toggle(point, color, key);
    }
}
