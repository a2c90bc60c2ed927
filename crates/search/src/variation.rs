//! Principal variations: what the search expects after a root move.

use crate::Tree;
use crate::arena::{NO_NODE, ROOT};

impl Tree {
    /// The line that begins with the root move `action`: each action with its visits, the most
    /// visited reply (ties: the first tried) at every ply, as far as replies were visited and at
    /// most `limit` long. Empty when the root never tried such a move.
    pub fn variation(&self, action: usize, limit: usize) -> Vec<(usize, u32)> {
        let mut line = Vec::new();
        let mut edge = self.arena.edges_of(ROOT).iter().find(|edge| edge.action as usize == action);
        while let Some(at) = edge.filter(|at| at.visits > 0 && line.len() < limit) {
            line.push((at.action as usize, at.visits));
            if at.child == NO_NODE {
                break;
            }
            let replies = self.arena.edges_of(at.child).iter();
            edge =
                replies.reduce(|best, reply| if reply.visits > best.visits { reply } else { best });
        }
        line
    }
}
