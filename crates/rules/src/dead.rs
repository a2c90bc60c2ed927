//! Which stones are dead at the end: proven, guessed from ownership, or clicked on.

use crate::{Color, GameState, Point, pass_alive};

/// A chain is taken for dead when its points belong to the opponent by more than this on average,
/// on the scale of ownership from -1 to 1: clearly, not by a hair.
const CLEARLY_LOST: f32 = 0.25;

/// The stones that are dead whatever their owner plays: those inside what the opponent's pass-alive
/// chains (Benson) enclose. In index order.
pub fn propose_dead(state: &GameState) -> Vec<Point> {
    let enclosed = Color::BOTH.map(|color| pass_alive(state, color));
    let is_dead = |point: &Point| {
        state.stone(*point).is_some_and(|c| enclosed[c.opponent().index()][point.index()])
    };
    state.size().points().filter(is_dead).collect()
}

/// As [`propose_dead`], and with a guess for the chains that nothing is proven of.
///
/// `ownership` says by point index how sure the point ends as Black's (1) or White's (-1), as a
/// network or many playouts expect it; NaN counts as 0. A slice of another length than the board's
/// area is passed over.
pub fn propose_dead_with(state: &GameState, ownership: &[f32]) -> Vec<Point> {
    let mut dead = propose_dead(state);
    if ownership.len() != state.size().area() {
        return dead;
    }
    let alive = Color::BOTH.map(|color| pass_alive(state, color));
    let mut judged = vec![false; ownership.len()];
    dead.iter().for_each(|point| judged[point.index()] = true);
    for start in state.size().points() {
        let Some(color) = state.stone(start) else { continue };
        if judged[start.index()] {
            continue;
        }
        let chain = state.chain(start);
        chain.iter().for_each(|stone| judged[stone.index()] = true);
        let total: f32 = chain
            .iter()
            .map(|stone| ownership[stone.index()])
            .filter(|black| !black.is_nan())
            .map(|black| black.clamp(-1.0, 1.0))
            .sum();
        let own = match color {
            Color::Black => total,
            Color::White => -total,
        };
        let proven_alive = alive[color.index()][start.index()];
        if !proven_alive && own < -CLEARLY_LOST * chain.len() as f32 {
            dead.extend(chain);
        }
    }
    dead.sort_unstable();
    dead
}

/// Answers a click on a stone: takes all stones of its colour that are connected to it over empty
/// points as dead, or, if it was dead already, back to life.
///
/// `dead` stays in index order and without doubles. A click on an empty point or off the board
/// changes nothing. Returns whether anything changed.
pub fn toggle_dead(state: &GameState, dead: &mut Vec<Point>, click: Point) -> bool {
    let Some(color) = state.stone(click) else { return false };
    let size = state.size();
    let revive = dead.contains(&click);
    let mut in_region = vec![false; size.area()];
    in_region[click.index()] = true;
    let mut region = vec![click];
    let mut next = 0;
    while let Some(&point) = region.get(next) {
        next += 1;
        for n in size.neighbours(point) {
            let open = state.stone(n) != Some(color.opponent());
            if open && !std::mem::replace(&mut in_region[n.index()], true) {
                region.push(n);
            }
        }
    }
    dead.retain(|&p| !(size.contains(p) && in_region[p.index()]));
    if !revive {
        dead.extend(region.into_iter().filter(|&p| state.stone(p) == Some(color)));
    }
    dead.sort_unstable();
    dead.dedup();
    true
}
