//! Expand and backup: the second half of a simulation.

use tengen_inference::Evaluation;
use tengen_rules::LegalMask;

use crate::arena::{Bounds, NO_ACTION, NodeKind, ROOT};
use crate::select::Step;
use crate::utility::Worth;
use crate::{PendingLeaf, Tree};

impl Tree {
    /// Gives the leaf its moves, each legal one (but those [left out](Tree::with_limits)) with the
    /// evaluation's prior, and carries the value to the root.
    ///
    /// # Panics
    /// When the leaf belongs to an earlier root, or the policy does not fit the board.
    pub fn expand_and_backup(&mut self, leaf: PendingLeaf, evaluation: &Evaluation) {
        self.claim(&leaf);
        let PendingLeaf { node, path, state, .. } = leaf;
        let worth = Worth::of_evaluation(&self.config, state.size(), evaluation);
        if self.arena.node(node).kind == NodeKind::Leaf {
            let size = state.size();
            let legal = self.scratch.legal.get_or_insert_with(|| LegalMask::empty(size));
            state.legal_moves_into(legal);
            let early = state.move_number() < self.config.pass_from_ply as usize;
            let pass = size.pass_action();
            if let Some(results) = self.arena.results_mut(node) {
                results.own = worth.result;
            }
            let row = self.arena.expand(node, worth.utility);
            let permitted = |a: &usize| {
                let waits = early && *a == pass;
                !waits && self.limits.permits(state.to_play(), *a, path.len())
            };
            let mut all_left_out = true;
            for a in legal.iter().filter(permitted) {
                // A prior that is no number, or below 0, is none.
                row[a] = evaluation.policy[a].max(0.0);
                all_left_out = false;
            }
            if all_left_out {
                row[pass] = evaluation.policy[pass].max(0.0);
            }
            self.arena.find_next(node);
            if node == ROOT {
                self.prepare_root();
            }
        }
        self.backup(&path, worth);
        self.return_walk(state, path);
    }

    /// Takes the leaf back unanswered: its virtual losses are lifted and nothing is counted.
    ///
    /// # Panics
    /// When the leaf belongs to an earlier root.
    pub fn abandon(&mut self, leaf: PendingLeaf) {
        self.claim(&leaf);
        for step in &leaf.path {
            let (node, edge) = self.arena.step_mut(step.node, step.edge);
            node.in_flight -= 1;
            edge.in_flight -= 1;
        }
        self.return_walk(leaf.state, leaf.path);
    }

    /// Takes back all leaves in flight at once: they lapse, and answers to them are refused. For
    /// stopping a search without waiting for its evaluations.
    pub fn abandon_all(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
        for node in 0..self.arena.nodes.len() as u32 {
            if std::mem::take(&mut self.arena.node_mut(node).in_flight) > 0 {
                self.arena.edges_of_mut(node).iter_mut().for_each(|edge| edge.in_flight = 0);
            }
        }
    }

    fn claim(&self, leaf: &PendingLeaf) {
        assert_eq!(leaf.epoch, self.epoch, "a leaf must be answered before its tree advances");
    }

    /// Adds what it is worth, for the player to move at the end of `path`, to every edge on the way: each
    /// edge belongs to the player above it, so the sign flips at each ply.
    pub(crate) fn backup(&mut self, path: &[Step], mut worth: Worth) {
        for &step in path.iter().rev() {
            worth = worth.turned();
            let value = worth.utility;
            if let Some(results) = self.arena.results_mut(step.node) {
                results.sum += worth.result;
            }
            let (node, edge) = self.arena.step_mut(step.node, step.edge);
            edge.visits += 1;
            edge.in_flight -= 1;
            node.visits += 1;
            node.in_flight -= 1;
            edge.value_sum += value;
            node.value_sum += value;
            edge.square_sum += value * value;
            node.square_sum += value * value;
            if self.config.graph {
                self.take_childs_mean(step);
            }
            if self.config.solve
                && let Some(result) = self.narrow(step)
            {
                worth = Worth::plain(result);
            }
        }
        if !path.is_empty() {
            self.simulations += 1;
        }
    }

    /// Carries what is proven below an edge up to its node: the edge's visits all count the exact
    /// result, and the node is as good as its best move. Answers the node's result once proven.
    fn narrow(&mut self, step: Step) -> Option<f32> {
        let child = self.arena.edge_mut(step.node, step.edge).child;
        let bounds = self.arena.node(child).bounds.turned();
        let (node, edge) = self.arena.step_mut(step.node, step.edge);
        if bounds == edge.bounds && bounds == Bounds::OPEN {
            return None;
        }
        edge.bounds = bounds;
        if let Some(result) = bounds.proven() {
            let visits = edge.visits as f32;
            node.value_sum += visits * result - edge.value_sum;
            node.square_sum += visits * result * result - edge.square_sum;
            edge.value_sum = visits * result;
            edge.square_sum = visits * result * result;
        }
        let untried = node.next_action != NO_ACTION;
        let edges = self.arena.edges_of(step.node);
        let low = edges.iter().map(|e| e.bounds.low).max().unwrap_or(-1);
        let high = edges.iter().map(|e| e.bounds.high).max().unwrap_or(1);
        let node = self.arena.node_mut(step.node);
        node.bounds = Bounds { low, high: if untried { 1 } else { high } };
        node.bounds.proven()
    }
}
