//! Chains that live even if their owner always passes (Benson 1976), and what they enclose.

use crate::{Color, GameState, Point};

/// The points of `color`'s pass-alive chains and of the regions that only they border and in
/// which the opponent can make at most one eye, by point index.
///
/// A region is vital to a chain when each of its empty points is a liberty of the chain. Where
/// the rules allow suicide the opponent can take its own stones off, so then every point of the
/// region must touch the chain.
pub fn pass_alive(state: &GameState, color: Color) -> Vec<bool> {
    let mut map = Map::of(state, color);
    while map.drop_chains_and_regions() {}
    let mut alive = vec![false; state.size().area()];
    for (point, &chain) in map.chain_at.iter().enumerate() {
        alive[point] = chain.is_some_and(|c| map.chain_alive[c]);
    }
    for region in &map.regions {
        if region.alive && !region.borders.is_empty() && region.interior <= 1 {
            for point in &region.points {
                alive[point.index()] = true;
            }
        }
    }
    alive
}

/// A largest connected set of points without stones of the colour.
struct Region {
    points: Vec<Point>,
    /// Chains beside it.
    borders: Vec<usize>,
    /// Those it is vital to.
    vital: Vec<usize>,
    /// Points on which the opponent could make an eye: beside none of the chains.
    interior: usize,
    alive: bool,
}

struct Map {
    chain_at: Vec<Option<usize>>,
    chain_alive: Vec<bool>,
    regions: Vec<Region>,
}

impl Map {
    fn of(state: &GameState, color: Color) -> Map {
        let size = state.size();
        let mut chain_at = vec![None; size.area()];
        let mut chains = 0;
        for point in size.points() {
            if state.stone(point) == Some(color) && chain_at[point.index()].is_none() {
                for stone in state.chain(point) {
                    chain_at[stone.index()] = Some(chains);
                }
                chains += 1;
            }
        }
        let mut map = Map { chain_at, chain_alive: vec![true; chains], regions: Vec::new() };
        let mut seen = vec![false; size.area()];
        for point in size.points() {
            if map.chain_at[point.index()].is_none() && !seen[point.index()] {
                let region = map.region(state, point, &mut seen);
                map.regions.push(region);
            }
        }
        map
    }

    fn region(&self, state: &GameState, start: Point, seen: &mut [bool]) -> Region {
        let size = state.size();
        let mut points = vec![start];
        seen[start.index()] = true;
        let (mut borders, mut vital) = (Vec::new(), None::<Vec<usize>>);
        let (mut interior, mut next) = (0, 0);
        while let Some(&point) = points.get(next) {
            next += 1;
            let mut beside = Vec::new();
            for n in size.neighbours(point) {
                match self.chain_at[n.index()] {
                    Some(chain) => beside.push(chain),
                    None if !std::mem::replace(&mut seen[n.index()], true) => points.push(n),
                    None => {}
                }
            }
            let counts = state.rules().suicide || state.stone(point).is_none();
            if counts {
                match &mut vital {
                    None => vital = Some(beside.clone()),
                    Some(vital) => vital.retain(|chain| beside.contains(chain)),
                }
            }
            interior += usize::from(beside.is_empty());
            borders.extend(beside);
        }
        for list in [Some(&mut borders), vital.as_mut()].into_iter().flatten() {
            list.sort_unstable();
            list.dedup();
        }
        Region { points, borders, vital: vital.unwrap_or_default(), interior, alive: true }
    }

    /// Drops chains with fewer than two vital regions, then the regions they border; whether any.
    fn drop_chains_and_regions(&mut self) -> bool {
        let mut vital = vec![0; self.chain_alive.len()];
        for region in self.regions.iter().filter(|region| region.alive) {
            for &chain in &region.vital {
                vital[chain] += 1;
            }
        }
        let mut dropped = false;
        for (alive, vital) in self.chain_alive.iter_mut().zip(vital) {
            dropped |= *alive && vital < 2;
            *alive &= vital >= 2;
        }
        for region in &mut self.regions {
            region.alive &= region.borders.iter().all(|&chain| self.chain_alive[chain]);
        }
        dropped
    }
}
