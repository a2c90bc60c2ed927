//! The points of one eye, and what each still needs to become a solid eye.

use super::position::Position;
use super::regions::Eye;

/// So many moves that a point can't be blocked off any more.
const NEVER: u32 = 1000;

/// A point of an eye that is not false.
#[derive(Clone, Default)]
pub(super) struct EyePoint {
    pub point: usize,
    pub is_empty: bool,
    pub holds_enemy: bool,
    /// Whether the owner may play here, ko aside.
    pub playable: bool,
    /// Neighbours within the real points, as indices of [`EyePoints::all`].
    pub beside: Vec<usize>,
    /// Those of them that are empty.
    pub empty_beside: usize,
    /// Moves of the owner until the opponent can't poke here from outside the eye.
    pub to_block: u32,
    empty_false_beside: usize,
    /// Enemy stones thrown into false points beside this one.
    pub throw_ins_beside: usize,
    /// An enemy stone in contact with a false point that makes this one useless.
    is_poke: bool,
}

/// The real points of an eye in ascending order.
pub(super) struct EyePoints {
    pub all: Vec<EyePoint>,
}

impl EyePoints {
    pub fn of(position: &Position<'_>, eye: &Eye, is_false: &[bool]) -> EyePoints {
        let enemy = eye.color.opponent();
        let real: Vec<usize> = eye.points.iter().copied().filter(|&p| !is_false[p]).collect();
        let mut all: Vec<EyePoint> = real
            .iter()
            .map(|&point| EyePoint {
                point,
                is_empty: position.is_empty(point),
                holds_enemy: position.holds(point, enemy),
                playable: position.may_play(point, eye.color),
                ..EyePoint::default()
            })
            .collect();
        for spot in &mut all {
            for n in position.neighbours(spot.point) {
                if let Ok(index) = real.binary_search(&n) {
                    spot.beside.push(index);
                    spot.empty_beside += usize::from(position.is_empty(n));
                }
                spot.empty_false_beside += usize::from(is_false[n] && position.is_empty(n));
                spot.throw_ins_beside += usize::from(is_false[n] && position.holds(n, enemy));
            }
            // Two empty false points are as good as one with a stone in it.
            spot.is_poke =
                spot.holds_enemy && (spot.throw_ins_beside > 0 || spot.empty_false_beside >= 2);
        }
        for index in 0..all.len() {
            let point = all[index].point;
            let moves = position.neighbours(point).map(|n| {
                let inside = real.binary_search(&n).ok().map(|i| &all[i]);
                match inside {
                    Some(n) if n.is_empty => u32::from(n.throw_ins_beside > 0),
                    Some(n) if n.is_poke => NEVER,
                    Some(n) if n.holds_enemy => u32::from(n.empty_false_beside > 0),
                    Some(_) => 0,
                    None if position.is_empty(n) => 1,
                    None if position.holds(n, enemy) && is_false[n] => NEVER,
                    None => 0,
                }
            });
            all[index].to_block = moves.sum();
        }
        EyePoints { all }
    }

    pub fn count(&self, is: impl Fn(&EyePoint) -> bool) -> usize {
        self.all.iter().filter(|spot| is(spot)).count()
    }

    /// The connected parts that are left without some points, as indices.
    pub fn parts_without(&self, removed: &[usize]) -> Vec<Vec<usize>> {
        let members: Vec<usize> = (0..self.all.len()).filter(|i| !removed.contains(i)).collect();
        self.parts(&members)
    }

    /// The connected parts of some of the points.
    pub fn parts(&self, members: &[usize]) -> Vec<Vec<usize>> {
        let mut open = vec![false; self.all.len()];
        members.iter().for_each(|&i| open[i] = true);
        let mut parts = Vec::new();
        for &start in members {
            if !std::mem::replace(&mut open[start], false) {
                continue;
            }
            let mut part = vec![start];
            let mut next = 0;
            while let Some(&i) = part.get(next) {
                next += 1;
                for &n in &self.all[i].beside {
                    if std::mem::replace(&mut open[n], false) {
                        part.push(n);
                    }
                }
            }
            parts.push(part);
        }
        parts
    }
}
