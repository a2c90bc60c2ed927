//! A position as planes: the one owner of what the network sees.

use tengen_rules::{Color, GameState, Symmetry};

use crate::{FeatureSet, PointMap};

/// Boards of history in the AGZ planes, the current one included.
const BOARDS: usize = 8;

/// Writes the planes of `state`, turned by `symmetry`, to `out` as `[planes, H, W]` (NCHW without
/// the batch axis), row-major from the top-left, every value 0 or 1.
///
/// The stone at `p` is written at `symmetry.apply(p)`, so the logit of action `a` is found at
/// `symmetry.apply_action(a)`. Boards older than the game are zero.
///
/// # Panics
/// If `out` is not `planes · area` long.
pub fn encode(set: FeatureSet, state: &GameState, symmetry: Symmetry, out: &mut [f32]) {
    let area = state.size().area();
    assert_eq!(out.len(), set.planes() * area, "out must be [planes, H, W]");
    write(set, state, symmetry, out, Strides { plane: area, point: 1 });
}

/// The same as [`encode`] with channels last: `out` is `[H, W, planes]`.
///
/// # Panics
/// If `out` is not `planes · area` long.
pub fn encode_nhwc(set: FeatureSet, state: &GameState, symmetry: Symmetry, out: &mut [f32]) {
    let planes = set.planes();
    assert_eq!(out.len(), planes * state.size().area(), "out must be [H, W, planes]");
    write(set, state, symmetry, out, Strides { plane: 1, point: planes });
}

/// Writes the inputs of `state` that have no place on the board to `out`, `[globals]`.
///
/// # Panics
/// If `out` is not `globals` long.
pub fn encode_globals(set: FeatureSet, _state: &GameState, out: &mut [f32]) {
    assert_eq!(out.len(), set.globals(), "out must be [globals]");
    let FeatureSet::Agz = set;
}

/// Distance in `out` between neighbouring planes and neighbouring points.
#[derive(Clone, Copy)]
struct Strides {
    plane: usize,
    point: usize,
}

fn write(set: FeatureSet, state: &GameState, symmetry: Symmetry, out: &mut [f32], at: Strides) {
    let FeatureSet::Agz = set;
    out.fill(0.0);
    let map = PointMap::new(state.size(), symmetry);
    let own = state.to_play();
    for (first_plane, color) in [(0, own), (BOARDS, own.opponent())] {
        for plies_ago in 0..state.history_len().min(BOARDS) {
            let base = (first_plane + plies_ago) * at.plane;
            for_each_bit(state.stones(plies_ago, color), |point| {
                out[base + map.point(point) * at.point] = 1.0;
            });
        }
    }
    if own == Color::Black {
        let base = 2 * BOARDS * at.plane;
        for point in 0..state.size().area() {
            out[base + point * at.point] = 1.0;
        }
    }
}

/// Calls `f` with the index of every set bit, in rising order.
fn for_each_bit(words: &[u64], mut f: impl FnMut(usize)) {
    for (word_index, &word) in words.iter().enumerate() {
        let mut rest = word;
        while rest != 0 {
            f(word_index * 64 + rest.trailing_zeros() as usize);
            rest &= rest - 1;
        }
    }
}
