//! From a record, or a game in the making, to a file.

use std::fmt::Write;

use tengen_rules::{BoardSize, Color, Move, Point};

use super::game::SgfGame;
use super::text::escape;
use crate::{GameRecord, SearchRecord};

/// The record as SGF version 4 in UTF-8. Searched moves carry a comment with the mover's win rate,
/// the visits and the network; the root's `GC` holds seed, end and configuration digest. `SBKV`,
/// which Sabaki draws its graph from, is Black's win rate in per cent on the node's own board: that
/// is what the search for the next move found.
pub fn to_sgf(record: &GameRecord) -> String {
    let game = SgfGame {
        komi: Some(record.komi),
        rules: Some(record.rules),
        players: record.players.clone(),
        setup_black: record.setup_black.clone(),
        setup_white: record.setup_white.clone(),
        to_play: Some(record.first_to_play),
        result_text: Some(record.outcome.result_text()),
        ..SgfGame::new(record.size)
    };
    let mut out = game.header();
    let _ = write!(out, "GC[seed {}, ended by {}", record.seed, record.end.name());
    if !record.config_digest.is_empty() {
        let _ = write!(out, ", config {}", escape(&record.config_digest));
    }
    out.push(']');
    write_win_rate(&mut out, record, 0);
    for (index, turn) in record.turns.iter().enumerate() {
        let color = record.color_at(index);
        write_move(&mut out, record.size, color, turn.mv);
        if let Some(search) = &turn.search {
            let network = &record.players[color.index()];
            let _ = write!(out, "C[{}]", escape(&comment(search, network)));
        }
        write_win_rate(&mut out, record, index + 1);
    }
    out.push_str(")\n");
    out
}

impl SgfGame {
    /// The game as SGF: root properties, setup and the main line.
    pub fn to_text(&self) -> String {
        let mut out = self.header();
        for &(color, mv) in &self.moves {
            write_move(&mut out, self.size, color, mv);
        }
        out.push_str(")\n");
        out
    }

    /// The text up to the end of the root node.
    fn header(&self) -> String {
        let mut out = String::from("(;GM[1]FF[4]CA[UTF-8]AP[Tengen:");
        out.push_str(concat!(env!("CARGO_PKG_VERSION"), "]"));
        let (width, height) = (self.size.width(), self.size.height());
        let _ = if width == height {
            write!(out, "SZ[{width}]")
        } else {
            write!(out, "SZ[{width}:{height}]")
        };
        if let Some(komi) = self.komi {
            // Decimals, so that a komi over 100 is not read as hundredths.
            let _ = write!(out, "KM[{:.1}]", komi.points());
        }
        if let Some(rules) = self.rules {
            let _ = write!(out, "RU[{}]", escape(&rules.to_string()));
        }
        if let Some(handicap) = self.handicap {
            let _ = write!(out, "HA[{handicap}]");
        }
        for (name, player) in ["PB", "PW"].into_iter().zip(&self.players) {
            if !player.is_empty() {
                let _ = write!(out, "{name}[{}]", escape(player));
            }
        }
        if let Some(result) = &self.result_text {
            let _ = write!(out, "RE[{}]", escape(result));
        }
        for (name, stones) in [("AB", &self.setup_black), ("AW", &self.setup_white)] {
            if !stones.is_empty() {
                out.push_str(name);
            }
            for &point in stones {
                let _ = write!(out, "[{}]", letters(self.size, point));
            }
        }
        if let Some(color) = self.to_play {
            let _ = write!(out, "PL[{}]", color.letter());
        }
        out
    }
}

/// Black's win rate before turn `next`, where a search made it.
fn write_win_rate(out: &mut String, record: &GameRecord, next: usize) {
    let Some(search) = record.turns.get(next).and_then(|turn| turn.search.as_ref()) else { return };
    let sign = if record.color_at(next) == Color::Black { 50.0 } else { -50.0 };
    let _ = write!(out, "SBKV[{:.2}]", 50.0 + sign * f64::from(search.root_value));
}

fn write_move(out: &mut String, size: BoardSize, color: Color, mv: Move) {
    let at = match mv {
        Move::Pass => String::new(),
        Move::Play(point) => letters(size, point),
    };
    let _ = write!(out, "\n;{}[{at}]", color.letter());
}

fn letters(size: BoardSize, point: Point) -> String {
    // A board has at most 25 columns and rows, so lower case is enough.
    [size.col(point), size.row(point)].map(|n| char::from(b'a' + n as u8)).iter().collect()
}

fn comment(search: &SearchRecord, network: &str) -> String {
    let win_rate = f64::from(search.root_value) * 50.0 + 50.0;
    let kind = if search.is_target { "" } else { ", cheap search" };
    let mut text = format!("win rate {win_rate:.1} %, {} visits{kind}", search.visits);
    if !network.is_empty() {
        let _ = write!(text, ", network {network}");
    }
    text
}
