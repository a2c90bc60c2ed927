//! What a search says about its moves, in the terms of KataGo's and Leela Zero's analysis.

use tengen_rules::{Color, Value};
use tengen_search::{ChildStats, Tree, choose_best};

/// Standard deviations below the mean at which `lcb` lies; KataGo's default.
const LCB_STDEVS: f32 = 5.0;

/// One move of an analysed position. Win rates are in 0 to 1 for the player to move.
#[derive(Clone, Debug)]
pub(crate) struct MoveInfo {
    pub action: usize,
    pub visits: u32,
    pub win_rate: f64,
    pub prior: f64,
    pub lcb: f64,
    /// The move and the expected answers, each with its visits.
    pub line: Vec<(usize, u32)>,
}

/// The moves of a searched root, best first: the move that would be played, then the others by
/// visits, value, prior and action. The lines are at most `line_limit` moves long; moves without
/// visits follow the rest when `unvisited`.
pub(crate) fn move_infos(tree: &Tree, line_limit: usize, unvisited: bool) -> Vec<MoveInfo> {
    let root = tree.root();
    if root.children.is_empty() {
        return Vec::new();
    }
    let best = choose_best(&root, tree.config());
    let mut children = root.children;
    children.retain(|child| unvisited || child.visits > 0);
    children.sort_by(|a, b| {
        (b.action == best)
            .cmp(&(a.action == best))
            .then(b.visits.cmp(&a.visits))
            .then(b.q.get().total_cmp(&a.q.get()))
            .then(b.raw_prior.total_cmp(&a.raw_prior))
            .then(a.action.cmp(&b.action))
    });
    let info = |child: &ChildStats| {
        // A move never tried is worth what the position is.
        let value = if child.visits == 0 { root.value } else { child.result };
        MoveInfo {
            action: child.action,
            visits: child.visits,
            win_rate: win_rate(value),
            prior: f64::from(child.raw_prior),
            lcb: win_rate(Value::new(child.lower_bound(LCB_STDEVS))),
            line: tree.variation(child.action, line_limit),
        }
    };
    children.iter().map(info).collect()
}

/// A value as a probability of winning.
pub(crate) fn win_rate(value: Value) -> f64 {
    (f64::from(value.get()) + 1.0) / 2.0
}

/// For whom values are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Perspective {
    /// Black.
    Black,
    /// White.
    White,
    /// The player to move.
    SideToMove,
}

impl Perspective {
    /// Reads KataGo's word for it, in any case.
    pub fn parse(text: &str) -> Option<Perspective> {
        match text.to_ascii_lowercase().as_str() {
            "black" | "b" => Some(Perspective::Black),
            "white" | "w" => Some(Perspective::White),
            "sidetomove" => Some(Perspective::SideToMove),
            _ => None,
        }
    }

    /// Whether numbers for `to_play` change their side.
    fn flips(self, to_play: Color) -> bool {
        match self {
            Perspective::SideToMove => false,
            Perspective::Black => to_play == Color::White,
            Perspective::White => to_play == Color::Black,
        }
    }

    /// A probability of `to_play` as reported.
    pub(crate) fn rate(self, to_play: Color, rate: f64) -> f64 {
        if self.flips(to_play) { 1.0 - rate } else { rate }
    }

    /// A number of points of Black as reported.
    pub(crate) fn points(self, to_play: Color, black: f64) -> f64 {
        let black_reported = match self {
            Perspective::Black => true,
            Perspective::White => false,
            Perspective::SideToMove => to_play == Color::Black,
        };
        // Adding zero turns a negative zero into a plain one.
        (if black_reported { black } else { -black }) + 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_reported_for_the_side_asked() {
        for (text, to_play, rate, points) in [
            ("BLACK", Color::Black, 0.7, 3.0),
            ("BLACK", Color::White, 0.3, 3.0),
            ("WHITE", Color::White, 0.7, -3.0),
            ("WHITE", Color::Black, 0.3, -3.0),
            ("SIDETOMOVE", Color::White, 0.7, -3.0),
            ("SideToMove", Color::Black, 0.7, 3.0),
        ] {
            let side = Perspective::parse(text).unwrap();
            assert!((side.rate(to_play, 0.7) - rate).abs() < 1e-9, "{text} {to_play}");
            assert_eq!(side.points(to_play, 3.0), points, "{text} {to_play}");
        }
        assert_eq!(Perspective::parse("both"), None);
    }
}
