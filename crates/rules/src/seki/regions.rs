//! Regions, groups and eyes of a finished position.

use super::position::Position;
use crate::Color;
use std::collections::BTreeMap;

/// A connected part of a region without living stones: an eye, or what might become one.
pub(super) struct Eye {
    pub color: Color,
    pub region: usize,
    /// In ascending order.
    pub points: Vec<usize>,
    /// For each group beside it, the points of the eye that touch the group.
    pub groups: BTreeMap<usize, Vec<usize>>,
    /// How many eyes it is worth, at most 2.
    pub value: u32,
    /// The points that are not false; filled in with the value.
    pub real: Vec<bool>,
}

pub(super) struct Regions {
    /// The region of each point that reaches one colour only.
    pub of_point: Vec<Option<usize>>,
    pub colors: Vec<Color>,
    /// Whether the whole piece around a point lies in one region.
    pub whole_space: Vec<bool>,
    /// For each group the eyes beside it, and its stones that touch them.
    pub group_eyes: Vec<BTreeMap<usize, Vec<usize>>>,
    pub eyes: Vec<Eye>,
}

impl Regions {
    pub fn of(position: &Position<'_>) -> Regions {
        let (of_point, colors) = regions(position);
        let whole_space = whole_spaces(position, &of_point);
        let (group, count) = groups(position, &of_point);
        let group_eyes = vec![BTreeMap::new(); count];
        let mut regions = Regions { of_point, colors, whole_space, group_eyes, eyes: Vec::new() };
        regions.find_eyes(position, &group);
        regions
    }

    fn find_eyes(&mut self, position: &Position<'_>, group: &[Option<usize>]) {
        let mut seen = vec![false; position.area()];
        for start in 0..position.area() {
            let Some(region) = self.of_point[start] else { continue };
            if seen[start] || position.alive(start).is_some() {
                continue;
            }
            let id = self.eyes.len();
            let mut groups = BTreeMap::<usize, Vec<usize>>::new();
            let mut points = vec![start];
            seen[start] = true;
            let mut next = 0;
            while let Some(&point) = points.get(next) {
                next += 1;
                for n in position.neighbours(point).filter(|&n| self.of_point[n] == Some(region)) {
                    if let Some(group) = group[n] {
                        add(groups.entry(group).or_default(), point);
                        add(self.group_eyes[group].entry(id).or_default(), n);
                    } else if !std::mem::replace(&mut seen[n], true) {
                        points.push(n);
                    }
                }
            }
            points.sort_unstable();
            let real = vec![false; position.area()];
            let color = self.colors[region];
            self.eyes.push(Eye { color, region, points, groups, value: 0, real });
        }
    }
}

fn add(list: &mut Vec<usize>, point: usize) {
    if !list.contains(&point) {
        list.push(point);
    }
}

/// Joins the points that reach one colour only, walking over anything but living opponents and
/// their blocks.
fn regions(position: &Position<'_>) -> (Vec<Option<usize>>, Vec<Color>) {
    let area = position.area();
    let mut of_point = vec![None; area];
    let mut colors = Vec::new();
    for start in 0..area {
        let only = |color: Color, point: usize| {
            position.joins[color.index()][point] && !position.joins[color.opponent().index()][point]
        };
        let Some(color) = Color::BOTH.into_iter().find(|&c| only(c, start)) else { continue };
        if of_point[start].is_some() {
            continue;
        }
        let id = colors.len();
        colors.push(color);
        let mut visited = vec![false; area];
        let mut queue = vec![start];
        while let Some(point) = queue.pop() {
            let closed = visited[point]
                || of_point[point].is_some()
                || position.alive(point) == Some(color.opponent());
            if closed {
                continue;
            }
            visited[point] = true;
            if only(color, point) {
                of_point[point] = Some(id);
            }
            if position.blocks[point] != Some(color.opponent()) {
                queue.extend(position.neighbours(point));
            }
        }
    }
    (of_point, colors)
}

fn whole_spaces(position: &Position<'_>, of_point: &[Option<usize>]) -> Vec<bool> {
    let mut first = vec![None; position.liberties.len()];
    let mut whole = vec![true; position.liberties.len()];
    for (&piece, &region) in position.piece.iter().zip(of_point) {
        whole[piece] &= *first[piece].get_or_insert(region) == region;
    }
    (0..position.area()).map(|p| whole[position.piece[p]]).collect()
}

/// Living stones of a colour that no opponent can keep apart: connected over their own stones and
/// over dame outside all regions that are not blocked.
fn groups(position: &Position<'_>, of_point: &[Option<usize>]) -> (Vec<Option<usize>>, usize) {
    let area = position.area();
    let mut group = vec![None; area];
    let mut count = 0;
    for color in Color::BOTH {
        let mut visited = vec![false; area];
        for start in 0..area {
            if visited[start] || position.alive(start) != Some(color) {
                continue;
            }
            let mut queue = vec![start];
            while let Some(point) = queue.pop() {
                if std::mem::replace(&mut visited[point], true) {
                    continue;
                }
                let own = position.alive(point) == Some(color);
                if own {
                    group[point] = Some(count);
                }
                let dame =
                    of_point[point].is_none() && position.blocks[point] != Some(color.opponent());
                if own || dame {
                    queue.extend(position.neighbours(point));
                }
            }
            count += 1;
        }
    }
    (group, count)
}
