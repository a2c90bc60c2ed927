//! Random games to the end, as fast as they go: no history, no hashes, no superko.

use crate::board::{Board, Cell, Effect, Watch};
use crate::{Color, GameState};

/// Plays uniformly random games from one position.
///
/// Each move is drawn from the points where the player may play (no suicide of any size, no
/// immediate recapture of a simple ko) and that are not an own eye: a point with only own stones
/// beside it and at most one enemy on its diagonals, none at the edge. A player without such a
/// point passes; two passes in a row, or three times the board's area in moves, end the game.
#[derive(Clone, Debug)]
pub struct Playouts {
    start: Board,
    start_empty: Empty,
    start_ko: Option<u16>,
    to_play: Color,
    board: Board,
    empty: Empty,
}

/// How one random game went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Playout {
    /// Black's area less White's at the end, komi aside, every stone alive.
    pub black_lead: i32,
    /// Moves played, passes included.
    pub moves: u32,
}

impl Playouts {
    /// Random games that begin where the state stands, whether that game is over or not.
    pub fn new(state: &GameState) -> Playouts {
        let board = state.board.clone();
        let empty = Empty::of(&board);
        Playouts {
            start: board.clone(),
            start_empty: empty.clone(),
            start_ko: state.ko_point,
            to_play: state.to_play(),
            board,
            empty,
        }
    }

    /// Plays one game. `random` gives the next 32 random bits; the same bits give the same game.
    pub fn run(&mut self, mut random: impl FnMut() -> u32) -> Playout {
        self.board.copy_from(&self.start);
        self.empty.copy_from(&self.start_empty);
        let limit = 3 * self.board.geometry.size.area() as u32;
        let (mut color, mut ko) = (self.to_play, self.start_ko);
        let (mut moves, mut passes) = (0, 0);
        while passes < 2 && moves < limit {
            moves += 1;
            match self.choose(color, ko, &mut random) {
                Some(point) => {
                    passes = 0;
                    ko = self.board.place(point, color, &mut self.empty).ko;
                }
                None => {
                    passes += 1;
                    ko = None;
                }
            }
            color = color.opponent();
        }
        Playout { black_lead: self.count(), moves }
    }

    /// Who holds or surrounds a point in the position that the last game ended with.
    pub fn owner(&self, point: crate::Point) -> Option<Color> {
        let point = point.index();
        if point >= self.board.geometry.size.area() {
            return None;
        }
        match self.board.cell(point) {
            Cell::Stone(color) => Some(color),
            _ => self.surrounder(point),
        }
    }

    /// A random point to play on: draws among the untried ones until one will do.
    fn choose(
        &mut self,
        color: Color,
        ko: Option<u16>,
        random: &mut impl FnMut() -> u32,
    ) -> Option<usize> {
        let mut untried = self.empty.points.len();
        while untried > 0 {
            let drawn = ((u64::from(random()) * untried as u64) >> 32) as usize;
            let point = self.empty.points[drawn];
            if ko != Some(point) && self.will_do(usize::from(point), color) {
                return Some(usize::from(point));
            }
            untried -= 1;
            self.empty.swap(drawn, untried);
        }
        None
    }

    fn will_do(&self, point: usize, color: Color) -> bool {
        let cells = self.board.neighbours(point).map(|n| self.board.cell(usize::from(n)));
        if cells.contains(&Cell::Empty) {
            return true;
        }
        if !cells.contains(&Cell::Stone(color.opponent())) && self.is_eye(point, color) {
            return false;
        }
        !matches!(self.board.effect(point, color), Effect::Suicide { .. })
    }

    fn is_eye(&self, point: usize, color: Color) -> bool {
        let (mut enemies, mut walls) = (0, 0);
        for d in self.board.geometry.diagonals[point] {
            match self.board.cell(usize::from(d)) {
                Cell::Wall => walls = 1,
                Cell::Stone(c) if c != color => enemies += 1,
                _ => {}
            }
        }
        enemies + walls < 2
    }

    fn count(&self) -> i32 {
        let area = self.board.geometry.size.area();
        let mut lead = 0;
        for point in 0..area {
            lead += match self.board.cell(point) {
                Cell::Stone(color) => sign(color),
                _ => 0,
            };
        }
        let surrounded = |&point: &u16| self.surrounder(usize::from(point)).map_or(0, sign);
        lead + self.empty.points.iter().map(surrounded).sum::<i32>()
    }

    /// The only colour that the empty region around an empty point touches.
    fn surrounder(&self, point: usize) -> Option<Color> {
        let mut touches = [false; 2];
        let mut alone = true;
        for n in self.board.neighbours(point) {
            match self.board.cell(usize::from(n)) {
                Cell::Stone(color) => touches[color.index()] = true,
                Cell::Empty => alone = false,
                Cell::Wall => {}
            }
        }
        // Most regions that are left at the end are single points.
        if !alone {
            let mut region = vec![point];
            let mut next = 0;
            while let Some(&at) = region.get(next) {
                next += 1;
                for n in self.board.neighbours(at).map(usize::from) {
                    match self.board.cell(n) {
                        Cell::Stone(color) => touches[color.index()] = true,
                        Cell::Empty if !region.contains(&n) => region.push(n),
                        _ => {}
                    }
                }
                if touches == [true; 2] {
                    break;
                }
            }
        }
        match touches {
            [true, false] => Some(Color::Black),
            [false, true] => Some(Color::White),
            _ => None,
        }
    }
}

fn sign(color: Color) -> i32 {
    match color {
        Color::Black => 1,
        Color::White => -1,
    }
}

/// The empty points in any order, each knowing its place.
#[derive(Clone, Debug)]
struct Empty {
    points: Vec<u16>,
    place: Box<[u16]>,
}

impl Empty {
    fn of(board: &Board) -> Empty {
        let area = board.geometry.size.area();
        let mut empty =
            Empty { points: Vec::with_capacity(area), place: vec![0; area].into_boxed_slice() };
        for point in (0..area).filter(|&p| board.cell(p) == Cell::Empty) {
            empty.push(point);
        }
        empty
    }

    fn copy_from(&mut self, other: &Empty) {
        self.points.clear();
        self.points.extend_from_slice(&other.points);
        self.place.copy_from_slice(&other.place);
    }

    fn push(&mut self, point: usize) {
        self.place[point] = self.points.len() as u16;
        self.points.push(point as u16);
    }

    fn swap(&mut self, i: usize, j: usize) {
        self.points.swap(i, j);
        self.place[usize::from(self.points[i])] = i as u16;
        self.place[usize::from(self.points[j])] = j as u16;
    }
}

impl Watch for Empty {
    fn placed(&mut self, point: usize, _: Color, _: u64) {
        let last = self.points.len() - 1;
        self.swap(usize::from(self.place[point]), last);
        self.points.pop();
    }

    fn removed(&mut self, point: usize, _: Color, _: u64) {
        self.push(point);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BoardSize, Komi, Rules};

    fn lcg(seed: u64) -> impl FnMut() -> u32 {
        let mut state = seed;
        move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 32) as u32
        }
    }

    #[test]
    fn a_random_game_ends_with_the_score_that_the_rules_count() {
        for (w, h) in [(1, 1), (2, 2), (3, 5), (9, 9), (19, 19)] {
            let size = BoardSize::new(w, h).unwrap();
            let state = GameState::new(size, Rules::tromp_taylor(), Komi::default());
            let mut playouts = Playouts::new(&state);
            let mut random = lcg(w as u64);
            for _ in 0..20 {
                let played = playouts.run(&mut random);
                let rows: Vec<String> = (0..h)
                    .map(|row| {
                        let letter = |col| match playouts.board.cell(size.point(col, row).index()) {
                            Cell::Stone(Color::Black) => 'X',
                            Cell::Stone(Color::White) => 'O',
                            _ => '.',
                        };
                        (0..w).map(letter).collect()
                    })
                    .collect();
                let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
                let end = GameState::from_text(&rows, Color::Black, state.rules(), state.komi());
                let owners = end.unwrap().area_owner();
                let lead: i32 = owners.iter().flatten().map(|&c| sign(c)).sum();
                assert_eq!(played.black_lead, lead);
                assert!(size.points().all(|p| playouts.owner(p) == owners[p.index()]));
            }
        }
    }

    #[test]
    fn the_same_bits_play_the_same_game_and_the_start_is_kept() {
        let state = GameState::from_text(
            &["..XO.", ".XXO.", "..XO.", "..XO.", "..XO."],
            Color::White,
            Rules::tromp_taylor(),
            Komi::default(),
        )
        .unwrap();
        let mut playouts = Playouts::new(&state);
        let first = playouts.run(lcg(5));
        playouts.run(lcg(6));
        assert_eq!(playouts.run(lcg(5)), first);
        assert!(first.moves >= 2);
    }

    #[test]
    fn two_eyes_are_never_filled() {
        let rows = [".X.XO", "XXXXO", "XXOOO", "OOO.O", ".OO.O"];
        let state =
            GameState::from_text(&rows, Color::Black, Rules::tromp_taylor(), Komi::default());
        let mut playouts = Playouts::new(&state.unwrap());
        let mut random = lcg(1);
        assert!((0..50).all(|_| playouts.run(&mut random).black_lead == -5));
    }
}
