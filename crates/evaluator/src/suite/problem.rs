//! Tactical positions, small enough to be solved exactly.

use tengen_rules::{Color, GameState, Komi, Rules};

/// What a problem is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// Taking stones, or saving them.
    Capture,
    /// Two eyes or none.
    LifeAndDeath,
    /// Two chains, each of which can live only if it takes the other.
    Semeai,
    /// A ko to be taken before it is lost.
    Ko,
    /// Atari after atari, in the one direction that works.
    Ladder,
    /// The last points.
    Endgame,
}

impl ProblemKind {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            ProblemKind::Capture => "capture",
            ProblemKind::LifeAndDeath => "life-and-death",
            ProblemKind::Semeai => "semeai",
            ProblemKind::Ko => "ko",
            ProblemKind::Ladder => "ladder",
            ProblemKind::Endgame => "endgame",
        }
    }
}

/// A position with the moves that answer it, under Tromp–Taylor rules.
#[derive(Clone, Copy, Debug)]
pub struct Problem {
    /// What a player would call it.
    pub name: &'static str,
    /// What it is about.
    pub kind: ProblemKind,
    /// The board, top row first: `X` Black, `O` White.
    pub rows: &'static [&'static str],
    /// Who is to move.
    pub to_play: Color,
    /// White's komi.
    pub komi: f64,
    /// The chain to be caught in a ladder; `None` where the game itself is to be won.
    pub quarry: Option<&'static str>,
    /// Every winning move, or every atari that catches the quarry, as vertices; the solvers' answer,
    /// checked by a test.
    pub answers: &'static [&'static str],
}

impl Problem {
    /// The position.
    ///
    /// # Panics
    /// Never for [`PROBLEMS`], which a test has set up.
    pub fn state(&self) -> GameState {
        let komi = Komi::from_points(self.komi).expect("the komi of a problem is a half");
        GameState::from_text(self.rows, self.to_play, Rules::tromp_taylor(), komi)
            .expect("the drawing of a problem can be set up")
    }
}

const fn problem(
    name: &'static str,
    kind: ProblemKind,
    rows: &'static [&'static str],
    to_play: Color,
    komi: f64,
    answers: &'static [&'static str],
) -> Problem {
    Problem { name, kind, rows, to_play, komi, quarry: None, answers }
}

/// A ladder on 7×7 at komi 8.5.
const fn ladder(
    name: &'static str,
    rows: &'static [&'static str],
    to_play: Color,
    quarry: &'static str,
    answers: &'static [&'static str],
) -> Problem {
    let kind = ProblemKind::Ladder;
    Problem { name, kind, rows, to_play, komi: 8.5, quarry: Some(quarry), answers }
}

/// The suite. But for ladders, both sides' walls live already and the rest of the board decides the
/// game.
pub const PROBLEMS: [Problem; 17] = [
    problem(
        "two eyes in a space of three",
        ProblemKind::LifeAndDeath,
        &[".X.X.", "XXXXX", "OOOOO", "O...O"],
        Color::White,
        0.5,
        &["C1"],
    ),
    problem(
        "the vital point of three",
        ProblemKind::LifeAndDeath,
        &[".X.X.", "XXXXX", "OOOOO", "O...O"],
        Color::Black,
        0.5,
        &["C1"],
    ),
    problem(
        "save the second eye from outside",
        ProblemKind::LifeAndDeath,
        &[".X.X.", "XXXXX", ".OOOO", "O.O.O"],
        Color::White,
        2.5,
        &["A2"],
    ),
    problem(
        "make the second eye false",
        ProblemKind::LifeAndDeath,
        &[".X.X.", "XXXXX", ".OOOO", "O.O.O"],
        Color::Black,
        2.5,
        &["A2"],
    ),
    problem(
        "the net, not the atari",
        ProblemKind::Capture,
        &[".X.XXO", "XXXXX.", "OOOOO.", ".O.OO."],
        Color::Black,
        0.5,
        &["F2"],
    ),
    problem(
        "give the stone, keep the connection",
        ProblemKind::Capture,
        &[".X.XXO", "XXXXX.", "OOOOO.", ".O.OO."],
        Color::White,
        0.5,
        &["F2", "F1"],
    ),
    problem(
        "one step over the border",
        ProblemKind::Endgame,
        &[".X.XX.", "XXXXX.", "OOOOO.", ".O.OO."],
        Color::Black,
        0.5,
        &["F2"],
    ),
    problem(
        "one step over the border, for White",
        ProblemKind::Endgame,
        &[".X.XX.", "XXXXX.", "OOOOO.", ".O.OO."],
        Color::White,
        -0.5,
        &["F3"],
    ),
    problem(
        "take the ko",
        ProblemKind::Ko,
        &[".X.X.", "XXXXX", "OXXXX", ".O...", "OOOOO", ".O.O."],
        Color::Black,
        2.5,
        &["A3"],
    ),
    problem(
        "take the ko in the corner of two walls",
        ProblemKind::Ko,
        &[".X.X.", "XXXXX", ".XX.X", "XOXOO", "OOOOO", ".O.O."],
        Color::White,
        0.5,
        &["A4"],
    ),
    problem(
        "take the ko in the middle",
        ProblemKind::Ko,
        &[".X.X.", "XXXXX", "XXOXX", "OO.O.", "OOOOO", ".O.O."],
        Color::Black,
        0.5,
        &["C3"],
    ),
    problem(
        "win the race by the outside liberty",
        ProblemKind::Semeai,
        &[".X.X.X", "XXXXXX", "OO..OO", "OO.XX.", "OOOOOO", ".O.O.O"],
        Color::Black,
        -3.5,
        &["F3"],
    ),
    problem(
        "win the race from below",
        ProblemKind::Semeai,
        &[".X.X.X", "XXXXXX", ".OO.OX", "..XX.X", "OOOOOO", ".O.O.O"],
        Color::Black,
        2.5,
        &["B3"],
    ),
    ladder(
        "up the board",
        &[".......", ".......", "X......", "......X", "X.OX.O.", "...O..O", "..X...O"],
        Color::White,
        "D3",
        &["D4"],
    ),
    ladder(
        "from the corner to the edge",
        &["O......", "..O....", ".......", ".......", "...X..X", ".......", "O..X..."],
        Color::Black,
        "A7",
        &["B7"],
    ),
    ladder(
        "along the side, past a helper",
        &["......X", "...O..O", "....X..", ".....O.", "..X...X", ".......", "......."],
        Color::Black,
        "G6",
        &["F6"],
    ),
    ladder(
        "from the edge inwards",
        &[".......", "..X.X..", ".X.....", "...O..O", ".......", "O......", ".....XO"],
        Color::White,
        "F1",
        &["F2"],
    ),
];

#[cfg(test)]
mod tests {
    use super::super::{ladder_moves, winning_moves};
    use super::*;
    use tengen_rules::Move;

    #[test]
    fn every_answer_is_the_solvers_own() {
        let mut wrong = Vec::new();
        for problem in &PROBLEMS {
            let state = problem.state();
            let found = match problem.quarry {
                None => winning_moves(&state, 200_000),
                Some(vertex) => {
                    let Ok(Move::Play(quarry)) = state.size().parse_vertex(vertex) else {
                        panic!("{}: {vertex} is no point", problem.name)
                    };
                    assert_eq!(state.stone(quarry), Some(problem.to_play.opponent()));
                    ladder_moves(&state, quarry, 200_000)
                }
            };
            let found = found.map(|actions| {
                let vertex = |a: &usize| state.size().vertex(state.size().move_at(*a));
                actions.iter().map(vertex).collect::<Vec<_>>()
            });
            let legal = state.legal_moves().count();
            let expected: Vec<String> = problem.answers.iter().map(|s| (*s).to_owned()).collect();
            if found.as_ref() != Ok(&expected) {
                wrong.push(format!("{}: {found:?} of {legal} moves", problem.name));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
