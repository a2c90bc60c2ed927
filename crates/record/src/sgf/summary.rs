//! A game's facts as programs read them: `tengen sgf info --json` prints these.

use std::collections::BTreeMap;

use serde::Serialize;
use tengen_rules::{Color, Rules};

use super::actions::Actions;
use super::error::SgfError;
use super::game::SgfGame;
use super::result::{Margin, Winner};
use super::root::{RootFacts, handicap_stones};
use super::text::unescape;
use super::tree::{SgfNode, SgfTree};
use super::value::{Grid, Spot};

/// The facts of one game. Boards up to 52×52 are read; beyond the 25 columns that GTP names, a
/// vertex has two letters (`AA52`).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SgfSummary {
    /// Columns, rows.
    pub size: [usize; 2],
    /// Points for White; 0 where the file states none (then a note says so).
    pub komi: f64,
    /// Handicap stones, 0 where there is none; see [`SgfGame::handicap_stones`].
    pub handicap: u32,
    /// The rules by their name here, or as written where they are unknown.
    pub rules: Option<String>,
    /// `RE` as written.
    pub result: Option<String>,
    /// `B`, `W`, `draw`, or `void` for no result.
    pub winner: Option<String>,
    /// Points, or `R`, `T`, `F`.
    pub margin: Option<MarginFact>,
    /// `PB` and `PW`.
    pub players: Sides<String>,
    /// Who moves first: `B` or `W`.
    pub to_play: String,
    /// Stones before the first move.
    pub setup: Sides<Vec<String>>,
    /// The main line: `B D4`, `W pass`.
    pub moves: Vec<String>,
    /// Stones set up later in the main line.
    pub edits: Vec<EditFact>,
    /// The first move or setup of the main line that the game's rules refuse (Chinese rules where
    /// it names none); never checked on boards over 25×25.
    pub illegal: Option<IllegalFact>,
    /// Nodes of the tree.
    pub nodes: usize,
    /// Leaves of the tree.
    pub variations: usize,
    /// The root's properties, text decoded and unescaped: a string, or several in a list.
    pub properties: BTreeMap<String, Texts>,
    /// What was read with reservations.
    pub notes: Vec<String>,
}

/// Something of Black's and of White's.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sides<T> {
    /// Black's.
    pub black: T,
    /// White's.
    pub white: T,
}

/// A margin in points, or the letter of another end.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum MarginFact {
    /// Points.
    Points(f64),
    /// `R`, `T` or `F`.
    Letter(&'static str),
}

/// One value, or more than one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Texts {
    /// The only value.
    One(String),
    /// Several, in file order.
    Many(Vec<String>),
}

/// Stones set up in the middle of the main line.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EditFact {
    /// How many moves came before.
    pub after: usize,
    /// Points that are black now.
    pub black: Vec<String>,
    /// Points that are white now.
    pub white: Vec<String>,
    /// Points that are empty now.
    pub empty: Vec<String>,
    /// Whose turn it is now, if stated.
    pub to_play: Option<String>,
}

/// An illegal move or setup.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IllegalFact {
    /// Node, move and reason.
    pub error: String,
    /// Its line in the file.
    pub line: u32,
    /// Its column.
    pub column: u32,
}

impl SgfSummary {
    /// Reads a game's facts.
    ///
    /// # Errors
    /// When it is not Go, or a value of the main line is no point or board.
    pub fn from_tree(tree: &SgfTree) -> Result<SgfSummary, SgfError> {
        let empty = SgfNode::default();
        let root = tree.nodes.first().unwrap_or(&empty);
        let mut facts = RootFacts::read(root)?;
        let line = MainLine::read(tree, facts.grid)?;
        let (black, white) = (line.stones(Color::Black), line.stones(Color::White));
        facts.note_handicap(black.len(), white.len());
        let handicap = handicap_stones(facts.handicap, black.len(), white.len());
        let implied = if handicap > 1 { Color::White } else { Color::Black };
        let to_play = line.first.or(line.to_play).unwrap_or(implied);
        let vertices = |spots: Vec<Spot>| {
            spots.into_iter().map(|spot| facts.grid.vertex(Some(spot))).collect()
        };
        let [black_name, white_name] = facts.players.clone();
        Ok(SgfSummary {
            size: [facts.grid.width, facts.grid.height],
            komi: facts.komi.unwrap_or_default().points(),
            handicap,
            rules: facts.rules.map(|rules| rules.to_string()).or(facts.rules_text),
            winner: facts.result.winner.map(winner_word),
            margin: facts.result.margin.map(margin_fact),
            result: facts.result_text,
            players: Sides { black: black_name, white: white_name },
            to_play: to_play.letter().to_string(),
            setup: Sides { black: vertices(black), white: vertices(white) },
            moves: line.moves,
            edits: line.edits,
            illegal: first_illegal(tree),
            nodes: tree.nodes.len(),
            variations: tree.variations(),
            properties: root
                .properties
                .iter()
                .map(|p| (p.name.to_string(), texts(&p.raw)))
                .collect(),
            notes: facts.notes,
        })
    }
}

/// The main line in words.
struct MainLine {
    grid: Grid,
    board: Vec<Option<Color>>,
    to_play: Option<Color>,
    first: Option<Color>,
    moves: Vec<String>,
    edits: Vec<EditFact>,
}

impl MainLine {
    fn read(tree: &SgfTree, grid: Grid) -> Result<MainLine, SgfError> {
        let mut line = MainLine {
            grid,
            board: vec![None; grid.area()],
            to_play: None,
            first: None,
            moves: Vec::new(),
            edits: Vec::new(),
        };
        for node in tree.main_line() {
            let actions = Actions::read(node, grid)?;
            if actions.is_setup() && !line.moves.is_empty() {
                line.edits.push(line.edit(&actions));
            } else if actions.is_setup() {
                for &(spot, stone) in &actions.edits {
                    line.board[grid.index(spot)] = stone;
                }
                line.to_play = actions.to_play.or(line.to_play);
            }
            for &(color, spot, _) in &actions.moves {
                line.first.get_or_insert(color);
                line.moves.push(format!("{} {}", color.letter(), grid.vertex(spot)));
            }
        }
        Ok(line)
    }

    fn edit(&self, actions: &Actions) -> EditFact {
        let points = |wanted: Option<Color>| {
            let spots = actions.edits.iter().filter(|&&(_, stone)| stone == wanted);
            spots.map(|&(spot, _)| self.grid.vertex(Some(spot))).collect()
        };
        EditFact {
            after: self.moves.len(),
            black: points(Some(Color::Black)),
            white: points(Some(Color::White)),
            empty: points(None),
            to_play: actions.to_play.map(|color| color.letter().to_string()),
        }
    }

    fn stones(&self, color: Color) -> Vec<Spot> {
        let width = self.grid.width;
        let here = |&(_, cell): &(usize, &Option<Color>)| *cell == Some(color);
        let spot = |(i, _)| Spot { col: (i % width) as u8, row: (i / width) as u8 };
        self.board.iter().enumerate().filter(here).map(spot).collect()
    }
}

fn first_illegal(tree: &SgfTree) -> Option<IllegalFact> {
    let game = SgfGame::from_tree(tree).ok()?;
    let rules = game.rules.or_else(|| Rules::by_name("chinese").ok()).unwrap_or_default();
    let error = game.position(rules, game.komi.unwrap_or_default(), usize::MAX).err()?;
    let place = error.place();
    Some(IllegalFact { error: error.message(), line: place.line, column: place.column })
}

fn winner_word(winner: Winner) -> String {
    match winner {
        Winner::Color(color) => color.letter().to_string(),
        Winner::Draw => "draw".to_owned(),
        Winner::NoResult => "void".to_owned(),
    }
}

fn margin_fact(margin: Margin) -> MarginFact {
    match margin {
        Margin::Points(points) => MarginFact::Points(points),
        Margin::Resignation => MarginFact::Letter("R"),
        Margin::Time => MarginFact::Letter("T"),
        Margin::Forfeit => MarginFact::Letter("F"),
    }
}

fn texts(raw: &[String]) -> Texts {
    match raw {
        [only] => Texts::One(unescape(only)),
        several => Texts::Many(several.iter().map(|raw| unescape(raw)).collect()),
    }
}
