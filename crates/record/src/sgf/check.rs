//! Every variation of a tree, replayed.

use std::rc::Rc;

use tengen_rules::{GameState, Point, Rules};

use super::actions::Actions;
use super::error::SgfError;
use super::place::Place;
use super::position::Position;
use super::root::RootFacts;
use super::tree::{SgfNode, SgfTree};
use super::value::Grid;
use crate::RecordError;

/// What [`check_tree`] found.
#[derive(Debug)]
pub struct TreeCheck {
    /// The rules that decided: the file's, or the given ones.
    pub rules: Rules,
    /// Moves played, over all variations; those that variations share count once.
    pub moves: usize,
    /// What is illegal, in file order. What follows an illegal node is not looked at.
    pub problems: Vec<SgfError>,
}

/// A variation yet to be walked: its first node, the position before and the moves made.
type Pending = (usize, Rc<Position>, usize);

/// Plays every variation of a game by the file's rules, or by `rules` where it names none.
///
/// # Errors
/// When the tree is no game of Go on a board that the rules play on.
pub fn check_tree(tree: &SgfTree, rules: Rules) -> Result<TreeCheck, SgfError> {
    let empty = SgfNode::default();
    let root = tree.nodes.first().unwrap_or(&empty);
    let facts = RootFacts::read(root)?;
    let (size, grid) = (facts.board(root)?, facts.grid);
    let rules = facts.rules.unwrap_or(rules);
    let komi = facts.komi.unwrap_or_default();
    let start = Rc::new(Position::new(GameState::new(size, rules, komi)));
    let mut found = TreeCheck { rules, moves: 0, problems: Vec::new() };
    let mut pending: Vec<Pending> = vec![(0, start, 0)];
    while let Some((mut index, position, mut number)) = pending.pop() {
        let mut position = Rc::unwrap_or_clone(position);
        // One variation to its end; its siblings wait, sharing the position before them.
        while let Some(node) = tree.nodes.get(index) {
            let played = Actions::read(node, grid).and_then(|actions| {
                play(&mut position, grid, index, node.place(), actions, &mut number)
            });
            match played {
                Ok(moves) => found.moves += moves,
                Err(problem) => {
                    found.problems.push(problem);
                    break;
                }
            }
            match node.children[..] {
                [] => break,
                [only] => index = only,
                [first, ref others @ ..] => {
                    let shared = Rc::new(position.clone());
                    pending.extend(others.iter().rev().map(|&n| (n, Rc::clone(&shared), number)));
                    index = first;
                }
            }
        }
    }
    Ok(found)
}

/// Plays one node; returns its number of moves.
fn play(
    position: &mut Position,
    grid: Grid,
    node: usize,
    at: Place,
    actions: Actions,
    number: &mut usize,
) -> Result<usize, SgfError> {
    if actions.is_setup() {
        let point = |spot| Point::from_index(grid.index(spot));
        let stones: Vec<_> = actions.edits.iter().map(|&(s, stone)| (point(s), stone)).collect();
        position.edit(&stones, actions.to_play).map_err(|source| SgfError::Setup {
            at,
            node,
            source: source.into(),
        })?;
    }
    for &(color, spot, at) in &actions.moves {
        *number += 1;
        let mv = grid.mv(spot);
        position.play(color, mv).map_err(|source| SgfError::Illegal {
            at,
            node,
            number: *number,
            mv: format!("{} {}", color.letter(), grid.vertex(spot)),
            source: RecordError::Illegal { turn: *number - 1, source },
        })?;
    }
    Ok(actions.moves.len())
}
