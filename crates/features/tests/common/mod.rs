//! Games for the tests, the same on every machine.
#![allow(dead_code, missing_docs, clippy::unwrap_used)]

use tengen_record::{EndReason, GameRecord, SearchRecord, Turn};
use tengen_rules::{BoardSize, Color, GameState, Komi, Outcome, Rules};

/// SplitMix64: enough chance for choosing moves.
pub struct Chance(pub u64);

impl Chance {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}

pub fn empty(width: usize, height: usize) -> GameState {
    let size = BoardSize::new(width, height).unwrap();
    GameState::new(size, Rules::tromp_taylor(), Komi::from_points(7.5).unwrap())
}

pub fn play(state: &mut GameState, vertices: &str) {
    for vertex in vertices.split_whitespace() {
        let mv = state.size().parse_vertex(vertex).unwrap();
        state.play(mv).unwrap();
    }
}

/// A random game of at most `moves` moves in which every second turn was a full search whose
/// policy leans on a few legal moves.
pub fn random_record(width: usize, height: usize, moves: usize, seed: u64) -> GameRecord {
    let mut chance = Chance(seed);
    let mut state = empty(width, height);
    let mut turns = Vec::new();
    while turns.len() < moves && !state.is_over() {
        let legal: Vec<usize> = state.legal_moves().iter().collect();
        let mut policy: Vec<(u16, u16)> = Vec::new();
        for (k, &action) in legal.iter().enumerate() {
            if k % 3 == chance.below(3) || policy.is_empty() {
                policy.push((action as u16, 1 + chance.below(50) as u16));
            }
        }
        let mv = state.size().move_at(legal[chance.below(legal.len())]);
        let search = SearchRecord {
            policy,
            root_value: 0.25,
            visits: 100,
            is_target: turns.len() % 2 == 0 || turns.len() % 5 == 3,
            weight: 1.0,
        };
        state.play(mv).unwrap();
        turns.push(Turn { mv, search: Some(search) });
    }
    GameRecord {
        size: state.size(),
        rules: state.rules(),
        komi: state.komi(),
        setup_black: Vec::new(),
        setup_white: Vec::new(),
        first_to_play: Color::Black,
        seed,
        players: [String::new(), String::new()],
        config_digest: String::new(),
        turns,
        outcome: Outcome::Resignation { winner: Color::White },
        end: EndReason::Resignation,
    }
}
