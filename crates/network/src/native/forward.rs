//! The pass itself: a few boards at a time through the whole tower.

use std::sync::Arc;

use super::buffer::Buffer;
use super::fold::FoldedConv;
use super::geometry::Geometry;
use super::heads::{self, HeadScratch, HeadsAnswer};
use super::packed::PackedConv;
use super::pooling::Pooling;
use super::shared::SharedNet;
use super::simd::{Finish, Kernel, Layout, Planes, Products, TileSize};

/// Floats between the planes of a transform beyond what they hold: planes a power of two apart
/// would share the same few places of the cache.
const PLANE_GAP: usize = 16;

/// A network with the room that one thread computes in.
///
/// All room is reused; it is only made anew when the board's size changes.
#[derive(Clone, Debug)]
pub(super) struct Forward {
    shared: Arc<SharedNet>,
    geometry: Geometry,
    /// Planes of a point, rounded up to whole vectors.
    planes: usize,
    /// Grids of `planes` channels.
    input: Buffer,
    /// `[boards, globals]`.
    globals: Vec<f32>,
    /// Grids of the tower's channels: the residual stream.
    trunk: Buffer,
    /// Grids of the tower's channels: between the two convolutions of a block.
    inner: Buffer,
    /// The tower's last answer without borders, `[boards, area, channels]`.
    top: Buffer,
    /// `[boards, area, policy + value channels]`.
    features: Buffer,
    room: Room,
    scratch: HeadScratch,
    pooling: Pooling,
}

/// Both sides of the matrix products, `[points, tiles, channels]`.
#[derive(Clone, Debug, Default)]
struct Room {
    transformed: Buffer,
    sums: Buffer,
}

impl Forward {
    pub(super) fn new(shared: Arc<SharedNet>) -> Self {
        let planes = shared.net.stem.inputs.next_multiple_of(shared.kernel.lanes());
        Self {
            shared,
            geometry: Geometry::new(0, 0, TileSize::Two, 0),
            planes,
            input: Buffer::default(),
            globals: Vec::new(),
            trunk: Buffer::default(),
            inner: Buffer::default(),
            top: Buffer::default(),
            features: Buffer::default(),
            room: Room::default(),
            scratch: HeadScratch::default(),
            pooling: Pooling::default(),
        }
    }

    pub(super) fn tile_size(&self, width: usize, height: usize) -> TileSize {
        self.shared.tile_size(width, height)
    }

    /// Multiply-adds of one board's matrix products.
    pub(super) fn multiply_adds(&self, width: usize, height: usize) -> u64 {
        let size = self.tile_size(width, height);
        let tiles = width.div_ceil(size.outputs()) * height.div_ceil(size.outputs());
        let net = &self.shared.net;
        let pairs = |conv: &FoldedConv| conv.inputs * conv.bias.len();
        let tower: usize = pairs(&net.stem) + net.blocks.iter().flatten().map(pairs).sum::<usize>();
        (tower * tiles * size.points() + pairs(&net.heads) * width * height) as u64
    }

    /// Whether the network reads the inputs without a place on the board.
    pub(super) fn reads_globals(&self) -> bool {
        self.shared.net.globals.is_some()
    }

    /// Whether the network judges ownership.
    pub(super) fn has_ownership(&self) -> bool {
        self.shared.net.value_ownership.is_some()
    }

    pub(super) fn kernel(&self) -> Kernel {
        self.shared.kernel
    }

    /// Makes room for boards of this size; nothing to do if it was the last one. Returns how many
    /// go through the tower together.
    pub(super) fn fit(&mut self, width: usize, height: usize) -> usize {
        if (width, height) != (self.geometry.width, self.geometry.height) {
            let size = self.shared.tile_size(width, height);
            let channels = self.shared.tower(size).stem.channels();
            self.geometry = Geometry::new(width, height, size, channels);
            let geometry = &self.geometry;
            // Borders must be zero, whatever lay there for the last size.
            self.input.reset(geometry.grid_length(self.planes));
            self.trunk.reset(geometry.grid_length(channels));
            self.inner.reset(geometry.grid_length(channels));
            let points = geometry.boards * geometry.area();
            self.top.reset(points * channels);
            self.features.reset(points * self.shared.heads.channels());
            let tiles = geometry.tiles(geometry.boards).len();
            let widest = channels.max(self.planes);
            self.room.transformed.reset(size.points() * (tiles * widest + PLANE_GAP));
            self.room.sums.reset(size.points() * (tiles * channels + PLANE_GAP));
        }
        self.geometry.boards
    }

    /// Puts one board's planes, `[H, W, planes]`, and globals in their places.
    pub(super) fn set_input(&mut self, board: usize, planes: &[f32], globals: &[f32]) {
        let until = (board + 1) * globals.len();
        self.globals.resize(self.globals.len().max(until), 0.0);
        self.globals[board * globals.len()..until].copy_from_slice(globals);
        let from = self.shared.net.stem.inputs;
        let layout = self.geometry.outputs(self.planes);
        for (row, line) in planes.chunks_exact(self.geometry.width * from).enumerate() {
            let start = layout.origin + board * layout.board + row * layout.row;
            let points = self.input[start..].chunks_exact_mut(self.planes);
            for (to, point) in points.zip(line.chunks_exact(from)) {
                to[..from].copy_from_slice(point);
            }
        }
    }

    /// Runs the tower and both 1×1 convolutions on the first `boards` boards.
    pub(super) fn run(&mut self, boards: usize) {
        let shared = Arc::clone(&self.shared);
        let tower = shared.tower(self.geometry.size);
        let geometry = &self.geometry;
        let channels = tower.stem.channels();
        let (grid, dense) = (geometry.outputs(channels), geometry.dense(channels));
        let mut pass = Pass { kernel: shared.kernel, geometry, boards, room: &mut self.room };

        let to: (&mut [f32], _) = match tower.blocks.is_empty() {
            true => (&mut self.top, &dense),
            false => (&mut self.trunk, &grid),
        };
        match &shared.net.globals {
            None => pass.convolve(&tower.stem, &self.input, self.planes, Before::Relu, to),
            Some(told) => {
                let (to, layout) = to;
                let from = &self.input;
                pass.convolve(&tower.stem, from, self.planes, Before::Nothing, (&mut *to, layout));
                let shape = (self.geometry.width, self.geometry.height);
                let wide = told.weights.len() / told.bias.len();
                let boards = self.globals.chunks_exact(wide).take(boards).enumerate();
                for (board, globals) in boards {
                    let at = layout.origin + board * layout.board;
                    self.pooling.tell_globals(told, globals, shape, layout, &mut to[at..]);
                }
            }
        }
        let last = tower.blocks.len().saturating_sub(1);
        let blocks = tower.blocks.iter().zip(&shared.net.pools);
        for (index, ([first, second], pool)) in blocks.enumerate() {
            match pool {
                None => {
                    let to = (&mut self.inner[..], &grid);
                    pass.convolve(first, &self.trunk, channels, Before::Relu, to);
                }
                Some(told) => {
                    let to = (&mut self.inner[..], &grid);
                    pass.convolve(first, &self.trunk, channels, Before::Nothing, to);
                    let shape = (self.geometry.width, self.geometry.height);
                    for board in 0..boards {
                        let at = grid.origin + board * grid.board;
                        self.pooling.tell(told, shape, &grid, &mut self.inner[at..]);
                    }
                }
            }
            if index < last {
                let skip = Before::AddAndRelu(None, &grid);
                pass.convolve(second, &self.inner, channels, skip, (&mut self.trunk, &grid));
            } else {
                let skip = Before::AddAndRelu(Some(&self.trunk[..]), &grid);
                pass.convolve(second, &self.inner, channels, skip, (&mut self.top, &dense));
            }
        }
        let heads = &shared.heads;
        let products = Products {
            points: 1,
            rows: boards * geometry.area(),
            depth: heads.inputs,
            columns: heads.channels(),
            v_row: channels,
            v_point: 0,
            m_point: 0,
        };
        shared.kernel.products(&products, &self.top, &heads.weights, &mut self.features);
    }

    /// After [`Forward::run`]: writes one board's `[area + 1]` logits and says the rest. Where there is
    /// such a head and room for it, `ownership` becomes `[area]`.
    pub(super) fn answer(
        &mut self,
        board: usize,
        logits: &mut [f32],
        ownership: Option<&mut Vec<f32>>,
    ) -> HeadsAnswer {
        let channels = self.shared.heads.channels();
        let length = self.geometry.area() * channels;
        let features = &mut self.features[board * length..][..length];
        for point in features.chunks_exact_mut(channels) {
            for (x, bias) in point.iter_mut().zip(&self.shared.heads.bias) {
                *x = (*x + bias).max(0.0);
            }
        }
        heads::answer(&self.shared.net, features, channels, &mut self.scratch, logits, ownership)
    }
}

/// What happens between a convolution's sums and its output.
#[derive(Clone, Copy)]
enum Before<'a> {
    Nothing,
    Relu,
    /// Adds what lies as the layout says, in the output itself when there is no slice, and rectifies.
    AddAndRelu(Option<&'a [f32]>, &'a Layout),
}

/// One call's convolutions.
struct Pass<'a> {
    kernel: Kernel,
    geometry: &'a Geometry,
    boards: usize,
    room: &'a mut Room,
}

impl Pass<'_> {
    /// `to = conv(from) + bias`, and what comes `before` it is written: `from` is grids of
    /// `from_channels`.
    fn convolve(
        &mut self,
        conv: &PackedConv,
        from: &[f32],
        from_channels: usize,
        before: Before<'_>,
        (to, layout): (&mut [f32], &Layout),
    ) {
        let (geometry, size) = (self.geometry, self.geometry.size);
        let tiles = geometry.tiles(self.boards);
        let plane = |channels: usize| tiles.len() * channels + PLANE_GAP;
        let planes = Planes { point: plane(from_channels), channels: from_channels };
        let transformed = &mut self.room.transformed;
        self.kernel.input(size, tiles, &geometry.inputs(from_channels), &planes, from, transformed);

        let columns = conv.channels();
        let products = Products {
            points: size.points(),
            rows: tiles.len(),
            depth: conv.inputs,
            columns,
            v_row: from_channels,
            v_point: planes.point,
            m_point: plane(columns),
        };
        let sums = &mut self.room.sums;
        self.kernel.products(&products, transformed, &conv.weights, sums);

        let planes = Planes { point: products.m_point, channels: columns };
        let (slice, skip, floor) = match before {
            Before::Nothing => (None, None, f32::NEG_INFINITY),
            Before::Relu => (None, None, 0.0),
            Before::AddAndRelu(slice, layout) => (slice, Some(layout), 0.0),
        };
        let (width, height) = (geometry.width, geometry.height);
        let finish = Finish { width, height, layout, skip, floor };
        self.kernel.output(size, tiles, &planes, &finish, sums, &conv.bias, slice, to);
    }
}
