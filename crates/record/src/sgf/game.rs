//! The main line of a tree read as a game of Go: still as written, not yet replayed.

use tengen_rules::{BoardSize, Color, Komi, Move, Outcome, Point, Rules};

use super::actions::Actions;
use super::error::SgfError;
use super::parse::parse_trees;
use super::place::Place;
use super::root::{RootFacts, handicap_stones};
use super::tree::{SgfNode, SgfTree};

/// A game as its file states it.
#[derive(Clone, Debug, PartialEq)]
pub struct SgfGame {
    /// `SZ`, 19×19 when absent.
    pub size: BoardSize,
    /// `KM`; `None` when absent, empty or no number.
    pub komi: Option<Komi>,
    /// `RU` where it names a rule set known here.
    pub rules: Option<Rules>,
    /// `PB` and `PW`, empty when absent.
    pub players: [String; 2],
    /// `HA` as stated; [`handicap_stones`](Self::handicap_stones) says what it comes to.
    pub handicap: Option<u32>,
    /// Black stones before the first move, in index order.
    pub setup_black: Vec<Point>,
    /// White stones before the first move, in index order.
    pub setup_white: Vec<Point>,
    /// `PL`, if stated before the first move.
    pub to_play: Option<Color>,
    /// The moves of the main line with their colours.
    pub moves: Vec<(Color, Move)>,
    /// Where each of the moves stands; empty for a game that comes from no file.
    pub origins: Vec<Origin>,
    /// Stones set up and turns given after the first move, in order.
    pub edits: Vec<Edit>,
    /// `RE` as far as it can be read; `None` when absent, unknown or of unstated margin.
    pub outcome: Option<Outcome>,
    /// `RE` as written.
    pub result_text: Option<String>,
    /// What was read with reservations, one sentence each.
    pub notes: Vec<String>,
}

/// Where something in a game comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The node, counted from 0 in the file's order.
    pub node: usize,
    /// Its place in the file.
    pub place: Place,
}

/// A change of the board by hand in the middle of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// How many moves came before.
    pub after: usize,
    /// Points and what lies there now, in file order; `None` is nothing.
    pub stones: Vec<(Point, Option<Color>)>,
    /// Whose turn it is now, if stated.
    pub to_play: Option<Color>,
    /// Where it stands.
    pub origin: Origin,
}

/// Every game of a file, in order; a broken one is an error in its place.
pub fn parse_collection(bytes: &[u8]) -> Vec<Result<SgfGame, SgfError>> {
    parse_trees(bytes).into_iter().map(|tree| SgfGame::from_tree(&tree?)).collect()
}

impl SgfGame {
    /// An empty game, to be filled.
    pub fn new(size: BoardSize) -> SgfGame {
        SgfGame {
            size,
            komi: None,
            rules: None,
            players: [String::new(), String::new()],
            handicap: None,
            setup_black: Vec::new(),
            setup_white: Vec::new(),
            to_play: None,
            moves: Vec::new(),
            origins: Vec::new(),
            edits: Vec::new(),
            outcome: None,
            result_text: None,
            notes: Vec::new(),
        }
    }

    /// Reads the main line.
    ///
    /// # Errors
    /// When it is not Go, the board is larger than the rules play on, or a value is no point or
    /// board.
    pub fn from_tree(tree: &SgfTree) -> Result<SgfGame, SgfError> {
        let empty = SgfNode::default();
        let root = tree.nodes.first().unwrap_or(&empty);
        let mut facts = RootFacts::read(root)?;
        let size = facts.board(root)?;
        let mut game = SgfGame::new(size);
        let mut board = vec![None; size.area()];
        for index in tree.main_line_indices() {
            let actions = Actions::read(&tree.nodes[index], facts.grid)?;
            game.take(index, &tree.nodes[index], actions, &facts, &mut board);
        }
        let stones_of =
            |color| size.points().filter(|p| board[p.index()] == Some(color)).collect::<Vec<_>>();
        game.setup_black = stones_of(Color::Black);
        game.setup_white = stones_of(Color::White);
        facts.note_handicap(game.setup_black.len(), game.setup_white.len());
        let RootFacts { komi, rules, players, handicap, result, result_text, notes, .. } = facts;
        let outcome = result.outcome();
        Ok(SgfGame { komi, rules, players, handicap, outcome, result_text, notes, ..game })
    }

    fn take(
        &mut self,
        node: usize,
        source: &SgfNode,
        actions: Actions,
        facts: &RootFacts,
        board: &mut [Option<Color>],
    ) {
        let grid = facts.grid;
        if actions.is_setup() && !self.moves.is_empty() {
            let point = |spot| Point::from_index(grid.index(spot));
            self.edits.push(Edit {
                after: self.moves.len(),
                stones: actions.edits.iter().map(|&(s, stone)| (point(s), stone)).collect(),
                to_play: actions.to_play,
                origin: Origin { node, place: source.place() },
            });
        } else if actions.is_setup() {
            for &(spot, stone) in &actions.edits {
                board[grid.index(spot)] = stone;
            }
            self.to_play = actions.to_play.or(self.to_play);
        }
        for (color, spot, place) in actions.moves {
            self.moves.push((color, grid.mv(spot)));
            self.origins.push(Origin { node, place });
        }
    }

    /// The handicap in stones, 0 where there is none: the black stones set up if there are two or
    /// more and no white ones, whatever `HA` says; else `HA`, where 1 is none. This is the number
    /// that the rules' handicap compensation is for.
    pub fn handicap_stones(&self) -> u32 {
        handicap_stones(self.handicap, self.setup_black.len(), self.setup_white.len())
    }

    /// How many moves came before the first stones set up in mid-game, if there are any.
    pub fn late_setup(&self) -> Option<usize> {
        self.edits.iter().find(|edit| !edit.stones.is_empty()).map(|edit| edit.after)
    }

    /// The first mover: the first move's colour, else `PL`, else White after handicap stones.
    pub fn first_to_play(&self) -> Color {
        let implied = if self.handicap_stones() > 1 { Color::White } else { Color::Black };
        self.moves.first().map(|&(color, _)| color).or(self.to_play).unwrap_or(implied)
    }
}
