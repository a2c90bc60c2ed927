//! Advance: the subtree of the move played is the next search's head start.

use tengen_rules::Move;

use crate::arena::{Bounds, Edge, NO_NODE, Node, NodeKind, ROOT};
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
    pub fn advance_with(mut self, mv: Move, config: &SearchConfig) -> Tree {
        let action = self.state.size().action(mv);
        let mut state = self.state.clone();
        state.play(mv).expect("a tree advances by a legal move");
        let mut next = Tree::new(state, config);
        next.epoch = self.epoch.wrapping_add(1);
        next.scratch = std::mem::take(&mut self.scratch);
        let edges = self.arena.edges_of(ROOT);
        let child = edges.iter().find(|e| e.action as usize == action);
        // Below a root with noise or a temperature every node has the evaluator's own priors; a
        // circle of a graph may lead back to that root, which has not.
        let kept = child.map_or(NO_NODE, |edge| edge.child);
        let alike =
            self.config.graph == config.graph && self.config.score_utility == config.score_utility;
        if kept != NO_NODE && kept != ROOT && alike {
            next.graft(&self, kept);
        }
        if next.is_root_expanded() {
            next.prepare_root();
        }
        next
    }

    /// Copies what of `old` can be reached from `top` into this empty tree, breadth first, so that
    /// edges of shallow nodes lie close together.
    fn graft(&mut self, old: &Tree, top: u32) {
        let mut renumbered = vec![NO_NODE; old.arena.nodes.len()];
        renumbered[top as usize] = ROOT;
        let mut origin = vec![top];
        let mut at = 0;
        self.copy_node(old, top, ROOT);
        while at < origin.len() {
            for edge in old.arena.edges_of(origin[at]) {
                let mut child = NO_NODE;
                // A leaf that was still in flight is met again by the next selection; the old root
                // is not of this tree.
                let there = edge.child != NO_NODE && edge.child != ROOT;
                if there && old.arena.node(edge.child).kind != NodeKind::Leaf {
                    child = renumbered[edge.child as usize];
                    if child == NO_NODE {
                        child = self.arena.push(Node::reached(None));
                        renumbered[edge.child as usize] = child;
                        origin.push(edge.child);
                        self.copy_node(old, edge.child, child);
                    }
                }
                let bounds = if self.config.solve { edge.bounds } else { Bounds::OPEN };
                self.arena.push_edge(at as u32, Edge { child, in_flight: 0, bounds, ..*edge });
            }
            at += 1;
        }
        self.table.carry_over(&old.table, |node| {
            Some(renumbered[node as usize]).filter(|&new| new != NO_NODE)
        });
    }

    /// Copies a node and its untried priors, without its edges.
    fn copy_node(&mut self, old: &Tree, from: u32, to: u32) {
        let node = old.arena.node(from);
        *self.arena.node_mut(to) = node.without_edges();
        if node.kind == NodeKind::Expanded {
            if !self.config.solve {
                self.arena.node_mut(to).bounds = Bounds::OPEN;
            }
            if let (Some(to), Some(from)) = (self.arena.results_mut(to), old.arena.results(from)) {
                *to = *from;
            }
            let row = self.arena.expand(to, node.own_value);
            row.copy_from_slice(old.arena.prior_row(from));
        }
    }
}
