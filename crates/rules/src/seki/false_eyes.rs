//! Points of an eye that must be filled because a group beside them is connected by nothing else.

use super::position::Position;
use super::regions::Regions;

/// The false points of all eyes. Eyes of value 1 or more make the groups that reach them safe, so
/// with all values 0 the answer is which points can't be counted on, and with the true values which
/// points will be filled.
pub(super) fn false_points(position: &Position<'_>, regions: &Regions) -> Vec<bool> {
    let mut is_false = vec![false; position.area()];
    for (eye, shape) in regions.eyes.iter().enumerate() {
        for (&group, beside) in &shape.groups {
            for &point in beside {
                let within =
                    position.neighbours(point).filter(|n| shape.points.binary_search(n).is_ok());
                if within.count() <= 1 && !Walk::new(position, regions, eye, point).visit(group) {
                    is_false[point] = true;
                }
            }
        }
    }
    is_false
}

/// A walk over groups and eyes that looks for all sides of one point of an eye.
struct Walk<'a> {
    position: &'a Position<'a>,
    regions: &'a Regions,
    eye: usize,
    point: usize,
    /// Neighbours of the point inside the region: the sides to reach.
    wanted: usize,
    sides: Vec<usize>,
    groups: Vec<bool>,
    eyes: Vec<bool>,
    /// Points of the eye itself that were walked through; the point under test is closed.
    walked: Vec<bool>,
}

impl<'a> Walk<'a> {
    fn new(position: &'a Position<'a>, regions: &'a Regions, eye: usize, point: usize) -> Walk<'a> {
        let region = Some(regions.eyes[eye].region);
        let wanted = position.neighbours(point).filter(|&n| regions.of_point[n] == region).count();
        let mut walked = vec![false; position.area()];
        walked[point] = true;
        Walk {
            position,
            regions,
            eye,
            point,
            wanted,
            sides: Vec::new(),
            groups: vec![false; regions.group_eyes.len()],
            eyes: vec![false; regions.eyes.len()],
            walked,
        }
    }

    /// Whether from this group all sides are reached, or an eye that makes it safe.
    fn visit(&mut self, start: usize) -> bool {
        let mut stack = vec![start];
        while let Some(group) = stack.pop() {
            if std::mem::replace(&mut self.groups[group], true) {
                continue;
            }
            for (&eye, stones) in &self.regions.group_eyes[group] {
                if eye == self.eye {
                    if self.reach_sides(stones) || self.walk_through(group, &mut stack) {
                        return true;
                    }
                } else if !std::mem::replace(&mut self.eyes[eye], true) {
                    let other = &self.regions.eyes[eye];
                    if other.value > 0 {
                        return true;
                    }
                    stack.extend(other.groups.keys());
                }
            }
        }
        false
    }

    /// Notes which of the points lie beside the one under test; whether all sides are reached.
    fn reach_sides(&mut self, points: &[usize]) -> bool {
        for &point in points {
            let beside = self.position.neighbours(self.point).any(|n| n == point);
            if beside && !self.sides.contains(&point) {
                self.sides.push(point);
            }
        }
        self.sides.len() >= self.wanted
    }

    /// Goes on through the eye itself, around the point under test.
    fn walk_through(&mut self, group: usize, stack: &mut Vec<usize>) -> bool {
        let regions = self.regions;
        let shape = &regions.eyes[self.eye];
        let mut reached = Vec::new();
        let mut queue = shape.groups[&group].clone();
        while let Some(point) = queue.pop() {
            let inside = shape.points.binary_search(&point).is_ok();
            if inside && !std::mem::replace(&mut self.walked[point], true) {
                reached.push(point);
                queue.extend(self.position.neighbours(point));
            }
        }
        if reached.is_empty() {
            return false;
        }
        if shape.value > 0 && reached.iter().any(|&point| shape.real[point]) {
            return true;
        }
        let touches = |points: &[usize]| points.iter().any(|point| reached.contains(point));
        stack.extend(shape.groups.iter().filter(|(_, points)| touches(points)).map(|(&g, _)| g));
        self.reach_sides(&reached)
    }
}
