//! Advance: the subtree of the move played is the next search's head start.

use tengen_rules::Move;

use crate::tree::{Edge, NO_NODE, NodeKind, ROOT};
use crate::{SearchConfig, Tree};

impl Tree {
    /// The tree after `mv`: what was found below it is kept, the rest is forgotten. Leaves still in
    /// flight lapse with the old root. The new root has the evaluator's priors, without noise.
    ///
    /// # Panics
    /// When `mv` is illegal at the root.
    pub fn advance(self, mv: Move) -> Tree {
        let config = self.config.clone();
        self.advance_with(mv, &config)
    }

    /// [`advance`](Tree::advance), searching on under another configuration.
    ///
    /// # Panics
    /// When `mv` is illegal at the root.
    pub fn advance_with(self, mv: Move, config: &SearchConfig) -> Tree {
        let action = self.state.size().action(mv);
        let mut state = self.state.clone();
        state.play(mv).expect("a tree advances by a legal move");
        let mut next = Tree::new(state, config);
        next.epoch = self.epoch.wrapping_add(1);
        let child = self.edges_of(ROOT).iter().find(|e| e.action as usize == action);
        let kept = child.map_or(NO_NODE, |edge| edge.child);
        if kept != NO_NODE {
            next.graft(&self, kept);
        }
        if next.is_root_expanded() {
            next.prepare_root();
        }
        next
    }

    /// Copies the subtree of `old` at `top` into this empty tree, breadth first, so that edges of
    /// shallow nodes lie close together.
    fn graft(&mut self, old: &Tree, top: u32) {
        self.nodes.clear();
        self.nodes.push(old.nodes[top as usize]);
        let mut origin = vec![top];
        let mut at = 0;
        while at < self.nodes.len() {
            let first = self.edges.len() as u32;
            for edge in old.edges_of(origin[at]) {
                let mut child = NO_NODE;
                // A leaf that was still in flight is met again by the next selection.
                if edge.child != NO_NODE && old.nodes[edge.child as usize].kind != NodeKind::Leaf {
                    child = self.nodes.len() as u32;
                    self.nodes.push(old.nodes[edge.child as usize]);
                    origin.push(edge.child);
                }
                self.edges.push(Edge { child, in_flight: 0, ..*edge });
            }
            self.nodes[at].first_edge = first;
            self.nodes[at].in_flight = 0;
            at += 1;
        }
    }
}
