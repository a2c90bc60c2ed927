//! The main line of a tree read as a game of Go: still as written, not yet replayed.

use tengen_rules::{BoardSize, Color, Komi, Move, Outcome, Point, Rules};

use super::error::SgfError;
use super::tree::{SgfNode, SgfTree, parse_trees};

/// A game as its file states it.
#[derive(Clone, Debug, PartialEq)]
pub struct SgfGame {
    /// `SZ`, 19×19 when absent.
    pub size: BoardSize,
    /// `KM`; `None` when absent or empty.
    pub komi: Option<Komi>,
    /// `RU` where it names a rule set known here.
    pub rules: Option<Rules>,
    /// `PB` and `PW`, empty when absent.
    pub players: [String; 2],
    /// `HA` as stated. The stones that count are those of `AB`.
    pub handicap: Option<u32>,
    /// Black stones before the first move, in index order.
    pub setup_black: Vec<Point>,
    /// White stones before the first move, in index order.
    pub setup_white: Vec<Point>,
    /// `PL`, if stated before the first move.
    pub to_play: Option<Color>,
    /// The moves of the main line with their colours.
    pub moves: Vec<(Color, Move)>,
    /// How many moves came before the first stones set up in mid-game, if there are any.
    pub late_setup: Option<usize>,
    /// `RE` as far as it can be read; `None` when absent, unknown or of unstated margin.
    pub outcome: Option<Outcome>,
    /// `RE` as written.
    pub result_text: Option<String>,
    /// What was read with reservations, one sentence each.
    pub notes: Vec<String>,
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
            late_setup: None,
            outcome: None,
            result_text: None,
            notes: Vec::new(),
        }
    }

    /// Reads the main line.
    ///
    /// # Errors
    /// When it is not Go, the size is unsupported, or a value is no point, number or colour.
    pub fn from_tree(tree: &SgfTree) -> Result<SgfGame, SgfError> {
        let empty = SgfNode::default();
        let root = tree.nodes.first().unwrap_or(&empty);
        if let Some(gm) = root.text("GM").filter(|gm| !matches!(gm.trim(), "1" | "")) {
            return Err(SgfError::NotGo(gm));
        }
        let mut game = SgfGame::new(read_size(root)?);
        game.read_root(root)?;
        let mut board = vec![None; game.size.area()];
        for node in tree.main_line() {
            game.read_node(node, &mut board)?;
        }
        let stones_of = |color| {
            game.size.points().filter(|p| board[p.index()] == Some(color)).collect::<Vec<_>>()
        };
        game.setup_black = stones_of(Color::Black);
        game.setup_white = stones_of(Color::White);
        let stones = game.setup_black.len();
        if let Some(ha) = game.handicap.filter(|&ha| ha as usize != stones && ha > 1) {
            game.notes.push(format!("HA[{ha}] but {stones} black stones set up: the stones count"));
        }
        Ok(game)
    }

    fn read_root(&mut self, root: &SgfNode) -> Result<(), SgfError> {
        if let Some(text) = root.text("KM").filter(|text| !text.trim().is_empty()) {
            self.komi = Some(self.read_komi(&text)?);
        }
        if let Some(name) = root.text("RU").filter(|name| !name.trim().is_empty()) {
            self.rules = Rules::by_name(&name.trim().to_lowercase().replace(' ', "-")).ok();
            if self.rules.is_none() {
                self.notes.push(format!("unknown rules RU[{name}]"));
            }
        }
        self.players = ["PB", "PW"].map(|name| root.text(name).unwrap_or_default());
        self.handicap = root.text("HA").and_then(|text| text.trim().parse().ok());
        self.result_text = root.text("RE");
        if let Some(text) = self.result_text.as_deref().filter(|text| !text.trim().is_empty()) {
            self.outcome = Outcome::parse_result(text);
            if self.outcome.is_none() {
                self.notes.push(format!("result RE[{text}] has no winner and margin to read"));
            }
        }
        Ok(())
    }

    /// Fox and Tygem write komi in hundredths: of a point (`650` is 6.5), or of a Chinese stone,
    /// which is two points (`375` is 7.5). Nobody plays with a komi of 100.
    fn read_komi(&mut self, text: &str) -> Result<Komi, SgfError> {
        let refuse = |why: String| value_error("KM", text, why);
        let stated: f64 = text.trim().parse().map_err(|_| refuse("not a number".to_owned()))?;
        let mut points = stated;
        if stated.abs() >= 100.0 {
            points = stated / 100.0;
            if (points * 2.0).fract() != 0.0 {
                points *= 2.0;
            }
            self.notes.push(format!("KM[{text}] read as hundredths: {points} points"));
        } else if (stated * 4.0).fract() == 0.0 && (stated * 2.0).fract() != 0.0 {
            points = stated * 2.0;
            self.notes.push(format!("KM[{text}] read as Chinese stones: {points} points"));
        }
        let komi = Komi::from_points(points).map_err(|e| refuse(e.to_string()))?;
        if points.abs() > self.size.area() as f64 {
            self.notes.push(format!("komi {komi} is more than the board's area"));
        }
        Ok(komi)
    }

    fn read_node(&mut self, node: &SgfNode, board: &mut [Option<Color>]) -> Result<(), SgfError> {
        for property in &node.properties {
            let stone = match property.name.as_str() {
                "B" | "W" => {
                    let color = if property.name == "B" { Color::Black } else { Color::White };
                    for raw in &property.raw {
                        let mv = read_move(self.size, &property.name, raw)?;
                        self.moves.push((color, mv));
                    }
                    continue;
                }
                "PL" if self.moves.is_empty() => {
                    self.to_play = property.raw.first().and_then(|raw| read_color(raw));
                    continue;
                }
                "AB" => Some(Color::Black),
                "AW" => Some(Color::White),
                "AE" => None,
                _ => continue,
            };
            if !self.moves.is_empty() {
                self.late_setup.get_or_insert(self.moves.len());
                continue;
            }
            for raw in property.raw.iter().filter(|raw| !raw.trim().is_empty()) {
                for point in read_rectangle(self.size, &property.name, raw)? {
                    board[point.index()] = stone;
                }
            }
        }
        Ok(())
    }
}

fn value_error(property: &str, value: &str, why: impl Into<String>) -> SgfError {
    let value = value.chars().take(40).collect();
    SgfError::Value { property: property.to_owned(), value, why: why.into() }
}

fn read_size(root: &SgfNode) -> Result<BoardSize, SgfError> {
    let text = root.text("SZ").filter(|t| !t.trim().is_empty()).unwrap_or("19".to_owned());
    let side = |part: &str| {
        part.trim().parse::<usize>().map_err(|_| value_error("SZ", &text, "not a number"))
    };
    let (width, height) = text.split_once(':').unwrap_or((&text, &text));
    BoardSize::new(side(width)?, side(height)?).map_err(|e| value_error("SZ", &text, e.to_string()))
}

fn read_color(raw: &str) -> Option<Color> {
    match raw.trim().chars().next()? {
        'B' | 'b' | '1' => Some(Color::Black),
        'W' | 'w' | '2' => Some(Color::White),
        _ => None,
    }
}

fn read_move(size: BoardSize, property: &str, raw: &str) -> Result<Move, SgfError> {
    let raw = raw.trim();
    let small = size.width() <= 19 && size.height() <= 19;
    if raw.is_empty() || (raw == "tt" && small) {
        return Ok(Move::Pass);
    }
    Ok(Move::Play(read_point(size, property, raw)?))
}

/// `a`–`z` are 0–25 and `A`–`Z` 26–51: column, then row from the top.
fn read_point(size: BoardSize, property: &str, raw: &str) -> Result<Point, SgfError> {
    let coordinate = |byte: u8| match byte {
        b'a'..=b'z' => Some(usize::from(byte - b'a')),
        b'A'..=b'Z' => Some(usize::from(byte - b'A') + 26),
        _ => None,
    };
    let &[col, row] = raw.trim().as_bytes() else {
        return Err(value_error(property, raw, "not a point of two letters"));
    };
    match (coordinate(col), coordinate(row)) {
        (Some(col), Some(row)) if col < size.width() && row < size.height() => {
            Ok(size.point(col, row))
        }
        (Some(_), Some(_)) => Err(value_error(property, raw, format!("off a {size} board"))),
        _ => Err(value_error(property, raw, "not a point of two letters")),
    }
}

/// A point, or `aa:cc`, the rectangle between two corners in either order.
fn read_rectangle(size: BoardSize, property: &str, raw: &str) -> Result<Vec<Point>, SgfError> {
    let (first, last) = raw.split_once(':').unwrap_or((raw, raw));
    let (a, b) = (read_point(size, property, first)?, read_point(size, property, last)?);
    let span = |x: usize, y: usize| x.min(y)..=x.max(y);
    let columns = span(size.col(a), size.col(b));
    Ok(span(size.row(a), size.row(b))
        .flat_map(|row| columns.clone().map(move |col| size.point(col, row)))
        .collect())
}
