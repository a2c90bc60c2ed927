//! The grammar: from text to trees, one game's trouble kept from its neighbours.

use std::borrow::Cow;
use std::ops::ControlFlow;

use super::error::SgfError;
use super::place::{Place, Tracker};
use super::text::decode_text;
use super::tree::{Property, SgfNode, SgfTree};

/// The most different properties in a node; real files have a few dozen.
const MAX_PROPERTIES: usize = 1_000;

/// Every game of a file, in order; a broken one is an error in its place. Empty input or junk
/// alone gives one [`SgfError::NoGame`].
pub fn parse_trees(bytes: &[u8]) -> Vec<Result<SgfTree, SgfError>> {
    let mut trees = Vec::new();
    for_each_tree(bytes, |tree| {
        trees.push(tree);
        ControlFlow::Continue(())
    });
    trees
}

/// As [`parse_trees`], one game at a time: a file may hold more games than memory does.
pub fn for_each_tree(
    bytes: &[u8],
    mut each: impl FnMut(Result<SgfTree, SgfError>) -> ControlFlow<()>,
) {
    let text = decode_text(bytes);
    let mut parser = Parser { text: &text, at: 0, tracker: Tracker::new(), unclosed: false };
    let mut found = false;
    while parser.skip_to_game() {
        let (start, tracker) = (parser.at, parser.tracker.clone());
        let mut tree = parser.tree();
        if tree.is_err() && parser.at == text.len() && !parser.unclosed {
            // Never closed: read it again, and end it where another game's root begins.
            (parser.unclosed, parser.at, parser.tracker) = (true, start, tracker);
            tree = parser.tree();
        }
        if tree.is_err() {
            parser.skip_broken(start);
        }
        found = true;
        if each(tree).is_break() {
            return;
        }
    }
    if !found {
        let _ = each(Err(SgfError::NoGame));
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    tracker: Tracker,
    /// A game of this file was never closed: no variation may look like a game's root any more.
    unclosed: bool,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        self.at = self.after_space(self.at);
    }

    fn after_space(&self, from: usize) -> usize {
        // A stray NUL ends some servers' files; it is as good as a space.
        let rest = &self.text.as_bytes()[from..];
        let space = rest.iter().take_while(|b| b.is_ascii_whitespace() || **b == 0).count();
        from + space
    }

    fn error(&mut self, what: impl Into<String>) -> SgfError {
        SgfError::Syntax { at: self.tracker.place(self.text, self.at), what: what.into() }
    }

    /// Moves to the next `(` that begins a game.
    fn skip_to_game(&mut self) -> bool {
        while let Some(offset) = self.text[self.at..].find('(') {
            self.at += offset;
            if self.opens_node(self.at + 1) {
                return true;
            }
            self.at += 1;
        }
        false
    }

    /// Whether a node begins at `from`, spaces aside: a `;`, or a property without one, as some
    /// Japanese sites write their root node.
    fn opens_node(&self, from: usize) -> bool {
        let rest = &self.text[self.after_space(from)..];
        let name = rest.bytes().take_while(u8::is_ascii_uppercase).count();
        rest.starts_with(';') || (name > 0 && rest[name..].starts_with('['))
    }

    /// After a broken game that began at `start`: to where its parentheses balance, or to the next
    /// `(;` whose first property only a game's root has, if that comes first.
    fn skip_broken(&mut self, start: usize) {
        let (mut depth, mut values_end) = (0usize, true);
        self.at = start;
        while let Some(byte) = self.peek() {
            if byte == b'(' && depth > 0 && self.opens_root(self.at + 1) {
                return;
            }
            self.at += 1;
            match byte {
                b'(' => depth += 1,
                b')' if depth <= 1 => return,
                b')' => depth -= 1,
                b'[' if values_end => {
                    let inside = self.at;
                    if self.value().is_none() {
                        // A value without an end: what follows may hold games all the same.
                        (values_end, self.at) = (false, inside);
                    }
                }
                _ => {}
            }
        }
    }

    fn opens_root(&self, from: usize) -> bool {
        let rest = &self.text[self.after_space(from)..];
        let Some(first) = rest.strip_prefix(';').map(|rest| rest.trim_ascii_start()) else {
            return false;
        };
        ["FF[", "GM[", "SZ[", "CA["].iter().any(|name| first.starts_with(name))
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
            let node = match byte {
                b'(' => {
                    if self.unclosed && !open.is_empty() && self.opens_root(self.at + 1) {
                        return Err(self.error("another game begins before this one ends"));
                    }
                    self.at += 1;
                    self.skip_space();
                    if !self.opens_node(self.at) {
                        return Err(self.error("\"(\" must be followed by \";\""));
                    }
                    open.push(parent);
                    if self.peek() == Some(b';') {
                        continue;
                    }
                    self.node()?
                }
                b')' => {
                    self.at += 1;
                    parent = open.pop().flatten();
                    if open.is_empty() {
                        return Ok(tree);
                    }
                    continue;
                }
                b';' => {
                    self.at += 1;
                    self.node()?
                }
                _ => {
                    let here = self.text[self.at..].chars().next().unwrap_or(' ');
                    return Err(self.error(format!("unexpected {here:?}")));
                }
            };
            let index = tree.nodes.len();
            tree.nodes.push(node);
            if let Some(parent) = parent {
                let children = &mut tree.nodes[parent].children;
                if children.is_empty() {
                    children.reserve_exact(1);
                }
                children.push(index);
            }
            parent = Some(index);
        }
    }

    fn node(&mut self) -> Result<SgfNode, SgfError> {
        let mut node = SgfNode::default();
        loop {
            self.skip_space();
            let start = self.at;
            let rest = &self.text[start..];
            let length = rest
                .bytes()
                .enumerate()
                .take_while(|&(i, b)| b.is_ascii_alphabetic() || (i > 0 && b.is_ascii_digit()));
            let written = &rest[..length.count()];
            if written.is_empty() {
                return Ok(node);
            }
            let place = self.tracker.place(self.text, start);
            let mut raw = Vec::with_capacity(1);
            self.at += written.len();
            self.skip_space();
            while self.peek() == Some(b'[') {
                self.at += 1;
                let value = self.value().ok_or_else(|| SgfError::Syntax {
                    at: place,
                    what: format!("{written} has a value without its \"]\""),
                })?;
                raw.push(value.to_owned());
                self.skip_space();
            }
            let name = name_of(written);
            if raw.is_empty() {
                let what = format!("{written} has no value: \"[\" must follow a property");
                return Err(SgfError::Syntax { at: place, what });
            }
            if node.properties.len() == MAX_PROPERTIES {
                return Err(self.error(format!("a node of more than {MAX_PROPERTIES} properties")));
            }
            add(&mut node, name, raw, place);
        }
    }

    /// A raw value, from behind its `[` to behind its `]`; `None`, and the end of the text, where
    /// there is no `]`.
    fn value(&mut self) -> Option<&'a str> {
        let (start, bytes) = (self.at, self.text.as_bytes());
        while let Some(offset) = bytes[self.at..].iter().position(|b| matches!(b, b']' | b'\\')) {
            self.at += offset + 1;
            if bytes[self.at - 1] == b']' {
                return Some(&self.text[start..self.at - 1]);
            }
            self.at += self.text[self.at..].chars().next().map_or(0, char::len_utf8);
        }
        self.at = self.text.len();
        None
    }
}

/// A property's name as FF\[4\] has it: `CoPyright` is `CP`. One that has none to begin with is
/// read as if it were all capitals.
fn name_of(written: &str) -> Cow<'static, str> {
    // Nearly every property of a file is one of these, and a name costs as much as its move.
    for known in ["B", "W", "C"] {
        if written == known {
            return Cow::Borrowed(known);
        }
    }
    if written.bytes().all(|b| b.is_ascii_uppercase()) {
        return Cow::Owned(written.to_owned());
    }
    let short: String = written.chars().filter(|c| !c.is_ascii_lowercase()).collect();
    let is_named = short.starts_with(|c: char| c.is_ascii_uppercase());
    Cow::Owned(if is_named { short } else { written.to_uppercase() })
}

fn add(node: &mut SgfNode, name: Cow<'static, str>, mut raw: Vec<String>, place: Place) {
    match node.properties.iter_mut().find(|p| p.name == name) {
        Some(property) => property.raw.append(&mut raw),
        None => {
            if node.properties.is_empty() {
                // Most nodes have a move and nothing else.
                node.properties.reserve_exact(1);
            }
            node.properties.push(Property { name, raw, place });
        }
    }
}
