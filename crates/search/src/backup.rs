//! Expand and backup: the second half of a simulation.

use tengen_inference::Evaluation;

use crate::select::Step;
use crate::tree::{Edge, NodeKind, ROOT};
use crate::{PendingLeaf, Tree};

impl Tree {
    /// Gives the leaf its edges, one a legal move with the evaluation's prior, and carries the
    /// value to the root.
    ///
    /// # Panics
    /// When the leaf belongs to an earlier root, or the policy does not fit the board.
    pub fn expand_and_backup(&mut self, leaf: PendingLeaf, evaluation: &Evaluation) {
        self.claim(&leaf);
        let value = evaluation.value.get();
        if self.nodes[leaf.node as usize].kind == NodeKind::Leaf {
            let first = self.edges.len();
            let legal = leaf.state.legal_moves();
            self.edges.extend(legal.iter().map(|a| Edge::new(a, evaluation.policy[a])));
            let node = &mut self.nodes[leaf.node as usize];
            node.first_edge = first as u32;
            node.edge_count = (self.edges.len() - first) as u16;
            node.kind = NodeKind::Expanded;
            node.own_value = value;
            if leaf.node == ROOT {
                self.prepare_root();
            }
        }
        self.backup(&leaf.path, value);
    }

    /// Takes the leaf back unanswered: its virtual losses are lifted and nothing is counted.
    ///
    /// # Panics
    /// When the leaf belongs to an earlier root.
    pub fn abandon(&mut self, leaf: PendingLeaf) {
        self.claim(&leaf);
        for step in &leaf.path {
            self.nodes[step.node as usize].in_flight -= 1;
            self.edges[step.edge as usize].in_flight -= 1;
        }
    }

    fn claim(&self, leaf: &PendingLeaf) {
        assert_eq!(leaf.epoch, self.epoch, "a leaf must be answered before its tree advances");
    }

    /// Adds `value`, for the player to move at the end of `path`, to every edge on the way: each
    /// edge belongs to the player above it, so the sign flips at each ply.
    pub(crate) fn backup(&mut self, path: &[Step], mut value: f32) {
        for step in path.iter().rev() {
            value = -value;
            let edge = &mut self.edges[step.edge as usize];
            edge.visits += 1;
            edge.value_sum += value;
            edge.in_flight -= 1;
            let node = &mut self.nodes[step.node as usize];
            node.visits += 1;
            node.value_sum += value;
            node.in_flight -= 1;
        }
        if !path.is_empty() {
            self.simulations += 1;
        }
    }
}
