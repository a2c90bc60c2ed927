//! Tactical positions, small enough to be solved exactly.

use tengen_rules::{Color, GameState, Komi, Rules};

/// What a problem is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// Taking stones, or saving them.
    Capture,
    /// Two eyes or none.
    LifeAndDeath,
    /// The last points.
    Endgame,
}

impl ProblemKind {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            ProblemKind::Capture => "capture",
            ProblemKind::LifeAndDeath => "life-and-death",
            ProblemKind::Endgame => "endgame",
        }
    }
}

/// A position with the moves that win it, under Tromp–Taylor rules.
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
    /// Every winning move, as vertices; the solver's answer, checked by a test.
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
    Problem { name, kind, rows, to_play, komi, answers }
}

/// The suite. In each, one side's wall lives already and the rest of the board decides the game.
pub const PROBLEMS: [Problem; 8] = [
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
];

#[cfg(test)]
mod tests {
    use super::super::solver::winning_moves;
    use super::*;

    #[test]
    fn every_answer_is_the_solver_s_own() {
        let mut wrong = Vec::new();
        for problem in &PROBLEMS {
            let state = problem.state();
            let found = winning_moves(&state, 200_000).map(|actions| {
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
