//! How many eyes a space is worth, by its shape. In doubt the defender is believed: whoever knows
//! better can play it out.

use super::eye_points::EyePoints;
use super::position::Position;
use super::regions::Regions;
use crate::BoardSize;

/// Fills in the real points and the value of every eye.
pub(super) fn mark(position: &Position<'_>, regions: &mut Regions, is_false: &[bool]) {
    for eye in &mut regions.eyes {
        let points = EyePoints::of(position, eye, is_false);
        let enemy = eye.color.opponent();
        let thrown_in =
            eye.points.iter().filter(|&&p| is_false[p] && position.holds(p, enemy)).count();
        for spot in &points.all {
            eye.real[spot.point] = true;
        }
        eye.value = value(&points, position.on.size(), thrown_in);
    }
}

fn value(points: &EyePoints, size: BoardSize, thrown_in: usize) -> u32 {
    let mut value = u32::from(points.all.iter().any(|spot| spot.to_block <= 1));
    value = value.max(splits(points));
    // Only a living space holds many dead stones.
    value = value.max(match points.count(|spot| spot.holds_enemy) {
        0..=4 => 0,
        5..=7 => 1,
        _ => 2,
    });
    let sure = value >= 2
        || is_roomy(points)
        || splits_by_two(points, size)
        || lives_by_capture(points, thrown_in);
    if sure { 2 } else { value }
}

/// The most parts with a solid eye that one move of the owner leaves.
fn splits(points: &EyePoints) -> u32 {
    let mut best = 0;
    for (i, spot) in points.all.iter().enumerate().filter(|(_, spot)| spot.playable) {
        let parts = points.parts_without(&[i]);
        if parts.len() < 2 {
            continue;
        }
        // The move itself blocks one throw-in.
        let allowed = u32::from(spot.throw_ins_beside == 1);
        let is_solid = |part: &&Vec<usize>| part.iter().any(|&i| points.all[i].to_block <= allowed);
        best = best.max(parts.iter().filter(is_solid).count() as u32);
    }
    best
}

/// Enough points for two eyes, weak ones and well-placed enemies taken off.
fn is_roomy(points: &EyePoints) -> bool {
    let weak = points.count(|spot| spot.to_block >= 1) + points.count(|spot| spot.to_block >= 2);
    let enemies = points.count(|spot| spot.holds_enemy && spot.beside.len() >= 2);
    let wide = points.count(|spot| spot.is_empty && spot.beside.len() >= 4)
        + points.count(|spot| spot.is_empty && spot.beside.len() >= 3);
    points.all.len() >= 6 + weak + enemies || wide >= 6
}

/// Two neighbouring central points that part the space, so that the owner gets one of them.
fn splits_by_two(points: &EyePoints, size: BoardSize) -> bool {
    let inner = |point: usize| {
        let (row, col) = (point / size.width(), point % size.width());
        row > 0 && col > 0 && row + 1 < size.height() && col + 1 < size.width()
    };
    let central = |i: usize| points.all[i].to_block <= 1 && points.all[i].beside.len() >= 3;
    for (i, spot) in points.all.iter().enumerate() {
        if !spot.playable || !inner(spot.point) || !central(i) {
            continue;
        }
        for &j in spot.beside.iter().filter(|&&j| central(j)) {
            let other = &points.all[j];
            if !other.is_empty && other.empty_beside <= 1 {
                continue;
            }
            let parts = points.parts_without(&[i, j]);
            let solid =
                |part: &Vec<usize>| part.iter().filter(|&&i| points.all[i].to_block == 0).count();
            let single = parts.iter().filter(|part| solid(part) >= 1).count();
            let double = parts.iter().filter(|part| solid(part) >= 2).count();
            let needed = if other.is_empty { 1 } else { 2 };
            if parts.len() >= 2 && single >= 2 && double >= needed {
                return true;
            }
        }
    }
    false
}

/// Taking the dead stones leaves a living shape, whichever point the opponent plays on first.
fn lives_by_capture(points: &EyePoints, thrown_in: usize) -> bool {
    let dead = |i: &usize| points.all[*i].holds_enemy;
    let shape: Vec<usize> = (0..points.all.len()).filter(dead).collect();
    if shape.is_empty() {
        return false;
    }
    let unplayable: Vec<usize> =
        (0..points.all.len()).filter(|i| !dead(i) && !points.all[*i].playable).collect();
    // The opponent may leave out any one of the points where the owner can't play, or none.
    unplayable.iter().map(Some).chain([None]).all(|omitted| {
        let mut left = shape.clone();
        left.extend(unplayable.iter().filter(|&i| Some(i) != omitted));
        let parts = points.parts(&left).len();
        let (mut bottlenecks, mut broad) = (0, 0);
        for &i in &left {
            let rest: Vec<usize> = left.iter().copied().filter(|&j| j != i).collect();
            if points.parts(&rest).len() > parts {
                bottlenecks += 1;
            } else if points.all[i].beside.iter().filter(|&j| left.contains(j)).count() >= 3 {
                broad += 1;
            }
        }
        let bonus = usize::from(left.len() >= 7);
        parts + (bottlenecks + broad + bonus) / 2 >= 2 + thrown_in
    })
}
