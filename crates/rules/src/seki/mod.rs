//! Which groups have two eyes, so that points in seki and in false eyes are not counted.
//!
//! The method is that of goscorer (lightvector, 2024, <https://github.com/lightvector/goscorer>),
//! written anew: with dead stones marked, it takes dame that nobody filled, loose connections and
//! false eyes as players do. Step by step:
//!
//! 1. `blocks`: shapes that a player can't be cut through;
//! 2. `regions`: points that reach living stones of one colour only, joined into regions; living
//!    stones joined into *groups* (over dame that the opponent can't cut); and the *eyes*, connected
//!    points of a region without living stones;
//! 3. `false_eyes`: points of an eye that some group beside them needs filled to be connected;
//! 4. `eye_value`: 0, 1 or 2 for each eye, by shape. A region worth two eyes lives; else it is seki.

mod blocks;
mod eye_points;
mod eye_value;
mod false_eyes;
mod position;
mod regions;

use crate::Color;
use position::Position;
use regions::Regions;

pub(crate) use position::Stones;

/// What the points of a finished position count for.
pub(crate) struct SekiMap {
    /// Whose territory a point is, those under dead stones included.
    pub territory: Vec<Option<Color>>,
    /// The colour of the group without two eyes that a point belongs to, as a stone or a space.
    pub seki: Vec<Option<Color>>,
    /// Groups with two eyes of Black and White.
    pub living: [u32; 2],
}

impl SekiMap {
    /// Judges a position in which `stones.dead` are agreed to be dead.
    pub fn of(stones: Stones<'_>) -> SekiMap {
        let position = Position::of(stones);
        let mut regions = Regions::of(&position);
        // While every eye is worth nothing, this finds the points that can't help a group to live.
        let false_points = false_eyes::false_points(&position, &regions);
        eye_value::mark(&position, &mut regions, &false_points);
        // With the values known, it finds those that must be filled in the end.
        let filled = false_eyes::false_points(&position, &regions);
        score(&position, &regions, &filled)
    }
}

fn score(position: &Position<'_>, regions: &Regions, filled: &[bool]) -> SekiMap {
    let area = position.area();
    let mut eyes_of = vec![0; regions.colors.len()];
    for eye in &regions.eyes {
        eyes_of[eye.region] += eye.value;
    }
    // A stone thrown into such a point costs the points beside it too.
    let mut spoilt = [vec![false; area], vec![false; area]];
    for point in (0..area).filter(|&p| filled[p]) {
        if let Some(thrown_in) = position.dead_color(point) {
            for n in position.neighbours(point) {
                spoilt[thrown_in.opponent().index()][n] = true;
            }
        }
    }
    let mut map = SekiMap { territory: vec![None; area], seki: vec![None; area], living: [0; 2] };
    for (region, &color) in regions.colors.iter().enumerate() {
        map.living[color.index()] += u32::from(eyes_of[region] >= 2);
    }
    for point in 0..area {
        let Some(region) = regions.of_point[point] else { continue };
        let color = regions.colors[region];
        if eyes_of[region] < 2 {
            map.seki[point] = Some(color);
            continue;
        }
        let counts = position.alive(point).is_none()
            && !filled[point]
            && !spoilt[color.index()][point]
            && regions.whole_space[point]
            && !position.reaches[color.opponent().index()][point];
        map.territory[point] = counts.then_some(color);
    }
    map
}
