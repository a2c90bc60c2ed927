//! The stored form of a record.
//!
//! ```text
//! "TGNR"  version u8  length u32  crc32 u32  zstd(bincode(wire))
//! ```
//! Numbers are little-endian. `length` is the size after inflation, so a hostile blob is refused
//! before a byte is allocated for it; the checksum covers version, length and content. `Wire` is
//! the layout of version 1 and changes only with the version byte (a test holds an old blob to it):
//! it is made of numbers and of the names that rules and results have in files, so that a refactor
//! of the rules crate can't alter it.

use std::cell::RefCell;

use bincode::config::{Configuration, Fixint, Limit, LittleEndian};
use serde::{Deserialize, Serialize};
use tengen_rules::{BoardSize, Color, Komi, Outcome, Point, Rules};
use zstd::bulk::Compressor;

use crate::{CodecError, EndReason, GameRecord, SearchRecord, Turn};

/// The version that [`encode`] writes.
pub const FORMAT_VERSION: u8 = 1;
/// The most bytes that [`decode`] inflates (4 MiB: a 25×25 game of 1,250 moves, each with a full
/// policy, fits).
pub const MAX_INFLATED_BYTES: usize = 4 << 20;

const MAGIC: [u8; 4] = *b"TGNR";
const HEADER: usize = 4 + 1 + 4 + 4;
/// zstd's default: higher levels gain a few per cent and cost self-play time.
const LEVEL: i32 = 3;

thread_local! {
    /// Workspace alone: what comes out doesn't depend on what went before. Making one anew costs
    /// more than packing a game with it.
    static COMPRESSOR: RefCell<Compressor<'static>> =
        RefCell::new(Compressor::new(LEVEL).expect("zstd has the memory it asks for"));
}

#[derive(Serialize, Deserialize)]
struct Wire {
    size: (u8, u8),
    rules: String,
    komi_half_points: i32,
    setup_black: Vec<u16>,
    setup_white: Vec<u16>,
    white_first: bool,
    seed: u64,
    players: (String, String),
    config_digest: String,
    actions: Vec<u16>,
    searches: Vec<(u32, WireSearch)>,
    result: String,
    end: u8,
}

#[derive(Serialize, Deserialize)]
struct WireSearch {
    actions: Vec<u16>,
    weights: Vec<u16>,
    root_value: f32,
    visits: u32,
    is_target: bool,
    weight: f32,
}

fn config() -> Configuration<LittleEndian, Fixint, Limit<MAX_INFLATED_BYTES>> {
    // Fixed-width integers: zstd shrinks the zero bytes better than it does a varint's mixture.
    bincode::config::standard().with_fixed_int_encoding().with_limit::<MAX_INFLATED_BYTES>()
}

/// The record as bytes that [`decode`] turns back into an equal record.
pub fn encode(record: &GameRecord) -> Vec<u8> {
    let plain = bincode::serde::encode_to_vec(Wire::from(record), config().with_no_limit())
        .expect("plain numbers and strings always encode");
    let packed = COMPRESSOR
        .with_borrow_mut(|compressor| compressor.compress(&plain))
        .expect("zstd compresses any bytes in memory");
    let length = u32::try_from(plain.len()).unwrap_or(u32::MAX);
    let mut out = Vec::with_capacity(HEADER + packed.len());
    out.extend_from_slice(&MAGIC);
    out.push(FORMAT_VERSION);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&checksum(FORMAT_VERSION, length, &packed).to_le_bytes());
    out.extend_from_slice(&packed);
    out
}

/// Reads what [`encode`] wrote. The result is well formed, not yet a legal game: see
/// [`GameRecord::validate`].
///
/// # Errors
/// On anything but an intact record: truncation, other bytes, a newer version, damage, a size over
/// [`MAX_INFLATED_BYTES`], values outside their type. Never panics.
pub fn decode(bytes: &[u8]) -> Result<GameRecord, CodecError> {
    let (header, packed) = bytes
        .split_first_chunk::<HEADER>()
        .ok_or(CodecError::Truncated { got: bytes.len(), header: HEADER })?;
    let [m0, m1, m2, m3, version, l0, l1, l2, l3, c0, c1, c2, c3] = *header;
    if [m0, m1, m2, m3] != MAGIC {
        return Err(CodecError::Magic([m0, m1, m2, m3]));
    }
    if version != FORMAT_VERSION {
        return Err(CodecError::Version { got: version, known: FORMAT_VERSION });
    }
    let length = u32::from_le_bytes([l0, l1, l2, l3]);
    let expected = u32::from_le_bytes([c0, c1, c2, c3]);
    let got = checksum(version, length, packed);
    if got != expected {
        return Err(CodecError::Checksum { got, expected });
    }
    let length = length as usize;
    if length > MAX_INFLATED_BYTES {
        return Err(CodecError::TooLarge { got: length, limit: MAX_INFLATED_BYTES });
    }
    let plain = zstd::bulk::decompress(packed, length).map_err(malformed)?;
    let (wire, used): (Wire, usize) =
        bincode::serde::decode_from_slice(&plain, config()).map_err(malformed)?;
    if used != plain.len() || plain.len() != length {
        return Err(malformed(format!("{used} of {length} bytes used")));
    }
    wire.into_record()
}

fn checksum(version: u8, length: u32, packed: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&[version]);
    hasher.update(&length.to_le_bytes());
    hasher.update(packed);
    hasher.finalize()
}

fn malformed(why: impl ToString) -> CodecError {
    CodecError::Malformed(why.to_string())
}

impl From<&GameRecord> for Wire {
    fn from(record: &GameRecord) -> Self {
        let indices = |points: &[Point]| points.iter().map(|p| p.index() as u16).collect();
        let searches = record.turns.iter().zip(0u32..).filter_map(|(turn, index)| {
            turn.search.as_ref().map(|search| (index, WireSearch::from(search)))
        });
        Wire {
            size: (record.size.width() as u8, record.size.height() as u8),
            rules: record.rules.to_string(),
            komi_half_points: record.komi.half_points(),
            setup_black: indices(&record.setup_black),
            setup_white: indices(&record.setup_white),
            white_first: record.first_to_play == Color::White,
            seed: record.seed,
            players: (record.players[0].clone(), record.players[1].clone()),
            config_digest: record.config_digest.clone(),
            actions: record.turns.iter().map(|t| record.size.action(t.mv) as u16).collect(),
            searches: searches.collect(),
            result: record.outcome.result_text(),
            end: EndReason::ALL.iter().position(|&e| e == record.end).unwrap_or(0) as u8,
        }
    }
}

impl From<&SearchRecord> for WireSearch {
    fn from(search: &SearchRecord) -> Self {
        let (actions, weights) = search.policy.iter().copied().unzip();
        let SearchRecord { root_value, visits, is_target, weight, .. } = *search;
        WireSearch { actions, weights, root_value, visits, is_target, weight }
    }
}

impl Wire {
    fn into_record(self) -> Result<GameRecord, CodecError> {
        let size = BoardSize::new(self.size.0.into(), self.size.1.into()).map_err(malformed)?;
        let rules: Rules = self.rules.parse().map_err(malformed)?;
        let points = |indices: Vec<u16>| -> Result<Vec<Point>, CodecError> {
            indices.into_iter().map(|i| point(size, i)).collect()
        };
        let mut turns = Vec::with_capacity(self.actions.len());
        for action in self.actions {
            let action = usize::from(action);
            if action >= size.actions() {
                return Err(malformed(format!("action {action} is off the board")));
            }
            turns.push(Turn { mv: size.move_at(action), search: None });
        }
        for (index, search) in self.searches {
            let turn = turns
                .get_mut(index as usize)
                .ok_or_else(|| malformed(format!("a search for missing turn {index}")))?;
            turn.search = Some(search.into_search()?);
        }
        Ok(GameRecord {
            size,
            rules,
            komi: Komi::from_half_points(self.komi_half_points).map_err(malformed)?,
            setup_black: points(self.setup_black)?,
            setup_white: points(self.setup_white)?,
            first_to_play: if self.white_first { Color::White } else { Color::Black },
            seed: self.seed,
            players: [self.players.0, self.players.1],
            config_digest: self.config_digest,
            turns,
            outcome: Outcome::parse_result(&self.result)
                .ok_or_else(|| malformed(format!("unknown result {:?}", self.result)))?,
            end: *EndReason::ALL
                .get(usize::from(self.end))
                .ok_or_else(|| malformed(format!("unknown end reason {}", self.end)))?,
        })
    }
}

impl WireSearch {
    fn into_search(self) -> Result<SearchRecord, CodecError> {
        if self.actions.len() != self.weights.len() {
            return Err(malformed("a policy with unequal columns"));
        }
        Ok(SearchRecord {
            policy: self.actions.into_iter().zip(self.weights).collect(),
            root_value: self.root_value,
            visits: self.visits,
            is_target: self.is_target,
            weight: self.weight,
        })
    }
}

fn point(size: BoardSize, index: u16) -> Result<Point, CodecError> {
    let point = Point::from_index(usize::from(index));
    if size.contains(point) { Ok(point) } else { Err(malformed(format!("stone at {index}"))) }
}
