//! Ladders against a naive twin, against every defence there is, and drawn.

use crate::twin::Lcg;
use tengen_rules::{Color, GameState, KoRule, Komi, LadderReader, Move, Point, Rules};

fn position(rows: &[&str], to_play: Color) -> GameState {
    let komi = Komi::from_points(0.5).unwrap();
    GameState::from_text(rows, to_play, Rules::tromp_taylor(), komi).unwrap()
}

fn at(state: &GameState, vertex: &str) -> Point {
    match state.size().parse_vertex(vertex) {
        Ok(Move::Play(point)) => point,
        _ => panic!("{vertex}"),
    }
}

fn catches(rows: &[&str], target: &str) -> Vec<String> {
    let state = position(rows, Color::Black);
    let found = LadderReader::new(&state).catching_moves(at(&state, target), 10_000).unwrap();
    found.into_iter().map(|point| state.size().vertex(Move::Play(point))).collect()
}

#[test]
fn a_ladder_works_unless_a_stone_stands_in_its_way() {
    let atari = [".......", ".......", ".......", "..XX...", ".XO....", "..X....", "......."];
    assert_eq!(catches(&atari, "C3"), ["D3"], "one liberty: it is taken");
    let chase = [".......", ".......", "..X....", ".XO....", "..X....", ".......", "......."];
    assert_eq!(catches(&chase, "C4"), ["D4"]);
    let two = [".......", ".......", "..X....", ".XO....", ".X.....", ".......", "......."];
    assert_eq!(catches(&two, "C4"), ["D4"], "C3 lets it run into the open");
}

#[test]
fn a_breaker_on_the_far_side_of_the_board_saves_the_chain() {
    // The ladder runs from the lower left to the upper right corner of 19×19.
    let mut rows = vec![".".repeat(19); 19];
    for (row, text) in [(14, "..X.."), (15, "..XOX"), (16, "...X.")] {
        rows[row].replace_range(..5, text);
    }
    let read = |rows: &[String]| {
        let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
        let state = position(&rows, Color::White);
        LadderReader::new(&state).is_lost(at(&state, "D4"), 1_000).unwrap()
    };
    assert!(read(&rows), "nothing in its way");
    let mut broken = rows.clone();
    broken[3].replace_range(15..16, "O");
    assert!(!read(&broken), "a friend at Q16");
    let mut helped = rows.clone();
    helped[3].replace_range(15..16, "X");
    assert!(read(&helped), "a foe there changes nothing");
}

#[test]
fn a_budget_is_a_budget_and_an_empty_point_no_quarry() {
    let state = position(&["....", ".XO.", "..X.", "...."], Color::Black);
    let mut reader = LadderReader::new(&state);
    assert_eq!(reader.catching_moves(at(&state, "C3"), 0), None);
    assert_eq!(reader.catching_moves(at(&state, "A1"), 100), Some(Vec::new()));
    assert_eq!(reader.is_lost(at(&state, "A1"), 100), Some(false));
    assert_eq!(reader.is_lost(at(&state, "C3"), 100), Some(false), "two liberties");
}

/// A random position; suicide is off, as no ladder needs it, and ko simple, as the reader's is.
fn random_position(side: usize, letters: &[char], rng: &mut Lcg) -> Option<GameState> {
    let row = |rng: &mut Lcg| (0..side).map(|_| letters[rng.below(letters.len())]).collect();
    let rows: Vec<String> = (0..side).map(|_| row(rng)).collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let rules = Rules { ko: KoRule::Simple, suicide: false, ..Rules::tromp_taylor() };
    let to_play = if rng.below(2) == 0 { Color::Black } else { Color::White };
    GameState::from_text(&rows, to_play, rules, Komi::from_points(0.5).unwrap()).ok()
}

#[test]
fn the_reader_agrees_with_its_naive_twin() {
    let mut rng = Lcg(3);
    let mut seen = [0; 2];
    for round in 0..1500 {
        let side = 4 + round % 4;
        let letters = ['.', '.', '.', 'X', 'O'];
        let Some(mut state) = random_position(side, &letters, &mut rng) else { continue };
        // A move or two, so that some positions have a ko; no pass, as the twin's would end the game.
        for _ in 0..rng.below(4) {
            let legal: Vec<usize> = state.legal_moves().iter().collect();
            if legal.len() > 1 {
                state.play(state.size().move_at(legal[rng.below(legal.len() - 1)])).unwrap();
            }
        }
        if state.is_over() {
            continue;
        }
        let mut reader = LadderReader::new(&state);
        for target in state.size().points() {
            let Some(owner) = state.stone(target) else { continue };
            if owner == state.to_play() {
                let read = reader.is_lost(target, 100_000).unwrap();
                let naive = state.liberties(target) == 1
                    && Naive { target, left: 100_000 }.is_lost(&state).unwrap();
                assert_eq!(read, naive, "{target:?}\n{state}");
                seen[usize::from(read)] += 1;
            } else if state.liberties(target) <= 2 {
                let read = reader.catching_moves(target, 100_000).unwrap();
                let naive = naive_catching(&state, target);
                assert_eq!(read, naive, "{target:?}\n{state}");
            }
        }
    }
    assert!(seen.iter().all(|&count| count > 300), "{seen:?}");
}

fn naive_catching(state: &GameState, target: Point) -> Vec<Point> {
    let catches = |mv: &Move| {
        let mut next = state.clone();
        next.play(*mv).is_ok()
            && match next.liberties(target) {
                0 => true,
                1 => Naive { target, left: 100_000 }.is_lost(&next).unwrap(),
                _ => false,
            }
    };
    let moves = liberties(state, target).into_iter().filter(catches);
    moves
        .map(|mv| match mv {
            Move::Play(point) => point,
            Move::Pass => unreachable!(),
        })
        .collect()
}

#[test]
fn no_other_defence_helps_against_a_ladder() {
    let mut rng = Lcg(1);
    let mut seen = [0; 2];
    for _ in 0..400 {
        let letters = ['.', '.', '.', 'X', 'O'];
        let Some(state) = random_position(5, &letters, &mut rng) else { continue };
        let mut reader = LadderReader::new(&state);
        for target in state.size().points() {
            if state.stone(target) == Some(state.to_play()) && state.liberties(target) == 1 {
                let read = reader.is_lost(target, 10_000).unwrap();
                assert_eq!(read, is_lost_to_all(&state, target), "{target:?}\n{state}");
                seen[usize::from(read)] += 1;
            }
        }
    }
    assert!(seen.iter().all(|&count| count > 50), "{seen:?}");
}

/// The same with every legal move as a defence.
fn is_lost_to_all(state: &GameState, target: Point) -> bool {
    let naive = Naive { target, left: 0 };
    state.legal_moves().iter().all(|action| {
        let mut next = state.clone();
        next.play(state.size().move_at(action)).unwrap();
        match next.liberties(target) {
            _ if next.stone(target).is_none() => true,
            0 | 1 => naive.can_take(&next),
            2 => liberties(&next, target).into_iter().any(|mv| {
                let mut atari = next.clone();
                atari.play(mv).is_ok()
                    && atari.liberties(target) == 1
                    && is_lost_to_all(&atari, target)
            }),
            _ => false,
        }
    })
}

/// The empty points beside the chain at `point`, as moves.
fn liberties(state: &GameState, point: Point) -> Vec<Move> {
    let size = state.size();
    let mut found: Vec<Point> = state
        .chain(point)
        .into_iter()
        .flat_map(|stone| size.neighbours(stone))
        .filter(|&beside| state.stone(beside).is_none())
        .collect();
    found.sort_unstable_by_key(|p| p.index());
    found.dedup();
    found.into_iter().map(Move::Play).collect()
}

/// The same by cloning whole states and playing by the rules.
struct Naive {
    target: Point,
    left: u64,
}

impl Naive {
    /// Whether the chain, in atari with its owner to move, is taken; `None` out of budget.
    fn is_lost(&mut self, state: &GameState) -> Option<bool> {
        for mv in self.defences(state) {
            self.left = self.left.checked_sub(1)?;
            let mut next = state.clone();
            if next.play(mv).is_err() || next.stone(self.target).is_none() {
                continue;
            }
            let escapes = match next.liberties(self.target) {
                0 | 1 => !self.can_take(&next),
                2 => !self.is_chased(&next)?,
                _ => true,
            };
            if escapes {
                return Some(false);
            }
        }
        Some(self.can_take_after_pass(state))
    }

    /// Whether some atari on the chain, which has two liberties, leads to its capture.
    fn is_chased(&mut self, state: &GameState) -> Option<bool> {
        for mv in liberties(state, self.target) {
            self.left = self.left.checked_sub(1)?;
            let mut next = state.clone();
            if next.play(mv).is_err() || next.liberties(self.target) != 1 {
                continue;
            }
            if self.is_lost(&next)? {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Extending, and taking what stands beside the chain in atari.
    fn defences(&self, state: &GameState) -> Vec<Move> {
        let mut moves = liberties(state, self.target);
        let owner = state.to_play();
        for stone in state.chain(self.target) {
            for beside in state.size().neighbours(stone) {
                let attacker = state.stone(beside) == Some(owner.opponent());
                if attacker && state.liberties(beside) == 1 {
                    moves.extend(liberties(state, beside));
                }
            }
        }
        moves
    }

    /// Whether the player to move takes the chain now: ko may forbid it.
    fn can_take(&self, state: &GameState) -> bool {
        liberties(state, self.target).into_iter().any(|mv| {
            let mut next = state.clone();
            next.play(mv).is_ok() && next.stone(self.target).is_none()
        })
    }

    fn can_take_after_pass(&self, state: &GameState) -> bool {
        let mut passed = state.clone();
        passed.play(Move::Pass).is_ok() && self.can_take(&passed)
    }
}
