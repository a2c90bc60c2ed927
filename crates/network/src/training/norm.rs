//! Batch normalisation and ReLU, forward and backward, over the points of grids: safe loops that
//! the compiler turns into vectors, eight channels at a time.

/// Channels worked on together; strides of points are multiples of it.
const GROUP: usize = 8;

/// A grid's buffer seen point by point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Points<'a> {
    /// Grid indices.
    pub points: &'a [usize],
    /// Points of a board: sums are taken board by board, so that they stay exact.
    pub area: usize,
    /// Floats of a point.
    pub stride: usize,
}

/// The group of channels at `index`.
#[inline(always)]
fn group(from: &[f32], index: usize) -> [f32; GROUP] {
    *from[index..].first_chunk().expect("strides are whole groups, and points lie in the grid")
}

#[inline(always)]
fn group_mut(from: &mut [f32], index: usize) -> &mut [f32; GROUP] {
    from[index..].first_chunk_mut().expect("strides are whole groups, and points lie in the grid")
}

#[inline(always)]
fn each(f: impl FnMut(usize) -> f32) -> [f32; GROUP] {
    std::array::from_fn(f)
}

/// Mean and sum of squared distances from it, one channel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Moments {
    pub count: f64,
    pub mean: f64,
    pub squares: f64,
}

impl Moments {
    /// The moments of both together (Chan, Golub and LeVeque 1983).
    #[inline(always)]
    pub(super) fn join(self, other: Self) -> Self {
        let count = self.count + other.count;
        if count == 0.0 {
            return self;
        }
        let distance = other.mean - self.mean;
        let share = other.count / count;
        Self {
            count,
            mean: self.mean + distance * share,
            squares: self.squares + other.squares + distance * distance * self.count * share,
        }
    }
}

/// Joins the moments of every channel of `z` to `moments`, `[stride]`.
#[inline(always)]
pub(super) fn observe(at: &Points<'_>, z: &[f32], moments: &mut [Moments]) {
    for board in at.points.chunks_exact(at.area) {
        for (index, moments) in moments.chunks_exact_mut(GROUP).enumerate() {
            let place = |point: usize| point * at.stride + index * GROUP;
            let mut sum = [0.0; GROUP];
            for &point in board {
                let z = group(z, place(point));
                sum = each(|lane| sum[lane] + z[lane]);
            }
            let mean = sum.map(|sum| sum / at.area as f32);
            let mut squares = [0.0; GROUP];
            for &point in board {
                let z = group(z, place(point));
                squares = each(|l| squares[l] + (z[l] - mean[l]) * (z[l] - mean[l]));
            }
            for (lane, moments) in moments.iter_mut().enumerate() {
                *moments = moments.join(Moments {
                    count: at.area as f64,
                    mean: f64::from(mean[lane]),
                    squares: f64::from(squares[lane]),
                });
            }
        }
    }
}

/// `y = max(z · scale + shift + skip, 0)`; what is not a number stays so.
#[inline(always)]
pub(super) fn normalise(
    at: &Points<'_>,
    z: &[f32],
    scale: &[f32],
    shift: &[f32],
    skip: Option<&[f32]>,
    y: &mut [f32],
) {
    let rectified = |x: f32| if x < 0.0 { 0.0 } else { x };
    for board in at.points.chunks_exact(at.area) {
        for first in (0..at.stride).step_by(GROUP) {
            let (scale, shift) = (group(scale, first), group(shift, first));
            match skip {
                None => {
                    for &point in board {
                        let place = point * at.stride + first;
                        let z = group(z, place);
                        *group_mut(y, place) = each(|l| rectified(z[l] * scale[l] + shift[l]));
                    }
                }
                Some(skip) => {
                    for &point in board {
                        let place = point * at.stride + first;
                        let (z, skip) = (group(z, place), group(skip, place));
                        *group_mut(y, place) =
                            each(|l| rectified(z[l] * scale[l] + shift[l] + skip[l]));
                    }
                }
            }
        }
    }
}

/// A channel's sums over the gradient of a normalisation's outputs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Slopes {
    /// Of the gradient: β's.
    pub beta: f64,
    /// Of the gradient times the normalised input: γ's.
    pub gamma: f64,
}

/// Takes the gradient `dy` of `y` back through the ReLU, in place, and adds up its sums, `[stride]`.
#[inline(always)]
pub(super) fn rectify_back(
    at: &Points<'_>,
    y: &[f32],
    z: &[f32],
    mean: &[f32],
    inv_std: &[f32],
    dy: &mut [f32],
    sums: &mut [Slopes],
) {
    for board in at.points.chunks_exact(at.area) {
        for (index, sums) in sums.chunks_exact_mut(GROUP).enumerate() {
            let first = index * GROUP;
            let (mean, inv_std) = (group(mean, first), group(inv_std, first));
            let (mut beta, mut gamma) = ([0.0; GROUP], [0.0; GROUP]);
            for &point in board {
                let place = point * at.stride + first;
                let (y, z) = (group(y, place), group(z, place));
                let dy = group_mut(dy, place);
                *dy = each(|l| if y[l] <= 0.0 { 0.0 } else { dy[l] });
                beta = each(|l| beta[l] + dy[l]);
                gamma = each(|l| gamma[l] + dy[l] * ((z[l] - mean[l]) * inv_std[l]));
            }
            for (lane, sums) in sums.iter_mut().enumerate() {
                sums.beta += f64::from(beta[lane]);
                sums.gamma += f64::from(gamma[lane]);
            }
        }
    }
}

/// The gradient of a normalisation's input as `dz = dy · scale − (z − mean) · tilt − shift`.
#[derive(Clone, Debug, Default)]
pub(super) struct Slant {
    pub scale: Vec<f32>,
    pub tilt: Vec<f32>,
    pub shift: Vec<f32>,
}

/// Takes the gradient `dy` of a normalisation's output back to its input.
#[inline(always)]
pub(super) fn normalise_back(
    at: &Points<'_>,
    z: &[f32],
    mean: &[f32],
    slant: &Slant,
    dy: &[f32],
    dz: &mut [f32],
) {
    for board in at.points.chunks_exact(at.area) {
        for first in (0..at.stride).step_by(GROUP) {
            let (scale, tilt) = (group(&slant.scale, first), group(&slant.tilt, first));
            let (shift, mean) = (group(&slant.shift, first), group(mean, first));
            for &point in board {
                let place = point * at.stride + first;
                let (z, dy) = (group(z, place), group(dy, place));
                *group_mut(dz, place) =
                    each(|l| dy[l] * scale[l] - ((z[l] - mean[l]) * tilt[l] + shift[l]));
            }
        }
    }
}
