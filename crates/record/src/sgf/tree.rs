//! A game's tree as its file has it: nodes and properties, no meaning yet.

use std::borrow::Cow;

use super::error::SgfError;
use super::place::Place;
use super::text::{compose, unescape};

/// A property of a node: its name and its raw values. Equal where name and values are.
#[derive(Clone, Debug, Eq)]
pub struct Property {
    /// Upper-case letters; lower-case ones of old files are dropped (`Black` is `B`).
    pub name: Cow<'static, str>,
    /// The values as written, escapes included, at least one.
    pub raw: Vec<String>,
    /// Where it stands in its file.
    pub place: Place,
}

impl PartialEq for Property {
    fn eq(&self, other: &Property) -> bool {
        self.name == other.name && self.raw == other.raw
    }
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
    /// A property, if it is there.
    pub fn property(&self, name: &str) -> Option<&Property> {
        self.properties.iter().find(|p| p.name == name)
    }

    /// The raw values of a property, if it is there.
    pub fn raw(&self, name: &str) -> Option<&[String]> {
        self.property(name).map(|p| p.raw.as_slice())
    }

    /// The first value of a property as text.
    pub fn text(&self, name: &str) -> Option<String> {
        self.raw(name)?.first().map(|raw| unescape(raw))
    }

    /// The first value of a property as the two texts it is composed of (`AP[CGoban:3]`); the
    /// second is empty where there is no `:`.
    pub fn composed(&self, name: &str) -> Option<(String, String)> {
        let (first, second) = compose(self.raw(name)?.first()?);
        Some((unescape(first), unescape(second)))
    }

    /// The first value of a property as a whole number.
    ///
    /// # Errors
    /// When it is there and is none: digits with an optional sign.
    pub fn number(&self, name: &str) -> Result<Option<i64>, SgfError> {
        let Some(property) = self.property(name) else { return Ok(None) };
        let text = property.raw.first().map_or("", |raw| raw.trim());
        match text.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(property.refuse(text, "not a whole number of a sensible size")),
        }
    }

    /// Where the node's first property stands.
    pub fn place(&self) -> Place {
        self.properties.first().map_or(Place::START, |p| p.place)
    }
}

impl Property {
    /// The error that a value of this property is.
    pub(crate) fn refuse(&self, value: &str, why: impl Into<String>) -> SgfError {
        SgfError::Value {
            at: self.place,
            property: self.name.to_string(),
            value: value.chars().take(40).collect(),
            why: why.into(),
        }
    }
}

/// One game's tree; node 0 is the root. Nodes lie in one list, so that a file of a million nested
/// variations costs no stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SgfTree {
    /// The nodes in file order, parents before children.
    pub nodes: Vec<SgfNode>,
}

impl SgfTree {
    /// The nodes from the root along first children.
    pub fn main_line(&self) -> impl Iterator<Item = &SgfNode> {
        self.main_line_indices().filter_map(|index| self.nodes.get(index))
    }

    /// The indices of [`main_line`](Self::main_line).
    pub(crate) fn main_line_indices(&self) -> impl Iterator<Item = usize> {
        let known = |index: &usize| *index < self.nodes.len();
        std::iter::successors(Some(0).filter(known), move |&index| {
            self.nodes[index].children.first().copied().filter(known)
        })
    }

    /// How many variations end in the tree: its leaves.
    pub fn variations(&self) -> usize {
        self.nodes.iter().filter(|node| node.children.is_empty()).count()
    }

    /// The tree as SGF in UTF-8, every property kept as it was written but the root's `CA`, which
    /// says so.
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
                if index == 0 && property.name == "CA" {
                    out.push_str("[UTF-8]");
                    continue;
                }
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
