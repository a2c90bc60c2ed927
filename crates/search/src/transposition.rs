//! Graph search: one node for one position, however it was reached.
//!
//! Off unless [`graph`](crate::SearchConfig::graph) says so. A position here is the stones, the
//! player, the passes and the legal moves: what a ko or superko forbids now tells two otherwise
//! equal boards apart, as it must, since the node's moves are the legal ones. The boards before it
//! do not, although an encoder may see them: with them no two orders of moves would ever meet.
//!
//! A walk always plays a real game from the root, so superko is enforced by the rules, and it is
//! the position reached, not the edge, that decides which node comes next.

use std::collections::HashMap;

use tengen_rules::{Color, GameState, LegalMask};

use crate::Tree;
use crate::arena::{NodeKind, ROOT};
use crate::select::Step;

/// From positions to nodes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    nodes: HashMap<u64, u32>,
    legal: Option<LegalMask>,
}

impl Table {
    pub fn enter_root(&mut self, state: &GameState, graph: bool) {
        if graph {
            let key = self.key(state);
            self.nodes.insert(key, ROOT);
        }
    }

    /// The node of a position; `make` is asked for one where it is new.
    pub fn node_of(&mut self, state: &GameState, make: impl FnOnce() -> u32) -> u32 {
        let key = self.key(state);
        *self.nodes.entry(key).or_insert_with(make)
    }

    /// Takes over the entries of `old` whose nodes were kept, under their new numbers.
    pub fn carry_over(&mut self, old: &Table, renumbered: impl Fn(u32) -> Option<u32>) {
        let kept = old.nodes.iter().filter_map(|(&key, &node)| Some((key, renumbered(node)?)));
        self.nodes.extend(kept);
    }

    pub fn bytes(&self) -> usize {
        self.nodes.capacity() * (size_of::<(u64, u32)>() + 1)
    }

    fn key(&mut self, state: &GameState) -> u64 {
        let legal = self.legal.get_or_insert_with(|| LegalMask::empty(state.size()));
        state.legal_moves_into(legal);
        let white = u64::from(state.to_play() == Color::White);
        let mut key = mix(state.hash() ^ mix(white << 32 | u64::from(state.consecutive_passes())));
        for action in legal.iter() {
            key = key.rotate_left(5) ^ action as u64;
            key = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
        mix(key)
    }
}

/// The finaliser of splitmix64 (Steele, Lea and Flood 2014).
fn mix(x: u64) -> u64 {
    let z = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Tree {
    /// Whether a walk should end at `node`, reached over an edge of `searched` visits: the node has
    /// been visited more often by other ways, or the walk has gone round in a circle.
    pub(crate) fn knows_better(&self, node: u32, searched: u32, path: &[Step]) -> bool {
        let here = self.arena.node(node);
        here.kind == NodeKind::Expanded
            && (here.visits >= searched || path.iter().any(|step| step.node == node))
    }

    /// Sets what an edge has seen to its child's present means: the child may have been visited by
    /// other ways.
    pub(crate) fn take_childs_mean(&mut self, step: Step) {
        let child = self.arena.edge_mut(step.node, step.edge).child;
        let child = self.arena.node(child);
        let (value, square) = match child.bounds.proven() {
            Some(result) => (-result, result * result),
            None => (-child.mean_value(), child.mean_square()),
        };
        let (node, edge) = self.arena.step_mut(step.node, step.edge);
        let visits = edge.visits as f32;
        node.value_sum += visits * value - edge.value_sum;
        node.square_sum += visits * square - edge.square_sum;
        edge.value_sum = visits * value;
        edge.square_sum = visits * square;
    }
}
