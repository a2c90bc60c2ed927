//! Pass-alive areas, liberties and bans on random games, each beside a naive twin.

use crate::twin::Lcg;
use tengen_rules::{
    BoardSize, Color, GameState, IllegalMove, KoRule, Komi, Move, Point, Rules, pass_alive,
};

fn walk(sides: &[usize], games: usize, mut look: impl FnMut(&GameState)) {
    let mut rng = Lcg(9);
    for game in 0..games {
        let size = BoardSize::square(sides[game % sides.len()]).unwrap();
        let ko = [KoRule::Simple, KoRule::Positional, KoRule::Situational][game % 3];
        let rules = Rules { ko, suicide: game % 2 == 0, ..Rules::tromp_taylor() };
        let mut state = GameState::new(size, rules, Komi::from_points(0.5).unwrap());
        for _ in 0..3 * size.area() {
            let legal: Vec<usize> = state.legal_moves().iter().collect();
            // Passes only where nothing else is left, so that the board fills up.
            let points = legal.len() - 1;
            let action = if points == 0 { size.pass_action() } else { legal[rng.below(points)] };
            state.play(size.move_at(action)).unwrap();
            if state.is_over() {
                break;
            }
            look(&state);
        }
    }
}

#[test]
fn pass_alive_areas_are_those_of_the_naive_twin() {
    let mut alive_points = 0;
    walk(&[3, 4, 5, 6, 7, 9], 90, |state| {
        for color in Color::BOTH {
            let fast = pass_alive(state, color);
            assert_eq!(fast, naive_pass_alive(state, color), "{color:?}\n{state}");
            alive_points += fast.iter().filter(|&&alive| alive).count();
        }
    });
    assert!(alive_points > 1_000, "{alive_points}");
}

#[test]
fn liberties_by_point_are_the_chains_liberties_up_to_the_cap() {
    walk(&[1, 2, 5, 7], 24, |state| {
        let mut counted = vec![7; state.size().area()];
        state.liberties_by_point(4, &mut counted);
        for point in state.size().points() {
            assert_eq!(usize::from(counted[point.index()]), state.liberties(point).min(4));
        }
    });
}

#[test]
fn the_points_that_a_repetition_forbids_are_those_that_check_refuses() {
    let mut seen = [0; 2];
    walk(&[2, 3, 4], 90, |state| {
        let mut bans = Vec::new();
        state.for_each_repetition(|point, immediate| bans.push((point, immediate)));
        for point in state.size().points() {
            let ban = bans.iter().find(|(banned, _)| *banned == point).map(|&(_, now)| now);
            let expected = match state.check(Move::Play(point)) {
                Err(IllegalMove::Ko(_)) => Some(true),
                Err(IllegalMove::Superko(_)) => Some(false),
                _ => None,
            };
            // A suicide at a point that never held a stone may bring back a board as well.
            if expected.is_some() && ban.is_none() {
                assert!(state.rules().suicide, "{point:?}\n{state}");
                continue;
            }
            assert_eq!(ban, expected, "{point:?}\n{state}");
            if let Some(now) = ban {
                seen[usize::from(now)] += 1;
            }
        }
    });
    assert!(seen.iter().all(|&count| count > 5), "{seen:?}");
}

#[test]
fn a_pass_ends_the_game_when_it_is_said_to() {
    walk(&[1, 2, 3], 60, |state| {
        let mut passed = state.clone();
        passed.play(Move::Pass).unwrap();
        assert_eq!(state.pass_ends(), passed.is_over(), "{state}");
        if !passed.is_over() {
            let mut again = passed.clone();
            again.play(Move::Pass).unwrap();
            assert_eq!(passed.pass_ends(), again.is_over());
        }
    });
}

/// The same with a list for everything: the points of `color`'s pass-alive chains and of the regions that only they border and in
/// which the opponent can make at most one eye, by point index.
///
/// A region is vital to a chain when each of its empty points is a liberty of the chain. Where
/// the rules allow suicide the opponent can take its own stones off, so then every point of the
/// region must touch the chain.
fn naive_pass_alive(state: &GameState, color: Color) -> Vec<bool> {
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
