//! The inputs of `go-1`.

use tengen_rules::{Color, GameState, KoRule, LadderReader, Point, Scoring, Tax, mark_pass_alive};

use crate::encode::{BOARDS, Canvas};
use crate::table::{GO_GLOBALS, GO_PLANES, count, first};

/// Moves that the reader may try for one chain; a ladder across 19×19 takes about a hundred. A
/// chain that needs more counts as safe.
pub(crate) const LADDER_MOVES: u64 = 5_000;
/// Moves shown, and passes told.
const MOVES: usize = 5;
/// Points of the largest board.
const MOST_POINTS: usize = 625;
/// What a komi of 1 stands for, and how far beyond the area it may go: KataGo's
/// (`cpp/neuralnet/nninputs.cpp`).
const KOMI_UNIT: f32 = 20.0;
const KOMI_ROOM: i32 = 20;

const BOARD: usize = first(&GO_PLANES, "board");
const OWN: usize = first(&GO_PLANES, "own");
const OPPONENT: usize = first(&GO_PLANES, "opponent");
const KNOWN: usize = first(&GO_PLANES, "known");
const LEGAL: usize = first(&GO_PLANES, "legal");
const LAST_MOVES: usize = first(&GO_PLANES, "moves");
const LIBERTIES: usize = first(&GO_PLANES, "liberties");
const ATARI: [usize; 2] = [first(&GO_PLANES, "own atari"), first(&GO_PLANES, "opponent atari")];
const LOST: [usize; 2] = [first(&GO_PLANES, "own lost"), first(&GO_PLANES, "opponent lost")];
const CAUGHT: [usize; 2] =
    [first(&GO_PLANES, "own threatened"), first(&GO_PLANES, "opponent caught")];
const CATCHING: usize = first(&GO_PLANES, "catching");
const KO: usize = first(&GO_PLANES, "ko");
const SUPERKO: usize = first(&GO_PLANES, "superko");
const ALIVE: [usize; 2] = [first(&GO_PLANES, "own alive"), first(&GO_PLANES, "opponent alive")];

/// The planes that are the same everywhere.
pub(crate) fn constant_planes(state: &GameState, constant: &mut [f32]) {
    constant[BOARD] = 1.0;
    let known = state.history_len().min(BOARDS) - 1;
    constant[KNOWN..KNOWN + known].fill(1.0);
    globals(state, &mut constant[count(&GO_PLANES)..]);
}

/// All other planes.
pub(crate) fn write(state: &GameState, canvas: &mut Canvas<'_>) {
    canvas.history(state, OWN, OPPONENT);
    let legal = state.legal_moves();
    let points = state.size().area();
    legal.iter().filter(|&action| action < points).for_each(|point| canvas.set(LEGAL, point));
    for ago in 0..MOVES.min(state.history_len() - 1) {
        canvas.set_bits(LAST_MOVES + ago, placed(state, ago));
    }
    let mut liberties = [0; MOST_POINTS];
    let liberties = &mut liberties[..points];
    state.liberties_by_point(4, liberties);
    write_liberties(state, liberties, canvas);
    write_ladders(state, liberties, canvas, |point| legal.contains(point));
    state.for_each_repetition(|point, immediate| {
        canvas.set(if immediate { KO } else { SUPERKO }, point.index());
    });
    let player = state.to_play();
    for (plane, color) in ALIVE.into_iter().zip([player, player.opponent()]) {
        mark_pass_alive(state, color, |point| canvas.set(plane, point));
    }
}

/// The stone that the move `ago` plies before the last one placed, as a bitboard: none after a
/// pass, nor where it died at once. The board before that move must be known.
fn placed(state: &GameState, ago: usize) -> impl Iterator<Item = u64> {
    // The last move was the opponent's.
    let mover = if ago.is_multiple_of(2) { state.to_play().opponent() } else { state.to_play() };
    let (after, before) = (state.stones(ago, mover), state.stones(ago + 1, mover));
    after.iter().zip(before).map(|(after, before)| after & !before)
}

fn write_liberties(state: &GameState, liberties: &[u8], canvas: &mut Canvas<'_>) {
    let own = state.stones(0, state.to_play());
    for (point, &count) in liberties.iter().enumerate().filter(|&(_, &count)| count > 0) {
        canvas.set(LIBERTIES + usize::from(count) - 1, point);
        if count == 1 {
            let is_own = own[point / 64] >> (point % 64) & 1 == 1;
            canvas.set(ATARI[usize::from(!is_own)], point);
        }
    }
}

fn write_ladders(
    state: &GameState,
    liberties: &[u8],
    canvas: &mut Canvas<'_>,
    is_legal: impl Fn(usize) -> bool,
) {
    if !liberties.iter().any(|count| matches!(count, 1 | 2)) {
        return;
    }
    let mut reader = LadderReader::new(state);
    let mut read = [false; MOST_POINTS];
    for (index, &count) in liberties.iter().enumerate() {
        if !matches!(count, 1 | 2) || read[index] {
            continue;
        }
        let point = Point::from_index(index);
        let is_opponents = state.stone(point) != Some(state.to_play());
        let plane = if count == 1 {
            let lost = reader.is_lost(point, LADDER_MOVES) == Some(true);
            lost.then_some(LOST[usize::from(is_opponents)])
        } else {
            let moves = reader.catching_moves(point, LADDER_MOVES).unwrap_or_default();
            let moves = moves.iter().map(|point| point.index());
            let caught = if is_opponents {
                let mut legal = moves.filter(|&point| is_legal(point)).peekable();
                let caught = legal.peek().is_some();
                legal.for_each(|point| canvas.set(CATCHING, point));
                caught
            } else {
                moves.len() > 0
            };
            caught.then_some(CAUGHT[usize::from(is_opponents)])
        };
        for stone in state.chain(point) {
            read[stone.index()] = true;
            if let Some(plane) = plane {
                canvas.set(plane, stone.index());
            }
        }
    }
}

/// The numbers without a place on the board.
pub(crate) fn globals(state: &GameState, out: &mut [f32]) {
    let rules = state.rules();
    let flags = [
        (first(&GO_GLOBALS, "territory"), rules.scoring == Scoring::Territory),
        (first(&GO_GLOBALS, "tax seki"), rules.tax == Tax::Seki),
        (first(&GO_GLOBALS, "tax all"), rules.tax == Tax::All),
        (first(&GO_GLOBALS, "suicide"), rules.suicide),
        (first(&GO_GLOBALS, "positional"), rules.ko == KoRule::Positional),
        (first(&GO_GLOBALS, "situational"), rules.ko == KoRule::Situational),
        (first(&GO_GLOBALS, "friendly pass"), rules.friendly_pass),
        (first(&GO_GLOBALS, "button"), rules.button && state.first_passer().is_none()),
        (first(&GO_GLOBALS, "pass ends"), state.pass_ends()),
    ];
    out.fill(0.0);
    out[first(&GO_GLOBALS, "komi")] = komi_for_player(state) / KOMI_UNIT;
    for (at, holds) in flags {
        out[at] = f32::from(u8::from(holds));
    }
    let passes = first(&GO_GLOBALS, "passes");
    for ago in 0..MOVES.min(state.history_len() - 1) {
        let unchanged = |color| state.stones(ago, color) == state.stones(ago + 1, color);
        out[passes + ago] = f32::from(u8::from(Color::BOTH.into_iter().all(unchanged)));
    }
}

/// Points that do not lie on the board, as the player to move sees them.
fn komi_for_player(state: &GameState) -> f32 {
    let rules = state.rules();
    let mut white = state.komi().half_points();
    if rules.scoring == Scoring::Territory {
        let [black_took, white_took] = Color::BOTH.map(|color| state.captures(color) as i32);
        white += 2 * (white_took - black_took);
    }
    if rules.button {
        white += match state.first_passer() {
            Some(Color::White) => 1,
            Some(Color::Black) => -1,
            None => 0,
        };
    }
    let most = 2 * (state.size().area() as i32 + KOMI_ROOM);
    let white = white.clamp(-most, most) as f32 / 2.0;
    if state.to_play() == Color::White { white } else { -white }
}
