//! The grammar: collections, game trees, nodes, properties. No meaning yet.

use super::error::SgfError;
use super::text::{decode_text, unescape};

/// A property of a node: its name and its raw values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// Upper-case letters; lower-case ones of old files are dropped (`Black` is `B`).
    pub name: String,
    /// The values as written, escapes included, at least one.
    pub raw: Vec<String>,
}

/// One `;` with its properties, in file order, repeated names merged into the first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SgfNode {
    /// The properties.
    pub properties: Vec<Property>,
    /// Indices of the nodes that follow; the first is the main line.
    pub children: Vec<usize>,
}

impl SgfNode {
    /// The raw values of a property, if it is there.
    pub fn raw(&self, name: &str) -> Option<&[String]> {
        self.properties.iter().find(|p| p.name == name).map(|p| p.raw.as_slice())
    }

    /// The first value of a property as text.
    pub fn text(&self, name: &str) -> Option<String> {
        self.raw(name)?.first().map(|raw| unescape(raw))
    }
}

/// One game's tree; node 0 is the root. Nodes lie in one list, so that a file of a million nested
/// variations costs no stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SgfTree {
    /// The nodes, parents before children.
    pub nodes: Vec<SgfNode>,
}

impl SgfTree {
    /// The nodes from the root along first children.
    pub fn main_line(&self) -> impl Iterator<Item = &SgfNode> {
        let first = self.nodes.first();
        std::iter::successors(first, |node| self.nodes.get(*node.children.first()?))
    }

    /// The tree as SGF, every property kept as it was written.
    pub fn to_text(&self) -> String {
        let mut out = String::from("(");
        let mut pending = vec![Step::Node(0)];
        while let Some(step) = pending.pop() {
            let index = match step {
                Step::Close => {
                    out.push(')');
                    continue;
                }
                Step::Open(index) => {
                    out.push('(');
                    index
                }
                Step::Node(index) => index,
            };
            let Some(node) = self.nodes.get(index) else { continue };
            out.push(';');
            for property in &node.properties {
                out.push_str(&property.name);
                for raw in &property.raw {
                    out.push('[');
                    out.push_str(raw);
                    out.push(']');
                }
            }
            if let [only] = node.children[..] {
                pending.push(Step::Node(only));
            } else {
                for &child in node.children.iter().rev() {
                    pending.push(Step::Close);
                    pending.push(Step::Open(child));
                }
            }
        }
        out.push_str(")\n");
        out
    }
}

enum Step {
    Open(usize),
    Node(usize),
    Close,
}

/// Every game of a file, in order; a broken one is an error in its place. Empty input or junk
/// alone gives one [`SgfError::NoGame`].
pub fn parse_trees(bytes: &[u8]) -> Vec<Result<SgfTree, SgfError>> {
    let text = decode_text(bytes);
    let mut parser = Parser { text: &text, at: 0 };
    let mut trees = Vec::new();
    while parser.skip_to_game() {
        let start = parser.at;
        let tree = parser.tree();
        if tree.is_err() {
            // Go on behind the broken game: where its parentheses balance.
            parser.at = start;
            parser.skip_balanced();
        }
        trees.push(tree);
    }
    if trees.is_empty() {
        trees.push(Err(SgfError::NoGame));
    }
    trees
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        // A stray NUL ends some servers' files; it is as good as a space.
        while self.peek().is_some_and(|b| b.is_ascii_whitespace() || b == 0) {
            self.at += 1;
        }
    }

    fn error(&self, what: impl Into<String>) -> SgfError {
        let line = 1 + self.text.as_bytes()[..self.at].iter().filter(|&&b| b == b'\n').count();
        SgfError::Syntax { line, what: what.into() }
    }

    /// Moves to the next `(` that a `;` follows.
    fn skip_to_game(&mut self) -> bool {
        while let Some(offset) = self.text[self.at..].find('(') {
            self.at += offset;
            let after = self.text[self.at + 1..].trim_start();
            if after.starts_with(';') {
                return true;
            }
            self.at += 1;
        }
        false
    }

    fn skip_balanced(&mut self) {
        let mut depth = 0usize;
        while let Some(b) = self.peek() {
            self.at += 1;
            match b {
                b'(' => depth += 1,
                b')' if depth <= 1 => return,
                b')' => depth -= 1,
                b'[' if self.value().is_err() => return,
                _ => {}
            }
        }
    }

    /// A game tree, from its `(` to behind its `)`.
    fn tree(&mut self) -> Result<SgfTree, SgfError> {
        let mut tree = SgfTree::default();
        // The node that the next one follows, and those that open variations hang on.
        let mut parent: Option<usize> = None;
        let mut open: Vec<Option<usize>> = Vec::new();
        loop {
            self.skip_space();
            let Some(byte) = self.peek() else {
                return Err(self.error("the file ends inside a game"));
            };
            match byte {
                b'(' => {
                    self.at += 1;
                    self.skip_space();
                    if self.peek() != Some(b';') {
                        return Err(self.error("\"(\" must be followed by \";\""));
                    }
                    open.push(parent);
                }
                b')' => {
                    self.at += 1;
                    parent = open.pop().flatten();
                    if open.is_empty() {
                        return Ok(tree);
                    }
                }
                b';' => {
                    self.at += 1;
                    let index = tree.nodes.len();
                    let node = self.node()?;
                    tree.nodes.push(node);
                    if let Some(parent) = parent {
                        tree.nodes[parent].children.push(index);
                    }
                    parent = Some(index);
                }
                _ => return Err(self.error(format!("unexpected {:?}", self.here()))),
            }
        }
    }

    fn here(&self) -> char {
        self.text[self.at..].chars().next().unwrap_or(' ')
    }

    fn node(&mut self) -> Result<SgfNode, SgfError> {
        let mut node = SgfNode::default();
        loop {
            self.skip_space();
            let start = self.at;
            while self.peek().is_some_and(|b| b.is_ascii_alphabetic()) {
                self.at += 1;
            }
            if self.at == start {
                return Ok(node);
            }
            let written = &self.text[start..self.at];
            let name: String = written.chars().filter(char::is_ascii_uppercase).collect();
            if name.is_empty() {
                return Err(self.error(format!("{written:?} is not a property")));
            }
            let mut raw = Vec::new();
            self.skip_space();
            while self.peek() == Some(b'[') {
                self.at += 1;
                raw.push(self.value()?.to_owned());
                self.skip_space();
            }
            if raw.is_empty() {
                return Err(self.error(format!("{name} has no value")));
            }
            match node.properties.iter_mut().find(|p| p.name == name) {
                Some(property) => property.raw.append(&mut raw),
                None => node.properties.push(Property { name, raw }),
            }
        }
    }

    /// A raw value, from behind its `[` to behind its `]`.
    fn value(&mut self) -> Result<&str, SgfError> {
        let start = self.at;
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b']' => return Ok(&self.text[start..self.at - 1]),
                b'\\' => {
                    self.at += self.text[self.at..].chars().next().map_or(0, char::len_utf8);
                }
                _ => {}
            }
        }
        self.at = self.text.len();
        Err(self.error("a value without its \"]\""))
    }
}
