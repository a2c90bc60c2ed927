//! Select: from the root to a leaf.

use tengen_rules::GameState;

use crate::Tree;
use crate::arena::{NO_NODE, Node, NodeKind, ROOT};
use crate::puct::Choice;
use crate::tree::result_of;
use crate::utility::Worth;

/// Where a selection ended.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly every selection is a leaf; a box would cost")]
pub enum Selected {
    /// A position to evaluate.
    Leaf(PendingLeaf),
    /// Nothing to evaluate: a finished game, or (where the switches are on) a proven position or a
    /// transposition searched further elsewhere. Its value is already backed up.
    Terminal,
}

/// A leaf in flight. It is owed an answer, once: hand it to
/// [`expand_and_backup`](Tree::expand_and_backup) or [`abandon`](Tree::abandon) of the tree it came
/// from; until then its path is charged virtual losses.
#[derive(Debug)]
#[must_use = "a leaf in flight holds virtual losses until it is backed up or abandoned"]
pub struct PendingLeaf {
    pub(crate) epoch: u32,
    pub(crate) node: u32,
    pub(crate) path: Vec<Step>,
    pub(crate) state: GameState,
}

/// A node passed and the ordinal of the edge taken there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub node: u32,
    pub edge: u16,
}

impl PendingLeaf {
    /// The position to evaluate.
    pub fn state(&self) -> &GameState {
        &self.state
    }

    /// Plies from the root; 0 for the root itself.
    pub fn depth(&self) -> usize {
        self.path.len()
    }
}

impl Tree {
    /// Walks from the root to a leaf.
    ///
    /// The first selection of a new tree gives the root. While leaves are in flight a selection
    /// may reach one of them again; that second leaf is as good as the first. On a root where the
    /// game is over every selection is [`Selected::Terminal`] and counts nothing.
    pub fn select(&mut self) -> Selected {
        let (mut state, mut path) = self.borrow_walk();
        let mut node = ROOT;
        let known = loop {
            let here = *self.arena.node(node);
            match here.kind {
                NodeKind::Terminal => {
                    let result = self.arena.results(node).map_or(here.own_value, |r| r.own);
                    break Some(Worth { utility: here.own_value, result });
                }
                NodeKind::Leaf => break None,
                NodeKind::Expanded => {}
            }
            if node != ROOT
                && let Some(result) = here.bounds.proven()
            {
                break Some(Worth::plain(result));
            }
            let edge = match self.choose(node) {
                Choice::Tried(edge) => edge,
                Choice::Untried(action) => self.open_edge(node, action),
            };
            let passed = Step { node, edge };
            let (at, edge) = self.arena.step_mut(node, edge);
            at.in_flight += 1;
            edge.in_flight += 1;
            let (searched, mv) = (edge.visits, state.size().move_at(edge.action as usize));
            state.play(mv).expect("edges are legal moves");
            path.push(passed);
            node = self.child(passed, &state);
            if self.config.graph && self.knows_better(node, searched, &path) {
                break Some(Worth::plain(self.arena.node(node).mean_value()));
            }
        };
        match known {
            None => Selected::Leaf(PendingLeaf { epoch: self.epoch, node, path, state }),
            Some(worth) => {
                self.backup(&path, worth);
                self.return_walk(state, path);
                Selected::Terminal
            }
        }
    }

    /// The node behind an edge, made if it is new. In a graph the position decides which node that
    /// is: two histories of one node may differ in what their superko allows later on.
    fn child(&mut self, step: Step, state: &GameState) -> u32 {
        let known = self.arena.edge_mut(step.node, step.edge).child;
        let child = if self.config.graph {
            let arena = &mut self.arena;
            self.table.node_of(state, || arena.push(Node::reached(result_of(state))))
        } else if known == NO_NODE {
            let end = Worth::of_end(&self.config, state);
            self.reach(end)
        } else {
            return known;
        };
        if child != known {
            self.arena.edge_mut(step.node, step.edge).child = child;
        }
        child
    }

    fn choose(&mut self, node: u32) -> Choice {
        if !self.config.gumbel {
            return self.puct_choice(node);
        }
        if node == ROOT { self.halving_choice() } else { self.lagging_choice(node) }
    }

    /// A state at the root and an empty path, from the stock where there is one.
    fn borrow_walk(&mut self) -> (GameState, Vec<Step>) {
        match self.scratch.spare.pop() {
            Some((mut state, mut path)) => {
                state.clone_from(&self.state);
                path.clear();
                (state, path)
            }
            None => (self.state.clone(), Vec::with_capacity(16)),
        }
    }

    /// Keeps a walk's memory for the next one.
    pub(crate) fn return_walk(&mut self, state: GameState, path: Vec<Step>) {
        self.scratch.spare.push((state, path));
    }
}
