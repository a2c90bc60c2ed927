//! What each input means: the one table behind the encoder, the counts and the documentation.

use std::fmt::Write as _;

use crate::FeatureSet;

/// One input, or several of a kind that lie side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Input {
    /// The name in code and in documentation.
    pub name: &'static str,
    /// How many planes or numbers.
    pub count: usize,
    /// What it says; "own" is the player to move's.
    pub meaning: &'static str,
    /// The scale: `0/1`, or what a 1 stands for.
    pub unit: &'static str,
    /// The first feature set that has it.
    pub since: &'static str,
}

const fn input(
    name: &'static str,
    count: usize,
    meaning: &'static str,
    unit: &'static str,
    since: &'static str,
) -> Input {
    Input { name, count, meaning, unit, since }
}

const FLAG: &str = "0/1";

/// The planes of `agz-1`.
pub(crate) const AGZ_PLANES: [Input; 3] = [
    input("own", 8, "own stones now, one ply ago, … seven plies ago", FLAG, "agz-1"),
    input("opponent", 8, "the opponent's stones, likewise", FLAG, "agz-1"),
    input("black", 1, "everywhere 1 if Black is to move", FLAG, "agz-1"),
];

/// The planes of `go-1`.
pub(crate) const GO_PLANES: [Input; 18] = [
    input(
        "board",
        1,
        "every point of the board, so that padding can be told from it",
        FLAG,
        "go-1",
    ),
    input("own", 8, "own stones now, one ply ago, … seven plies ago", FLAG, "agz-1"),
    input("opponent", 8, "the opponent's stones, likewise", FLAG, "agz-1"),
    input("known", 7, "everywhere 1 if the board of one, … seven plies ago is known", FLAG, "go-1"),
    input("legal", 1, "points where the player to move may play", FLAG, "go-1"),
    input(
        "moves",
        5,
        "the stone placed by the last move, … the fifth last; none for a pass",
        FLAG,
        "go-1",
    ),
    input("liberties", 4, "stones of chains with 1, 2, 3, and 4 or more liberties", FLAG, "go-1"),
    input("own atari", 1, "own chains with one liberty", FLAG, "go-1"),
    input("opponent atari", 1, "the opponent's chains with one liberty", FLAG, "go-1"),
    input(
        "own lost",
        1,
        "own chains in atari that a ladder takes although their owner moves first",
        FLAG,
        "go-1",
    ),
    input(
        "opponent lost",
        1,
        "the opponent's chains in atari that would be taken even if he moved next",
        FLAG,
        "go-1",
    ),
    input(
        "own threatened",
        1,
        "own chains with two liberties that a ladder takes if the opponent moves next",
        FLAG,
        "go-1",
    ),
    input(
        "opponent caught",
        1,
        "the opponent's chains with two liberties that a ladder begun now takes",
        FLAG,
        "go-1",
    ),
    input("catching", 1, "legal points that begin such a ladder", FLAG, "go-1"),
    input("ko", 1, "points where a ko must not be retaken at once", FLAG, "go-1"),
    input("superko", 1, "points that would bring back an older board", FLAG, "go-1"),
    input(
        "own alive",
        1,
        "own pass-alive chains (Benson 1976) and what they enclose",
        FLAG,
        "go-1",
    ),
    input("opponent alive", 1, "the opponent's, likewise", FLAG, "go-1"),
];

/// The numbers without a place on the board of `go-1`.
pub(crate) const GO_GLOBALS: [Input; 11] = [
    input(
        "komi",
        1,
        "points that do not lie on the board, for the player to move: komi, a button taken, and under territory scoring prisoners; at most the area + 20 either way",
        "20 points",
        "go-1",
    ),
    input("territory", 1, "territory scoring in place of area scoring", FLAG, "go-1"),
    input("tax seki", 1, "groups in seki pay for their eyes", FLAG, "go-1"),
    input("tax all", 1, "every group pays for its eyes", FLAG, "go-1"),
    input("suicide", 1, "a move may kill its own chain of two stones or more", FLAG, "go-1"),
    input("positional", 1, "positional superko", FLAG, "go-1"),
    input("situational", 1, "situational superko; neither: simple ko", FLAG, "go-1"),
    input("friendly pass", 1, "dead stones are agreed on, not captured", FLAG, "go-1"),
    input("button", 1, "the next pass takes the button", FLAG, "go-1"),
    input("pass ends", 1, "a pass now ends the game", FLAG, "go-1"),
    input("passes", 5, "the last move was a pass, … the fifth last", FLAG, "go-1"),
];

/// How many planes or numbers a table has.
pub(crate) const fn count(table: &[Input]) -> usize {
    let (mut sum, mut at) = (0, 0);
    while at < table.len() {
        sum += table[at].count;
        at += 1;
    }
    sum
}

/// The first plane or number of the input called `name`.
///
/// # Panics
/// When there is none: at compile time, where constants are made of it.
pub(crate) const fn first(table: &[Input], name: &str) -> usize {
    let (mut sum, mut at) = (0, 0);
    while at < table.len() {
        if equal(table[at].name.as_bytes(), name.as_bytes()) {
            return sum;
        }
        sum += table[at].count;
        at += 1;
    }
    panic!("no input of that name")
}

const fn equal(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

impl FeatureSet {
    /// The planes in order, several of a kind in one entry.
    pub const fn plane_table(self) -> &'static [Input] {
        match self {
            Self::Agz => &AGZ_PLANES,
            Self::Go => &GO_PLANES,
        }
    }

    /// The numbers without a place on the board in order.
    pub const fn global_table(self) -> &'static [Input] {
        match self {
            Self::Agz => &[],
            Self::Go => &GO_GLOBALS,
        }
    }

    /// Both tables in Markdown, as `docs/features.md` has them.
    pub fn markdown(self) -> String {
        let mut text = String::new();
        for (title, table) in [("plane", self.plane_table()), ("global", self.global_table())] {
            if table.is_empty() {
                continue;
            }
            let _ = writeln!(text, "| {title} | name | meaning | unit | since |");
            let _ = writeln!(text, "|---|---|---|---|---|");
            let mut at = 0;
            for input in table {
                let last = at + input.count - 1;
                let range = if last == at { at.to_string() } else { format!("{at}–{last}") };
                let Input { name, meaning, unit, since, .. } = input;
                let _ = writeln!(text, "| {range} | {name} | {meaning} | {unit} | `{since}` |");
                at = last + 1;
            }
            text.push('\n');
        }
        text
    }
}
