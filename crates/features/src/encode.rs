//! A position as inputs: the one owner of what the network sees.

use tengen_rules::{Color, GameState, Symmetry};

use crate::table::{AGZ_PLANES, first};
use crate::{FeatureSet, PointMap, go};

/// Boards of history in both sets, the current one included.
pub(crate) const BOARDS: usize = 8;
/// Planes of the largest set.
const MOST_PLANES: usize = FeatureSet::Go.planes();

/// Writes the planes of `state`, turned by `symmetry`, to `out` as `[planes, H, W]` (NCHW without
/// the batch axis), row-major from the top-left: every value 0 or 1, but for planes that repeat a
/// global.
///
/// The stone at `p` is written at `symmetry.apply(p)`, so the logit of action `a` is found at
/// `symmetry.apply_action(a)`. Boards older than the game are zero.
///
/// # Panics
/// If `out` is not `planes · area` long.
pub fn encode(set: FeatureSet, state: &GameState, symmetry: Symmetry, out: &mut [f32]) {
    let area = state.size().area();
    assert_eq!(out.len(), set.planes() * area, "out must be [planes, H, W]");
    let constant = constant_planes(set, state);
    for (plane, value) in out.chunks_exact_mut(area).zip(constant) {
        plane.fill(value);
    }
    write(set, state, symmetry, out, (area, 1));
}

/// The same as [`encode`] with channels last: `out` is `[H, W, planes]`.
///
/// # Panics
/// If `out` is not `planes · area` long.
pub fn encode_nhwc(set: FeatureSet, state: &GameState, symmetry: Symmetry, out: &mut [f32]) {
    let planes = set.planes();
    assert_eq!(out.len(), planes * state.size().area(), "out must be [H, W, planes]");
    let constant = constant_planes(set, state);
    for point in out.chunks_exact_mut(planes) {
        point.copy_from_slice(&constant[..planes]);
    }
    write(set, state, symmetry, out, (1, planes));
}

/// Writes the inputs of `state` that have no place on the board to `out`, `[globals]`.
///
/// # Panics
/// If `out` is not `globals` long.
pub fn encode_globals(set: FeatureSet, state: &GameState, out: &mut [f32]) {
    assert_eq!(out.len(), set.globals(), "out must be [globals]");
    match set {
        FeatureSet::Agz => {}
        FeatureSet::Go => go::globals(state, out),
    }
}

/// What every point of a plane has before anything is written, by plane.
fn constant_planes(set: FeatureSet, state: &GameState) -> [f32; MOST_PLANES] {
    let mut constant = [0.0; MOST_PLANES];
    match set {
        FeatureSet::Agz if state.to_play() == Color::Black => {
            constant[first(&AGZ_PLANES, "black")] = 1.0;
        }
        FeatureSet::Agz => {}
        FeatureSet::Go => go::constant_planes(state, &mut constant),
    }
    constant
}

fn write(
    set: FeatureSet,
    state: &GameState,
    symmetry: Symmetry,
    out: &mut [f32],
    (plane, point): (usize, usize),
) {
    let map = PointMap::new(state.size(), symmetry);
    let mut canvas = Canvas { out, map, plane, point };
    match set {
        FeatureSet::Agz => {
            let [own, opponent] =
                const { [first(&AGZ_PLANES, "own"), first(&AGZ_PLANES, "opponent")] };
            canvas.history(state, own, opponent);
        }
        FeatureSet::Go => go::write(state, &mut canvas),
    }
}

/// Planes being drawn, under a symmetry and in one of two layouts.
pub(crate) struct Canvas<'a> {
    out: &'a mut [f32],
    map: PointMap,
    /// Distance in `out` between neighbouring planes.
    plane: usize,
    /// Distance in `out` between neighbouring points.
    point: usize,
}

impl Canvas<'_> {
    /// Makes the plane 1 at a point of the position as it lies.
    #[inline]
    pub fn set(&mut self, plane: usize, point: usize) {
        self.out[plane * self.plane + self.map.point(point) * self.point] = 1.0;
    }

    /// Makes the plane 1 where a bit is set.
    pub fn set_bits(&mut self, plane: usize, words: impl IntoIterator<Item = u64>) {
        for (index, mut rest) in words.into_iter().enumerate() {
            while rest != 0 {
                self.set(plane, index * 64 + rest.trailing_zeros() as usize);
                rest &= rest - 1;
            }
        }
    }

    /// The stones of the last boards, the newest at the planes `own` and `opponent`.
    pub fn history(&mut self, state: &GameState, own: usize, opponent: usize) {
        let player = state.to_play();
        for (first, color) in [(own, player), (opponent, player.opponent())] {
            for plies_ago in 0..state.history_len().min(BOARDS) {
                self.set_bits(first + plies_ago, state.stones(plies_ago, color).iter().copied());
            }
        }
    }
}
